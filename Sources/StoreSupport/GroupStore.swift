package import GLibSupport
import Synchronization
package import TokenCache

/// The one way to read and change groups, whichever backend keeps them.
///
/// Every call has a deadline, takes turns with other writers, begins again where the backend went away or had to be
/// unlocked, and throws ``CacheError`` and nothing else. A reader takes no lock unless what it found may be unfinished.
package final class GroupStore<Backend: StoreBackend>: Sendable {
  package typealias Failure = Backend.Failure
  private typealias Version = Backend.Version

  private let writers: GroupWriters
  private let reads: BlockingQueue
  private let timeout: Duration
  private let (cancelled, timedOut): (CacheError, CacheError)
  private let (retries, unlocks): (Int, Int)
  private let backend: @Sendable (Cancellable) throws(Failure) -> Backend
  private let cacheError: @Sendable (Failure) -> CacheError
  private let unlock: @Sendable (Failure) async throws(CacheError) -> Void
  private let written = Mutex<[KeychainGroup: Written]>([:])

  /// What the last commit of this process made of a group.
  private struct Written {
    let generation: UInt64
    let date = ContinuousClock.now
    let loaded: Loaded<Version>
  }

  /// - Parameters:
  ///   - writers: The groups' locks.
  ///   - label: Names the thread of work that takes no lock.
  ///   - timeout: How long a call may take, waiting for a person aside.
  ///   - cancelled: Thrown when the task is cancelled.
  ///   - timedOut: Thrown when work that takes no lock is too slow.
  ///   - retries: How often a call begins again where the backend went away.
  ///   - unlocks: How often a call begins again after unlocking.
  ///   - backend: Makes what does the work of one call.
  ///   - cacheError: What a failure is to the store's users.
  ///   - unlock: Unlocks what a failure says is locked.
  package init(
    _ writers: GroupWriters, label: String, timeout: Duration, cancelled: CacheError, timedOut: CacheError,
    retries: Int, unlocks: Int,
    backend: @escaping @Sendable (Cancellable) throws(Failure) -> Backend,
    cacheError: @escaping @Sendable (Failure) -> CacheError,
    unlock: @escaping @Sendable (Failure) async throws(CacheError) -> Void
  ) {
    self.writers = writers
    self.timeout = timeout
    (self.cancelled, self.timedOut) = (cancelled, timedOut)
    (self.retries, self.unlocks) = (retries, unlocks)
    self.backend = backend
    self.cacheError = cacheError
    self.unlock = unlock
    reads = BlockingQueue(label: label)
  }

  package func groups() async throws(CacheError) -> [KeychainGroup] {
    try await run { (backend) throws(Failure) in try backend.groups() }
  }

  package func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    let generation = writers.generation(of: group)
    let found = try await run { [writers] (backend) throws(Failure) in
      let loaded = try backend.load(shards, of: group, nil)
      let wasQuiet = generation != nil && generation == writers.generation(of: group)
      guard writers.isShared else { return (contents: loaded.contents, isUnfinished: false) }
      let isUnfinished = try backend.mayBeUnfinished(loaded, of: shards, wasQuiet: wasQuiet)
      return (contents: loaded.contents, isUnfinished: isUnfinished)
    }
    var contents = found.contents
    // Where this process cannot take the lock, what was found is all that it can know.
    if found.isUnfinished, (try? writers.writer(of: group)) != nil {
      contents = try await writing(in: group) { (backend, turn) throws(Failure) in
        try backend.load(shards, of: group, turn).contents
      }
    }
    // Such as a second copy of a shard: the next commit has to see it.
    if !contents.problems.isEmpty { forget(group) }
    return contents
  }

  package func update<Value: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    let last = LastChange<Value>()
    return try await writing(in: group) {
      [self] (backend, turn) throws(Failure) -> Result<Value, CacheError> in
      let loaded = try load(shards, of: group, backend, turn)
      try backend.check(loaded, turn)
      let (made, encoded): (MadeChange<Value>, Backend.Encoded?)
      do throws(CacheError) {
        try loaded.contents.checkReadable(shards)
        made = try last.made(from: loaded.contents, shards, change)
        let changed = shards.filter {
          made.after[$0] != loaded.contents.documents[$0] || loaded.unmerged.contains($0)
        }
        encoded =
          try changed.isEmpty
          ? nil : backend.encode(changed.map { ($0, made.after[$0]) }, of: group, over: loaded)
      } catch {
        return .failure(error)
      }
      if let encoded {
        forget(group)
        let version = try backend.commit(encoded, to: group, over: loaded, turn)
        if let version, let generation = turn.generation {
          let contents = GroupContents(documents: made.after.filter { shards.contains($0.key) })
          written.withLock { $0[group] = Written(generation: generation, loaded: Loaded(contents, version)) }
        }
      }
      return .success(made.value)
    }.get()
  }

  package func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    var count = 0
    while true {
      let removed = try await writing(in: group) { [self] (backend, turn) throws(Failure) in
        forget(group)
        return try backend.remove(removal, from: group, turn)
      }
      count += removed.count
      if removed.isDone { return count }
    }
  }

  /// Runs blocking work that takes no lock.
  package func run<T: Sendable>(
    _ work: @escaping @Sendable (Backend) throws(Failure) -> T
  ) async throws(CacheError) -> T {
    try await unlocking { () async throws(CacheError) in
      try await reads.run(timeout: timeout, onCancel: cancelled, onTimeout: timedOut) {
        [self] (cancellable) throws(CacheError) in
        retrying(cancellable, work)
      }
    }
  }

  /// Runs blocking work while no other writer of the group does.
  package func writing<T: Sendable>(
    in group: KeychainGroup, _ work: @escaping @Sendable (Backend, Turn) throws(Failure) -> T
  ) async throws(CacheError) -> T {
    let writer = try writers.writer(of: group)
    return try await unlocking { () async throws(CacheError) in
      try await writer.write(timeout: timeout) { [self] (turn, cancellable) throws(CacheError) in
        retrying(cancellable) { (backend) throws(Failure) in try work(backend, turn) }
      }
    }
  }

  private func retrying<T>(
    _ cancellable: Cancellable, _ work: (Backend) throws(Failure) -> T
  ) -> Result<T, Failure> {
    var retries = 0
    while true {
      do throws(Failure) {
        let backend = try backend(cancellable)
        defer { backend.end() }
        return .success(try work(backend))
      } catch {
        guard error.disposition == .retry, retries < self.retries else { return .failure(error) }
        retries += 1
      }
    }
  }

  /// Runs work, and again after unlocking where its outcome says so.
  private func unlocking<T: Sendable>(
    _ work: () async throws(CacheError) -> Result<T, Failure>
  ) async throws(CacheError) -> T {
    var unlocks = 0
    while true {
      switch try await work() {
      case .success(let value): return value
      case .failure(let failure):
        guard failure.disposition == .unlock, unlocks < self.unlocks else { throw cacheError(failure) }
        unlocks += 1
        try await unlock(failure)
      }
    }
  }

  /// Loads shards that are to be changed; from memory where nothing was written since this process did.
  private func load(
    _ shards: [ShardID], of group: KeychainGroup, _ backend: Backend, _ turn: Turn
  ) throws(Failure) -> Loaded<Version> {
    do throws(Failure) {
      if let last = written.withLock({ $0[group] }), last.generation == turn.generation,
        (ContinuousClock.now - last.date) / .seconds(1) <= TokenCacheAccessor.revalidationInterval,
        shards.allSatisfy({ last.loaded.contents.documents[$0] != nil }),
        try backend.isCurrent(last.loaded, shards)
      {
        let documents = last.loaded.contents.documents.filter { shards.contains($0.key) }
        return Loaded(GroupContents(documents: documents), last.loaded.version)
      }
    } catch {
      forget(group)
      throw error
    }
    return try backend.load(.some(shards), of: group, turn)
  }

  private func forget(_ group: KeychainGroup) { written.withLock { $0[group] = nil } }
}

/// What a caller's change made of some shards.
private struct MadeChange<Value: Sendable>: Sendable {
  let before: [ShardID: CacheDocument]
  let after: [ShardID: CacheDocument]
  let value: Value
}

/// The change that a call has made and perhaps sent. A backend that goes away may have carried it out, in whole or in
/// part, so that the caller's change must not be made of its own result.
private final class LastChange<Value: Sendable>: Sendable {
  private let last = Mutex<MadeChange<Value>?>(nil)

  /// Makes a change of contents; the same as before where they are what that found or left.
  func made(
    from contents: GroupContents, _ shards: [ShardID],
    _ change: (inout GroupContents) throws(CacheError) -> Value
  ) throws(CacheError) -> MadeChange<Value> {
    if let last = last.withLock({ $0 }),
      shards.allSatisfy({ [last.before[$0], last.after[$0]].contains(contents.documents[$0]) })
    {
      return last
    }
    var after = contents
    let value = try change(&after)
    let made = MadeChange(before: contents.documents, after: after.documents, value: value)
    last.withLock { $0 = made }
    return made
  }
}
