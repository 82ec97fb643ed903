package import FoundationEssentials
package import HTTPTypes

extension HTTPRequest {
  /// A request for an https address; `nil` for any other.
  package init?(_ method: Method, https url: URL) {
    guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      parts.scheme?.lowercased() == "https", let host = parts.host
    else { return nil }
    let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    self.init(
      method: method, scheme: "https", authority: parts.port.map { "\(host):\($0)" } ?? host,
      path: parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path)
  }
}
