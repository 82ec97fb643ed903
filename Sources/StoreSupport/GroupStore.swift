import GLibSupport
import Synchronization
public import TokenCache

/// The one way to read and change groups, whichever backend keeps them.
///
/// Every call has a deadline, takes turns with other writers, begins again where the backend went away, had to be unlocked
/// or was overtaken by another writer, and throws `CacheError` and nothing else. A reader takes no lock unless what it
/// found may be unfinished. A `CacheStore` has one, and forwards its calls.
public final class GroupStore<Backend: StoreBackend>: Sendable {
  public typealias Failure = Backend.Failure
  private typealias Version = Backend.Version

  private let writers: GroupWriters
  /// The queues for work that takes no lock, which take turns.
  private let reads: [BlockingQueue]
  private let readCount = Atomic(0)
  private let timeout: Duration
  private let backend: @Sendable (StoreCall) throws(Failure) -> Backend
  private let cacheError: @Sendable (Failure) -> CacheError
  private let unlock: @Sendable (Failure) async throws(CacheError) -> Void
  private let written = Mutex<[KeychainGroup: Written]>([:])

  /// What the last commit of this process made of a group.
  private struct Written {
    let generation: UInt64
    let date = ContinuousClock.now
    let loaded: Loaded<Version>
  }

  /// Makes what the calls of a store go through.
  ///
  /// - Parameters:
  ///   - writers: The groups' locks.
  ///   - label: The name of the threads of work that takes no lock.
  ///   - timeout: How long a call may take, without the user's answer.
  ///   - concurrentReads: How many calls may do such work at once, each on a thread (default: 1).
  ///   - backend: Makes what does the work of one call, of which it may keep the deadline. Called on a thread that may block.
  ///   - cacheError: The error that the store's users get for a failure.
  ///   - unlock: Unlocks the store after a failure with the disposition ``Disposition/unlock``.
  public init(
    _ writers: GroupWriters, label: String, timeout: Duration, concurrentReads: Int = 1,
    backend: @escaping @Sendable (StoreCall) throws(Failure) -> Backend,
    cacheError: @escaping @Sendable (Failure) -> CacheError,
    unlock: @escaping @Sendable (Failure) async throws(CacheError) -> Void
  ) {
    self.writers = writers
    self.timeout = timeout
    self.backend = backend
    self.cacheError = cacheError
    self.unlock = unlock
    reads = (0..<concurrentReads).map { _ in BlockingQueue(label: label) }
  }

  /// Lists the groups that are not empty, as `CacheStore.groups()` does.
  public func groups() async throws(CacheError) -> [KeychainGroup] {
    try await run { (backend) throws(Failure) in try backend.groups() }
  }

  /// Reads shards of a group, as `CacheStore.read(_:in:)` does.
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
      contents = try await writing(in: group) { (backend, turn, _) throws(Failure) in
        .success(try backend.load(shards, of: group, turn).contents)
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
    try await run { [writers] (backend) throws(Failure) in
      let generation = writers.openedGeneration(of: group)
      var loaded = try backend.load(shards, of: group, nil)
      loaded.contents.generation = generation
      // A load orders what follows it: without a fence, the counter could be loaded again before the shards were read.
      atomicMemoryFence(ordering: .acquiring)
      let wasQuiet = generation != nil && generation == writers.generation(of: group)
      guard writers.isShared, try backend.mayBeUnfinished(loaded, of: shards, wasQuiet: wasQuiet) else {
        return (contents: loaded.contents, isUnfinished: false, canLock: false)
      }
      let isLockable = (try? backend.checkLocks()) != nil
      let canLock = isLockable && (try? writers.writer(of: group).open()) != nil
      return (contents: loaded.contents, isUnfinished: true, canLock: canLock)
    }
  }

