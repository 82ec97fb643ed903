import Foundation
import HTTPTransport
import IdentityClient
import SoupTransport

/// What sends requests unless the program says otherwise.
///
/// - Throws: An error in `NSURLErrorDomain` when the certificates or the proxy of the configuration are no good.
func defaultTransport() throws -> any HTTPTransport {
  do {
    return try SoupTransport(
      caBundle: MSALGlobalConfig.httpConfig.certificateAuthorities?.path,
      environment: ProcessInfo.processInfo.environment)
  } catch {
    throw NSError(
      error, message: "Requests cannot be sent: \(error).",
      advice: "Check the certificates and the proxy that are configured.", userInfo: [:])
  }
}

/// What opens the browser.
func defaultAuthenticator() -> (any WebAuthenticator)? { nil }
