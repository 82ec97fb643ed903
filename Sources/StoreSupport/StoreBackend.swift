package import GLibSupport
public import TokenCache

/// Why a backend failed.
public protocol StoreFailure: Error {
  /// What the store does about it.
  var disposition: Disposition { get }
  /// Whether a commit that failed so may have been applied all the same (default: if the call begins again).
  var leavesOutcomeOpen: Bool { get }
}

extension StoreFailure {
  public var leavesOutcomeOpen: Bool { meansRetry }

  /// Whether the backend went away, so that the call begins again.
  var meansRetry: Bool { if case .retry = disposition { true } else { false } }
}

/// What a ``GroupStore`` does about a failure. An error that is one is about nothing else.
public enum Disposition: StoreFailure {
  /// Begins again: what the backend works with went away under it.
  case retry
  /// Unlocks, and begins again.
  case unlock
  /// Loads again, and makes the change anew: another writer was faster.
  case conflict
  /// Succeeds: one of the commits of this call, counted from 0, was applied after all.
  case applied(Int)
  /// Fails.
  case fatal

  public var disposition: Disposition { self }
}

extension CacheError: StoreFailure {
  /// That of the underlying error; ``Disposition/fatal`` if it has none.
  public var disposition: Disposition { (underlyingError as? any StoreFailure)?.disposition ?? .fatal }
  /// That of the underlying error; if it has none, whether the caller gave the call up.
  public var leavesOutcomeOpen: Bool {
    (underlyingError as? any StoreFailure)?.leavesOutcomeOpen ?? (code == .cancelled)
  }
}

/// What keeps groups, while one call of a ``GroupStore`` works on a thread that may block. It loads, commits and removes,
/// and leaves to that the deadline, the lock, retries, memory and the translation of errors.
public protocol StoreBackend: SendableMetatype {
  associatedtype Failure: StoreFailure
  /// What a commit has to know of what was loaded.
  associatedtype Version: Sendable
  /// What a commit writes.
  associatedtype Encoded

  /// Thrown when the task is cancelled.
  static var cancelled: CacheError { get }
  /// Thrown when the work, or the wait for other writers, takes too long.
  static var timedOut: CacheError { get }
  /// How often a call begins again where the backend went away.
  static var retries: Int { get }
  /// How often a call begins again after unlocking.
  static var unlocks: Int { get }

  /// The groups that have something in the store, in alphabetical order.
  func groups() throws(Failure) -> [KeychainGroup]

  /// Loads shards. With a turn, what a writer that died left unfinished is put right first.
  func load(
    _ shards: ShardSelection, of group: KeychainGroup, _ turn: Turn?
  ) throws(Failure) -> Loaded<Version>

  /// What the shards are unless another writer has changed them, without loading them; a commit over it finds that out.
  /// What does not end with a commit begins again with what is loaded.
  func assumed(_ shards: [ShardID], of group: KeychainGroup) -> Loaded<Version>?

  /// Whether a writer at work may be the reason that something is missing or wrong in what was loaded without a turn.
  /// `wasQuiet` is what the group's counter says of that.
  func mayBeUnfinished(
    _ loaded: Loaded<Version>, of shards: ShardSelection, wasQuiet: Bool
  ) throws(Failure) -> Bool

  /// Throws where a turn does not exclude every other writer, so that nothing is written.
  func checkLocks() throws(Failure)

  /// Throws where what was loaded must not be changed.
  func check(_ loaded: Loaded<Version>, _ turn: Turn) throws(Failure)

  /// Whether shards are still what this process's last commit made them.
  func isCurrent(_ last: Loaded<Version>, _ shards: [ShardID]) throws(Failure) -> Bool

