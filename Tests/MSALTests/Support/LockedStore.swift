import TokenCache

/// A keyring that stays locked.
struct LockedStore: CacheStore {
  private var locked: CacheError { CacheError(.locked, "The keyring is locked.") }

  func groups() async throws(CacheError) -> [KeychainGroup] { throw locked }

  func read(_ shards: ShardSelection, in group: KeychainGroup) async throws(CacheError) -> GroupContents {
    throw locked
  }

  func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result { throw locked }

  func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int { throw locked }

  func generation(of group: KeychainGroup) -> UInt64? { nil }
}
