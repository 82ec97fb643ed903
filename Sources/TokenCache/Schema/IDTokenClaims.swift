package import FoundationEssentials

/// The claims of a JSON Web Token, read without a check of its signature.
///
/// OpenID Connect Core 3.1.3.7 lets a client that got an ID token from the token endpoint over TLS rely on
/// the connection for its origin.
public struct IDTokenClaims: Sendable, Hashable {
  /// Every claim.
  public let claims: JSONObject

  /// Reads the payload of a token; `nil` when it is no JSON Web Token.
  public init?(token: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 2, let payload = Data(base64URL: String(parts[1])),
      let claims = try? JSONObject(foreign: payload, within: .answer)
    else { return nil }
    self.claims = claims
  }

  /// A claim that is a string and not blank.
  public func string(_ name: String) -> String? { claims[name]?.stringValue.nonBlank }

  public var subject: String? { string("sub") }
  public var objectID: String? { string("oid") }
  public var tenantID: String? { string("tid") }
  public var name: String? { string("name") }
  public var givenName: String? { string("given_name") }
  public var middleName: String? { string("middle_name") }
  public var familyName: String? { string("family_name") }
  public var alternativeAccountID: String? { string("altsecid") }
  /// `preferred_username`, or what v1 endpoints have instead of it.
  public var username: String? { string("preferred_username") ?? string("upn") }
}

extension Data {
  /// Decodes base64url (RFC 4648 section 5), with or without padding.
  package init?(base64URL text: String) {
    var base64 = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }.filter { $0 != "=" }
    base64 += repeatElement("=", count: (4 - base64.count % 4) % 4)
    self.init(base64Encoded: String(base64))
  }

  /// Encodes to base64url without padding.
  package var base64URL: String {
    base64EncodedString().filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : String($0) }.joined()
  }
}
