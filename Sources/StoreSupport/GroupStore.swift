import GLibSupport
import Synchronization
public import TokenCache

/// The one way to read and change groups, whichever backend keeps them.
///
/// Every call has a deadline, takes turns with other writers, and begins again where the backend went away, had to be unlocked
/// or was overtaken by another writer. A reader takes no lock unless what it found may be unfinished.
public final class GroupStore<Backend: StoreBackend>: CacheStore {
  private typealias Version = Backend.Version

  private let writers: GroupWriters
  /// The queues for work that takes no lock, which take turns.
  private let reads: [BlockingQueue]
  private let readCount = Atomic(0)
  private let policy: StorePolicy
  private let backend: @Sendable (StoreCall) throws(CacheError) -> Backend
  private let unlock: @Sendable (CacheError) async throws(CacheError) -> Void
  private let written = Mutex<[KeychainGroup: Written]>([:])

  /// What the last commit of this process made of a group.
  private struct Written {
    let generation: UInt64
    let date = ContinuousClock.now
    let loaded: Loaded<Version>
  }

  /// - Parameters:
  ///   - writers: The groups' locks.
  ///   - label: The name of the threads of work that takes no lock.
  ///   - policy: The timeout, and what else is the same for every call.
  ///   - backend: Makes what does the work of one call, of which it may keep the deadline. Called on a thread that may block.
  ///   - unlock: Unlocks the store after a failure with the disposition `unlock` or `unseal`.
  public init(
    _ writers: GroupWriters, label: String, _ policy: StorePolicy,
    backend: @escaping @Sendable (StoreCall) throws(CacheError) -> Backend,
    unlock: @escaping @Sendable (CacheError) async throws(CacheError) -> Void
  ) {
    self.writers = writers
    self.policy = policy
    self.backend = backend
    self.unlock = unlock
    reads = (0..<policy.concurrentReads).map { _ in BlockingQueue(label: label) }
  }

  public func groups() async throws(CacheError) -> [KeychainGroup] {
    try await reading { (backend) throws(CacheError) in try backend.groups() }
  }

