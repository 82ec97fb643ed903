import FoundationEssentials

extension CacheDocument {
  /// Makes the union of a group's shards; of values for one thing the first counts. Nothing is lost: if two shards have
  /// different records under one key, one of them gets another key.
  package init(union shards: [CacheDocument]) {
    self.init()
    for shard in shards {
      for section in Self.recordSections { formUnion(shard, of: section) }
      otherSections.formUnion(shard.otherSections)
    }
    accountMetadata = AccountMetadata.union(of: shards.map(\.accountMetadata))
    for shard in shards { for section in Self.sections { formUnionOfMembers(shard, of: section) } }
  }

  /// Adds the members that are not objects, each under the first key, from its own, that neither a record nor another member
  /// has.
  private mutating func formUnionOfMembers(_ other: CacheDocument, of section: some CacheSection) {
    let records = self[keyPath: section.records]
    for (key, member) in (other.nonObjectMembers[section.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
      let known = nonObjectMembers[section.name] ?? [:]
      let place = records.freeKey(key) { known[$0] != nil && known[$0] != member }
      nonObjectMembers[section.name, default: [:]][place] = member
    }
  }

  private mutating func formUnion<Record>(_ other: CacheDocument, of section: some CacheSection<Record>) {
    var taken: [(key: String, record: Record)] = []
    for (key, record) in other[keyPath: section.records] {
      if self[keyPath: section.records][key] == nil {
        self[keyPath: section.records][key] = record
      } else {
        taken.append((key, record))
      }
    }
    // Last, so that none takes a key that another has.
    for (key, record) in taken.sorted(by: { $0.key < $1.key }) {
      self[keyPath: section.records].put(record, at: key)
    }
  }

  /// Splits the document into the shards of a group, the shard without an account first.
  package func split(in group: KeychainGroup) -> [(shard: ShardID, document: CacheDocument)] {
    var parts: [String: CacheDocument] = [:]
    for section in Self.recordSections { split(section, into: &parts) }
    for (key, record) in accountMetadata {
      for (owner, part) in record.parts { parts[owner, default: CacheDocument()].accountMetadata[key] = part }
    }
    if !otherSections.isEmpty || !nonObjectMembers.isEmpty {
      parts["", default: CacheDocument()].otherSections = otherSections
      parts["", default: CacheDocument()].nonObjectMembers = nonObjectMembers
    }
    return parts.sorted { $0.key < $1.key }.map { owner, document in
      (ShardID(homeAccountID: owner, group: group), document)
    }
  }

  private func split(_ section: some CacheSection, into parts: inout [String: CacheDocument]) {
    let byOwner = Dictionary(grouping: self[keyPath: section.records], by: \.value.normalizedOwner)
    for (owner, records) in byOwner {
      parts[owner, default: CacheDocument()][keyPath: section.records] = Dictionary(
        uniqueKeysWithValues: records.map { ($0.key, $0.value) })
    }
  }

  /// The shard of all records; `nil` if there is no record or they belong to several shards. Account metadata does not count,
  /// since one record may name several accounts.
  package func shard(in group: KeychainGroup) -> ShardID? {
    var owners: Set<String> = otherSections.isEmpty && nonObjectMembers.isEmpty ? [] : [""]
    for section in Self.recordSections { owners.formUnion(self.owners(in: section)) }
    return owners.count == 1 ? ShardID(homeAccountID: owners.first, group: group) : nil
  }

  private func owners(in section: some CacheSection) -> Set<String> {
    Set(self[keyPath: section.records].values.map(\.normalizedOwner))
  }

  /// Merges the records of another cache.
  ///
  /// A record for something new gets its own key, and records that `other` keeps separate stay separate. Of two records
  /// for one thing the newer stays as a whole, under the present key. Of access tokens that share a scope the newer
  /// stays as well, unless `other` has both.
  @discardableResult
  package mutating func merge(_ other: CacheDocument, in clouds: CloudInstances) -> ImportSummary {
    var other = other
    var summary = ImportSummary()
    summary.kept += removeCoveredTokens(from: &other, in: clouds)
    for section in Self.sections { merge(other, of: section, in: clouds, counting: &summary) }
    otherSections = other.otherSections.union(with: otherSections)
    return summary
  }

  private mutating func merge(
    _ other: CacheDocument, of section: some CacheSection, in clouds: CloudInstances,
    counting summary: inout ImportSummary
  ) {
    self[keyPath: section.records].merge(other[keyPath: section.records], in: clouds, counting: &summary)
    let records = self[keyPath: section.records]
    let members = other.nonObjectMembers[section.name] ?? [:]
    // A member of ours whose key a record took gets the next that none of theirs has.
    for (key, member) in (nonObjectMembers[section.name] ?? [:]).sorted(by: { $0.key < $1.key })
    where records[key] != nil {
      nonObjectMembers[section.name]?[key] = nil
      let known = nonObjectMembers[section.name] ?? [:]
      nonObjectMembers[section.name]?[records.freeKey(key) { known[$0] != nil || members[$0] != nil }] =
        member
    }
    // A member that is not an object gets the next key if a record has its own, and is recognized there again. The longer
    // keys come first, so that none takes another's key.
    for (key, member) in members.sorted(by: { $0.key > $1.key }) {
      let place = records.freeKey(key) { place in
        guard place != key, let mine = nonObjectMembers[section.name]?[place] else { return false }
        return mine != member
      }
      nonObjectMembers[section.name, default: [:]][place] = member
    }
  }

  /// A cache as another program can read it: without bound tokens, which are of no use without the key that stays in the group:
  /// MSAL for Python takes them for bearer tokens; and without tokens that were requested with claims: MSAL.NET, which does not
  /// read the claims, fails where two tokens serve one request.
  package var serialized: CacheDocument {
    var serialized = self
    serialized.accessTokens = accessTokens.filter {
      $0.value.schemeName != "pop" && $0.value.requestedClaims == nil
    }
    return serialized
  }

  /// The part of a cache that is merged into another program's: as that can read it, without the sign-in state, which it does
  /// not read, and without unknown data that other programs wrote.
  package var shared: CacheDocument {
    var shared = serialized
    shared.accountMetadata = [:]
    shared.otherSections = [:]
    shared.nonObjectMembers = [:]
    return shared
  }
}

extension CacheDocument {
  /// Removes the older ones of access tokens that share a scope. Tokens that both caches have are not compared, nor are
  /// the tokens of one cache with each other.
  ///
  /// - Returns: How many were removed from `other`.
  private mutating func removeCoveredTokens(from other: inout CacheDocument, in clouds: CloudInstances) -> Int
  {
    let mine = accessTokens(besides: other, in: clouds)
    let theirs = other.accessTokens(besides: self, in: clouds)
    // The newest first: a removed token removes no other. By scope, since comparing each with each takes hours.
    let tokens = (theirs.map { ($0, rank: 0) } + mine.map { ($0, rank: 1) }).sorted {
      ($1.0.value.age, $0.rank, $0.0.key) < ($0.0.value.age, $1.rank, $1.0.key)
    }
    var (myScopes, theirScopes, count) = (Set<SiblingScope>(), Set<SiblingScope>(), 0)
    for (entry, rank) in tokens {
      let isMine = rank == 1
      let siblings = RecordIdentity(siblingsOf: entry.value, in: clouds)
      let scopes = ScopeSet(entry.value.target ?? "").significant.map {
        SiblingScope(siblings: siblings, scope: $0)
      }
      let isCovered = !(isMine ? theirScopes : myScopes).isDisjoint(with: scopes)
      switch (isCovered, isMine) {
      case (true, true): accessTokens[entry.key] = nil
      case (true, false):
        other.accessTokens[entry.key] = nil
        count += 1
      case (false, true): myScopes.formUnion(scopes)
      case (false, false): theirScopes.formUnion(scopes)
      }
    }
    return count
  }

