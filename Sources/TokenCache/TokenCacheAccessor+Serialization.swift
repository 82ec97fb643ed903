import FoundationEssentials

/// What an import did.
public struct ImportSummary: Sendable, Hashable {
  /// Records that were not there, or older.
  public var saved: Int
  /// Records of which a newer or equal version was there.
  public var kept: Int

  public init(saved: Int = 0, kept: Int = 0) {
    (self.saved, self.kept) = (saved, kept)
  }
}

extension TokenCacheAccessor {
  /// All of the group as one unified cache, which any MSAL library reads.
  ///
  /// - Returns: The cache, and what had to be left out of it.
  /// - Throws: What the store throws.
  public func export() async throws(CacheError) -> (document: CacheDocument, problems: [StoreProblem]) {
    let contents = try await store.read(.all, in: group)
    var all = CacheDocument()
    for (_, document) in contents.documents.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      all.formUnion(document)
    }
    return (all, contents.problems)
  }

  /// Takes a serialized cache into the group, account by account.
  ///
  /// Records keep their keys. Of two records for one thing the newer stays, by `last_modification_time` or
  /// `cached_at`; an import wins where neither says.
  ///
  /// - Parameters:
  ///   - document: The cache, of whichever library.
  ///   - progress: Told after each shard how many of how many are done.
  /// - Returns: How many records were taken in and how many were there already.
  /// - Throws: What the store throws; accounts taken in before stay.
  public func `import`(
    _ document: CacheDocument, progress: @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) async throws(CacheError) -> ImportSummary {
    let parts = document.split(in: group)
    var summary = ImportSummary()
    for (index, part) in parts.enumerated() {
      let clouds = clouds
      let merged = try await store.update([part.shard], in: group) { contents in
        contents[part.shard].merge(part.document, in: clouds)
      }
      summary.saved += merged.saved
      summary.kept += merged.kept
      progress(index + 1, parts.count)
    }
    return summary
  }
}

extension CacheDocument {
  /// Adds what another document of the same group holds.
  package mutating func formUnion(_ other: CacheDocument) {
    for section in CredentialSection.allCases {
      for (key, credential) in other[section] { self[section].put(credential, at: key) }
    }
    for (key, account) in other.accounts { accounts.put(account, at: key) }
    for (key, metadata) in other.appMetadata { appMetadata.put(metadata, at: key) }
    for (key, metadata) in other.accountMetadata { accountMetadata.put(metadata, at: key) }
    otherSections.merge(other.otherSections) { $0.merged(with: $1) }
    misfits.merge(other.misfits) { $0.merging($1) { mine, _ in mine } }
  }

  /// The parts that belong to each shard of a group, that of no account first.
  package func split(in group: KeychainGroup) -> [(shard: ShardID, document: CacheDocument)] {
    var parts: [String: CacheDocument] = [:]
    for section in CredentialSection.allCases {
      for (key, credential) in self[section] {
        parts[(credential.homeAccountID ?? "").normalized, default: CacheDocument()][section][key] =
          credential
      }
    }
    for (key, account) in accounts {
      parts[(account.homeAccountID ?? "").normalized, default: CacheDocument()].accounts[key] = account
    }
    if !appMetadata.isEmpty || !accountMetadata.isEmpty || !otherSections.isEmpty || !misfits.isEmpty {
      parts["", default: CacheDocument()].appMetadata = appMetadata
      parts["", default: CacheDocument()].accountMetadata = accountMetadata
      parts["", default: CacheDocument()].otherSections = otherSections
      parts["", default: CacheDocument()].misfits = misfits
    }
    return parts.sorted { $0.key < $1.key }.map { homeAccountID, document in
      (ShardID(homeAccountID: homeAccountID, group: group), document)
    }
  }

  /// The shard that all records belong to, `nil` when there are none or they do not agree.
  package func shard(in group: KeychainGroup) -> ShardID? {
    var owner: String?
    func agrees(_ homeAccountID: String?) -> Bool {
      let id = (homeAccountID ?? "").normalized
      if owner == nil { owner = id }
      return owner == id
    }
    for section in CredentialSection.allCases {
      guard self[section].values.allSatisfy({ agrees($0.homeAccountID) }) else { return nil }
    }
    guard accounts.values.allSatisfy({ agrees($0.homeAccountID) }) else { return nil }
    let hasMore =
      !appMetadata.isEmpty || !accountMetadata.isEmpty || !otherSections.isEmpty || !misfits.isEmpty
    guard !hasMore || agrees(nil) else { return nil }
    return owner.map { ShardID(homeAccountID: $0, group: group) }
  }

