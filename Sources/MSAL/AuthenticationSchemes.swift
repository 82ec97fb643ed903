public import Foundation
import IdentityClient

/// A scheme by which a token is used.
public protocol MSALAuthenticationSchemeProtocol: NSObjectProtocol {
  /// The kind of scheme.
  var scheme: MSALAuthScheme { get }
  /// The scheme's name in an `Authorization` header.
  var authenticationScheme: String { get }
}

/// The kinds of schemes.
public enum MSALAuthScheme: UInt, Sendable {
  /// A bearer token (RFC 6750).
  case bearer = 0
  /// A token that is bound to a key, with which its user has to sign.
  case pop = 1
}

/// The default: a bearer token.
public final class MSALAuthenticationSchemeBearer: MSALObject, MSALAuthenticationSchemeProtocol,
  @unchecked Sendable
{
  // `@unchecked Sendable`: see `MSALObject`.
  /// `.bearer`.
  public var scheme: MSALAuthScheme { .bearer }
  /// `Bearer`.
  public var authenticationScheme: String { "Bearer" }

  /// Makes the scheme that requests use by default.
  public override init() {}
}

/// Proof of possession: the token is bound to a key of the keychain group, and each result has it in a request that
/// was signed with that key, valid for one request to an API and for some minutes.
///
/// The keys come from ``MSALPublicClientApplicationConfig/popKeys``, which has to be set: the cryptography is in a product of
/// its own, since most programs do not need it. For example:
///
/// ```swift
/// import MSAL
/// import ProofOfPossession
///
/// config.popKeys = GroupKeys()
/// let application = try MSALPublicClientApplication(
///   configuration: config)
/// parameters.authenticationScheme = MSALAuthenticationSchemePop(
///   httpMethod: .GET, request: url, nonce: nil,
///   additionalParameters: nil)
/// let result = try await application.acquireTokenSilent(
///   with: parameters)
/// request.setValue(
///   result.authorizationHeader, forHTTPHeaderField: "Authorization")
/// ```
open class MSALAuthenticationSchemePop: NSObject, MSALAuthenticationSchemeProtocol {
  /// `.pop`.
  open var scheme: MSALAuthScheme { .pop }
  /// `Pop`.
  open var authenticationScheme: String { PopScheme.tokenType }

  let popScheme: PopScheme

  /// - Parameters:
  ///   - httpMethod: The method of the request that the token is for.
  ///   - requestUrl: The URL of that request. Its host and path are signed, neither the port nor the query.
  ///   - nonce: The nonce that the API requests; a new one if it is `nil`.
  ///   - additionalParameters: Without effect.
  public init(
    httpMethod: MSALHttpMethod, request requestUrl: URL, nonce: String?,
    additionalParameters: [AnyHashable: Any]?
  ) {
    popScheme = PopScheme(
      httpMethod: MSALParameterStringForHttpMethod(httpMethod), url: requestUrl, nonce: nonce)
  }
}

/// An HTTP method.
public enum MSALHttpMethod: UInt, Sendable {
  case GET = 0
  case HEAD = 1
  case POST = 2
  case PUT = 3
  case DELETE = 4
  case CONNECT = 5
  case OPTIONS = 6
  case TRACE = 7
  case PATCH = 8
}

// Implicitly unwrapped as in Swift on Apple's systems; see MSALErrorKeys.swift.
/// The name of an HTTP method, such as `GET`.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public func MSALParameterStringForHttpMethod(_ httpMethod: MSALHttpMethod) -> String! {
  "\(httpMethod)"
}
