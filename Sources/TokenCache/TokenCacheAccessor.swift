public import FoundationEssentials
import Synchronization

/// The token cache of one keychain group: finds, saves and removes tokens and accounts by the rules of MSAL.
///
/// Decoded shards are kept in memory and used as long as the store says that nobody changed the group. Any
/// number of accessors, in this process and in others, may work on one group at the same time.
///
/// For example:
///
/// ```swift
/// let cache = TokenCacheAccessor(store: KeyringStore(), group: try KeychainGroup("com.example.mail"))
/// for account in try await cache.accounts() { print(account.username ?? account.homeAccountID) }
/// ```
public final class TokenCacheAccessor: Sendable {
  public let store: any CacheStore
  public let group: KeychainGroup

  let now: @Sendable () -> Date
  private let memory = Mutex(Memory())
  private let knownClouds: Mutex<CloudInstances>

  /// What this process has read of the group, and when.
  private struct Memory {
    var generation: UInt64?
    var readAt = Date.distantPast
    var documents: [ShardID: CacheDocument] = [:]
    var known: Set<ShardID> = []
    var isComplete = false
  }

  /// For how many seconds memory is believed although nobody announced a change: a tool that does not keep
  /// to the format may have deleted an item.
  public static let revalidationInterval = 60.0

  /// - Parameters:
  ///   - store: Where the group is kept.
  ///   - group: The group, MSAL's default unless another is named.
  ///   - clouds: Which hosts name the same cloud.
  ///   - now: The clock.
  public init(
    store: any CacheStore, group: KeychainGroup = .default, clouds: CloudInstances = .known,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.store, self.group, self.now) = (store, group, now)
    knownClouds = Mutex(clouds)
  }

  /// Which hosts name the same cloud, as far as is known by now.
  public var clouds: CloudInstances { knownClouds.withLock { $0 } }

  /// Takes in what instance discovery found.
  public func insert(_ instances: [CloudInstance]) {
    knownClouds.withLock { clouds in instances.forEach { clouds.insert($0) } }
  }

  /// The shard with an account's records; `nil` names the one with what belongs to no account.
  func shard(_ homeAccountID: String?) -> ShardID {
    ShardID(homeAccountID: homeAccountID, group: group)
  }

  /// Shards as they are now, from memory where that is current.
  ///
  /// - Throws: What the store throws, and ``CacheError`` of the first problem that hides one of the shards
  ///   asked for by name.
  func contents(_ shards: ShardSelection) async throws(CacheError) -> GroupContents {
    if let remembered = remembered(shards) { return remembered }
    // Read before the store is: a change in between makes the memory stale, not the other way round.
    let generation = store.generation(of: group)
    let readAt = now()
    let contents = try await store.read(shards, in: group)
    if case .some(let wanted) = shards { try contents.checkReadable(wanted) }
    if let generation { remember(contents, of: shards, generation: generation, readAt: readAt) }
    return contents
  }

  private func remembered(_ shards: ShardSelection) -> GroupContents? {
    guard let generation = store.generation(of: group) else { return nil }
    let moment = now()
    return memory.withLock { memory in
      guard memory.generation == generation,
        abs(moment.timeIntervalSince(memory.readAt)) <= Self.revalidationInterval
      else { return nil }
      switch shards {
      case .all:
        return memory.isComplete ? GroupContents(documents: memory.documents) : nil
      case .some(let wanted):
        guard memory.isComplete || memory.known.isSuperset(of: wanted) else { return nil }
        return GroupContents(documents: memory.documents.filter { wanted.contains($0.key) })
      }
    }
  }

  private func remember(
    _ contents: GroupContents, of shards: ShardSelection, generation: UInt64, readAt: Date
  ) {
    memory.withLock { memory in
      if memory.generation != generation
        || abs(readAt.timeIntervalSince(memory.readAt)) > Self.revalidationInterval
      {
        memory = Memory(generation: generation, readAt: readAt)
      }
      switch shards {
      case .all:
        memory.documents = contents.documents
        // What could not be read must be met again, not taken for absent.
        memory.isComplete = contents.problems.isEmpty
        memory.known = Set(contents.documents.keys).subtracting(contents.problems.compactMap(\.shard))
      case .some(let wanted):
        for shard in wanted { memory.documents[shard] = contents.documents[shard] }
        memory.known.formUnion(wanted)
      }
    }
  }
}

extension GroupContents {
  /// Throws the problem that makes one of these shards unreadable.
  package func checkReadable(_ shards: [ShardID]) throws(CacheError) {
    for problem in problems where problem.shard.map(shards.contains) ?? false {
      switch problem.kind {
      case .damaged:
        throw CacheError(
          .damaged, "A part of the cache is damaged: \(problem.detail)",
          advice: "It was left as it is. \"llavero clear --damaged\" removes it.")
      case .newerVersion:
        throw CacheError(
          .newerVersion, "A part of the cache was written by a later version: \(problem.detail)",
          advice: "It was left as it is. Update this program.")
      case .wrongKey:
        throw CacheError(
          .wrongKey, "A part of the cache cannot be opened: \(problem.detail)",
          advice: "It was left as it is. Restore the store's files from one backup.")
      case .rolledBack:
        throw CacheError(
          .rolledBack, "A part of the cache is not the present one: \(problem.detail)",
          advice: "It was left as it is. \"llavero clear --damaged\" puts that right.")
      case .duplicate, .foreign, .missing: break
      }
    }
  }
}