  /// Takes in the records of another cache, each unless a newer one for the same thing is here.
  @discardableResult
  package mutating func merge(_ other: CacheDocument, in clouds: CloudInstances) -> ImportSummary {
    var summary = ImportSummary()
    for section in CredentialSection.allCases {
      let mine = self[section]
      for (key, theirs) in other[section].sorted(by: { $0.key < $1.key }) {
        let identity = RecordIdentity(theirs, in: clouds)
        let scopes = ScopeSet(section == .accessToken ? theirs.target ?? "" : "")
        self[section].merge(theirs, key: key, of: other[section], with: mine, counting: &summary) {
          RecordIdentity($0, in: clouds) == identity
            && (section != .accessToken
              || ScopeSet($0.target ?? "") == scopes && $0.requestedClaims == theirs.requestedClaims)
        } isNewer: {
          $0.age <= $1.age
        }
      }
    }
    let (accounts, metadata, accountMetadata) = (accounts, appMetadata, accountMetadata)
    for (key, theirs) in other.accounts.sorted(by: { $0.key < $1.key }) {
      let identity = RecordIdentity(theirs, in: clouds)
      self.accounts.merge(theirs, key: key, of: other.accounts, with: accounts, counting: &summary) {
        RecordIdentity($0, in: clouds) == identity
      } isNewer: {
        ($0.lastModified ?? .distantPast) <= ($1.lastModified ?? .distantPast)
      }
    }
    for (key, theirs) in other.appMetadata.sorted(by: { $0.key < $1.key }) {
      let identity = RecordIdentity(theirs, in: clouds)
      self.appMetadata.merge(theirs, key: key, of: other.appMetadata, with: metadata, counting: &summary) {
        RecordIdentity($0, in: clouds) == identity
      } isNewer: { mine, theirs in
        theirs.familyID != nil
      }
    }
    for (key, theirs) in other.accountMetadata.sorted(by: { $0.key < $1.key }) {
      let mine = accountMetadata.sorted { $0.key < $1.key }.first {
        theirs.clientID.matches($0.value.clientID)
      }
      let theirs = mine.map { theirs.merged(with: $0.value) } ?? theirs
      self.accountMetadata.merge(
        theirs, key: key, of: other.accountMetadata, with: accountMetadata, counting: &summary
      ) {
        theirs.clientID.matches($0.clientID)
      } isNewer: { _, _ in
        true
      }
    }
    otherSections.merge(other.otherSections) { $1.merged(with: $0) }
    misfits.merge(other.misfits) { mine, theirs in theirs.merging(mine) { theirs, _ in theirs } }
    return summary
  }
}

extension Dictionary where Key == String, Value: CacheRecord {
  /// Takes in one record of a cache: under its own key if nothing stood for the same thing before, else under
  /// the key of that.
  ///
  /// MSAL for Python keeps a refresh token for each set of scopes. What such a cache keeps apart stays apart:
  /// a record of ours that has a counterpart under its own key in theirs is matched with that alone.
  fileprivate mutating func merge(
    _ theirs: Value, key: String, of other: [String: Value], with mine: [String: Value],
    counting summary: inout ImportSummary, isSame: (Value) -> Bool,
    isNewer: (_ mine: Value, _ theirs: Value) -> Bool
  ) {
    let same = mine.filter { candidate, record in
      isSame(record) && (candidate == key || !(other[candidate].map(isSame) ?? false))
    }
    guard let kept = same[key] != nil ? key : same.keys.min(), let older = self[kept] else {
      put(theirs, at: key)
      summary.saved += 1
      return
    }
    let merged = isNewer(older, theirs) ? theirs.replacing(older) : older.replacing(theirs)
    if merged == older { summary.kept += 1 } else { summary.saved += 1 }
    self[kept] = merged
  }
}

extension Credential {
  /// When the record was written, as far as it says.
  fileprivate var age: Date { lastModified ?? cachedAt ?? .distantPast }
}

extension AccountMetadata {
  /// This record with what only the other one knows, account by account.
  fileprivate func merged(with other: AccountMetadata) -> AccountMetadata {
    AccountMetadata(
      fields: JSONValue.object(fields).merged(with: .object(other.fields)).objectValue ?? fields)
  }
}

extension JSONValue {
  /// The union of two objects; of anything else the first.
  fileprivate func merged(with other: JSONValue) -> JSONValue {
    guard case .object(let mine) = self, case .object(let theirs) = other else { return self }
    return .object(mine.merging(theirs) { $0.merged(with: $1) })
  }
}
