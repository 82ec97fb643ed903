import BrowserSignIn
import Foundation
import HTTPSupport
import IdentityClient
import SoupTransport

/// What sends requests unless the program says otherwise.
///
/// - Throws: An error in ``MSALErrorDomain`` when the certificates or the proxy of the configuration are no good.
func defaultTransport() throws -> any HTTPTransport {
  do {
    return try SoupHTTPTransport(
      caBundle: MSALGlobalConfig.httpConfig.certificateAuthorities?.path,
      environment: ProcessInfo.processInfo.environment)
  } catch {
    let reason = if case .invalidConfiguration(let reason) = error { reason } else { "\(error)" }
    throw NSError(.internalErrorInvalidParameter, "Requests cannot be sent: \(reason)")
  }
}

/// What opens the browser.
func defaultAuthenticator() -> any WebAuthenticator { BrowserAuthenticator() }
