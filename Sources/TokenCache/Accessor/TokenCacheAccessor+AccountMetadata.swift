extension TokenCacheAccessor {
  /// Reads a client's metadata of an account, for example whether it is signed in.
  ///
  /// - Parameters:
  ///   - clientID: The client.
  ///   - homeAccountID: The account; `nil` reads the client's record without an account, which has its current account.
  /// - Returns: The metadata; `nil` if the client has no record.
  /// - Throws: ``CacheError``
  public func accountMetadata(
    clientID: String, of homeAccountID: String?
  ) async throws(CacheError) -> AccountMetadata? {
    let shard = shard(homeAccountID)
    return try await contents(.some([shard]))[shard].accountMetadata(clientID: clientID)
  }

  /// Changes a client's metadata of an account.
  ///
  /// - Parameters:
  ///   - clientID: The client.
  ///   - homeAccountID: The account; `nil` changes the client's record without an account, which has its current account.
  ///   - change: Changes the metadata of this account.
  /// - Throws: ``CacheError``
  public func updateAccountMetadata(
    clientID: String, of homeAccountID: String?, _ change: @escaping @Sendable (inout AccountMetadata) -> Void
  ) async throws(CacheError) {
    let shard = shard(homeAccountID)
    try await store.update([shard], in: group) {
      $0[shard].updateAccountMetadata(clientID: clientID, change)
    }
  }

  /// Marks accounts, by the ids of clients, as signed out of them.
  ///
  /// - Throws: ``CacheError`` of the first account that could not be marked, after the others were.
  package func markSignedOut(_ accounts: [String: Set<String>]) async throws(CacheError) {
    let marks = accounts.flatMap { clientID, ids in ids.map { (clientID: clientID, id: $0) } }
    let byShard = Dictionary(grouping: marks) { shard($0.id) }.sorted { $0.key.rawValue < $1.key.rawValue }
    _ = try await updateEach(byShard.map { ($0.key, $0.value) }) { document, marks in
      for mark in marks { document.signOut(mark.id, of: mark.clientID) }
    }
  }
}

extension CacheDocument {
  /// A client's account metadata; the id is compared without regard to case. Several records are read as one.
  func accountMetadata(clientID: String) -> AccountMetadata? {
    let keys = accountMetadataKeys(clientID)
    guard let first = keys.first.flatMap({ accountMetadata[$0] }) else { return nil }
    return keys.dropFirst().compactMap { accountMetadata[$0] }.reduce(into: first) {
      $0.fields.formUnion($1.fields)
    }
  }

  /// Changes a client's account metadata and leaves one record of it.
  mutating func updateAccountMetadata(clientID: String, _ change: (inout AccountMetadata) -> Void) {
    var metadata = accountMetadata(clientID: clientID) ?? AccountMetadata(clientID: clientID)
    change(&metadata)
    let keys = accountMetadataKeys(clientID)
    guard let first = keys.first else {
      if !metadata.isBlank { accountMetadata.put(metadata, at: metadata.serializedKey) }
      return
    }
    accountMetadata[first] = metadata
    for key in keys.dropFirst() { accountMetadata[key] = nil }
  }

  mutating func signOut(_ homeAccountID: String, of clientID: String) {
    updateAccountMetadata(clientID: clientID) { $0.setSignInState(.signedOut, of: homeAccountID) }
  }

  /// Forgets that accounts had signed out of the clients of refresh tokens: another program has signed them in since.
  package mutating func forgetSignOuts(before tokens: some Sequence<Credential>) {
    for token in tokens {
      if RefreshToken(token) != nil, let clientID = token.clientID, let id = token.homeAccountID,
        accountMetadata(clientID: clientID)?.signInState(of: id) == .signedOut
      {
        updateAccountMetadata(clientID: clientID) { $0.removeSignInState(of: id) }
      }
    }
  }

  /// Removes the metadata of an account from all records, and records that are empty then.
  mutating func removeAccountMetadata(of homeAccountID: String) {
    for (key, var metadata) in accountMetadata where metadata.hasAccount(homeAccountID) {
      metadata.removeAccount(homeAccountID)
      accountMetadata[key] = metadata.isBlank ? nil : metadata
    }
  }

  /// The keys of a client's records: the one that its id makes first, the others in order.
  private func accountMetadataKeys(_ clientID: String) -> [String] {
    let keys = accountMetadata.filter { clientID.matches($0.value.clientID) }.keys.sorted()
    let own = AccountMetadata(clientID: clientID).serializedKey
    return keys.filter { $0 == own } + keys.filter { $0 != own }
  }
}

extension AccountMetadata {
  /// The union of the records of a group's shards, one record for each client: what stands in an earlier shard counts.
  static func union(of shards: [[String: AccountMetadata]]) -> [String: AccountMetadata] {
    let records = shards.flatMap { $0.sorted { rank($0) < rank($1) } }
    var union: [String: AccountMetadata] = [:]
    let byClient = Dictionary(grouping: records) { $0.value.clientID?.normalized ?? "" }
    for (client, records) in byClient.sorted(by: { $0.key < $1.key }) {
      guard !client.isEmpty, let (key, preferred) = records.min(by: { rank($0) < rank($1) }) else { continue }
      var fields = JSONObject()
      for record in records { fields.formUnion(record.value.fields) }
      fields["client_id"] = preferred.fields["client_id"]
      union.put(AccountMetadata(fields: fields), at: key)
    }
    for (key, record) in byClient[""] ?? [] { union.put(record, at: key) }
    return union
  }

  /// Of several records the first counts: one under the key that its client ID makes, else the one with the first key.
  private static func rank(_ record: (key: String, value: AccountMetadata)) -> (Int, String) {
    (record.key == record.value.serializedKey ? 0 : 1, record.key)
  }
}
