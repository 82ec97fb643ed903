public import FoundationEssentials
public import TokenCache

/// Proof of possession: the token is bound to a key. Each result contains it in a signed HTTP request, which is valid
/// for one request to an API and for some minutes.
///
/// Only APIs that respond with `WWW-Authenticate: PoP` accept such tokens. For example:
///
/// ```swift
/// let client = PublicClient(
///   configuration: configuration, cache: cache, transport: transport,
///   popKeys: GroupKeys())
/// var request = SilentRequest(
///   scopes: ["api://orders/read"], account: account)
/// request.authenticationScheme = PopScheme(
///   httpMethod: "GET", url: url)
/// let authorization = try await client.acquireTokenSilent(request)
///   .authorizationHeader
/// ```
public struct PopScheme: Sendable, Hashable {
  /// The method of the request to the API; `nil` for any method.
  public var httpMethod: String?
  /// The address of the request to the API. The host and the path are signed, neither the port nor the query.
  public var url: URL
  /// The nonce that the API requires (default: a new one).
  public var nonce: String?

  public init(httpMethod: String?, url: URL, nonce: String? = nil) {
    self.httpMethod = httpMethod
    self.url = url
    self.nonce = nonce
  }

  /// The token type in a token request, in the cache and in an `Authorization` header field.
  public static let tokenType = "Pop"
}

/// Provides the keys that tokens with a ``PopScheme`` are bound to. `GroupKeys` of the product `ProofOfPossession`
/// keeps one in each keychain group. An application may keep them elsewhere, such as in a security chip.
public protocol PopKeyProvider: Sendable {
  /// Returns the key for the tokens of a cache, and generates it if necessary.
  ///
  /// - Throws: `CacheError` if the key can be neither read nor generated.
  func key(for cache: TokenCacheAccessor) async throws(CacheError) -> any PopKey
}

/// A key that tokens are bound to.
public protocol PopKey: Sendable {
  /// The key's thumbprint (RFC 7638) by SHA-256, in base64url.
  var id: String { get }

  /// Returns a signed HTTP request (draft-ietf-oauth-signed-http-request-03) that contains an access token.
  ///
  /// - Throws: ``IdentityError`` if signing fails.
  func signedRequest(_ scheme: PopScheme, accessToken: String, at date: Date) throws(IdentityError) -> String
}

/// The key and the scheme of a request for bound tokens.
struct PopProof: Sendable {
  let scheme: PopScheme
  let key: any PopKey
}

extension PopProof? {
  /// The scheme of a request, as the cache distinguishes it.
  var cacheScheme: AuthenticationScheme {
    map { .bound(tokenType: PopScheme.tokenType, keyID: $0.key.id) } ?? .bearer
  }

  /// The parameters of the token request (RFC 7800 section 3.4, by the key's thumbprint).
  var parameters: [String: String] {
    guard let self else { return [:] }
    let confirmation = Data(#"{"kid":"\#(self.key.id)"}"#.utf8).base64URL
    return ["token_type": PopScheme.tokenType, "req_cnf": confirmation]
  }
}

extension PublicClient {
  /// Gets the key that a scheme needs; `nil` without a scheme.
  func proof(for scheme: PopScheme?) async throws(IdentityError) -> PopProof? {
    guard let scheme else { return nil }
    guard let popKeys else {
      throw IdentityError(
        .invalidParameter, "This client was made without keys for proof of possession.",
        advice: "Give it GroupKeys() of the product ProofOfPossession.")
    }
    guard scheme.url.host().nonBlank != nil else {
      throw IdentityError(.invalidParameter, "The address of the request to sign has no host.")
    }
    let key = try await cacheCall(await popKeys.key(for: cache))
    return PopProof(scheme: scheme, key: key)
  }
}
