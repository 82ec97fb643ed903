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
    let place = place(ofMetadata: clientID, of: homeAccountID)
    return try await contents(.some(place.shards)).accountMetadata(at: place)
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
    let place = place(ofMetadata: clientID, of: homeAccountID)
    try await store.update(place.shards, in: group) { $0.updateAccountMetadata(at: place, change) }
  }

  /// Marks accounts, by the ids of clients, as signed out of them, all or, on an error, none: the marks stand in the shard
  /// without an account, until a later change moves them.
  package func markSignedOut(_ accounts: [String: Set<String>]) async throws(CacheError) {
    let common = commonShard
    try await store.update([common], in: group) { contents in
      for (clientID, ids) in accounts.sorted(by: { $0.key < $1.key }) where !ids.isEmpty {
        contents[common].updateAccountMetadata(clientID: clientID) {
          $0.setSignInState(.signedOut, of: ids.sorted())
        }
      }
    }
  }

  func place(ofMetadata clientID: String, of homeAccountID: String?) -> MetadataPlace {
    MetadataPlace(
      clientID: clientID, homeAccountID: homeAccountID, account: shard(homeAccountID), common: commonShard)
  }
}

/// Where a group keeps a client's metadata of an account: in the account's shard. Llavero 0.3 and earlier write it into the
/// shard without an account. An entry there counts, since every change by this version moves or changes it (`CacheFormat.md`,
/// R4.16).
struct MetadataPlace: Sendable {
  let clientID: String
  /// `nil` for the record without an account.
  let homeAccountID: String?
  let account: ShardID
  let common: ShardID

  var shards: [ShardID] { account == common ? [common] : [account, common] }
}

extension GroupContents {
  func accountMetadata(at place: MetadataPlace) -> AccountMetadata? {
    let own = self[place.account].accountMetadata(clientID: place.clientID)
    guard let id = place.homeAccountID, let older = olderMetadata(at: place) else { return own }
    var metadata = own ?? AccountMetadata(clientID: place.clientID)
    metadata.prefer(older, of: id)
    return metadata
  }

  mutating func updateAccountMetadata(at place: MetadataPlace, _ change: (inout AccountMetadata) -> Void) {
    moveAccountMetadata(at: place)
    self[place.account].updateAccountMetadata(clientID: place.clientID, change)
  }

  /// Changes metadata in the shard whose entry counts. A killed writer loses nothing, whichever shard is written first.
  mutating func updateAccountMetadataInPlace(
    at place: MetadataPlace, _ change: (inout AccountMetadata) -> Void
  ) {
    let shard = olderMetadata(at: place) == nil ? place.account : place.common
    self[shard].updateAccountMetadata(clientID: place.clientID, change)
  }

  /// The client's metadata in the shard without an account, if an entry of the account is there.
  private func olderMetadata(at place: MetadataPlace) -> AccountMetadata? {
    guard let id = place.homeAccountID, place.account != place.common,
      let older = self[place.common].accountMetadata(clientID: place.clientID), older.hasAccount(id)
    else { return nil }
    return older
  }

  /// Moves what stands of an account in the shard without an account into the account's shard.
  mutating func moveAccountMetadata(at place: MetadataPlace) {
    guard let id = place.homeAccountID, let older = olderMetadata(at: place) else { return }
    let keys = self[place.common].accountMetadataKeys(place.clientID)
    self[place.common].removeAccountMetadata(of: id, at: keys)
    if let key = keys.first, self[place.account].accountMetadata(clientID: place.clientID) == nil {
      self[place.account].accountMetadata.put(older.only(id), at: key)
    } else {
      self[place.account].updateAccountMetadata(clientID: place.clientID) { $0.prefer(older, of: id) }
    }
  }

  mutating func signOut(_ place: MetadataPlace) {
    guard let id = place.homeAccountID else { return }
    updateAccountMetadata(at: place) { $0.setSignInState(.signedOut, of: id) }
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
  fileprivate mutating func updateAccountMetadata(clientID: String, _ change: (inout AccountMetadata) -> Void)
  {
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

  /// Forgets that accounts had signed out of the clients of refresh tokens: another program has signed them in since.
  package mutating func forgetSignOuts(before tokens: some Sequence<Credential>) {
    for token in tokens {
      guard RefreshToken(token) != nil, let clientID = token.clientID, let id = token.homeAccountID,
        accountMetadata(clientID: clientID)?.signInState(of: id) == .signedOut
      else { continue }
      updateAccountMetadata(clientID: clientID) { $0.removeSignInState(of: id) }
    }
  }

  /// Removes the metadata of an account (default: from all records), and records that are empty then.
  mutating func removeAccountMetadata(of homeAccountID: String, at keys: [String]? = nil) {
    for key in keys ?? Array(accountMetadata.keys)
    where accountMetadata[key]?.hasAccount(homeAccountID) ?? false {
      accountMetadata[key]?.removeAccount(homeAccountID)
      if accountMetadata[key]?.isBlank ?? false { accountMetadata[key] = nil }
    }
  }

  /// The keys of a client's records: the one that its id makes first, the others in order.
  fileprivate func accountMetadataKeys(_ clientID: String) -> [String] {
    let keys = accountMetadata.filter { clientID.matches($0.value.clientID) }.keys
    guard keys.count > 1 else { return Array(keys) }
    let own = AccountMetadata(clientID: clientID).serializedKey
    return keys.sorted { ($0 == own ? 0 : 1, $0) < ($1 == own ? 0 : 1, $1) }
  }
}

extension AccountMetadata {
  /// The union of the records of a group's shards, one record for each client: what stands in an earlier shard counts.
  static func union(of shards: [[String: AccountMetadata]]) -> [String: AccountMetadata] {
    let records = shards.flatMap { $0.sorted(by: isBefore) }
    var union: [String: AccountMetadata] = [:]
    let byClient = Dictionary(grouping: records) { $0.value.clientID?.normalized ?? "" }
    for (client, records) in byClient.sorted(by: { $0.key < $1.key }) {
      guard !client.isEmpty, let (key, preferred) = records.min(by: isBefore) else { continue }
      var fields = JSONObject()
      for record in records { fields.formUnion(record.value.fields) }
      fields["client_id"] = preferred.fields["client_id"]
      union.put(AccountMetadata(fields: fields), at: key)
    }
    for (key, record) in byClient[""] ?? [] { union.put(record, at: key) }
    return union
  }

  /// Which of two records counts: one under the key that its client ID makes, else the one with the first key.
  private static func isBefore(
    _ one: (key: String, value: AccountMetadata), _ other: (key: String, value: AccountMetadata)
  ) -> Bool {
    (one.key == one.value.serializedKey ? 0 : 1, one.key) < (
      other.key == other.value.serializedKey ? 0 : 1, other.key
    )
  }
}
