import TokenCache

/// A store in memory with an additional unreadable account.
struct DamagedStore: CacheStore {
  private let base = InMemoryStore()

  func groups() async throws(CacheError) -> [KeychainGroup] { base.groups() }

  func read(_ shards: ShardSelection, in group: KeychainGroup) async throws(CacheError) -> GroupContents {
    let shard = ShardID(homeAccountID: "some.body", group: group)
    return GroupContents(
      documents: base.read(shards, in: group).documents,
      problems: [StoreProblem(.damaged, shard: shard, detail: "Torn.")])
  }

  func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result { try base.update(shards, in: group, change) }

  func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    base.remove(removal, in: group)
  }

  func generation(of group: KeychainGroup) -> UInt64? { nil }
}
