extension TokenCacheAccessor {
  /// Saves what a token endpoint answered: all of it or, on an error, nothing that a reader would see.
  ///
  /// Tokens whose scopes the new access token covers in part go; records that other libraries wrote for the
  /// same thing are replaced under the keys they have; what did not change is not written. The account counts
  /// as signed in to the client from now on.
  ///
  /// For example:
  ///
  /// ```swift
  /// let context = TokenContext(environment: "login.microsoftonline.com", clientID: clientID)
  /// let records = try await cache.save(try TokenResponse(json: body), for: context)
  /// print(records.account?.username ?? "somebody")
  /// ```
  ///
  /// - Returns: The records that the response became.
  /// - Throws: ``CacheError/Code/invalidResponse`` when nobody says whose tokens these are, and what the
  ///   store throws.
  @discardableResult
  public func save(
    _ response: TokenResponse, for context: TokenContext
  ) async throws(CacheError) -> TokenRecords {
    let now = now()
    let records = try TokenRecords(response, for: context, at: now)
    let clouds = clouds
    let account = shard(records.homeAccountID)
    let common = commonShard
    // The account's shard is written last: until then nothing of the response can be found.
    try await store.update([common, account], in: group) { contents in
      contents[common].saveAppMetadata(records.appMetadata, in: clouds)
      contents[common].updateAccountMetadata(clientID: context.clientID) {
        $0.setSignInState(.signedIn, of: records.homeAccountID)
      }
      if let token = records.accessToken { contents[account].saveAccessToken(token, in: clouds) }
      if let token = records.idToken { contents[account].saveIDToken(token, in: clouds) }
      for var token in records.refreshTokens {
        token.lastModified = now
        contents[account].saveRefreshToken(token, in: clouds)
      }
      if let record = records.account { contents[account].saveAccount(record, in: clouds) }
    }
    return records
  }

  /// Remembers what became known of a client, such as that it is no member of a family after all.
  ///
  /// - Throws: What the store throws.
  public func save(_ metadata: AppMetadata) async throws(CacheError) {
    let (common, clouds) = (commonShard, clouds)
    try await store.update([common], in: group) { contents in
      contents[common].saveAppMetadata(metadata, in: clouds)
    }
  }

  /// Changes what one client knows of its accounts.
  ///
  /// - Throws: What the store throws.
  public func updateAccountMetadata(
    clientID: String, _ change: @escaping @Sendable (inout AccountMetadata) -> Void
  ) async throws(CacheError) {
    let common = commonShard
    try await store.update([common], in: group) { contents in
      contents[common].updateAccountMetadata(clientID: clientID, change)
    }
  }
}

extension CacheDocument {
  /// What a client knows of its accounts, compared without regard to case.
  func accountMetadata(clientID: String) -> AccountMetadata? {
    accountMetadata.lazy.filter { clientID.matches($0.value.clientID) }.min { $0.key < $1.key }?.value
  }

  mutating func updateAccountMetadata(clientID: String, _ change: (inout AccountMetadata) -> Void) {
    var metadata = accountMetadata(clientID: clientID) ?? AccountMetadata(clientID: clientID)
    change(&metadata)
    save(metadata)
  }
}