  public func generation(of group: KeychainGroup) -> UInt64? { writers.generation(of: group) }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    var found = try await find(shards, in: group)
    let start = ContinuousClock.now
    var isLast = false
    // Without the lock only time shows what a writer at work has caused: it does not stay.
    while found.isUnfinished, !found.canLock, !found.contents.problems.isEmpty, !isLast {
      isLast = .now - start >= .milliseconds(500)
      // A cancelled task does not wait, and the next attempt reports that.
      try? await Task.sleep(for: .milliseconds(50))
      found = try await find(shards, in: group)
    }
    var contents = found.contents
    if found.isUnfinished, found.canLock {
      contents = try await changing(group) { (backend, turn, _) throws(CacheError) in
        try backend.load(shards, of: group, turn).contents
      }
    }
    // Such as a second copy of a shard: the next commit has to see it.
    if !contents.problems.isEmpty { forget(group) }
    return contents
  }

  /// Loads shards without the lock. Says whether a writer at work may be the reason that something is missing or wrong, and if
  /// so, whether this process can take the lock.
  private func find(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> (contents: GroupContents, isUnfinished: Bool, canLock: Bool) {
    try await reading { [writers] (backend) throws(CacheError) in
      let generation = writers.openedGeneration(of: group)
      var loaded = try backend.load(shards, of: group, nil)
      loaded.contents.generation = generation
      // A load orders what follows it: without a fence, the counter could be loaded again before the shards were read.
      atomicMemoryFence(ordering: .acquiring)
      let wasQuiet = generation != nil && generation == writers.generation(of: group)
      guard writers.isShared, try backend.mayBeUnfinished(loaded, of: shards, wasQuiet: wasQuiet) else {
        return (contents: loaded.contents, isUnfinished: false, canLock: false)
      }
      let isLockable = (try? backend.check(loaded, nil)) != nil
      let canLock = isLockable && (try? writers.writer(of: group).open()) != nil
      return (contents: loaded.contents, isUnfinished: true, canLock: canLock)
    }
  }

  /// Changes shards of a group.
  ///
  /// - Throws: `CacheError`, also that of `change`. It says so if the change may have been applied all the same.
  public func update<Value: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    // A commit writes each once.
    let shards = shards.enumerated().filter { shards.firstIndex(of: $1) == $0 }.map(\.element)
    let changes = Changes(change)
    return try await changing(group) { [self] (backend, turn, commit) throws(CacheError) in
      try update(shards, in: group, changes, commit, backend, turn)
    }
  }

  /// Makes and commits a change, until no other writer is faster.
  private func update<Value>(
    _ shards: [ShardID], in group: KeychainGroup, _ changes: Changes<Value>, _ commit: PendingCommit,
    _ backend: Backend, _ turn: Turn
  ) throws(CacheError) -> Value {
    var committed: [MadeChange<Value>] = []
    var isFirst = true
    while true {
      do throws(CacheError) {
        let loaded: Loaded<Version>
        if isFirst, let known = try backend.known(shards, of: group, lastWritten(shards, in: group, turn)) {
          loaded = known
        } else {
          loaded = try backend.load(.some(shards), of: group, turn)
        }
        try backend.check(loaded, turn)
        let made = Result<(change: MadeChange<Value>, encoded: Backend.Encoded?), CacheError>(
          calling: try changes.encoding(loaded, shards, of: group, backend))
        if case .success(let made) = made, let encoded = made.encoded {
          guard commit.begin() else { throw policy.cancelled }
          forget(group)
          committed.append(made.change)
          let version = try backend.commit(encoded, to: group, over: loaded, turn)
          remember(made.change, of: shards, in: group, version, turn)
          return made.change.value
        } else if !loaded.isAssumed {
          if !committed.isEmpty {
            _ = try backend.commit(backend.encode([], of: group, over: loaded), to: group, over: loaded, turn)
          }
          return try made.get().change.value
        }
      } catch {
        forget(group)
        switch error.disposition {
        case .conflict: commit.end(isUncertain: false)
        case .applied(let number) where committed.indices.contains(number): return committed[number].value
        default: throw error
        }
      }
      changes.forget()
      isFirst = false
    }
  }

  /// Removes items of a group as a whole, until a second look finds none.
  ///
  /// - Throws: `CacheError`. It says so if the removal may have been applied all the same, and if items are still there.
  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    var (count, looks) = (0, 0)
    while true {
      let removed = try await changing(group) { [self] (backend, turn, commit) throws(CacheError) in
        guard commit.begin() else { throw policy.cancelled }
        forget(group)
        return try backend.remove(removal, from: group, turn)
      }
      if removed.isDone {
        if removed.count == 0 { return count }
        looks += 1
        // Other programs may have written meanwhile, but hardly twice.
        guard looks < 3 else {
          throw CacheError(
            .refused, "Items of \(group.name) are still there after they were removed: \(removed.count).",
            advice: "Remove them with the store's own program.")
        }
      }
      count += removed.count
    }
  }

  /// Runs blocking work that takes no lock.
  package func reading<T: Sendable>(
    _ work: @escaping @Sendable (Backend) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await call(nil, on: nextQueue, onTimeout: policy.timedOut) { (backend, _, _) throws(CacheError) in
      try work(backend)
    }
  }

  /// Runs blocking work while no other writer of the group does, of this process or another. The timeout includes the wait for
  /// other writers.
  package func changing<T: Sendable>(
    _ group: KeychainGroup,
    _ work: @escaping @Sendable (Backend, Turn, PendingCommit) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    let writer = try writers.writer(of: group)
    return try await call(
      writer, on: writer.queue, onTimeout: writer.advising(policy.timedOut), work)
  }

  /// Runs a call on a thread that may block, with the writer's lock if there is one, and again after unlocking. The error says so
  /// if a commit may have been applied all the same.
  private func call<T: Sendable>(
    _ writer: GroupWriter?, on queue: BlockingQueue, onTimeout timedOut: CacheError,
    _ work: @escaping @Sendable (Backend, Turn, PendingCommit) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    let commit = PendingCommit()
    var unlocks = 0
    do throws(CacheError) {
      while true {
        do throws(CacheError) {
          return try await queue.run(
            timeout: policy.timeout, onCancel: policy.cancelled, onTimeout: timedOut
          ) { [self] (cancellable) throws(CacheError) in
            let turn = try writer?.lock() ?? Turn(nil)
            defer { writer?.unlock() }
            // Others may have held the lock until the caller here had given up.
            if cancellable.isPastDeadline { throw timedOut }
            if cancellable.isCancelled { throw policy.cancelled }
            return try retrying(cancellable, turn, commit, work)
          }
        } catch {
          let isSealed = if case .unseal = error.disposition { true } else { false }
          guard isSealed || error.disposition == .unlock, unlocks < policy.unlocks else { throw error }
          unlocks += 1
          try await unlock(error)
        }
      }
    } catch {
      throw commit.explained(error)
    }
  }

  /// Runs work with a backend, and again where that went away.
  private func retrying<T>(
    _ cancellable: Cancellable, _ turn: Turn, _ commit: PendingCommit,
    _ work: (Backend, Turn, PendingCommit) throws(CacheError) -> T
  ) throws(CacheError) -> T {
    var retries = 0
    while true {
      do throws(CacheError) {
        let backend = try backend(StoreCall(cancellable: cancellable))
        defer { backend.end() }
        return try work(backend, turn, commit)
      } catch {
        commit.end(isUncertain: error.leavesOutcomeOpen)
        guard error.disposition == .retry, retries < policy.retries else { throw error }
        retries += 1
      }
    }
  }

  private var nextQueue: BlockingQueue {
    let number = readCount.wrappingAdd(1, ordering: .relaxed).oldValue
    return reads[Int(number.magnitude % UInt(reads.count))]
  }

  /// What the last commit made of shards; `nil` where something was written since.
  private func lastWritten(_ shards: [ShardID], in group: KeychainGroup, _ turn: Turn) -> Loaded<Version>? {
    guard let last = written.withLock({ $0[group] }), last.generation == turn.generation,
      (ContinuousClock.now - last.date) / .seconds(1) <= TokenCacheAccessor.revalidationInterval,
      shards.allSatisfy({ last.loaded.contents.documents[$0] != nil })
    else { return nil }
    let documents = last.loaded.contents.documents.filter { shards.contains($0.key) }
    return Loaded(GroupContents(documents: documents), last.loaded.version)
  }

  private func remember<Value>(
    _ change: MadeChange<Value>, of shards: [ShardID], in group: KeychainGroup, _ version: Version?,
    _ turn: Turn
  ) {
    // What other processes change is not seen where they use other locks.
    guard writers.isShared, let version, let generation = turn.generation else { return }
    let contents = GroupContents(documents: change.after.filter { shards.contains($0.key) })
    written.withLock { $0[group] = Written(generation: generation, loaded: Loaded(contents, version)) }
  }

  private func forget(_ group: KeychainGroup) { written.withLock { $0[group] = nil } }
}
