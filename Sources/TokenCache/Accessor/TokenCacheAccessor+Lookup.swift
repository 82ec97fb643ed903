import FoundationEssentials

extension TokenCacheAccessor {
  /// How many seconds before its end an access token counts as expired, unless told otherwise.
  public static let defaultExpirationBuffer = 300.0

  /// Finds the access token that serves a request. Among several, the best and then the one that lasts
  /// longest is taken.
  ///
  /// A token of an account is found only together with that account and an ID token of the same client and
  /// tenant.
  ///
  /// - Parameters:
  ///   - lookup: The lookup.
  ///   - expirationBuffer: How many seconds before its end a token counts as expired.
  /// - Returns: The token, expired ones included; `nil` when there is none.
  /// - Throws: What the store throws.
  public func accessToken(
    for lookup: TokenLookup, expirationBuffer: Double = defaultExpirationBuffer
  ) async throws(CacheError) -> FoundAccessToken? {
    let result = if let known = rememberedResult(lookup) { known } else { try await findResult(lookup) }
    return result.best(at: now(), buffer: expirationBuffer)
  }

  /// Finds the access tokens that would serve a lookup if no claims mattered, the newest first, also those that ended.
  ///
  /// - Throws: What the store throws.
  package func accessTokens(
    withAnyClaims lookup: TokenLookup
  ) async throws(CacheError) -> [AccessToken] {
    let shard = shard(lookup.homeAccountID)
    return try await contents(.some([shard]))[shard].accessTokens(withAnyClaims: lookup, in: clouds)
  }

  /// Finds the ID token of a client for an account in one tenant. The request's scopes do not matter.
  ///
  /// - Throws: What the store throws.
  public func idToken(for lookup: TokenLookup) async throws(CacheError) -> IDToken? {
    let shard = shard(lookup.homeAccountID)
    return try await contents(.some([shard]))[shard].idToken(for: lookup, in: clouds)
  }

  /// Finds the refresh tokens that may serve a lookup, as ``CacheSnapshot/refreshTokens(for:)`` does.
  ///
  /// - Throws: What the store throws.
  public func refreshTokens(for lookup: TokenLookup) async throws(CacheError) -> [RefreshToken] {
    try await snapshot(.some([shard(lookup.homeAccountID), commonShard])).refreshTokens(for: lookup)
  }

  /// What is known of a client, `nil` when nothing is.
  ///
  /// - Throws: What the store throws.
  public func appMetadata(
    clientID: String, environment: String
  ) async throws(CacheError) -> AppMetadata? {
    try await contents(.some([commonShard]))[commonShard]
      .appMetadata(clientID: clientID, environment: environment, in: clouds)
  }

  /// What a client knows of its accounts, `nil` when it has met none.
  ///
  /// - Throws: What the store throws.
  public func accountMetadata(clientID: String) async throws(CacheError) -> AccountMetadata? {
    let document =
      if let known = rememberedDocument(commonShard) {
        known
      } else {
        try await contents(.some([commonShard]))[commonShard]
      }
    return document.accountMetadata(clientID: clientID)
  }
}

extension CacheDocument {
  fileprivate func appMetadata(
    clientID: String, environment: String, in clouds: CloudInstances
  ) -> AppMetadata? {
    appMetadata.sorted { $0.key < $1.key }.map(\.value).first {
      clientID.matches($0.clientID)
        && clouds.canonical($0.environment ?? "") == clouds.canonical(environment)
    }
  }

  /// The family whose refresh tokens a client may try, `nil` for none.
  func family(of clientID: String, environment: String?, in clouds: CloudInstances) -> String? {
    let canonical = environment.map(clouds.canonical)
    let known = appMetadata.sorted { $0.key < $1.key }.map(\.value).filter {
      clientID.matches($0.clientID)
        && (canonical ?? clouds.canonical($0.environment ?? "")) == clouds.canonical($0.environment ?? "")
    }
    guard !known.isEmpty else { return "1" }
    return known.lazy.compactMap { Optional($0.familyID ?? "").nonBlank }.first
  }
}
