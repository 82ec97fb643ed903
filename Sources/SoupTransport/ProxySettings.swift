import CGLib
import FoundationEssentials
import GLibSupport
import HTTPSupport
import LibsoupOnDemand

/// The proxy of the settings or the environment.
///
/// GIO's default resolver reads the environment only where an extra module is installed, and prefers the desktop's
/// settings to it; so the environment is read here, and GIO decides if it has no proxy.
struct ProxySettings: Sendable {
  let address: String
  /// Host and port, and the user, for error texts.
  let name: String
  let user: String?
  /// Which variable replaces it.
  let variable: String
  /// The value of `Proxy-Authorization` for an HTTP proxy.
  private let authorization: String?
  private let exceptions: String

  /// Reads the proxy that is named, `off` for none, or that of the environment; `nil` where neither says anything.
  ///
  /// - Throws: ``HTTPTransportError/invalidConfiguration(_:)`` if the URL is invalid. The text does not
  ///   quote it: it may have a password.
  init?(_ named: String? = nil, environment: [String: String]) throws(HTTPTransportError) {
    variable = named == nil ? "https_proxy" : "LLAVERO_PROXY"
    guard named != "off" else {
      (address, name, user, authorization, exceptions) = ("", "", nil, nil, "*")
      return
    }
    func value(_ name: String) -> String? {
      [name, name.uppercased()].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    guard let text = named ?? value("https_proxy") ?? value("all_proxy") else { return nil }
    guard var url = ProxyURL(text) else {
      throw .invalidConfiguration(
        "Invalid proxy: expected http://host:port in https_proxy, all_proxy or the settings.")
    }
    name = url.host + (url.port > 0 ? ":\(url.port)" : "")
    user = url.user
    // curl's default.
    if url.port == -1 { url.port = url.scheme == .https ? 443 : 1080 }
    if url.scheme == .http {
      let password = url.password ?? ""
      authorization = url.user.map { "Basic " + Data("\($0):\(password)".utf8).base64EncodedString() }
      (url.user, url.password) = (nil, nil)
    } else {
      // GIO asks these for the connection, with the credentials of the address, and lets every SOCKS 5 proxy resolve the name.
      authorization = nil
      if url.scheme == .socks5h { url.scheme = .socks5 }
    }
    address = url.text
    exceptions = value("no_proxy") ?? ""
  }

  /// Makes the session use the proxy. To be called on its thread.
  func apply(to session: OpaquePointer) {
    let hosts = exceptions.split { $0 == "," || $0 == " " }.compactMap(ignoredHost)
    let everything = hosts.contains("*")
    let list = g_strsplit(hosts.joined(separator: ","), ",", -1)
    defer { g_strfreev(list) }
    let resolver = g_simple_proxy_resolver_new(everything ? "direct://" : address, everything ? nil : list)
    soup_session_set_proxy_resolver(session, resolver)
    g_object_unref(UnsafeMutableRawPointer(resolver))
    guard let authorization else { return }
    onSignal("request-queued", of: UnsafeMutableRawPointer(session)) { arguments in
      // To libsoup's own CONNECT, and to no other request.
      guard let message = g_value_get_object(arguments + 1).map(OpaquePointer.init),
        String(cString: soup_message_get_method(message)) == "CONNECT"
      else { return }
      soup_message_headers_replace(
        soup_message_get_request_headers(message), "Proxy-Authorization", authorization)
    }
  }
}

/// An entry of `no_proxy` for GIO; `nil` for one that GIO would refuse, with a warning on standard error.
private func ignoredHost(_ entry: Substring) -> Substring? {
  // GIO takes an address in brackets only before a port.
  let host = entry.hasPrefix("[") && entry.hasSuffix("]") ? entry.dropFirst().dropLast() : entry
  let isBracketed = host.hasPrefix("[")
  let parts = (isBracketed ? host.drop { $0 != "]" } : host).split(
    separator: ":", omittingEmptySubsequences: false)
  let hasPort = parts.count == 2 && parts[1].allSatisfy { "0123456789".contains($0) }
  // Several colons are those of an address.
  let isValid = isBracketed ? hasPort && parts[0] == "]" : hasPort || parts.count != 2
  return isValid ? host : nil
}
