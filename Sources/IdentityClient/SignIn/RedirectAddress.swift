package import FoundationEssentials
import HTTPSupport

extension URL {
  /// Returns the parameters of a response address; `nil` if it is not for this redirect URI or cannot be parsed.
  package func answer(to redirectURI: URL) -> [String: String]? {
    guard isSamePlace(as: redirectURI), let query = query(percentEncoded: true) else { return nil }
    return FormEncoding.decode(query.utf8)
  }

  /// The `state` in the query of a sign-in page and of the response (RFC 6749 sections 4.1.1 and 4.1.2).
  package var state: String? {
    query(percentEncoded: true)?.utf8
      .split(separator: UInt8(ascii: "&")).first { $0.starts(with: "state=".utf8) }
      .flatMap { FormEncoding.decodeOne($0.dropFirst("state=".utf8.count)) }
  }

  package var isOwnScheme: Bool { !["http", "https"].contains(scheme?.lowercased() ?? "") }

  /// Whether two addresses differ at most in query and fragment.
  package func isSamePlace(as other: URL) -> Bool { place == other.place }

  /// The address without query and fragment.
  private var place: [String] {
    // Not `path`, which omits a final slash.
    let path = path(percentEncoded: true)
    return [scheme?.lowercased() ?? "", authorityHost ?? "", path.isEmpty ? "/" : path]
  }
}
