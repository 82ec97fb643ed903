import CGLib
import GLibSupport
import HTTPSupport
import LibsoupOnDemand

extension Exchange {
  /// Translates GLib's error. Only the host and GLib's own text are quoted.
  func transportError(_ error: GLibError) -> HTTPTransportError {
    let text = "\(host): \(error.message)"
    let proxyText = "the proxy: \(error.message)"
    return switch error.domain {
    case "g-resolver-error-quark":
      error.code == Int32(G_RESOLVER_ERROR_TEMPORARY_FAILURE.rawValue)
        ? .notConnected(text) : .cannotFindHost(text)
    case "g-tls-error-quark":
      switch GTlsError(rawValue: UInt32(bitPattern: error.code)) {
      case G_TLS_ERROR_BAD_CERTIFICATE:
        .untrustedServer(certificateProblem(soup_message_get_tls_peer_certificate_errors(message)))
      case G_TLS_ERROR_UNAVAILABLE: .cannotConnect("\(text) (the package glib-networking is missing)")
      case G_TLS_ERROR_EOF: .connectionLost(isNegotiatingWithProxy ? proxyText : text)
      case _ where isNegotiatingWithProxy: .secureConnectionFailed(proxyText)
      default: cameOverTLS ? .connectionLost(text) : .secureConnectionFailed(text)
      }
    case "soup-session-error-quark":
      switch UInt32(bitPattern: error.code) {
      case SOUP_SESSION_ERROR_PARSING, SOUP_SESSION_ERROR_ENCODING: .malformedResponse(text)
      case SOUP_SESSION_ERROR_TOO_MANY_RESTARTS: .connectionLost(text)
      default: .invalidRequest(text)
      }
    case "g-io-error-quark":
      switch GIOErrorEnum(rawValue: UInt32(bitPattern: error.code)) {
      case G_IO_ERROR_CANCELLED: .cancelled
      case G_IO_ERROR_TIMED_OUT: .timedOut
      case G_IO_ERROR_NETWORK_UNREACHABLE: .notConnected(text)
      case G_IO_ERROR_PARTIAL_INPUT where headerIsTooLarge: .malformedResponse(text)
      case G_IO_ERROR_PARTIAL_INPUT, G_IO_ERROR_CONNECTION_CLOSED, G_IO_ERROR_CLOSED: .connectionLost(text)
      case G_IO_ERROR_INVALID_DATA: .malformedResponse(text)
      default:
        cameOverTLS
          ? .connectionLost(text) : .cannotConnect(route.unixSocket?.problem.map { "\(host): \($0)" } ?? text)
      }
    default: .malformedResponse(text)
    }
  }

  /// The error after a proxy's own response. Another try with the same user and password may lock the user out.
  var proxyRefusal: HTTPTransportError {
    guard status == 407, case .hosts(_, let proxy, _) = route else {
      return .cannotConnect("The proxy refused the connection to \(host): status \(status).")
    }
    let refused = proxy.map { "The proxy \($0.name)" } ?? "The proxy of the desktop's settings"
    let user =
      proxy?.user.map { "refuses the user \($0) or the password" } ?? "demands a user name and a password"
    let setting = "\(proxy?.variable ?? "https_proxy")=http://USER:PASSWORD@HOST:PORT"
    return .invalidConfiguration(
      "\(refused) \(user) (status 407). Set \(setting), with special characters as %XX.")
  }

  func certificateProblem(_ problems: GTlsCertificateFlags) -> String {
    if isNegotiatingWithProxy {
      return "The certificate of the proxy is from an authority that the system does not trust. "
        + "A file of certificate authorities does not apply to proxies."
    }
    let clock = "Check this machine's clock."
    func has(_ flag: GTlsCertificateFlags) -> Bool { problems.rawValue & flag.rawValue != 0 }
    if has(FLAG_G_TLS_CERTIFICATE_EXPIRED) { return "The certificate of \(host) has expired. \(clock)" }
    if has(FLAG_G_TLS_CERTIFICATE_NOT_ACTIVATED) {
      return "The certificate of \(host) is not valid yet. \(clock)"
    }
    if has(FLAG_G_TLS_CERTIFICATE_REVOKED) { return "The certificate of \(host) was revoked." }
    if has(FLAG_G_TLS_CERTIFICATE_UNKNOWN_CA) {
      let problem = "The certificate of \(host) is from an authority that is not trusted."
      guard case .hosts(_, _, let variable) = route else { return problem }
      return """
        \(problem) If it is your own or your network's, have \(variable) name a file with its certificate, and start \
        this program again.
        """
    }
    if has(FLAG_G_TLS_CERTIFICATE_BAD_IDENTITY) { return "The certificate of \(host) is for another host." }
    return "The certificate of \(host) is not acceptable."
  }
}
