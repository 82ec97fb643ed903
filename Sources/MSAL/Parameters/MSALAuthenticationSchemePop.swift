public import Foundation
import IdentityClient

/// Proof of possession: the token is bound to a key of the keychain group, and each result has it inside of a request
/// that was signed with that key, good for one request to an API and for some minutes.
///
/// The keys come from ``MSALPublicClientApplicationConfig/popKeys``, which has to be set: cryptography that most programs
/// do without is in a product of its own. For example:
///
/// ```swift
/// import MSAL
/// import ProofOfPossession
///
/// config.popKeys = GroupKeys()
/// let application = try MSALPublicClientApplication(configuration: config)
/// parameters.authenticationScheme = MSALAuthenticationSchemePop(
///   httpMethod: .GET, request: url, nonce: nil, additionalParameters: nil)
/// let result = try await application.acquireTokenSilent(with: parameters)
/// request.setValue(result.authorizationHeader, forHTTPHeaderField: "Authorization")
/// ```
open class MSALAuthenticationSchemePop: NSObject, MSALAuthenticationSchemeProtocol {
  /// `.pop`.
  open var scheme: MSALAuthScheme { .pop }
  /// `Pop`.
  open var authenticationScheme: String { PopScheme.tokenType }

  let popScheme: PopScheme

  /// - Parameters:
  ///   - httpMethod: The method of the request that the token is for.
  ///   - requestUrl: The address of that request. Its host and path are signed, neither the port nor the query.
  ///   - nonce: The nonce that the API asks for; a fresh one if it is `nil`.
  ///   - additionalParameters: Without effect.
  public init(
    httpMethod: MSALHttpMethod, request requestUrl: URL, nonce: String?,
    additionalParameters: [AnyHashable: Any]?
  ) {
    popScheme = PopScheme(
      httpMethod: MSALParameterStringForHttpMethod(httpMethod), url: requestUrl, nonce: nonce)
  }
}
