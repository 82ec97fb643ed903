import Dispatch
import GLibSupport
import Sealing
import StoreSupport
import Synchronization
import TokenCache

/// etcd while one blocking call works on it: loads, commits and removes the shards of groups.
///
/// Every commit is one transaction that expects this writer's own value as it was, and puts the commit's id there. So of all
/// that this writer sends, in whatever order and however often it arrives, one commit can be applied; the value says which;
/// and that is known whatever others have written since.
final class EtcdBackend: StoreBackend {
  /// How much earlier than their caller's deadline requests end, so that their own error says what became of them.
  static let margin = Duration.seconds(1)
  static let cancelled = EtcdFailure(cause: .cancelled).cacheError
  static let timedOut = EtcdFailure(cause: .timedOut([])).cacheError
  /// How often others may be faster.
  private static let maximumConflicts = 200
  /// How many values are removed in one transaction.
  private static let removalStep = 50
  /// How much a page is to hold, in bytes; etcd gives no more than four times that.
  private static let pageSize = 1 << 20
  private static let maximumPageCount = 1000
  private static let maximumPartCount = 4096

  let names: EtcdNames
  private let access: EtcdAccess
  private let cancellable: Cancellable
  /// The commits of this call, perhaps sent.
  private var sent: [(id: [UInt8], write: EtcdWrite)] = []
  /// What was loaded last.
  private var snapshot: EtcdSnapshot?
  private var conflicts = 0

  init(_ access: EtcdAccess, _ cancellable: Cancellable) {
    (self.access, self.cancellable) = (access, cancellable)
    names = access.names
  }

  func groups() throws(CacheError) -> [KeychainGroup] {
    Set(try shards(in: names.all).map(\.group)).sorted { $0.name < $1.name }
  }

  func load(
    _ shards: ShardSelection, of group: KeychainGroup, _ turn: Turn?
  ) throws(CacheError) -> Loaded<EtcdSnapshot> {
    var snapshot = try read(shards, of: group)
    do throws(CacheError) {
      if let keys = snapshot.keys, access.keys.areInFile { try unseal(keys) }
      try snapshot.open(access.keys, isWriting: turn != nil)
    } catch {
      try fencePendingCommits()
      throw error
    }
    return Loaded(snapshot.contents, snapshot)
  }

  private func read(_ shards: ShardSelection, of group: KeychainGroup) throws(CacheError) -> EtcdSnapshot {
    let snapshot = try EtcdSnapshot(shards, of: access.known(group), self)
    self.snapshot = snapshot
    try checkApplied(snapshot.writer, snapshot)
    return snapshot
  }

