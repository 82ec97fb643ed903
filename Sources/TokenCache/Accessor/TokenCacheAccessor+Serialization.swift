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
      let byAccount = Dictionary(grouping: self[section]) { ($0.value.homeAccountID ?? "").normalized }
      for (account, credentials) in byAccount {
        parts[account, default: CacheDocument()][section] = Dictionary(
          uniqueKeysWithValues: credentials.map { ($0.key, $0.value) })
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
      self[section].merge(other[section], counting: &summary) { credential in
        CredentialIdentity(
          record: RecordIdentity(credential, in: clouds),
          scopes: section == .accessToken ? ScopeSet(credential.target ?? "") : nil,
          requestedClaims: section == .accessToken ? credential.requestedClaims : nil)
      } isNewer: {
        $0.age <= $1.age
      }
    }
    accounts.merge(other.accounts, counting: &summary) {
      RecordIdentity($0, in: clouds)
    } isNewer: {
      ($0.lastModified ?? .distantPast) <= ($1.lastModified ?? .distantPast)
    }
    appMetadata.merge(other.appMetadata, counting: &summary) {
      RecordIdentity($0, in: clouds)
    } isNewer: { mine, theirs in
      theirs.familyID != nil
    }
    let known = Dictionary(grouping: accountMetadata.sorted { $0.key < $1.key }.map(\.value)) {
      $0.clientID?.normalized
    }
    let completed = other.accountMetadata.mapValues { theirs in
      known[theirs.clientID?.normalized]?.first.map { theirs.merged(with: $0) } ?? theirs
    }
    accountMetadata.merge(completed, counting: &summary) {
      $0.clientID?.normalized
    } isNewer: { _, _ in
      true
    }
    otherSections.merge(other.otherSections) { $1.merged(with: $0) }
    misfits.merge(other.misfits) { mine, theirs in theirs.merging(mine) { theirs, _ in theirs } }
    return summary
  }
}

/// What makes two credentials one in an import: there is one access token for each set of scopes and claims.
private struct CredentialIdentity: Hashable {
  let record: RecordIdentity
  let scopes: ScopeSet?
  let requestedClaims: String?
}

extension Dictionary where Key == String, Value: CacheRecord {
  /// Takes in the records of a cache: each under its own key if nothing stood for the same thing before, else
  /// under the key of that.
  ///
  /// MSAL for Python keeps a refresh token for each set of scopes. What such a cache keeps apart stays apart:
  /// a record of ours that has a counterpart under its own key in theirs is matched with that alone.
  fileprivate mutating func merge<Identity: Hashable>(
    _ other: [String: Value], counting summary: inout ImportSummary, identity: (Value) -> Identity,
    isNewer: (_ mine: Value, _ theirs: Value) -> Bool
  ) {
    // By identity, since a file from elsewhere may hold a hundred thousand records of one account.
    let mine = mapValues(identity)
    let identities = other.mapValues(identity)
    var unpaired: [Identity: String] = [:]
    for (key, identity) in mine where identities[key] != identity {
      unpaired[identity] = unpaired[identity].map { Swift.min($0, key) } ?? key
    }
    for (key, theirs) in other.sorted(by: { $0.key < $1.key }) {
      guard let identity = identities[key] else { continue }
      guard let kept = mine[key] == identity ? key : unpaired[identity], let older = self[kept] else {
        put(theirs, at: key)
        summary.saved += 1
        continue
      }
      let merged = isNewer(older, theirs) ? theirs.replacing(older) : older.replacing(theirs)
      if merged == older { summary.kept += 1 } else { summary.saved += 1 }
      self[kept] = merged
    }
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
