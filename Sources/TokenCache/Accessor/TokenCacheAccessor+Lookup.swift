import FoundationEssentials

extension TokenCacheAccessor {
  /// How many seconds before its expiry an access token counts as expired by default.
  public static let defaultExpirationBuffer = 300.0

  /// Finds the access token for a request. Of several, it returns the best, and of equal ones the one that expires last.
  ///
  /// An account's token is found only together with that account.
  ///
  /// - Parameters:
  ///   - lookup: The lookup.
  ///   - expirationBuffer: How many seconds before its expiry a token counts as expired.
  /// - Returns: The token, which may have expired; `nil` if none was found.
  /// - Throws: ``CacheError``
  public func accessToken(
    for lookup: TokenLookup, expirationBuffer: Double = defaultExpirationBuffer
  ) async throws(CacheError) -> FoundAccessToken? {
    if let known = rememberedResult(lookup) { return known.best(at: now(), buffer: expirationBuffer) }
    return try await snapshot(.some([shard(lookup.homeAccountID)]))
      .accessToken(for: lookup, expirationBuffer: expirationBuffer)
  }

  /// Finds the ID token of a client for an account in one tenant. The request's scopes do not matter.
  public func idToken(for lookup: TokenLookup) async throws(CacheError) -> IDToken? {
    let shard = shard(lookup.homeAccountID)
    return try await contents(.some([shard]))[shard].idToken(for: lookup, in: clouds)
  }

  /// Finds the refresh tokens for a lookup, as ``CacheSnapshot/refreshTokens(for:)`` does.
  public func refreshTokens(for lookup: TokenLookup) async throws(CacheError) -> [RefreshToken] {
    try await snapshot(.some([shard(lookup.homeAccountID), commonShard])).refreshTokens(for: lookup)
  }

  /// Reads a client's metadata; `nil` if it has none.
  public func appMetadata(clientID: String, environment: String) async throws(CacheError) -> AppMetadata? {
    try await contents(.some([commonShard]))[commonShard]
      .appMetadata(of: clientID, environment: environment, in: clouds).first
  }
}

extension CacheDocument {
  /// A client's metadata in a cloud, or in all clouds, in the order of their keys.
  fileprivate func appMetadata(
    of clientID: String, environment: String?, in clouds: CloudInstances
  ) -> [AppMetadata] {
    let cloud = environment.map(clouds.canonical)
    return appMetadata.sorted { $0.key < $1.key }.map(\.value).filter {
      clientID.matches($0.clientID) && [nil, clouds.canonical($0.environment ?? "")].contains(cloud)
    }
  }

  /// The family whose refresh tokens a client may try; `nil` for no family.
  func family(of clientID: String, environment: String?, in clouds: CloudInstances) -> String? {
    let known = appMetadata(of: clientID, environment: environment, in: clouds)
    guard !known.isEmpty else { return "1" }
    return known.lazy.compactMap { Optional($0.familyID ?? "").nonBlank }.first
  }
}