  /// Encodes all documents of a commit, before the first is written; a shard without one is removed.
  ///
  /// - Throws: `CacheError` for what cannot be kept, such as what is too large.
  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], of group: KeychainGroup,
    over loaded: Loaded<Version>
  ) throws(CacheError) -> Encoded

  /// Writes what was encoded, in its order. What changes the group runs in ``Turn/announce(_:)``.
  ///
  /// - Returns: The version that the next commit may begin from; `nil` where that has to load.
  /// - Throws: What has the disposition ``Disposition/conflict`` where the shards are not what was loaded.
  func commit(
    _ encoded: Encoded, to group: KeychainGroup, over loaded: Loaded<Version>, _ turn: Turn
  ) throws(Failure) -> Version?

  /// Returns when none of the call's commits can be applied any more; called before it ends without one.
  func fencePendingCommits() throws(Failure)

  /// Removes items as a whole, or as many as one turn should take.
  func remove(
    _ removal: Removal, from group: KeychainGroup, _ turn: Turn
  ) throws(Failure) -> (count: Int, isDone: Bool)

  /// Releases what the backend has taken besides the group's lock.
  func end()
}

extension StoreBackend {
  public static var retries: Int { 0 }
  /// A call unlocks the collection of a keyring, and after it perhaps items in it.
  public static var unlocks: Int { 2 }
  public func assumed(_ shards: [ShardID], of group: KeychainGroup) -> Loaded<Version>? { nil }
  public func fencePendingCommits() throws(Failure) {}
  public func end() {}
  public func mayBeUnfinished(
    _ loaded: Loaded<Version>, of shards: ShardSelection, wasQuiet: Bool
  ) throws(Failure) -> Bool { false }
  public func checkLocks() throws(Failure) {}
  public func check(_ loaded: Loaded<Version>, _ turn: Turn) throws(Failure) {}
  public func isCurrent(_ last: Loaded<Version>, _ shards: [ShardID]) throws(Failure) -> Bool { false }
}

/// One call of a ``GroupStore``, as its backend sees it. What its work returns after the call has ended is ignored.
public struct StoreCall: Sendable {
  package let cancellable: Cancellable

  /// When the caller gets ``StoreBackend/timedOut``.
  public var deadline: ContinuousClock.Instant { cancellable.deadline }
  /// Whether the caller has given up, or the deadline has passed while it waited.
  public var isCancelled: Bool { cancellable.isCancelled }
}

/// What was found of a group.
public struct Loaded<Version: Sendable>: Sendable {
  /// The documents and problems.
  public var contents: GroupContents
  /// What a commit over it has to know.
  public let version: Version
  /// Shards that the next commit writes although they do not change, such as those that there are copies of.
  public let unmerged: Set<ShardID>

  /// - Parameters:
  ///   - contents: The documents and problems.
  ///   - version: What a commit over it has to know.
  ///   - unmerged: Shards that the next commit writes although they do not change.
  public init(_ contents: GroupContents, _ version: Version, unmerged: Set<ShardID> = []) {
    self.contents = contents
    self.version = version
    self.unmerged = unmerged
  }
}

/// The permission to change a group: while it lasts no other writer has one.
public struct Turn: Sendable {
  private let file: SharedLockFile?

  init(_ file: SharedLockFile?) { self.file = file }

  /// Runs what changes the group. From its beginning no reader trusts its memory.
  ///
  /// - Throws: What `change` throws.
  public func announce<T, E: Error>(_ change: () throws(E) -> T) throws(E) -> T {
    file?.beginWrite()
    defer { file?.endWrite() }
    return try change()
  }

  /// The group's counter; `nil` where the group has none, and after a writer died in the middle.
  var generation: UInt64? { file?.completedGeneration }

  /// Who may use the group's files.
  package var sharing: FileSharing { file?.sharing ?? .machine }
}

extension SharedLockFile {
  /// The counter where it is even: no writer is at work. On a network file system it is always the same odd number.
  var completedGeneration: UInt64? {
    let generation = generation
    return generation.isMultiple(of: 2) ? generation : nil
  }
}
