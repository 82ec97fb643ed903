import Synchronization
package import TokenCache

/// A store in memory that a test can lock or make to fail, and that remembers what it was asked for.
package final class ScriptedStore: CacheStore {
  private struct State {
    var refusesReads = false
    var refusesWrites = false
    var failure: CacheError?
    /// How many shards an update writes before its process is killed.
    var writesBeforeDeath: Int?
    var problems: [StoreProblem] = []
    var announcesChanges = true
    var reads = 0
    var updates: [[ShardID]] = []
  }

  private let memory = InMemoryStore()
  private let state = Mutex(State())
  package let shardsPerUpdate: Int

  package init(shardsPerUpdate: Int = 1) { self.shardsPerUpdate = shardsPerUpdate }

  /// A store that stays locked.
  package static var locked: ScriptedStore {
    let store = ScriptedStore()
    store.lock()
    return store
  }

  /// A store that has an account of the default group that cannot be read.
  package static var damaged: ScriptedStore {
    let store = ScriptedStore()
    let shard = ShardID(homeAccountID: "some.body", group: .default)
    store.report(StoreProblem(.damaged, shard: shard, detail: "Torn."))
    return store
  }

  /// Refuses changes from now on, and reads unless it stays readable.
  package func lock(isReadable: Bool = false) {
    state.withLock { ($0.refusesReads, $0.refusesWrites) = (!isReadable, true) }
  }

  /// Makes every further update fail after the change was made and before it is kept.
  package func fail(_ failure: CacheError) { state.withLock { $0.failure = failure } }

  /// Makes every further update write only so many of its shards, and fail; `nil` ends that.
  package func kill(after writes: Int?) { state.withLock { $0.writesBeforeDeath = writes } }

  /// Keeps changes to itself from now on, so that nothing of the group is kept in memory.
  package func announceNothing() { state.withLock { $0.announcesChanges = false } }

  /// Makes every further read meet a problem, and every update of a shard that it hides fail.
  package func report(_ problem: StoreProblem) { state.withLock { $0.problems = [problem] } }

  package var reads: Int { state.withLock { $0.reads } }
  package var writes: Int { updates.count }
  package var updates: [[ShardID]] { state.withLock { $0.updates } }

  private func check(_ isRefused: Bool) throws(CacheError) {
    if isRefused { throw CacheError(.locked, "The keyring is locked.") }
  }

  package func groups() throws(CacheError) -> [KeychainGroup] {
    try check(state.withLock { $0.refusesReads })
    return memory.groups()
  }

  package func read(_ shards: ShardSelection, in group: KeychainGroup) throws(CacheError) -> GroupContents {
    let (isRefused, problems) = state.withLock { state in
      state.reads += 1
      return (state.refusesReads, state.problems)
    }
    try check(isRefused)
    return GroupContents(documents: memory.read(shards, in: group).documents, problems: problems)
  }

  package func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    let state = self.state.withLock { state in
      state.updates.append(shards)
      return state
    }
    try check(state.refusesWrites)
    try GroupContents(problems: state.problems).checkReadable(shards)
    let result = try memory.update(shards, in: group) { contents throws(CacheError) in
      let before = contents.documents
      let result = try change(&contents)
      if let failure = state.failure { throw failure }
      if let writes = state.writesBeforeDeath {
        let changed = shards.filter { contents.documents[$0] != before[$0] }
        for shard in changed.dropFirst(writes) { contents.documents[shard] = before[shard] }
      }
      return result
    }
    if state.writesBeforeDeath != nil { throw CacheError(.unavailable, "Killed.") }
    return result
  }

  package func remove(_ removal: Removal, in group: KeychainGroup) throws(CacheError) -> Int {
    try check(state.withLock { $0.refusesWrites })
    return memory.remove(removal, in: group)
  }

  package func generation(of group: KeychainGroup) -> UInt64? {
    state.withLock(\.announcesChanges) ? memory.generation(of: group) : nil
  }
}
