import GLibSupport
import Synchronization
package import TokenCache

/// The one way to read and change the groups of a ``StoreBackend``.
///
/// Every call has a deadline, takes turns with other writers, begins again where the backend went away or had to be
/// unlocked, and throws ``CacheError`` and nothing else. A reader takes no lock unless what it found may be unfinished.
package final class GroupStore<Backend: StoreBackend>: Sendable {
  package typealias Job = Backend.Job
  package typealias Failure = Backend.Job.Failure
  private typealias Version = Backend.Job.Version

  package let backend: Backend
  private let writers: GroupWriters
  private let timeout: Duration
  private let reads: BlockingQueue
  private let written = Mutex<[KeychainGroup: Written]>([:])

  /// What the last commit of this process made of a group.
  private struct Written {
    let generation: UInt64
    let date = ContinuousClock.now
    let loaded: Loaded<Version>
  }

  /// - Parameters:
  ///   - backend: What keeps the groups.
  ///   - writers: The groups' locks.
  ///   - timeout: How long a call may take, waiting for a person aside.
  ///   - label: Names the thread of work that takes no lock.
  package init(_ backend: Backend, _ writers: GroupWriters, timeout: Duration, label: String) {
    self.backend = backend
    self.writers = writers
    self.timeout = timeout
    reads = BlockingQueue(label: label)
  }

  package func groups() async throws(CacheError) -> [KeychainGroup] {
    try await run { (job) throws(Failure) in try job.groups() }
  }

  package func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    let generation = writers.generation(of: group)
    let found = try await run { [writers] (job) throws(Failure) in
      let loaded = try job.load(shards, of: group, nil)
      let wasQuiet = generation != nil && generation == writers.generation(of: group)
      guard writers.isShared else { return (contents: loaded.contents, isUnfinished: false) }
      let isUnfinished = try job.mayBeUnfinished(loaded, of: shards, wasQuiet: wasQuiet)
      return (contents: loaded.contents, isUnfinished: isUnfinished)
    }
    var contents = found.contents
    // Where this process cannot take the lock, what was found is all that it can know.
    if found.isUnfinished, (try? writers.writer(of: group)) != nil {
      contents = try await writing(in: group) { (job, turn) throws(Failure) in
        try job.load(shards, of: group, turn).contents
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
    return try await writing(in: group) { [self] (job, turn) throws(Failure) -> Result<Value, CacheError> in
      let loaded = try load(shards, of: group, job, turn)
      try job.check(loaded, turn)
      let (made, encoded): (MadeChange<Value>, Job.Encoded?)
      do throws(CacheError) {
        try loaded.contents.checkReadable(shards)
        made = try last.made(from: loaded.contents, shards, change)
        let changed = shards.filter {
          made.after[$0] != loaded.contents.documents[$0] || loaded.unmerged.contains($0)
        }
        encoded =
          try changed.isEmpty
          ? nil : job.encode(changed.map { ($0, made.after[$0]) }, of: group, over: loaded)
      } catch {
        return .failure(error)
      }
      if let encoded {
        forget(group)
        let version = try job.commit(encoded, to: group, over: loaded, turn)
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
      let removed = try await writing(in: group) { [self] (job, turn) throws(Failure) in
        forget(group)
        return try job.remove(removal, from: group, turn)
      }
      count += removed.count
      if removed.isDone { return count }
    }
  }

  /// Runs blocking work that takes no lock.
  package func run<T: Sendable>(
    _ work: @escaping @Sendable (Job) throws(Failure) -> T
  ) async throws(CacheError) -> T {
    try await unlocking { () async throws(CacheError) in
      try await reads.run(timeout: timeout, onCancel: backend.cancelled, onTimeout: backend.timedOut) {
        [self] (cancellable) throws(CacheError) in
        retrying(cancellable, work)
      }
    }
  }

  /// Runs blocking work while no other writer of the group does.
  package func writing<T: Sendable>(
    in group: KeychainGroup, _ work: @escaping @Sendable (Job, Turn) throws(Failure) -> T
  ) async throws(CacheError) -> T {
    let writer = try writers.writer(of: group)
    return try await unlocking { () async throws(CacheError) in
      try await writer.write(timeout: timeout) { [self] (turn, cancellable) throws(CacheError) in
        retrying(cancellable) { (job) throws(Failure) in try work(job, turn) }
      }
    }
  }

  private func retrying<T>(
    _ cancellable: Cancellable, _ work: (Job) throws(Failure) -> T
  ) -> Result<T, Failure> {
    var retries = 0
    while true {
      do throws(Failure) {
        let job = try backend.job(cancellable)
        defer { job.end() }
        return .success(try work(job))
      } catch {
        guard backend.disposition(of: error) == .retry, retries < Backend.maximumRetries else {
          return .failure(error)
        }
        retries += 1
      }
    }
  }

  /// Runs work, and again after unlocking where its outcome says so.
  package func unlocking<T: Sendable>(
    _ work: () async throws(CacheError) -> Result<T, Failure>
  ) async throws(CacheError) -> T {
    var unlocks = 0
    while true {
      switch try await work() {
      case .success(let value): return value
      case .failure(let failure):
        guard backend.disposition(of: failure) == .unlock, unlocks < Backend.maximumUnlocks else {
          throw backend.cacheError(failure)
        }
        unlocks += 1
        try await backend.unlock(failure)
      }
    }
  }

  /// Loads shards that are to be changed; from memory where nothing was written since this process did.
  private func load(
    _ shards: [ShardID], of group: KeychainGroup, _ job: Job, _ turn: Turn
  ) throws(Failure) -> Loaded<Version> {
    do throws(Failure) {
      if let last = written.withLock({ $0[group] }), last.generation == turn.generation,
        (ContinuousClock.now - last.date) / .seconds(1) <= TokenCacheAccessor.revalidationInterval,
        shards.allSatisfy({ last.loaded.contents.documents[$0] != nil }),
        try job.isCurrent(last.loaded, shards)
      {
        let documents = last.loaded.contents.documents.filter { shards.contains($0.key) }
        return Loaded(GroupContents(documents: documents), last.loaded.version)
      }
    } catch {
      forget(group)
      throw error
    }
    return try job.load(.some(shards), of: group, turn)
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