  /// The access tokens that have no counterpart in another cache.
  private func accessTokens(
    besides other: CacheDocument, in clouds: CloudInstances
  ) -> [String: Credential] {
    guard !accessTokens.isEmpty, !other.accessTokens.isEmpty else { return [:] }
    let theirs = Set(other.accessTokens.values.map { $0.identity(in: clouds) })
    return accessTokens.filter { !theirs.contains($0.value.identity(in: clouds)) }
  }
}

/// One of an access token's scopes.
private struct SiblingScope: Hashable {
  let siblings: RecordIdentity
  let scope: String
}

extension Dictionary where Key == String, Value: CacheRecord {
  /// Merges the records of a cache: each under its own key if no record has the same identity, else under that one's key.
  ///
  /// MSAL for Python keeps a refresh token for each set of scopes. Records that such a cache keeps separate stay separate:
  /// a record of ours that has a counterpart under its own key in theirs is matched only with that.
  fileprivate mutating func merge(
    _ other: [String: Value], in clouds: CloudInstances, counting summary: inout ImportSummary
  ) {
    // By identity, since a file from elsewhere may hold a hundred thousand records of one account.
    let mine = mapValues { $0.identity(in: clouds) }
    let theirs = other.mapValues { $0.identity(in: clouds) }
    let met = Set(theirs.values)
    // The newest: its key is another one when a record has moved, and the first key may be.
    var unpaired: [RecordIdentity: (age: Date, key: String)] = [:]
    var equals: [Value: String] = [:]
    for (key, record) in self {
      if let identity = mine[key], theirs[key] != identity, met.contains(identity) {
        let age = record.age
        let isKept = unpaired[identity].map { (age, $0.key) < ($0.age, key) } ?? false
        if !isKept { unpaired[identity] = (age, key) }
        equals[record] = equals[record].map { Swift.min($0, key) } ?? key
      }
    }
    var matches: [String: [(key: String, record: Value)]] = [:]
    var rest: [(key: String, record: Value)] = []
    for (key, record) in other {
      guard let identity = theirs[key] else { continue }
      // One that was imported before may have been given another key.
      if let match = mine[key] == identity ? key : equals[record] ?? unpaired[identity]?.key {
        matches[match, default: []].append((key, record))
      } else {
        rest.append((key, record))
      }
    }
    var shared: [RecordIdentity: [String]] = [:]
    for (key, record) in self where matches[key] == nil {
      if let identity = record.sharedIdentity(under: key, in: clouds) {
        shared[identity, default: []].append(key)
      }
    }
    for identity in shared.keys { shared[identity]?.sort() }
    var new: [(key: String, record: Value)] = []
    // Only one is imported for it, preferably one with a present key: a second import would find it no longer.
    let places = rest.map { (isNew: self[$0.key] == nil ? 1 : 0, entry: $0) }
    for (_, (key, record)) in places.sorted(by: { ($0.isNew, $0.entry.key) < ($1.isNew, $1.entry.key) }) {
      if let identity = record.sharedIdentity(under: key, in: clouds), let left = shared[identity],
        let index = left.firstIndex(of: key) ?? left.indices.first
      {
        matches[left[index], default: []].append((key, record))
        shared[identity]?.remove(at: index)
      } else {
        new.append((key, record))
      }
    }
    for (key, records) in matches {
      guard let older = self[key] else { continue }
      // The newest is merged last, so that a second import changes nothing.
      let merged = records.sorted { ($0.record.age, $0.key) < ($1.record.age, $1.key) }
        .reduce(older) { $0.merged(with: $1.record) }
      summary.kept += records.count
      if merged != older {
        self[key] = merged
        summary.saved += 1
        summary.kept -= 1
      }
    }
    for (key, record) in new.sorted(by: { $0.key < $1.key }) {
      put(record, at: key) { other[$0] != nil }
    }
    summary.saved += new.count
  }
}

extension JSONObject {
  /// The union of two objects; of two members that are not objects the first's.
  func union(with other: JSONObject) -> JSONObject {
    var union = self
    union.formUnion(other)
    return union
  }

  mutating func formUnion(_ other: JSONObject) {
    for (name, theirs) in other where self[name]?.formUnion(theirs) == nil { self[name] = theirs }
  }
}

extension JSONValue {
  fileprivate mutating func formUnion(_ other: JSONValue) {
    guard case .object(var mine) = self, case .object(let theirs) = other else { return }
    // Not copied, since it may have thousands of accounts.
    self = .null
    mine.formUnion(theirs)
    self = .object(mine)
  }
}
