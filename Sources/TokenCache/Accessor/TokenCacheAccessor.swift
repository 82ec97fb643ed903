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
/// let cache = TokenCacheAccessor(store: KeyringCacheStore(), group: try KeychainGroup("com.example.mail"))
/// for account in try await cache.accounts() { print(account.username ?? account.homeAccountID) }
/// ```
public final class TokenCacheAccessor: Sendable {
  public let store: any CacheStore
  public let group: KeychainGroup

  let now: @Sendable () -> Date
  /// The shard of what belongs to no account.
  let commonShard: ShardID
  private let memory: Mutex<AccessorMemory>

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
    self.store = store
    self.group = group
    self.now = now
    commonShard = ShardID(homeAccountID: nil, group: group)
    memory = Mutex(AccessorMemory(clouds: clouds))
  }

  /// Which hosts name the same cloud, as far as is known by now.
  public var clouds: CloudInstances { memory.withLock { $0.clouds } }

  /// Takes in what instance discovery found.
  public func insert(_ instances: [CloudInstance]) {
    memory.withLock { $0.insert(instances) }
  }

  /// The shard with an account's records; `nil` names the one with what belongs to no account.
  func shard(_ homeAccountID: String?) -> ShardID {
    homeAccountID.map { ShardID(homeAccountID: $0, group: group) } ?? commonShard
  }

  /// Shards as they are now, from memory where that is current.
  ///
  /// - Throws: What the store throws, and ``CacheError`` of the first problem that hides one of the shards
  ///   asked for by name.
  func contents(_ shards: ShardSelection) async throws(CacheError) -> GroupContents {
    if let remembered = remembered({ $0.contents(shards) }) { return remembered }
    // Read before the store is: a change in between makes the memory stale, not the other way round.
    let generation = store.generation(of: group)
    let readAt = now()
    let contents = try await store.read(shards, in: group)
    if case .some(let wanted) = shards { try contents.checkReadable(wanted) }
    if let generation {
      memory.withLock { $0.remember(contents, of: shards, generation: generation, readAt: readAt) }
    }
    return contents
  }

  /// What serves a request, if the account's shard is in memory.
  func rememberedResult(_ lookup: TokenLookup) -> TokenLookupResult? {
    remembered { $0.result(lookup, in: group) }
  }

  /// A shard's document, if the shard is in memory. Cheaper than ``contents(_:)``.
  func rememberedDocument(_ shard: ShardID) -> CacheDocument? {
    remembered { $0.document(shard) }
  }

  /// What serves a request that memory has no answer to.
  ///
  /// - Throws: What ``contents(_:)`` throws.
  func findResult(_ lookup: TokenLookup) async throws(CacheError) -> TokenLookupResult {
    let shard = shard(lookup.homeAccountID)
    return TokenLookupResult(of: lookup, in: try await contents(.some([shard]))[shard], clouds: clouds)
  }

  /// Asks the memory, as long as it is known to be what the store has.
  private func remembered<T: Sendable>(_ ask: (inout AccessorMemory) -> T?) -> T? {
    guard let generation = store.generation(of: group) else { return nil }
    let moment = now()
    return memory.withLock { $0.isCurrent(generation, at: moment) ? ask(&$0) : nil }
  }
}
