import Synchronization

/// A store in memory, for tests and for programs that must leave nothing behind.
///
/// For example:
///
/// ```swift
/// let cache = TokenCacheAccessor(store: InMemoryStore())
/// ```
public final class InMemoryStore: CacheStore {
  private struct State {
    var groups: [KeychainGroup: [ShardID: CacheDocument]] = [:]
    var generation: UInt64 = 0

    func documents(_ shards: ShardSelection, in group: KeychainGroup) -> [ShardID: CacheDocument] {
      let documents = groups[group] ?? [:]
      switch shards {
      case .all: return documents
      case .some(let wanted):
        return wanted.reduce(into: [:]) { $0[$1] = documents[$1] }
      }
    }
  }

  private let state = Mutex(State())

  public init() {}

  public func groups() -> [KeychainGroup] {
    state.withLock { $0.groups.keys.sorted { $0.name < $1.name } }
  }

  public func read(_ shards: ShardSelection, in group: KeychainGroup) -> GroupContents {
    state.withLock { GroupContents(documents: $0.documents(shards, in: group)) }
  }

  public func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    try state.withLock { state throws(CacheError) in
      let before = state.documents(.some(shards), in: group)
      var contents = GroupContents(documents: before)
      let result = try change(&contents)
      guard contents.documents != before else { return result }
      for shard in shards { state.groups[group, default: [:]][shard] = contents.documents[shard] }
      if state.groups[group] == [:] { state.groups[group] = nil }
      state.generation += 1
      return result
    }
  }

  public func remove(_ removal: Removal, in group: KeychainGroup) -> Int {
    state.withLock { state in
      guard removal == .everything, let removed = state.groups.removeValue(forKey: group) else { return 0 }
      state.generation += 1
      return removed.count
    }
  }

  public func generation(of group: KeychainGroup) -> UInt64? { state.withLock { $0.generation } }
}
