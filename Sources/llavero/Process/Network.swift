import FoundationEssentials
import HTTPSupport
import IdentityClient
import SoupTransport

/// What a command gets to the network by. An interruption cancels the command from then on: a request may be under way.
enum Network {
  /// What reaches a lender's socket; an error of code `usage` for a path that no socket can have.
  static func transport(toLenderAt path: String) throws -> SoupHTTPTransport {
    Interruption.beginCancelling()
    do throws(HTTPTransportError) {
      return try SoupHTTPTransport(unixSocket: path)
    } catch {
      guard case .invalidConfiguration(let reason) = error else { throw error }
      throw Failure(
        "invalid_configuration", "No tokens can be borrowed from unix:\(path). \(reason)", code: .usage)
    }
  }

  /// The same, and each request is logged. A ``PublicClient`` logs its own.
  static func logged(_ transport: any HTTPTransport) -> any HTTPTransport {
    LoggedTransport(transport, logger: DiagnosticLog.logger)
  }

  /// What sends requests, as the settings say.
  static func transport() throws(HTTPTransportError) -> SoupHTTPTransport {
    Interruption.beginCancelling()
    return try SoupHTTPTransport(
      caBundle: Settings.current.caBundle, proxy: Settings.current.proxy,
      environment: ProcessInfo.processInfo.environment)
  }

  /// What sends requests to etcd, which may have certificates of its own.
  static func transport(toEtcdTrusting certificates: String?) throws(HTTPTransportError) -> SoupHTTPTransport
  {
    Interruption.beginCancelling()
    return try SoupHTTPTransport(
      caBundle: certificates ?? Settings.current.caBundle, proxy: Settings.current.proxy,
      environment: ProcessInfo.processInfo.environment, allowsLoopbackHTTP: true,
      caBundleVariable: Setting.etcdCA.variable)
  }
}

extension HTTPTransportError: ToolError {
  var asFailure: Failure {
    switch self {
    case .invalidConfiguration(let reason):
      Failure(
        "invalid_configuration", reason, code: .usage,
        advice: "LLAVERO_CA_BUNDLE, LLAVERO_ETCD_CA, SSL_CERT_FILE, LLAVERO_PROXY and https_proxy set up the "
          + "connection.")
    case .cancelled: .cancelled("The request was cancelled.")
    case .invalidRequest, .notConnected, .cannotFindHost, .cannotConnect, .secureConnectionFailed,
      .connectionLost, .untrustedServer, .timedOut, .responseTooLarge, .malformedResponse:
      Failure("network", "The network cannot be used: \(self).", code: .network)
    }
  }
}
