package import FoundationEssentials
package import HTTPTypes

extension HTTPRequest {
  /// A request for an https address; `nil` for any other.
  package init?(_ method: Method, https url: URL) {
    guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      parts.scheme?.lowercased() == "https", let host = parts.encodedHost, !host.isEmpty
    else { return nil }
    let port = parts.port.flatMap { $0 == 443 ? nil : ":\($0)" }
    let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    self.init(
      method: method, scheme: "https", authority: host + (port ?? ""),
      path: parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path)
  }
}
