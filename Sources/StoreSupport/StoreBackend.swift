package import GLibSupport
public import TokenCache

/// What keeps groups, while one call of a ``GroupStore`` works on a thread that may block. It loads, commits and removes,
/// and leaves to that the deadline, the lock, retries and memory.
///
/// Its errors say by their disposition what the store does about them.
public protocol StoreBackend: SendableMetatype {
  /// What a commit has to know of what was loaded.
  associatedtype Version: Sendable
  /// What a commit writes.
  associatedtype Encoded

  /// The groups that have something in the store, in alphabetical order.
  func groups() throws(CacheError) -> [KeychainGroup]

  /// Loads shards. With a turn, what a writer that died left unfinished is put right first.
  func load(
    _ shards: ShardSelection, of group: KeychainGroup, _ turn: Turn?
  ) throws(CacheError) -> Loaded<Version>

  /// What a change may begin from without loading the shards; `nil` where it has to load them (default). `last` is what this
  /// process's last commit made of them, where the group's counter says that nothing was written since.
  func known(
    _ shards: [ShardID], of group: KeychainGroup, _ last: Loaded<Version>?
  ) throws(CacheError) -> Loaded<Version>?

  /// Whether a writer at work may be the reason that something is missing or wrong in what was loaded without a turn (default:
  /// no). `wasQuiet` is what the group's counter says of that.
  func mayBeUnfinished(
    _ loaded: Loaded<Version>, of shards: ShardSelection, wasQuiet: Bool
  ) throws(CacheError) -> Bool

  /// Throws where what was loaded must not be changed; without a turn, only where a turn does not exclude every other writer
  /// (default: never).
  func check(_ loaded: Loaded<Version>, _ turn: Turn?) throws(CacheError)

  /// Encodes all documents of a commit, before the first is written; a shard without one is removed.
  ///
  /// - Throws: What cannot be kept, such as what is too large.
  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], of group: KeychainGroup,
    over loaded: Loaded<Version>
  ) throws(CacheError) -> Encoded

  /// Writes what was encoded, in its order. What changes the group stands between ``Turn/beginChange()``
  /// and ``Turn/endChange()``.
  ///
  /// Where an earlier commit of the call met a conflict and there is nothing to write after all, no changes are committed: then
  /// none of the earlier commits can be applied any more.
  ///
  /// - Returns: The version that the next commit may begin from; `nil` where that has to load.
  /// - Throws: What has the disposition `conflict` where the shards are not what was loaded.
  func commit(
    _ encoded: Encoded, to group: KeychainGroup, over loaded: Loaded<Version>, _ turn: Turn
  ) throws(CacheError) -> Version?

  /// Removes items as a whole, or as many as one turn should take.
  func remove(
    _ removal: Removal, from group: KeychainGroup, _ turn: Turn
  ) throws(CacheError) -> (count: Int, isDone: Bool)

  /// Releases what the backend has taken besides the group's lock (default: nothing).
  func end()
}

extension StoreBackend {
  public func known(
    _ shards: [ShardID], of group: KeychainGroup, _ last: Loaded<Version>?
  ) throws(CacheError) -> Loaded<Version>? { nil }
  public func mayBeUnfinished(
    _ loaded: Loaded<Version>, of shards: ShardSelection, wasQuiet: Bool
  ) throws(CacheError) -> Bool { false }
  public func check(_ loaded: Loaded<Version>, _ turn: Turn?) throws(CacheError) {}
  public func end() {}
}

/// How long a store's calls may take, how often they begin again, and what they throw when they are given up.
public struct StorePolicy: Sendable {
  let timeout: Duration
  let cancelled: CacheError
  let timedOut: CacheError
  let retries: Int
  let unlocks: Int
  let concurrentReads: Int

  /// - Parameters:
  ///   - name: The name of the store in errors, after "the".
  ///   - timeout: How long a call may take, without the user's answer.
  ///   - retries: How often a call begins again where the backend went away (default: never).
  ///   - unlocks: How often a call begins again after unlocking (default: 2, for the collection of a keyring and then items in it).
  ///   - concurrentReads: How many calls may work at once without a lock, each on a thread (default: 1).
  public init(
    _ name: String, timeout: Duration, retries: Int = 0, unlocks: Int = 2, concurrentReads: Int = 1
  ) {
    self.init(
      timeout: timeout, onCancel: CacheError(.cancelled, "The call to the \(name) was cancelled."),
      onTimeout: CacheError(.timedOut, "The \(name) timed out."), retries: retries, unlocks: unlocks,
      concurrentReads: concurrentReads)
  }

  package init(
    timeout: Duration, onCancel cancelled: CacheError, onTimeout timedOut: CacheError, retries: Int = 0,
    unlocks: Int = 2, concurrentReads: Int = 1
  ) {
    self.timeout = timeout
    self.cancelled = cancelled
    self.timedOut = timedOut
    self.retries = retries
    self.unlocks = unlocks
    self.concurrentReads = concurrentReads
  }
}

/// One call of a ``GroupStore``, as its backend sees it. What its work returns after the call has ended is ignored.
public struct StoreCall: Sendable {
  package let cancellable: Cancellable

  /// When the caller gets the error of a timeout.
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
  /// Whether another writer may have changed the shards since, which a commit finds out. What does not end with a commit begins
  /// again with what is loaded.
  public let isAssumed: Bool

  /// - Parameters:
  ///   - contents: The documents and problems.
  ///   - version: What a commit over it has to know.
  ///   - unmerged: Shards that the next commit writes although they do not change.
  ///   - isAssumed: Whether another writer may have changed the shards since.
  public init(
    _ contents: GroupContents, _ version: Version, unmerged: Set<ShardID> = [], isAssumed: Bool = false
  ) {
    self.contents = contents
    self.version = version
    self.unmerged = unmerged
    self.isAssumed = isAssumed
  }
}

/// The permission to change a group: while it lasts no other writer has one.
public struct Turn: Sendable {
  private let file: SharedLockFile?

  init(_ file: SharedLockFile?) { self.file = file }

  /// Announces that the group changes, until ``endChange()``. From now on no reader trusts its memory.
  public func beginChange() { file?.beginWrite() }

  /// Ends ``beginChange()``, also where the change failed.
  public func endChange() { file?.endWrite() }

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