  /// Changes shards of a group, as `CacheStore.update(_:in:_:)` does.
  ///
  /// - Throws: `CacheError`, also that of `change`. It says so if the change may have been applied all the same.
  public func update<Value: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    // A commit writes each once.
    let shards = shards.enumerated().filter { shards.firstIndex(of: $1) == $0 }.map(\.element)
    let changes = Changes(change)
    return try await writing(in: group) { [self] (backend, turn, commit) throws(Failure) in
      try update(shards, in: group, changes, commit, backend, turn)
    }
  }

  /// Makes and commits a change, until no other writer is faster.
  private func update<Value>(
    _ shards: [ShardID], in group: KeychainGroup, _ changes: Changes<Value>, _ commit: PendingCommit,
    _ backend: Backend, _ turn: Turn
  ) throws(Failure) -> Result<Value, CacheError> {
    var committed: [MadeChange<Value>] = []
    var assumed = backend.assumed(shards, of: group)
    while true {
      do throws(Failure) {
        let loaded: Loaded<Version>
        if let assumed {
          loaded = assumed
        } else if let last = lastWritten(shards, in: group, turn), try backend.isCurrent(last, shards) {
          loaded = last
        } else {
          loaded = try backend.load(.some(shards), of: group, turn)
        }
        try backend.check(loaded, turn)
        let made = changes.encoding(loaded, shards, of: group, backend)
        if case .success(let made) = made, let encoded = made.encoded {
          guard commit.begin() else { return .failure(Backend.cancelled) }
          forget(group)
          committed.append(made.change)
          let version = try backend.commit(encoded, to: group, over: loaded, turn)
          remember(made.change, of: shards, in: group, version, turn)
          return .success(made.change.value)
        } else if assumed == nil {
          try backend.fencePendingCommits()
          return made.map(\.change.value)
        }
      } catch {
        forget(group)
        switch error.disposition {
        case .conflict: commit.end(isUncertain: false)
        case .applied(let number) where committed.indices.contains(number):
          return .success(committed[number].value)
        default: throw error
        }
      }
      changes.forget()
      assumed = nil
    }
  }

  /// Removes items of a group as a whole, as `CacheStore.remove(_:in:)` does, until a second look finds none.
  ///
  /// - Throws: `CacheError`. It says so if the removal may have been applied all the same, and if items are still there.
  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    var (count, looks) = (0, 0)
    while true {
      let removed: (count: Int, isDone: Bool) = try await writing(in: group) {
        [self] (backend, turn, commit) throws(Failure) in
        guard commit.begin() else { return .failure(Backend.cancelled) }
        forget(group)
        return .success(try backend.remove(removal, from: group, turn))
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
  package func run<T: Sendable>(
    _ work: @escaping @Sendable (Backend) throws(Failure) -> T
  ) async throws(CacheError) -> T {
    try await writing(in: nil) { (backend, _, _) throws(Failure) in .success(try work(backend)) }
  }

  /// Runs blocking work while no other writer of the group does, of this process or another; with `nil`, without a lock.
  /// It begins again where the backend went away, and after unlocking. The timeout includes the wait for other writers. The
  /// error says so if a commit may have been applied all the same.
  package func writing<T: Sendable>(
    in group: KeychainGroup?,
    _ work: @escaping @Sendable (Backend, Turn, PendingCommit) throws(Failure) -> Result<T, CacheError>
  ) async throws(CacheError) -> T {
    let writer = try group.map { (group) throws(CacheError) in try writers.writer(of: group) }
    let timedOut = writer?.advising(Backend.timedOut) ?? Backend.timedOut
    let commit = PendingCommit()
    var unlocks = 0
    do throws(CacheError) {
      while true {
        let call = BoundedCall<Result<Result<T, CacheError>, Failure>, CacheError>(
          timeout: timeout, onCancel: Backend.cancelled, onTimeout: timedOut)
        let outcome = try await call.run { [self] call in
          (writer?.queue ?? nextQueue).add { [self] in
            // Work that had not begun when its caller gave up never begins.
            if call.isFinished { return }
            call.finish(
              Result { () throws(CacheError) in
                let turn = try writer?.lock() ?? Turn(nil)
                defer { writer?.unlock() }
                // Others may have held the lock until the caller here had given up.
                if call.cancellable.isPastDeadline { throw timedOut }
                if call.cancellable.isCancelled { throw Backend.cancelled }
                var retries = 0
                while true {
                  do throws(Failure) {
                    let backend = try backend(StoreCall(cancellable: call.cancellable))
                    defer { backend.end() }
                    return .success(try work(backend, turn, commit))
                  } catch {
                    commit.end(isUncertain: error.leavesOutcomeOpen)
                    guard error.meansRetry, retries < Backend.retries else { return .failure(error) }
                    retries += 1
                  }
                }
              })
          }
        }
        switch outcome {
        case .success(let result): return try result.get()
        case .failure(let failure):
          guard case .unlock = failure.disposition, unlocks < Backend.unlocks else {
            throw cacheError(failure)
          }
          unlocks += 1
          try await unlock(failure)
        }
      }
    } catch {
      throw commit.explained(error)
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
