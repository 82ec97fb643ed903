extension TokenCacheAccessor {
  /// Saves a token response: all of it or, on an error, nothing that a reader would see.
  ///
  /// Access tokens that share a scope with the new one are removed; records that other libraries wrote for the same
  /// thing are replaced under their keys; unchanged records are not written. The account counts as signed in to the
  /// client from now on.
  ///
  /// For example:
  ///
  /// ```swift
  /// let context = TokenRequest(
  ///   environment: "login.microsoftonline.com", clientID: clientID)
  /// let records = try await cache.save(
  ///   try TokenResponse(json: body), for: context)
  /// print(records.account?.username ?? "unknown user")
  /// ```
  ///
  /// - Returns: The records of the response.
  /// - Throws: ``CacheError``: ``CacheError/Code/invalidResponse`` if neither response nor request names the account,
  ///   ``CacheError/Code/signedOut`` for a renewal of an account that is no longer signed in.
  @discardableResult
  public func save(
    _ response: TokenResponse, for request: TokenRequest
  ) async throws(CacheError) -> TokenRecords {
    let records = try TokenRecords(response, for: request, at: now())
    try await save(records)
    return records
  }

  /// Saves the records of a response, as ``save(_:for:)`` does, and the authority that responded, if it is not the requested one,
  /// for example because that has no tenant.
  ///
  /// - Returns: The account as the cache has it now; `nil` if the cache has no record of it.
  /// - Throws: ``CacheError/Code/signedOut`` for a renewal of an account that is no longer signed in.
  @discardableResult
  package func save(
    _ records: TokenRecords,
    resolving authority: (asked: String, answered: String, isInstanceAware: Bool)? = nil
  ) async throws(CacheError) -> Account? {
    let (id, clientID, clouds) = (records.homeAccountID, records.request.clientID, clouds)
    let (account, common) = (shard(id), commonShard)
    // The account's shard is written last: until then nothing of the response can be found.
    return try await store.update([common, account], in: group) { contents throws(CacheError) in
      if records.request.isRenewal {
        let document = contents[account]
        let isSignedOut = document.accountMetadata(clientID: clientID)?.signInState(of: id) == .signedOut
        let exists = !document.accounts.isEmpty || !document.refreshTokens.isEmpty
        guard !isSignedOut, exists || records.request.source != nil else {
          throw CacheError(
            .signedOut, "The account was signed out in the meantime; nothing was saved.",
            advice: "Sign in again.")
        }
      }
      let records = contents[account].spelled(records, in: clouds)
      // Only the server knows a client's family.
      if records.request.source == nil {
        contents[common].appMetadata.saveAsOne(records.appMetadata, in: clouds)
      }
      contents[account].updateAccountMetadata(clientID: clientID) {
        $0.setSignInState(.signedIn, of: id)
        if let authority {
          $0.setResolvedAuthority(
            authority.answered, for: authority.asked, homeAccountID: id,
            instanceAware: authority.isInstanceAware)
        }
      }
      contents[account].save(records, in: clouds)
      return [contents[account]].accounts(clientID: clientID, in: clouds).first {
        id.matches($0.homeAccountID)
      }
    }
  }

  /// Saves metadata of a client, for example that it belongs to no family after all.
  public func save(_ metadata: AppMetadata) async throws(CacheError) {
    let (common, clouds) = (commonShard, clouds)
    try await store.update([common], in: group) { contents in
      contents[common].appMetadata.saveAsOne(metadata, in: clouds)
    }
  }
}

extension TokenRecords {
  /// The account that these records describe without the cache; `nil` if they describe none.
  package func account(in clouds: CloudInstances) -> Account? {
    var document = CacheDocument()
    document.save(self, in: clouds)
    return [document].accounts(clientID: request.clientID, in: clouds).first
  }
}

extension CacheDocument {
  fileprivate mutating func save(_ records: TokenRecords, in clouds: CloudInstances) {
    if let token = records.accessToken { saveAccessToken(token, in: clouds) }
    if let token = records.idToken { idTokens.saveAsOne(token, in: clouds) }
    for var token in records.refreshTokens {
      token.lastModified = records.date
      saveRefreshToken(token, for: records.accessToken?.target ?? records.request.scopes, in: clouds)
    }
    if let record = records.account { accounts.saveAsOne(record, in: clouds) }
  }
}
