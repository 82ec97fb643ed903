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
  /// let context = TokenRequest(environment: "login.microsoftonline.com", clientID: clientID)
  /// let records = try await cache.save(try TokenResponse(json: body), for: context)
  /// print(records.account?.username ?? "somebody")
  /// ```
  ///
  /// - Returns: The records that the response became.
  /// - Throws: ``CacheError/Code/invalidResponse`` when nobody says whose tokens these are,
  ///   ``CacheError/Code/signedOut`` for a renewal of an account that is not signed in any more, and what the store
  ///   throws.
  @discardableResult
  public func save(
    _ response: TokenResponse, for request: TokenRequest
  ) async throws(CacheError) -> TokenRecords {
    let records = try TokenRecords(response, for: request, at: now())
    try await save(records)
    return records
  }

  /// Saves the records that a response became, as ``save(_:for:)`` does.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - authority: The authority that answered, where it is another than the one that was asked.
  /// - Returns: The account as the cache has it now; `nil` when nothing is known of it.
  /// - Throws: ``CacheError/Code/signedOut`` for a renewal of an account that is not signed in any more, and what the
  ///   store throws.
  @discardableResult
  package func save(
    _ records: TokenRecords, resolving authority: ResolvedAuthority? = nil
  ) async throws(CacheError) -> Account? {
    let (account, common, clouds) = (shard(records.homeAccountID), commonShard, clouds)
    let (id, clientID) = (records.homeAccountID, records.request.clientID)
    // The account's shard is written last: until then nothing of the response can be found.
    return try await store.update([common, account], in: group) { contents throws(CacheError) in
      if records.request.isRenewal {
        let document = contents[account]
        let isSignedOut =
          contents[common].accountMetadata(clientID: clientID)?.signInState(of: id) == .signedOut
        let isThere = !document.accounts.isEmpty || !document.refreshTokens.isEmpty
        guard !isSignedOut, isThere || records.request.source != nil else {
          throw CacheError(.signedOut, "The account was signed out meanwhile; nothing was saved.")
        }
      }
      // Only the server says to which family a client belongs.
      if records.request.source == nil { contents[common].saveAppMetadata(records.appMetadata, in: clouds) }
      contents[common].updateAccountMetadata(clientID: clientID) {
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

  /// Has clients take accounts for signed out, whatever else is known of them.
  ///
  /// - Parameter accounts: The accounts' home account ids by the clients' ids.
  /// - Throws: What the store throws.
  package func markSignedOut(_ accounts: [String: Set<String>]) async throws(CacheError) {
    let common = commonShard
    try await store.update([common], in: group) { contents in
      for (clientID, ids) in accounts.sorted(by: { $0.key < $1.key }) {
        contents[common].updateAccountMetadata(clientID: clientID) { metadata in
          for id in ids.sorted() { metadata.setSignInState(.signedOut, of: id) }
        }
      }
    }
  }
}

/// The authority that answered for an account when another was asked, such as one that names no tenant.
package struct ResolvedAuthority: Sendable {
  let asked: String
  let answered: String
  let isInstanceAware: Bool

  package init(asked: String, answered: String, isInstanceAware: Bool) {
    self.asked = asked
    self.answered = answered
    self.isInstanceAware = isInstanceAware
  }
}

extension TokenRecords {
  /// The account that these records describe by themselves, `nil` when they describe none.
  package func account(in clouds: CloudInstances) -> Account? {
    var document = CacheDocument()
    document.save(self, in: clouds)
    return [document].accounts(clientID: request.clientID, in: clouds).first
  }
}

extension CacheDocument {
  fileprivate mutating func save(_ records: TokenRecords, in clouds: CloudInstances) {
    if let token = records.accessToken { saveAccessToken(token, in: clouds) }
    if let token = records.idToken { saveIDToken(token, in: clouds) }
    for var token in records.refreshTokens {
      token.lastModified = records.date
      saveRefreshToken(token, in: clouds)
    }
    if let record = records.account { saveAccount(record, in: clouds) }
  }

  /// What a client knows of its accounts, compared without regard to case. Several records are read as one.
  func accountMetadata(clientID: String) -> AccountMetadata? {
    let records = accountMetadataKeys(clientID).compactMap { accountMetadata[$0] }
    return records.first.map { first in
      records.dropFirst().reduce(first) { AccountMetadata(fields: $0.fields.union(with: $1.fields)) }
    }
  }

  /// Changes what a client knows of its accounts, and leaves one record of it.
  mutating func updateAccountMetadata(clientID: String, _ change: (inout AccountMetadata) -> Void) {
    var metadata = accountMetadata(clientID: clientID) ?? AccountMetadata(clientID: clientID)
    change(&metadata)
    let keys = accountMetadataKeys(clientID)
    guard let first = keys.first else { return accountMetadata.put(metadata, at: metadata.serializedKey) }
    accountMetadata[first] = metadata
    for key in keys.dropFirst() { accountMetadata[key] = nil }
  }

  /// The keys of a client's records: the one that its id makes first, the others in order.
  private func accountMetadataKeys(_ clientID: String) -> [String] {
    let own = AccountMetadata(clientID: clientID).serializedKey
    return accountMetadata.filter { clientID.matches($0.value.clientID) }.keys
      .sorted { ($0 == own ? 0 : 1, $0) < ($1 == own ? 0 : 1, $1) }
  }
}
