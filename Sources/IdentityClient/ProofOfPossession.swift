public import FoundationEssentials
public import TokenCache

/// Proof of possession: the token is bound to a key, and each result holds it inside of a signed HTTP request, which
/// is good for one request to an API and for some minutes.
///
/// Only APIs that ask for it take such tokens; they say so with `WWW-Authenticate: PoP`. For example:
///
/// ```swift
/// let client = PublicClient(
///   configuration: configuration, cache: cache, transport: transport, popKeys: GroupKeys())
/// var request = SilentRequest(scopes: ["api://orders/read"], account: account)
/// request.authenticationScheme = PopScheme(httpMethod: "GET", url: url)
/// let authorization = try await client.acquireTokenSilent(request).authorizationHeader
/// ```
public struct PopScheme: Sendable, Hashable {
  /// The method of the request to the API; `nil` for a proof that does for any.
  public var httpMethod: String?
  /// The address of the request to the API. The host and the path are signed, neither the port nor the query.
  public var url: URL
  /// The nonce that the API asks for; a fresh one unless it is given.
  public var nonce: String?

  public init(httpMethod: String?, url: URL, nonce: String? = nil) {
    self.httpMethod = httpMethod
    self.url = url
    self.nonce = nonce
  }

  /// As it stands in a token request, in the cache and in an `Authorization` header field.
  public static let tokenType = "Pop"
}

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
  func signedRequest(_ scheme: PopScheme, accessToken: String, at date: Date) throws(IdentityError) -> String
}

/// What a request needs for tokens that are bound to a key.
struct PopProof: Sendable {
  let scheme: PopScheme
  let key: any PopKey
}

extension PopProof? {
  /// What the cache calls the scheme of a request.
  var cacheScheme: AuthenticationScheme {
    map { .bound(tokenType: PopScheme.tokenType, keyID: $0.key.id) } ?? .bearer
  }

  /// The parameters that a token request has for it (RFC 7800 section 3.4, by the key's thumbprint).
  var parameters: [String: String] {
    guard let self else { return [:] }
    let confirmation = Data(#"{"kid":"\#(self.key.id)"}"#.utf8).base64URL
    return ["token_type": PopScheme.tokenType, "req_cnf": confirmation]
  }
}

extension PublicClient {
  /// Runs a request. What is bound to a key leaves the client in signed HTTP requests only.
  func run(
    _ request: some TokenParameters, _ account: Account?,
    _ flow: (ResolvedRequest) async throws(IdentityError) -> AuthenticationResult
  ) async throws(IdentityError) -> AuthenticationResult {
    try await addingRequestContext(request.correlationID, account) { () async throws(IdentityError) in
      let resolved = try await resolve(request, account)
      guard let proof = resolved.proof else { return try await flow(resolved) }
      do throws(IdentityError) {
        return try await flow(resolved).presenting(by: proof, at: now())
      } catch var error {
        error.result = try error.result?.presenting(by: proof, at: now())
        throw error
      }
    }
  }

  /// The request in the terms of the protocol, with the key that its scheme needs.
  func resolve(
    _ request: some TokenParameters, _ account: Account?
  ) async throws(IdentityError) -> ResolvedRequest {
    let proof = try await proof(for: request.authenticationScheme)
    return try ResolvedRequest(request, account: account, proof: proof, of: self)
  }

  private func proof(for scheme: PopScheme?) async throws(IdentityError) -> PopProof? {
    guard let scheme else { return nil }
    guard let popKeys else {
      throw IdentityError(
        .invalidParameter, "This client was made without keys for proof of possession.",
        advice: "Give it GroupKeys() of the product ProofOfPossession.")
    }
    guard scheme.url.host().nonBlank != nil else {
      throw IdentityError(.invalidParameter, "The address of the request to sign has no host.")
    }
    let key = try await cacheCall { () async throws(CacheError) in try await popKeys.key(for: cache) }
    return PopProof(scheme: scheme, key: key)
  }
}
