/// How a proxy is spoken to: the scheme of its URL, in lower case.
package enum ProxyScheme: String, Sendable {
  case http, https, socks, socks4, socks4a, socks5, socks5h
}