  func known(
    _ shards: [ShardID], of group: KeychainGroup, _ last: Loaded<EtcdSnapshot>?
  ) -> Loaded<EtcdSnapshot>? {
    guard var snapshot = EtcdSnapshot(remembered: shards, of: access.known(group), names),
      (try? snapshot.open(access.keys, isWriting: true)) != nil
    else { return nil }
    return Loaded(snapshot.contents, snapshot, isAssumed: true)
  }

  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], of group: KeychainGroup,
    over loaded: Loaded<EtcdSnapshot>
  ) throws(CacheError) -> EtcdWrite { try loaded.version.write(changes) }

  func commit(
    _ write: EtcdWrite, to group: KeychainGroup, over loaded: Loaded<EtcdSnapshot>, _ turn: Turn
  ) throws(CacheError) -> EtcdSnapshot? {
    if write.written.isEmpty { try fencePendingCommits() } else { try commit(write, over: loaded.version) }
    return nil
  }

  private func commit(_ write: EtcdWrite, over snapshot: EtcdSnapshot) throws(CacheError) {
    let (group, id) = (snapshot.group, randomBytes(16))
    let lease = try lease(of: group)
    let outcome: EtcdOutcome
    defer { sent.append((id, write)) }
    do throws(CacheError) {
      outcome = try transaction(
        if: [EtcdCondition(key: group.writer, modRevision: snapshot.writer?.modRevision ?? 0)]
          + write.conditions,
        EtcdOperation.grouped(write.operations + [.put(names.stamp(of: group.group), id)])
          + [.put(group.writer, id, lease: lease)],
        otherwise: [.get(group.writer)], isCommit: true)
    } catch  where (error.underlyingError as? EtcdFailure)?.isLeaseNotFound == true {
      // As after a backup was restored.
      group.lease = nil
      throw try conflict(over: snapshot)
    }
    if outcome.succeeded {
      group.note(write, at: outcome.revision, snapshot.keys)
    } else if let writer = outcome.values[0], writer.value == id {
      // Another copy of the request was the first.
      group.note(write, at: writer.modRevision, snapshot.keys)
    } else {
      throw try conflict(over: snapshot)
    }
  }

  /// Pauses after another writer was faster, unless it was only assumed that none was.
  private func conflict(over snapshot: EtcdSnapshot) throws(CacheError) -> CacheError {
    if snapshot.isAssumed { return Self.overtaken(.conflict) }
    conflicts += 1
    guard conflicts < Self.maximumConflicts else { throw Self.overtaken(.fatal).withUnknownOutcome }
    let pause = min(Duration.milliseconds(1 << min(conflicts, 7)), .milliseconds(100))
    try waiting { () async throws(EtcdFailure) in
      try await EtcdClient.pause(for: pause * Double.random(in: 0.5...1.5))
    }
    return Self.overtaken(.conflict)
  }

  private static func overtaken(_ disposition: CacheError.Disposition) -> CacheError {
    CacheError(
      .timedOut, "Other writers changed the same accounts again and again.", advice: "Try again.",
      disposition: disposition)
  }

  /// Throws where this writer's value is that of a commit that was sent.
  private func checkApplied(_ writer: EtcdValue?, _ snapshot: EtcdSnapshot) throws(CacheError) {
    guard let writer, let number = sent.firstIndex(where: { $0.id == writer.value }) else { return }
    snapshot.group.note(sent[number].write, at: writer.modRevision, snapshot.keys)
    throw Self.overtaken(.applied(number))
  }

  /// Returns when none of the call's commits can be applied any more.
  private func fencePendingCommits() throws(CacheError) {
    guard !sent.isEmpty, let snapshot else { return }
    let writer = snapshot.group.writer
    let outcome = try transaction(
      if: [EtcdCondition(key: writer, modRevision: snapshot.writer?.modRevision ?? 0)],
      [.put(writer, randomBytes(16), lease: lease(of: snapshot.group))], otherwise: [.get(writer)])
    if !outcome.succeeded { try checkApplied(outcome.values[0], snapshot) }
  }

  private func lease(of group: EtcdGroup) throws(CacheError) -> Int64 {
    if let lease = group.lease { return lease }
    let lease = try waiting { [client = access.client, deadline] () async throws(EtcdFailure) in
      try await client.lease(seconds: EtcdGroup.leaseSeconds, until: deadline)
    }
    group.lease = lease
    return lease
  }

  func remove(
    _ removal: Removal, from group: KeychainGroup, _ turn: Turn
  ) throws(CacheError) -> (count: Int, isDone: Bool) {
    while true {
      do throws(CacheError) {
        let (shards, isDone) = try removable(removal, from: group)
        guard !shards.isEmpty, let snapshot else {
          try fencePendingCommits()
          return (0, isDone)
        }
        try commit(EtcdWrite(removing: shards, of: group, names), over: snapshot)
        return (shards.count, isDone)
      } catch {
        switch error.disposition {
        case .conflict: break
        case .applied(let number): return (sent[number].write.written.count, false)
        default: throw error
        }
      }
    }
  }

  /// Some of the shards that a removal is about, and whether these are the last.
  private func removable(
    _ removal: Removal, from group: KeychainGroup
  ) throws(CacheError) -> ([EtcdWrite.Removable], isDone: Bool) {
    var shards: [EtcdWrite.Removable] = []
    if removal == .everything {
      _ = try read(.some([]), of: group)
      // Of a large group only the first keys: etcd reads the values for each that it lists.
      var rest: EtcdRange? = names.group(group)
      while let range = rest, shards.count <= Self.removalStep {
        let page = try page(of: range, limit: Self.removalStep + 1)
        for value in page.values {
          if case .shard(let id, _) = names.part(value.key) { shards.append((id, value.modRevision)) }
        }
        rest = page.hasMore ? page.values.last.map { range.after($0.key) } : nil
      }
    } else {
      shards = try load(.all, of: group, nil).version.removable
    }
    return (Array(shards.prefix(Self.removalStep)), shards.count <= Self.removalStep)
  }
}

extension EtcdBackend {
  private var deadline: ContinuousClock.Instant {
    min(cancellable.deadline - Self.margin, .now + access.timeout)
  }

