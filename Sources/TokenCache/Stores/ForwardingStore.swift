/// A store that leaves the calls that it does not have itself to another one.
package protocol ForwardingStore: CacheStore {
  var base: any CacheStore { get }
}

extension ForwardingStore {
  public func groups() async throws(CacheError) -> [KeychainGroup] { try await base.groups() }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents { try await base.read(shards, in: group) }

  public func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result { try await base.update(shards, in: group, change) }

  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    try await base.remove(removal, in: group)
  }
}
