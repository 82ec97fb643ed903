import BrowserSignIn
import Foundation
import HTTPSupport
import IdentityClient
import SoupTransport
import Synchronization

/// Sends requests unless the program says otherwise, and trusts whom the configuration names at that time.
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

  private let current: Mutex<Configured>

  /// - Throws: An error in ``MSALErrorDomain`` when the certificates or the proxy of the configuration are no good.
  init() throws {
    do {
      current = Mutex(try Configured(MSALGlobalConfig.httpConfig.certificateAuthorities))
    } catch {
      let reason = if case .invalidConfiguration(let reason) = error { reason } else { "\(error)" }
      throw NSError(.internalErrorInvalidParameter, "Requests cannot be sent: \(reason)")
    }
  }

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    try await transport().send(request)
  }

  private func transport() throws(HTTPTransportError) -> SoupHTTPTransport {
    let authorities = MSALGlobalConfig.httpConfig.certificateAuthorities
    return try current.withLock { (current) throws(HTTPTransportError) in
      if current.authorities != authorities { current = try Configured(authorities) }
      return current.transport
    }
  }
}

/// What opens the browser.
func defaultAuthenticator(_ config: MSALPublicClientApplicationConfig) -> any WebAuthenticator {
  var authenticator = BrowserAuthenticator()
  authenticator.checksSchemeHandler = !config.bypassRedirectURIValidation
  return authenticator
}

extension HTTPSettings {
  /// What the configuration says at this moment.
  static var current: HTTPSettings {
    let http = MSALGlobalConfig.httpConfig
    return HTTPSettings(
      retryCount: http.retryCount, retryInterval: .seconds(http.retryInterval),
      timeout: .seconds(http.timeoutIntervalForRequest))
  }
}