  /// Carries operations out where all conditions hold, and others where not.
  func transaction(
    if conditions: [EtcdCondition] = [], _ operations: [EtcdOperation], otherwise: [EtcdOperation] = [],
    isCommit: Bool = false
  ) throws(CacheError) -> EtcdOutcome {
    try waiting(isCommit: isCommit) { [client = access.client, deadline] () async throws(EtcdFailure) in
      try await client.transaction(if: conditions, operations, otherwise: otherwise, until: deadline)
    }
  }

  /// The first values of a range, in the order of their keys: at a revision, or the keys alone as they are now.
  func page(of range: EtcdRange, at revision: Int64? = nil, limit: Int) throws(CacheError) -> EtcdPage {
    try waiting { [client = access.client, deadline] () async throws(EtcdFailure) in
      try await client.page(of: range, at: revision, limit: limit, until: deadline)
    }
  }

  /// All values of a range: at a revision, or the keys alone as they are now.
  func values(in range: EtcdRange, at revision: Int64? = nil) throws(CacheError) -> [EtcdValue] {
    var values: [EtcdValue] = []
    // What is left, the next part last.
    var parts = [range]
    var limit = revision == nil ? Self.maximumPageCount : 64
    while let part = parts.popLast() {
      let page: EtcdPage
      do throws(CacheError) {
        page = try self.page(of: part, at: revision, limit: limit)
      } catch  where error.isTooLargeForEtcd && limit > 1 {
        limit /= 2
        parts.append(part)
        continue
      }
      values += page.values
      guard page.hasMore, let last = page.values.last else { continue }
      let size = page.values.reduce(0) { $0 + $1.value.count + $1.key.count + 64 }
      limit = min(max(Self.pageSize * page.values.count / size, 1), Self.maximumPageCount)
      // Parts that fit a page: for each page, etcd counts all keys of the range that it is a page of.
      let rest = part.after(last.key)
      let number = (page.count - page.values.count) * 5 / 4 / limit + 1
      parts += rest.split(into: min(number, Self.maximumPartCount)).reversed()
    }
    return values
  }

  private func shards(
    in range: EtcdRange
  ) throws(CacheError) -> [(id: ShardID, group: KeychainGroup, modRevision: Int64)] {
    try values(in: range).compactMap { value in
      if case .shard(let id, let group) = names.part(value.key) {
        (id, group, value.modRevision)
      } else {
        nil
      }
    }
  }

  /// Waits for requests. With a commit pending, their failure leaves its outcome unknown.
  private func waiting<T: Sendable>(
    isCommit: Bool = false, _ work: @escaping @Sendable () async throws(EtcdFailure) -> T
  ) throws(CacheError) -> T {
    do {
      return try EtcdStore.waiting(cancellable, work)
    } catch var error {
      if !isCommit && !sent.isEmpty { error.outcomeIsUnknown = true }
      throw error.cacheError
    }
  }
}

/// Waits for asynchronous work on a thread that may block, and runs it there. The work is cancelled with the call.
func waiting<T: Sendable>(
  _ cancellable: Cancellable, _ work: @escaping @Sendable () async throws(EtcdFailure) -> T
) throws(EtcdFailure) -> T {
  let thread = WaitingThread()
  let outcome = Mutex<Result<T, EtcdFailure>?>(nil)
  let task = Task(executorPreference: thread) {
    let result: Result<T, EtcdFailure>
    do throws(EtcdFailure) {
      result = .success(try await work())
    } catch {
      result = .failure(error)
    }
    outcome.withLock { $0 = result }
  }
  var isWaiting = true
  while true {
    thread.runJobs()
    if let result = outcome.withLock({ $0 }) {
      do throws(EtcdFailure) {
        return try result.get()
      } catch {
        // On a busy machine a request may end after the deadline, by which the work is cancelled.
        guard case .cancelled = error.cause, cancellable.isPastDeadline else { throw error }
        throw EtcdFailure(cause: .timedOut([]), outcomeIsUnknown: error.outcomeIsUnknown)
      }
    }
    if !isWaiting {
      thread.hasJobs.wait()
    } else if !cancellable.wait(for: thread.hasJobs) {
      isWaiting = false
      task.cancel()
    }
  }
}

/// The thread that waits for a task, which runs on it: two changes between threads fewer for each request.
private final class WaitingThread: TaskExecutor {
  let hasJobs = DispatchSemaphore(value: 0)
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    hasJobs.signal()
  }

  func runJobs() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

