import Synchronization
package import TokenCache

/// A store in memory that a test can lock, and that counts what it was asked for.
package final class ScriptedStore: CacheStore {
  private struct State {
    var refusesReads = false
    var refusesWrites = false
    var reads = 0
    var writes = 0
  }

  private let memory = InMemoryStore()
  private let state = Mutex(State())
  private let isDamaged: Bool

  /// - Parameter isDamaged: Whether it also has an account that cannot be read.
  package init(isDamaged: Bool = false) { self.isDamaged = isDamaged }

  /// A store that stays locked.
  package static var locked: ScriptedStore {
    let store = ScriptedStore()
    store.lock()
    return store
  }

  /// Refuses changes from now on, and reads unless it stays readable.
  package func lock(isReadable: Bool = false) {
    state.withLock { ($0.refusesReads, $0.refusesWrites) = (!isReadable, true) }
  }

  package var reads: Int { state.withLock { $0.reads } }
  package var writes: Int { state.withLock { $0.writes } }

  private func check(_ isRefused: Bool) throws(CacheError) {
    if isRefused { throw CacheError(.locked, "The keyring is locked.") }
  }

  package func groups() throws(CacheError) -> [KeychainGroup] {
    try check(state.withLock { $0.refusesReads })
    return memory.groups()
  }

  package func read(_ shards: ShardSelection, in group: KeychainGroup) throws(CacheError) -> GroupContents {
    try check(
      state.withLock { state in
        state.reads += 1
        return state.refusesReads
      })
    guard isDamaged else { return memory.read(shards, in: group) }
    let shard = ShardID(homeAccountID: "some.body", group: group)
    return GroupContents(
      documents: memory.read(shards, in: group).documents,
      problems: [StoreProblem(.damaged, shard: shard, detail: "Torn.")])
  }

  package func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    try check(
      state.withLock { state in
        state.writes += 1
        return state.refusesWrites
      })
    return try memory.update(shards, in: group, change)
  }

  package func remove(_ removal: Removal, in group: KeychainGroup) throws(CacheError) -> Int {
    try check(state.withLock { $0.refusesWrites })
    return memory.remove(removal, in: group)
  }

  package func generation(of group: KeychainGroup) -> UInt64? { memory.generation(of: group) }
}
