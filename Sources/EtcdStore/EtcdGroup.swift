import Synchronization
import TokenCache

/// What a process knows of one group.
final class EtcdGroup: Sendable {
  /// A shard that was opened.
  struct Opened: Sendable {
    let document: CacheDocument
    let sequence: UInt64
    /// The revision that wrote it.
    let modRevision: Int64
  }

  /// What a commit of shards in memory assumes.
  struct Base: Sendable {
    /// The data keys, sealed.
    let keys: EtcdValue
    /// The revision of the writer's own value; 0 where it has written nothing.
    let writer: Int64
    /// The revision at which this process knew it, by reading or by its own write.
    let revision: Int64
  }

  let group: KeychainGroup
  let watch: GroupWatch?
  /// The key of the value that says which of this process's commits was the last one.
  let writer: String
  private let state = Mutex(State())

  private struct State {
    /// The versions that were seen, and at which revision.
    var seen: [ShardID: (sequence: UInt64, revision: Int64)] = [:]
    var kept: [ShardID: Opened] = [:]
    var lease: (id: Int64, grantedAt: ContinuousClock.Instant)?
    var base: Base?
  }

  init(_ group: KeychainGroup, writer: String, watch: GroupWatch?) {
    self.group = group
    self.writer = writer
    self.watch = watch
  }

  /// Notes a shard's version.
  ///
  /// - Returns: False where a newer one was seen at an earlier revision: the older was put back.
  func see(_ shard: ShardID, sequence: UInt64, at revision: Int64) -> Bool {
    state.withLock { state in
      if let seen = state.seen[shard] {
        guard revision >= seen.revision else { return true }
        guard sequence >= seen.sequence else { return false }
      }
      state.seen[shard] = (sequence, revision)
      return true
    }
  }

  /// Notes that a shard is gone.
  func forget(_ shard: ShardID, at revision: Int64) {
    state.withLock { state in
      if let seen = state.seen[shard], revision >= seen.revision { state.seen[shard] = nil }
      if let kept = state.kept[shard], revision >= kept.modRevision { state.kept[shard] = nil }
    }
  }

  /// Notes that these shards are all that there are.
  func forgetAll(but present: Set<ShardID>, at revision: Int64) {
    let known = state.withLock { Set($0.seen.keys).union($0.kept.keys) }
    for shard in known.subtracting(present) { forget(shard, at: revision) }
  }

  /// Notes a write that was applied at a revision, over data keys.
  func note(_ write: EtcdWrite, at revision: Int64, _ keys: EtcdValue?) {
    watch?.changed(at: revision)
    if let keys { note(Base(keys: keys, writer: revision, revision: revision)) }
    for (id, written) in write.written {
      if let (document, sequence) = written {
        _ = see(id, sequence: sequence, at: revision)
        keep(id, Opened(document: document, sequence: sequence, modRevision: revision))
      } else {
        forget(id, at: revision)
      }
    }
  }

  func note(_ base: Base) {
    state.withLock { state in
      if let known = state.base, known.revision > base.revision { return }
      state.base = base
    }
  }

  /// How many shards are kept, so that what has not changed is neither sent nor opened again.
  private static let maximumKept = 200

  func keep(_ shard: ShardID, _ opened: Opened) {
    state.withLock { state in
      if let kept = state.kept[shard], kept.modRevision >= opened.modRevision { return }
      if state.kept.count >= Self.maximumKept { state.kept = [:] }
      state.kept[shard] = opened
    }
  }

  /// Drops a shard that is not what it was.
  func drop(_ shard: ShardID) { state.withLock { $0.kept[shard] = nil } }

  /// The kept ones of some shards; empty where there are too many to be named in one request.
  func kept(_ shards: [ShardID]) -> [ShardID: Opened] {
    guard shards.count <= EtcdSnapshot.maximumConditions else { return [:] }
    return state.withLock { state in
      Dictionary(shards.compactMap { id in state.kept[id].map { (id, $0) } }) { first, _ in first }
    }
  }

  /// `nil` before the first.
  var base: Base? { state.withLock { $0.base } }

  /// For how long etcd keeps what a writer leaves, in seconds: twice as long as the longest call, and as long again.
  static let leaseSeconds: Int64 = 2400

  /// The lease that ends what this writer leaves, where it lasts for long enough.
  var lease: Int64? {
    get {
      state.withLock { state in
        guard let lease = state.lease,
          ContinuousClock.now - lease.grantedAt < .seconds(Self.leaseSeconds / 2)
        else { return nil }
        return lease.id
      }
    }
    set { state.withLock { $0.lease = newValue.map { ($0, ContinuousClock.now) } } }
  }
}