extension EtcdBackend {
  private static let withoutKeys =
    "Restore it from a backup of the whole store, or choose another prefix and sign in again."

  static func keysAreGone(_ names: EtcdNames) -> CacheError {
    CacheError(
      .damaged, "etcd's value \(names.keys) is gone; without it the store's others cannot be opened.",
      advice: withoutKeys, underlyingError: SealError.missing)
  }

  /// Whether there is a store, whose keys are unsealed.
  func open(makingStore: Bool) throws(CacheError) -> Bool {
    let value = try keysValue()
    if value != nil || makingStore { _ = try access.keys.keys(in: value?.value) }
    return value != nil
  }

  /// Unseals the keys; `makingStore` says whether a missing store is made.
  func unseal(makingStore: Bool) throws(CacheError) {
    if let value = try keysValue() { return try unseal(value) }
    guard makingStore, try isEmpty() else { return }
    // Where another machine was faster, its keys are there, and are unsealed next.
    _ = try put(access.keys.make(cancellable), inPlaceOf: nil)
  }

  private func unseal(_ value: EtcdValue) throws(CacheError) {
    try access.keys.unseal(
      value.value, called: "etcd's value \(names.keys)", advice: Self.withoutKeys, cancellable)
  }

  /// Gives the store new keys, and seals every shard with them.
  func change(to source: KeySource?, _ pending: PendingCommit) throws(CacheError) -> RekeySummary {
    guard var present = try keysValue() else {
      _ = try isEmpty()
      return RekeySummary()
    }
    return try access.keys.change(present.value, to: source, cancellable, pending) {
      (sealed) throws(CacheError) in
      present = try put(sealed, inPlaceOf: present)
    } resealing: { (keys, summary) throws(CacheError) in
      for shard in try shards(in: names.all) {
        try reseal(shard.id, of: shard.group, keys, present, &summary)
      }
    }
  }

  /// Whether a store without keys does not exist yet. Another machine may have made it meanwhile; its keys were there
  /// before its shards.
  ///
  /// - Throws: ``CacheError/Code/damaged`` where there are shards that keys which are gone would open.
  private func isEmpty() throws(CacheError) -> Bool {
    if try groups().isEmpty { return true }
    guard try keysValue() != nil else { throw Self.keysAreGone(names) }
    return false
  }

  /// The data keys, sealed; `nil` where there is no store.
  private func keysValue() throws(CacheError) -> EtcdValue? {
    try transaction([.get(names.keys)]).values[0]
  }

  /// Puts sealed data keys in the place of others and returns the present value.
  private func put(_ sealed: [UInt8], inPlaceOf old: EtcdValue?) throws(CacheError) -> EtcdValue {
    let outcome = try transaction(
      if: [EtcdCondition(key: names.keys, modRevision: old?.modRevision ?? 0)], [.put(names.keys, sealed)],
      otherwise: [.get(names.keys)])
    if outcome.succeeded {
      return EtcdValue(key: Array(names.keys.utf8), value: sealed, modRevision: outcome.revision)
    }
    // One of several copies of the request was the first.
    if let present = outcome.values[0], old == nil || present.value == sealed { return present }
    throw Self.otherKeys
  }

  private static let otherKeys = CacheError(
    .refused, "Another program changes the keys of the store.", advice: "Try again.")

  /// Seals a shard again that an older key seals. A reader need not know.
  private func reseal(
    _ shard: ShardID, of group: KeychainGroup, _ keys: DataKeys, _ present: EtcdValue,
    _ summary: inout RekeySummary
  ) throws(CacheError) {
    guard let bytes = shard.bytes else { return }
    let name = names.shard(shard, of: group)
    let identity = SealedFormat.Identity(group: group, name: bytes)
    // A writer that is faster uses the present key.
    while let value = try transaction([.get(name)]).values[0] {
      guard let resealed = summary.seal(.success(value.value), as: identity, with: keys) else { return }
      let outcome = try transaction(
        if: [
          EtcdCondition(key: name, modRevision: value.modRevision),
          EtcdCondition(key: names.keys, modRevision: present.modRevision),
        ], [.put(name, resealed)], otherwise: [.get(names.keys)])
      if outcome.succeeded {
        summary.resealed += 1
        return
      }
      guard outcome.values[0]?.modRevision == present.modRevision else { throw Self.otherKeys }
    }
  }
}
