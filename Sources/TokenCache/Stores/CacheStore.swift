public import FoundationEssentials

/// Which shards of a group to read.
public enum ShardSelection: Sendable, Hashable {
  case all
  case some([ShardID])
}

/// A problem with a group, which the store did not change.
public struct StoreProblem: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The shard exists more than once; its copies are read as one and become one with the next write.
    case duplicate
    /// An item of the shard has more attributes than the format's; the next write gives it those alone.
    case edited
    /// An item with the group's name that does not have this format.
    case foreign
    /// The stored data cannot be read.
    case damaged
    /// Written by a later version of the format.
    case newerVersion = "newer_version"
    /// Sealed with an unknown key.
    case wrongKey = "wrong_key"
    /// An older version of the stored data was put back.
    case rolledBack = "rolled_back"
    /// It was removed by something other than a store.
    case missing
    /// It was removed, and is back without its attributes: the keyring ended before it wrote the removal. No read finds it.
    case returned
  }

  /// What ``Removal/damaged`` does about it.
  public enum Remedy: String, Sendable, Hashable, CaseIterable {
    case none
    /// It is removed.
    case removal
    /// It counts as the current version from then on.
    case acceptance
  }

  public let kind: Kind
  /// The shard; `nil` if that is unknown or the problem concerns the whole group: damage, a later version or an unknown
  /// key then hides all shards.
  public let shard: ShardID?
  /// One sentence without secrets or personal data.
  public let detail: String
  public let remedy: Remedy
  /// When the shard was last written; `nil` if that is unknown.
  public var modified: Date?

  /// - Parameters:
  ///   - kind: The kind of problem.
  ///   - shard: The shard, if known.
  ///   - detail: One sentence without secrets or personal data.
  ///   - remedy: The remedy (default: removal if it is damaged or returned, else none).
  public init(_ kind: Kind, shard: ShardID?, detail: String, remedy: Remedy? = nil) {
    self.kind = kind
    self.shard = shard
    self.detail = detail
    self.remedy = remedy ?? ([.damaged, .returned].contains(kind) ? .removal : .none)
  }
}

/// The contents of a group in a store.
public struct GroupContents: Sendable {
  /// The documents by shard; a shard that does not exist has none.
  public var documents: [ShardID: CacheDocument]
  /// The problems found.
  public let problems: [StoreProblem]
  /// The group's counter from before the read, where it became known by the read.
  package var generation: UInt64?

  public init(documents: [ShardID: CacheDocument] = [:], problems: [StoreProblem] = []) {
    self.documents = documents
    self.problems = problems
  }

  /// A shard's document, empty if the shard does not exist. Setting an empty one removes the shard.
  public subscript(shard: ShardID) -> CacheDocument {
    get { documents[shard] ?? CacheDocument() }
    _modify {
      yield &documents[shard, default: CacheDocument()]
      if self[shard].isEmpty { documents[shard] = nil }
    }
  }
}

/// What to remove from a group besides the records of readable shards.
public enum Removal: Sendable, Hashable {
  /// Everything of this format, readable or not, whatever its version.
  case everything
  /// What cannot be read, by its ``StoreProblem/remedy``.
  case damaged
}

/// A store of groups: the keyring, sealed files, memory, or one of the application's own.
///
/// A store excludes other writers, of this process and of others, while it updates a group, and signals changes of a
/// group by a counter.
public protocol CacheStore: Sendable {
  /// Lists the groups that are not empty, in alphabetical order.
  ///
  /// - Throws: ``CacheError`` when the store cannot be read.
  func groups() async throws(CacheError) -> [KeychainGroup]

  /// Reads shards of a group.
  ///
  /// - Returns: The shards that exist. Damaged ones and those of a later version are among the problems.
  /// - Throws: ``CacheError`` when the store cannot be read; a locked store is never reported as empty.
  func read(_ shards: ShardSelection, in group: KeychainGroup) async throws(CacheError) -> GroupContents

  /// Reads shards of a group, changes them and writes those that differ, while no other writer does.
  ///
  /// - Parameters:
  ///   - shards: The shards, in the order in which to write them.
  ///   - group: The group.
  ///   - change: Called once or, if the store had to start over, again with the contents at that time.
  /// - Returns: What `change` returned.
  /// - Throws: ``CacheError`` when the store cannot be read or written, when `change` throws, and when one of
  ///   the shards is damaged or of a later version. When the call returns, its changes are durable.
  func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result

  /// How many shards an import changes with one ``update(_:in:_:)`` (default: 1).
  ///
  /// More save time if an update has a cost of its own. They must be few enough for the store's timeout and limits.
  var shardsPerUpdate: Int { get }

  /// Removes items as a whole.
  ///
  /// - Returns: How many were removed.
  /// - Throws: ``CacheError`` when the store cannot be read or written.
  func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int

  /// A number that differs after every change of a group by a program that follows the format; `nil` while that is
  /// unknown.
  func generation(of group: KeychainGroup) -> UInt64?

  /// Renews the tokens of an account while no other machine does, if several machines share the store.
  ///
  /// `renew` always runs, once. It runs without a turn if there is nothing to wait for, if another machine has changed the
  /// account meanwhile, or if the turn cannot be obtained: that costs a request and loses nothing. When the call returns
  /// or throws, the turn has ended.
  ///
  /// - Parameters:
  ///   - account: The account's shard.
  ///   - group: The group.
  ///   - timeout: How long to wait for the turn.
  ///   - renew: The renewal.
  /// - Returns: What `renew` returned.
  /// - Throws: What `renew` throws, and nothing else.
  func withRenewalTurn<Result: Sendable, Failure: Error>(
    of account: ShardID, in group: KeychainGroup, within timeout: Duration,
    _ renew: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result
}

extension CacheStore {
  public var shardsPerUpdate: Int { 1 }

  public func withRenewalTurn<Result: Sendable, Failure: Error>(
    of account: ShardID, in group: KeychainGroup, within timeout: Duration,
    _ renew: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result { try await renew() }
}
