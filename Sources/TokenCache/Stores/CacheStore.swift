/// Which shards of a group to read.
public enum ShardSelection: Sendable, Hashable {
  case all
  case some([ShardID])
}

/// Something in a group that the store left alone.
public struct StoreProblem: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The shard is there more than once; its copies are read as one and become one with the next write.
    case duplicate
    /// An item with the group's name that was not written by this format.
    case foreign
    /// What is stored cannot be read.
    case damaged
    /// Written by a later version of the format.
    case newerVersion = "newer_version"
    /// Sealed with a key that is not known.
    case wrongKey = "wrong_key"
    /// An older version of what was stored was put in its place.
    case rolledBack = "rolled_back"
    /// Something other than a store removed it.
    case missing
  }

  /// What ``Removal/damaged`` does about it.
  public enum Remedy: String, Sendable, Hashable, CaseIterable {
    case none
    /// What is there is removed.
    case removal
    /// What is there counts as the present version from then on.
    case acceptance
  }

  public let kind: Kind
  /// The shard it stands for; `nil` where that is not known, or where it is about the whole group: what is damaged, of
  /// a later version or of an unknown key then hides all shards.
  public let shard: ShardID?
  /// One sentence without secrets or personal data.
  public let detail: String
  public let remedy: Remedy

  /// - Parameters:
  ///   - kind: What it is.
  ///   - shard: The shard it stands for.
  ///   - detail: One sentence without secrets or personal data.
  ///   - remedy: Unless given, what is damaged is removed and nothing else.
  public init(_ kind: Kind, shard: ShardID?, detail: String, remedy: Remedy? = nil) {
    self.kind = kind
    self.shard = shard
    self.detail = detail
    self.remedy = remedy ?? (kind == .damaged ? .removal : .none)
  }
}

/// What a store holds of a group.
public struct GroupContents: Sendable {
  /// The documents by shard; a shard that is not there has none.
  public var documents: [ShardID: CacheDocument]
  /// What was met besides.
  public let problems: [StoreProblem]

  public init(documents: [ShardID: CacheDocument] = [:], problems: [StoreProblem] = []) {
    self.documents = documents
    self.problems = problems
  }

  /// A shard's document, empty where there is none. Setting an empty one removes the shard.
  public subscript(shard: ShardID) -> CacheDocument {
    get { documents[shard] ?? CacheDocument() }
    _modify {
      yield &documents[shard, default: CacheDocument()]
      if documents[shard]?.isEmpty ?? false { documents[shard] = nil }
    }
  }
}

/// What can be removed from a group besides the records of readable shards.
public enum Removal: Sendable, Hashable {
  /// Everything of this format, readable or not, whatever its version.
  case everything
  /// What cannot be read, as ``StoreProblem/remedy`` says.
  case damaged
}

/// Where groups are kept: the keyring, sealed files, memory, or a place of the application's choice.
///
/// A store excludes other writers, of this process and of others, while it updates a group, and says by a
/// counter that a group has changed.
public protocol CacheStore: Sendable {
  /// The groups that have something in the store, in alphabetical order.
  ///
  /// - Throws: ``CacheError`` when the store cannot be read.
  func groups() async throws(CacheError) -> [KeychainGroup]

  /// Reads shards of a group.
  ///
  /// - Returns: The shards that are there. Damaged ones and those of a later version are among the problems.
  /// - Throws: ``CacheError`` when the store cannot be read; a locked store is never taken for an empty one.
  func read(_ shards: ShardSelection, in group: KeychainGroup) async throws(CacheError) -> GroupContents

  /// Reads shards of a group, changes them and writes those that differ, while no other writer does.
  ///
  /// - Parameters:
  ///   - shards: The shards, in the order in which they are to be written.
  ///   - group: The group.
  ///   - change: Called once or, when the store had to start over, again with what is there then.
  /// - Returns: What `change` returned.
  /// - Throws: ``CacheError`` when the store cannot be read or written, when `change` throws, and when one of
  ///   the shards is damaged or of a later version. When the call returns, what it wrote is kept for good.
  func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result

  /// Removes items as a whole.
  ///
  /// - Returns: How many there were.
  /// - Throws: ``CacheError`` when the store cannot be read or written.
  func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int

  /// A number that is different after every change to a group by anybody who keeps to the format, or `nil`
  /// while nobody can tell.
  func generation(of group: KeychainGroup) -> UInt64?

  /// Renews the tokens of an account while no other machine does, where the store is one that several machines share.
  ///
  /// `renew` always runs, once. It runs without a turn where there is nothing to wait for, where another machine has
  /// changed the account meanwhile, and where the turn cannot be had: that costs a request and loses nothing. When the
  /// call returns or throws, the turn has ended.
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
  public func withRenewalTurn<Result: Sendable, Failure: Error>(
    of account: ShardID, in group: KeychainGroup, within timeout: Duration,
    _ renew: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result { try await renew() }
}
