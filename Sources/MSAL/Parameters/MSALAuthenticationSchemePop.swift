public import Foundation

/// Proof of possession. A request with this scheme fails on Linux, where the keys that it needs are not offered.
open class MSALAuthenticationSchemePop: NSObject, MSALAuthenticationSchemeProtocol {
  open var scheme: MSALAuthScheme { .pop }
  open var authenticationScheme: String { "Pop" }

  /// - Parameters:
  ///   - httpMethod: The method of the request that the token is for.
  ///   - requestUrl: The address of that request.
  ///   - nonce: The server's nonce.
  ///   - additionalParameters: What else to sign.
  public init(
    httpMethod: MSALHttpMethod, request requestUrl: URL, nonce: String?,
    additionalParameters: [AnyHashable: Any]?
  ) {}
}
