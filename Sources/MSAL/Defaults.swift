import BrowserSignIn
import Foundation
import GLibSupport
import HTTPSupport
import IdentityClient
import SoupTransport
import Synchronization

/// The default transport. It reads the CA bundle of the configuration at each request.
final class DefaultTransport: HTTPTransport {
  private struct Configured {
    let authorities: URL?
    let transport: SoupHTTPTransport

    init(_ authorities: URL?) throws(HTTPTransportError) {
      self.authorities = authorities
      transport = try SoupHTTPTransport(
        caBundle: authorities?.path, environment: ProcessInfo.processInfo.environment)
    }
  }

  /// The timeout for a file system that hangs.
  private static let timeout = Duration.seconds(30)

  private let current: Mutex<Configured>
  private let queue = BlockingQueue(label: "llavero.msal.transport")

  /// - Throws: An error in ``MSALErrorDomain`` when the certificates or the proxy of the configuration are invalid.
  init() throws {
    do {
      current = Mutex(try Configured(MSALGlobalConfig.httpConfig.certificateAuthorities))
    } catch {
      let reason = if case .invalidConfiguration(let reason) = error { reason } else { "\(error)" }
      throw NSError(.internalErrorInvalidParameter, "Requests cannot be sent: \(reason)")
    }
  }

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    let authorities = MSALGlobalConfig.httpConfig.certificateAuthorities
    let transport =
      if let transport = transport(trusting: authorities) {
        transport
      } else {
        try await queue.run(
          timeout: Self.timeout, onCancel: HTTPTransportError.cancelled,
          onTimeout: .invalidConfiguration("The certificates could not be read in time.")
        ) { [self] _ throws(HTTPTransportError) in
          // Another request may have made it in the meantime.
          if let transport = self.transport(trusting: authorities) { return transport }
          let made = try Configured(authorities)
          current.withLock { $0 = made }
          return made.transport
        }
      }
    return try await transport.send(request)
  }

  private func transport(trusting authorities: URL?) -> SoupHTTPTransport? {
    current.withLock { $0.authorities == authorities ? $0.transport : nil }
  }
}

/// The default authenticator, which opens the browser.
func defaultAuthenticator(_ config: MSALPublicClientApplicationConfig) -> any WebAuthenticator {
  var authenticator = BrowserAuthenticator()
  authenticator.checksSchemeHandler = !config.bypassRedirectURIValidation
  return authenticator
}

extension HTTPSettings {
  /// The current configuration.
  static var current: HTTPSettings {
    let http = MSALGlobalConfig.httpConfig
    return HTTPSettings(
      retryCount: http.retryCount, retryInterval: .seconds(http.retryInterval),
      timeout: .seconds(http.timeoutIntervalForRequest))
  }
}
