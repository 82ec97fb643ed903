import Synchronization
package import TokenCache

/// What a caller's change made of some shards.
struct MadeChange<Value: Sendable>: Sendable {
  let before: [ShardID: CacheDocument]
  let after: [ShardID: CacheDocument]
  let value: Value
}

/// A caller's change, and what a call has made of it.
final class Changes<Value: Sendable>: Sendable {
  private let change: @Sendable (inout GroupContents) throws(CacheError) -> Value
  /// The change that the call has made and perhaps sent.
  private let last = Mutex<MadeChange<Value>?>(nil)

  init(_ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Value) {
    self.change = change
  }

  /// Makes the change of what was loaded, and encodes what it changes; `nil` where that is nothing.
  func encoding<Backend: StoreBackend>(
    _ loaded: Loaded<Backend.Version>, _ shards: [ShardID], of group: KeychainGroup, _ backend: Backend
  ) throws(CacheError) -> (change: MadeChange<Value>, encoded: Backend.Encoded?) {
    try loaded.contents.checkReadable(shards)
    let change = try made(from: loaded.contents, shards)
    let changed = shards.filter {
      change.after[$0] != loaded.contents.documents[$0] || loaded.unmerged.contains($0)
    }
    if changed.isEmpty { return (change, nil) }
    return (change, try backend.encode(changed.map { ($0, change.after[$0]) }, of: group, over: loaded))
  }

  /// Makes the change; the same as before where the contents are what that found or left. A backend that went away may have
  /// carried it out, in whole or in part, and it must not be made of its own result.
  private func made(from contents: GroupContents, _ shards: [ShardID]) throws(CacheError) -> MadeChange<Value>
  {
    if let last = last.withLock({ $0 }),
      shards.allSatisfy({ [last.before[$0], last.after[$0]].contains(contents.documents[$0]) })
    {
      return last
    }
    var after = contents
    let value: Value
    do {
      value = try change(&after)
    } catch {
      // It may be another store's.
      var error = error
      error.disposition = .fatal
      throw error
    }
    let made = MadeChange(before: contents.documents, after: after.documents, value: value)
    last.withLock { $0 = made }
    return made
  }

  /// Has the change made anew: the last one was certainly not carried out.
  func forget() { last.withLock { $0 = nil } }
}

/// What a call knows of its commit, from the thread that works and from the caller's task.
package final class PendingCommit: Sendable {
  private let state = Mutex((isPending: false, isUncertain: false, isGivenUp: false))

  package init() {}

  /// - Returns: False where the caller has given up. Nothing may be written then.
  package func begin() -> Bool {
    state.withLock { state in
      // What an earlier commit of the call has done was loaded since.
      state.isUncertain = false
      state.isPending = !state.isGivenUp
      return state.isPending
    }
  }

  /// Notes that the commit, if there was one, has failed. Where the backend went away, it may still have been applied.
  package func end(isUncertain: Bool) {
    state.withLock { state in
      if state.isPending && isUncertain { state.isUncertain = true }
      state.isPending = false
    }
  }

  /// The error that the caller of a failed call gets. If the commit may have been applied, it says so.
  package func explained(_ error: CacheError) -> CacheError {
    let mayBeApplied = state.withLock { state in
      state.isGivenUp = true
      return state.isPending || state.isUncertain
    }
    return mayBeApplied ? error.withUnknownOutcome : error
  }
}

extension CacheError {
  /// The error of a call whose commit was sent, where nothing says what became of it. The same if it says so already.
  package var withUnknownOutcome: CacheError {
    let warning = " The write may or may not have been applied. Check before retrying."
    if message.hasSuffix(warning) { return self }
    var error = self
    error.message += warning
    return error
  }
}
