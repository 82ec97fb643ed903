import FoundationEssentials
import TokenCache

/// The claims that a resource requires beyond those of the token that it refused: the `claims` of its
/// `WWW-Authenticate` fields (RFC 9110 section 11.6.1, RFC 6750 section 3).
///
/// For example:
///
/// ```swift
/// if let challenge = ClaimsChallenge(wwwAuthenticate: fields) {
///   request.claims = try ClaimsRequest(json: challenge.claims)
/// }
/// ```
public struct ClaimsChallenge: Sendable, Hashable {
  /// The `claims` parameter for the next request: a JSON object.
  public let claims: String

  /// Reads the `WWW-Authenticate` fields of a response. There may be several, with several challenges in each.
  public init?(wwwAuthenticate fields: [String]) {
    for challenge in fields.flatMap(AuthenticationChallenge.all(in:)) {
      guard challenge.scheme == "bearer", challenge.parameters["error"] == "insufficient_claims",
        let encoded = challenge.parameters["claims"], let json = Data(base64URL: encoded),
        (try? JSONObject(foreign: json, within: .response)) != nil
      else { continue }
      claims = String(decoding: json, as: UTF8.self)
      return
    }
    return nil
  }
}

/// One challenge of a `WWW-Authenticate` field.
private struct AuthenticationChallenge {
  /// The scheme, in lower case.
  let scheme: String
  /// The parameters by their names in lower case; of several with one name, the first.
  var parameters: [String: String] = [:]

  static func all(in field: String) -> [AuthenticationChallenge] {
    var challenges: [AuthenticationChallenge] = []
    var rest = Substring(field)
    while true {
      rest = rest.drop { $0 == "," || $0.isWhitespace }
      let name = rest.prefix { !",=\"".contains($0) && !$0.isWhitespace }
      guard !name.isEmpty else {
        // Neither a challenge nor a parameter begins here, so the rest is ambiguous.
        return challenges
      }
      rest = rest.dropFirst(name.count)
      let afterSpace = rest.drop(while: \.isWhitespace)
      if let value = value(&rest, after: afterSpace) {
        guard !challenges.isEmpty else { return [] }
        let last = challenges.count - 1
        challenges[last].parameters[name.lowercased()] =
          challenges[last].parameters[name.lowercased()] ?? value
      } else {
        // Credentials in place of parameters, as in `Negotiate oYG2`, become a scheme of their own, which is ignored.
        challenges.append(AuthenticationChallenge(scheme: name.lowercased()))
        rest = afterSpace
      }
    }
  }

  /// Reads the value of a parameter; `nil` if the name was that of a scheme.
  private static func value(_ rest: inout Substring, after name: Substring) -> String? {
    guard name.first == "=" else { return nil }
    var text = name.dropFirst().drop(while: \.isWhitespace)
    guard text.first == "\"" else {
      let token = text.prefix { $0 != "," && !$0.isWhitespace }
      rest = text.dropFirst(token.count)
      return String(token)
    }
    text = text.dropFirst()
    var value = ""
    while let character = text.popFirst() {
      switch character {
      case "\"":
        rest = text
        return value
      case "\\": if let escaped = text.popFirst() { value.append(escaped) }
      default: value.append(character)
      }
    }
    rest = ""
    return value
  }
}
