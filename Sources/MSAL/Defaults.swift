import BrowserSignIn
import Foundation
import GLibSupport
import HTTPSupport
import IdentityClient
import SoupTransport
import Synchronization

/// The default transport. It follows the configuration when that names another CA bundle.
final class DefaultTransport: HTTPTransport {
  /// The timeout for a file system that hangs.
  private static let timeout = Duration.seconds(30)

  private let current: Mutex<(authorities: URL?, transport: SoupHTTPTransport)>
  private let queue = BlockingQueue(label: "llavero.msal.transport")

  /// - Throws: An error in ``MSALErrorDomain`` when the certificates or the proxy of the configuration are invalid.
  init() throws {
    do {
      let authorities = MSALGlobalConfig.httpConfig.certificateAuthorities
      current = Mutex((authorities, try Self.transport(trusting: authorities)))
    } catch {
      let reason = if case .invalidConfiguration(let reason) = error { reason } else { "\(error)" }
      throw NSError(.internalErrorInvalidParameter, "Requests cannot be sent: \(reason)")
    }
  }

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    let authorities = MSALGlobalConfig.httpConfig.certificateAuthorities
    if let transport = currentTransport(trusting: authorities) { return try await transport.send(request) }
    let transport = try await queue.run(
      timeout: Self.timeout, onCancel: HTTPTransportError.cancelled,
      onTimeout: .invalidConfiguration("The certificates could not be read in time.")
    ) { [self] _ throws(HTTPTransportError) in
      // Another request may have made it in the meantime.
      if let transport = currentTransport(trusting: authorities) { return transport }
      let transport = try Self.transport(trusting: authorities)
      current.withLock { $0 = (authorities, transport) }
      return transport
    }
    return try await transport.send(request)
  }

  private func currentTransport(trusting authorities: URL?) -> SoupHTTPTransport? {
    current.withLock { $0.authorities == authorities ? $0.transport : nil }
  }

  private static func transport(trusting authorities: URL?) throws(HTTPTransportError) -> SoupHTTPTransport {
    try SoupHTTPTransport(caBundle: authorities?.path, environment: ProcessInfo.processInfo.environment)
  }
}

func defaultAuthenticator(_ config: MSALPublicClientApplicationConfig) -> any WebAuthenticator {
  var authenticator = BrowserAuthenticator()
  authenticator.checksSchemeHandler = !config.bypassRedirectURIValidation
  return authenticator
}

@Sendable func currentHTTPSettings() -> HTTPSettings {
  let http = MSALGlobalConfig.httpConfig
  return (http.retryCount, .seconds(http.retryInterval), .seconds(http.timeoutIntervalForRequest))
}
