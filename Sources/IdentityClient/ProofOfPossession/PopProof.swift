import FoundationEssentials
import TokenCache

/// What a request needs for tokens that are bound to a key.
struct PopProof: Sendable {
  let scheme: PopScheme
  let key: any PopKey

  /// What the cache calls it.
  var cacheScheme: AuthenticationScheme { .bound(tokenType: PopScheme.tokenType, keyID: key.id) }

  /// The parameters of a token request (RFC 7800 section 3.4, by its thumbprint).
  var parameters: [String: String] {
    let confirmation = Data(#"{"kid":"\#(key.id)"}"#.utf8).base64URL
    return ["token_type": PopScheme.tokenType, "req_cnf": confirmation]
  }

  /// A result with the token inside of a request that was signed just now.
  func presenting(
    _ result: AuthenticationResult, at now: Date
  ) throws(IdentityError) -> AuthenticationResult {
    var result = result
    result.accessToken = try key.signedRequest(scheme, accessToken: result.accessToken, at: now)
    result.tokenType = PopScheme.tokenType
    return result
  }
}

extension PopProof? {
  /// What the cache calls the scheme of a request.
  var cacheScheme: AuthenticationScheme { self?.cacheScheme ?? .bearer }

  /// The parameters that a request to the token endpoint has for it.
  var parameters: [String: String] { self?.parameters ?? [:] }
}

extension PublicClient {
  /// Runs a request, with the key that its scheme needs. What is bound to the key leaves the client in signed HTTP
  /// requests only.
  func withProofOfPossession(
    _ scheme: PopScheme?, _ body: (PopProof?) async throws(IdentityError) -> AuthenticationResult
  ) async throws(IdentityError) -> AuthenticationResult {
    guard let proof = try await proof(for: scheme) else { return try await body(nil) }
    do throws(IdentityError) {
      return try proof.presenting(try await body(proof), at: now())
    } catch {
      var error = error
      if let result = error.result { error.result = try proof.presenting(result, at: now()) }
      throw error
    }
  }

  /// The key that a scheme needs.
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
    let key = try await cacheCall { () async throws(CacheError) in try await popKeys.key(for: cache) }
    return PopProof(scheme: scheme, key: key)
  }
}
