extension CacheDocument {
  /// The credentials that a query asks for, in the order of their keys.
  public func credentials(matching query: CredentialQuery) -> [Credential] {
    credentials.map(\.credential).filter(query.matches)
  }

  /// The account records that a query asks for, in the order of their keys.
  public func accounts(matching query: AccountQuery) -> [AccountRecord] {
    accounts.sorted { $0.key < $1.key }.map(\.value).filter(query.matches)
  }

  /// The app metadata that a query asks for, in the order of their keys.
  public func appMetadata(matching query: AppMetadataQuery) -> [AppMetadata] {
    appMetadata.sorted { $0.key < $1.key }.map(\.value).filter(query.matches)
  }

  /// Stores a credential in place of the one with the same name, whatever key that stands under.
  public mutating func save(_ credential: Credential) {
    let key = credential.key
    self[credential.credentialType.section].save(credential) {
      ($0.key.account, $0.key.service) == (key.account, key.service)
    }
  }

  /// Stores an account record in place of the one with the same name, whatever key that stands under.
  public mutating func save(_ account: AccountRecord) {
    let key = account.key
    accounts.save(account) { ($0.key.account, $0.key.service) == (key.account, key.service) }
  }

  /// Stores app metadata in place of those with the same name, whatever key they stand under.
  public mutating func save(_ metadata: AppMetadata) {
    let key = metadata.key
    appMetadata.save(metadata) { ($0.key.account, $0.key.service) == (key.account, key.service) }
  }

  /// Stores a client's account metadata in place of what there was.
  public mutating func save(_ metadata: AccountMetadata) {
    accountMetadata.save(metadata) { $0.key == metadata.key }
  }

  /// Removes every credential that a condition holds for.
  ///
  /// - Returns: What was removed.
  @discardableResult
  public mutating func removeCredentials(where isRemoved: (Credential) -> Bool) -> [Credential] {
    var removed: [Credential] = []
    for section in CredentialSection.allCases {
      let matching = self[section].filter { isRemoved($0.value) }
      removed += matching.sorted { $0.key < $1.key }.map(\.value)
      for key in matching.keys { self[section][key] = nil }
    }
    return removed
  }

  /// Removes every account record that a condition holds for.
  ///
  /// - Returns: What was removed.
  @discardableResult
  public mutating func removeAccounts(where isRemoved: (AccountRecord) -> Bool) -> [AccountRecord] {
    let matching = accounts.filter { isRemoved($0.value) }
    for key in matching.keys { accounts[key] = nil }
    return matching.sorted { $0.key < $1.key }.map(\.value)
  }
}

extension Dictionary where Key == String, Value: CacheRecord {
  /// Stores a record in place of the one that a condition names, under the key which that one has.
  mutating func save(_ record: Value, where isSame: (Value) -> Bool) {
    let key = record.serializedKey
    if let older = self[key], isSame(older) {
      self[key] = record.replacing(older)
    } else if let found = filter({ isSame($0.value) }).keys.min(), let older = self[found] {
      self[found] = record.replacing(older)
    } else {
      put(record, at: key)
    }
  }

  /// Puts a record under a key. If a record of something else is there, as a key of another library's making
  /// may say something else than the fields, the one whose fields make the key gets it, else the one that is
  /// there; the other goes under its own key or the next that is free.
  mutating func put(_ record: Value, at key: String) {
    guard let other = self[key], other != record else {
      self[key] = record
      return
    }
    let isRightful = record.serializedKey == key && other.serializedKey != key
    let (stays, moves) = isRightful ? (record, other) : (other, record)
    self[key] = stays
    self[freeKey(moves.serializedKey)] = moves
  }
}

extension Dictionary where Key == String {
  /// A key, with as many dashes at its end as it takes to be free.
  func freeKey(_ key: String) -> String {
    var free = key
    while self[free] != nil { free += "-" }
    return free
  }
}
