import FoundationEssentials

/// The shards of a group that a process has read, and the results of its lookups.
struct AccessorMemory {
  private(set) var clouds: CloudInstances
  private var generation: UInt64?
  private var readAt = Date.distantPast
  private var documents: [ShardID: CacheDocument] = [:]
  private var known: Set<ShardID> = []
  private var isComplete = false
  private var results: [TokenLookup: TokenLookupResult] = [:]
  /// Changes with whatever a lookup depends on.
  private(set) var version: UInt64 = 0

  /// How many results are remembered; when there are more, all are forgotten.
  private static let maximumResults = 20_000

  init(clouds: CloudInstances) {
    self.clouds = clouds
  }

  /// Whether the store still has what is remembered.
  func isCurrent(_ generation: UInt64, at now: Date) -> Bool {
    self.generation == generation
      && abs(now.timeIntervalSince(readAt)) <= TokenCacheAccessor.revalidationInterval
  }

  /// The shards; `nil` unless all of them are remembered.
  func contents(_ shards: ShardSelection) -> GroupContents? {
    switch shards {
    case .all:
      return isComplete ? GroupContents(documents: documents) : nil
    case .some(let wanted):
      guard isComplete || known.isSuperset(of: wanted) else { return nil }
      var contents = GroupContents()
      for shard in wanted { contents.documents[shard] = documents[shard] }
      return contents
    }
  }

  /// The result of a lookup, computed once; `nil` unless the account's shard is remembered.
  mutating func result(_ lookup: TokenLookup, in group: KeychainGroup) -> TokenLookupResult? {
    if let result = results[lookup] { return result }
    let shard = ShardID(homeAccountID: lookup.homeAccountID, group: group)
    guard let document = contents(.some([shard]))?[shard] else { return nil }
    if results.count >= Self.maximumResults { results = [:] }
    let result = TokenLookupResult(of: lookup, in: document, clouds: clouds)
    results[lookup] = result
    return result
  }

  mutating func remember(
    _ contents: GroupContents, of shards: ShardSelection, generation: UInt64, readAt: Date
  ) {
    if !isCurrent(generation, at: readAt) {
      (documents, known, isComplete) = ([:], [], false)
      (self.generation, self.readAt) = (generation, readAt)
    }
    switch shards {
    case .all:
      documents = contents.documents
      // Unreadable shards must be read again, not taken for absent.
      isComplete = contents.problems.isEmpty
      known = Set(contents.documents.keys).subtracting(contents.problems.compactMap(\.shard))
    case .some(let wanted):
      for shard in wanted { documents[shard] = contents.documents[shard] }
      known.formUnion(wanted)
    }
    // A tool that ignores the format's rules may have changed what was remembered.
    forgetResults()
  }

  mutating func insert(_ instances: [CloudInstance]) {
    for instance in instances { clouds.insert(instance) }
    forgetResults()
  }

  private mutating func forgetResults() {
    results = [:]
    version += 1
  }
}
