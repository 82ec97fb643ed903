public import FoundationEssentials
public import TokenCache

/// Where the keys are that tokens with a ``PopScheme`` are bound to. `GroupKeys` of the product `ProofOfPossession`
/// keeps one in each keychain group; an application may have them elsewhere, such as in a security chip.
public protocol PopKeyProvider: Sendable {
  /// The key for the tokens of a cache, generated if the cache has none yet.
  ///
  /// - Throws: `CacheError` when the key can neither be had nor made.
  func key(for cache: TokenCacheAccessor) async throws(CacheError) -> any PopKey
}

/// A key that tokens are bound to.
public protocol PopKey: Sendable {
  /// The key's thumbprint (RFC 7638) by SHA-256, in base64url.
  var id: String { get }

  /// A signed HTTP request (draft-ietf-oauth-signed-http-request-03) that holds an access token.
  ///
  /// - Throws: ``IdentityError`` when it cannot be signed.
  func signedRequest(
    _ scheme: PopScheme, accessToken: String, at date: Date
  ) throws(IdentityError) -> String
}
