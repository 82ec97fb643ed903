package import GLibSupport
package import TokenCache

/// Why a backend failed.
package protocol StoreFailure: Error {
  var disposition: Disposition { get }
}

/// What a ``GroupStore`` does about a failure.
package enum Disposition: Sendable {
  /// Begins again: what the backend works with went away under it.
  case retry
  /// Unlocks, and begins again.
  case unlock
  case fatal
}

extension CacheError: StoreFailure {
  package var disposition: Disposition { (underlyingError as? any StoreFailure)?.disposition ?? .fatal }
}

/// What keeps groups, while one call of a ``GroupStore`` works on a thread that may block. It loads, commits and removes,
/// and leaves to that the deadline, the lock, retries, memory and the translation of errors.
package protocol StoreBackend: SendableMetatype {
  associatedtype Failure: StoreFailure
  /// What a commit has to know of what was loaded.
  associatedtype Version: Sendable
  /// What a commit writes.
  associatedtype Encoded

  /// The groups that have something in the store, in alphabetical order.
  func groups() throws(Failure) -> [KeychainGroup]

  /// Loads shards. With a turn, what a writer that died left unfinished is put right first.
  func load(
    _ shards: ShardSelection, of group: KeychainGroup, _ turn: Turn?
  ) throws(Failure) -> Loaded<Version>

  /// Whether a writer at work may be the reason that something is missing or wrong in what was loaded without a turn.
  /// `wasQuiet` is what the group's counter says of that.
  func mayBeUnfinished(
    _ loaded: Loaded<Version>, of shards: ShardSelection, wasQuiet: Bool
  ) throws(Failure) -> Bool

  /// Throws where what was loaded must not be changed.
  func check(_ loaded: Loaded<Version>, _ turn: Turn) throws(Failure)

  /// Whether shards are still what this process's last commit made them.
  func isCurrent(_ last: Loaded<Version>, _ shards: [ShardID]) throws(Failure) -> Bool

  /// Encodes all documents of a commit, before the first is written; a shard without one is removed.
  ///
  /// - Throws: ``CacheError`` for what cannot be kept, such as what is too large.
  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], of group: KeychainGroup,
    over loaded: Loaded<Version>
  ) throws(CacheError) -> Encoded

  /// Writes what was encoded, in its order. What changes the group runs in ``Turn/announce(_:)``.
  ///
  /// - Returns: The version that the next commit may begin from; `nil` where that has to load.
  func commit(
    _ encoded: Encoded, to group: KeychainGroup, over loaded: Loaded<Version>, _ turn: Turn
  ) throws(Failure) -> Version?

  /// Removes items as a whole, or as many as one turn should take.
  func remove(
    _ removal: Removal, from group: KeychainGroup, _ turn: Turn
  ) throws(Failure) -> (count: Int, isDone: Bool)

  /// Releases what the backend has taken besides the group's lock.
  func end()
}

extension StoreBackend {
  package func end() {}
  package func mayBeUnfinished(
    _ loaded: Loaded<Version>, of shards: ShardSelection, wasQuiet: Bool
  ) throws(Failure) -> Bool { false }
  package func check(_ loaded: Loaded<Version>, _ turn: Turn) throws(Failure) {}
  package func isCurrent(_ last: Loaded<Version>, _ shards: [ShardID]) throws(Failure) -> Bool { false }
}

/// What was found of a group.
package struct Loaded<Version: Sendable>: Sendable {
  package var contents: GroupContents
  package let version: Version
  /// Shards that the next commit writes although they do not change, such as those that there are copies of.
  package let unmerged: Set<ShardID>

  package init(_ contents: GroupContents, _ version: Version, unmerged: Set<ShardID> = []) {
    self.contents = contents
    self.version = version
    self.unmerged = unmerged
  }
}

/// The permission to change a group: while it lasts no other writer has one.
package struct Turn: Sendable {
  private let file: SharedLockFile?

  init(_ file: SharedLockFile?) { self.file = file }

  /// Runs what changes the group. From its beginning no reader trusts its memory.
  package func announce<T, E: Error>(_ change: () throws(E) -> T) throws(E) -> T {
    file?.beginWrite()
    defer { file?.endWrite() }
    return try change()
  }

  /// The group's counter; `nil` where there is none, and after a writer died in the middle.
  var generation: UInt64? { file?.completedGeneration }

  /// Who may use the group's files.
  package var sharing: FileSharing { file?.sharing ?? .machine }
}

extension SharedLockFile {
  /// The counter where it is even: nobody is writing. On a network file system it is always the same odd number.
  var completedGeneration: UInt64? {
    let generation = generation
    return generation.isMultiple(of: 2) ? generation : nil
  }
}
