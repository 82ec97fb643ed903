import CGLib

/// The URL of a proxy; one without a scheme is an HTTP proxy's.
package struct ProxyURL {
  /// How the proxy is spoken to.
  package enum Scheme: String {
    case http, https, socks, socks4, socks4a, socks5, socks5h
  }

  package var scheme: Scheme
  package let host: String
  /// -1 where the URL has none.
  package var port: Int32
  package var user: String?
  package var password: String?

  /// Fails for any other scheme, and without a host.
  package init?(_ text: String) {
    let uri = g_uri_parse(text.contains("://") ? text : "http://" + text, FLAG_G_URI_FLAGS_HAS_PASSWORD, nil)
    guard let uri else { return nil }
    defer { g_uri_unref(uri) }
    guard let scheme = Scheme(rawValue: String(cString: g_uri_get_scheme(uri))),
      let host = g_uri_get_host(uri).map({ String(cString: $0) }), !host.isEmpty
    else { return nil }
    (self.scheme, self.host, port) = (scheme, host, g_uri_get_port(uri))
    user = g_uri_get_user(uri).map { String(cString: $0) }
    password = g_uri_get_password(uri).map { String(cString: $0) }
  }

  /// The URL without a path.
  package var text: String {
    String(
      taking: g_uri_join_with_user(
        FLAG_G_URI_FLAGS_HAS_PASSWORD, scheme.rawValue, user, password, nil, host, port, "", nil, nil)) ?? ""
  }
}
