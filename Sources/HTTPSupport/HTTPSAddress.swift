package import FoundationEssentials
package import HTTPTypes

/// An https address with a host and without a user name: the only kind that secrets are sent to.
package struct HTTPSAddress: Sendable, Hashable {
  package let url: URL
  /// The host, as an authority's address has it.
  package let host: String

  package init?(_ url: URL) {
    guard url.scheme?.lowercased() == "https", let host = url.authorityHost else { return nil }
    (self.url, self.host) = (url, host)
  }

  package init?(_ text: String) {
    guard let url = URL(string: text) else { return nil }
    self.init(url)
  }
}

extension HTTPRequest {
  /// A request for an ``HTTPSAddress``; `nil` for any other.
  package init?(_ method: Method, https url: URL) {
    guard let host = HTTPSAddress(url)?.host,
      let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return nil }
    let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    self.init(
      method: method, scheme: "https", authority: host,
      path: parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path)
  }
}

extension URL {
  /// The host as it goes over the wire, in lower case and with the port where there is one that is not that of
  /// https (RFC 3986 section 6.2.3); `nil` with a user name before it.
  package var authorityHost: String? {
    guard let parts = URLComponents(url: self, resolvingAgainstBaseURL: true), parts.user == nil,
      parts.password == nil, let host = parts.encodedHost?.lowercased(), !host.isEmpty
    else { return nil }
    guard let port = parts.port, port != 443 || parts.scheme?.lowercased() != "https" else { return host }
    return "\(host):\(port)"
  }
}
