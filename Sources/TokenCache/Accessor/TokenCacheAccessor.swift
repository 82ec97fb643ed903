public import FoundationEssentials
import Synchronization

/// The token cache of one keychain group: finds, saves and removes tokens and accounts by the rules of MSAL.
///
/// Decoded shards are kept in memory and used until the store reports a change of the group. Any
/// number of accessors, in this process and in others, may use one group at the same time.
///
/// For example:
///
/// ```swift
/// let cache = TokenCacheAccessor(
///   store: KeyringCacheStore(),
///   group: try KeychainGroup("com.example.mail"))
/// for account in try await cache.accounts() {
///   print(account.username ?? account.homeAccountID)
/// }
/// ```
public final class TokenCacheAccessor: Sendable {
  public let store: any CacheStore
  public let group: KeychainGroup

  let now: @Sendable () -> Date
  /// The shard of records without an account.
  let commonShard: ShardID
  private let memory: Mutex<AccessorMemory>

  /// For how many seconds memory is trusted while no change is reported: a tool that ignores the format's rules may have
  /// deleted an item.
  public static let revalidationInterval = 60.0

  /// - Parameters:
  ///   - store: The store of the group.
  ///   - group: The group (default: MSAL's).
  ///   - clouds: Which hosts name the same cloud.
  ///   - now: The clock.
  public init(
    store: any CacheStore, group: KeychainGroup = .default, clouds: CloudInstances = .known,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.store = store
    self.group = group
    self.now = now
    commonShard = ShardID(homeAccountID: nil, group: group)
    memory = Mutex(AccessorMemory(clouds: clouds))
  }

  /// Which hosts name the same cloud, as far as known.
  public var clouds: CloudInstances { memory.withLock { $0.clouds } }

  /// Adds the results of instance discovery.
  public func insert(_ instances: [CloudInstance]) {
    memory.withLock { $0.insert(instances) }
  }

  /// The shard with an account's records; for `nil`, the shard of records without an account.
  func shard(_ homeAccountID: String?) -> ShardID {
    homeAccountID.map { ShardID(homeAccountID: $0, group: group) } ?? commonShard
  }

  /// The current shards, from memory if that is current.
  ///
  /// - Throws: ``CacheError``, also of the first problem that hides one of the shards in the selection.
  func contents(_ shards: ShardSelection) async throws(CacheError) -> GroupContents {
    if let remembered = remembered({ $0.contents(shards) }) { return remembered }
    // Read before the store: a change in between then makes the memory stale.
    let generation = store.generation(of: group)
    let readAt = now()
    let contents = try await store.read(shards, in: group)
    if case .some(let wanted) = shards { try contents.checkReadable(wanted) }
    if let generation = generation ?? contents.generation {
      memory.withLock { $0.remember(contents, of: shards, generation: generation, readAt: readAt) }
    }
    return contents
  }

  /// The result of a lookup if the account's shard is in memory.
  func rememberedResult(_ lookup: TokenLookup) -> TokenLookupResult? {
    remembered { $0.result(lookup, in: group) }
  }

  /// A number that stays the same while lookups that memory answers have the same results; `nil` where the store has to
  /// be read.
  package var memoryVersion: UInt64? { remembered { $0.version } }

  /// Reads from memory if it is known to be current.
  private func remembered<T: Sendable>(_ read: (inout AccessorMemory) -> T?) -> T? {
    guard let generation = store.generation(of: group) else { return nil }
    let moment = now()
    return memory.withLock { $0.isCurrent(generation, at: moment) ? read(&$0) : nil }
  }
}
