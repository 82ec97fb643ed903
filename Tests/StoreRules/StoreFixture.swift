public import TokenCache

/// Abilities of a store besides keeping one group. A rule that needs others than the store has is left out.
public struct StoreAbilities: OptionSet, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// It keeps more groups than one.
  public static let groups = StoreAbilities(rawValue: 1)
  /// Each shard is stored on its own.
  public static let shards = StoreAbilities(rawValue: 2)
  /// A shard can be damaged from outside.
  public static let damage = StoreAbilities(rawValue: 4)
  /// It signals changes by a counter.
  public static let counter = StoreAbilities(rawValue: 8)
  /// It refuses documents of more than 32 MiB.
  public static let limit = StoreAbilities(rawValue: 16)
  /// Its calls can be given up while they wait.
  public static let waiting = StoreAbilities(rawValue: 32)
}

/// A new, empty place for a store, and a group in it.
public protocol StoreFixture: Sendable {
  /// What the store can do, which decides the rules that it has to keep.
  static var abilities: StoreAbilities { get }
  /// The group that the rules change.
  var group: KeychainGroup { get }

  /// A store on that place, as another process would have it.
  ///
  /// - Parameter timeout: How long a call of the store may take.
  /// - Returns: The store.
  /// - Throws: What keeps the test from running.
  func newStore(timeout: Duration) throws -> any CacheStore

  /// Damages an existing shard, in place of another program. Not called without ``StoreAbilities/damage``.
  ///
  /// - Throws: What keeps the test from running.
  func damage(_ shard: ShardID) async throws

  /// The group's counter in a store; once it is another than it was, where it changes a moment after the group (default: at
  /// once).
  func generation(of store: any CacheStore, after previous: UInt64?) async -> UInt64?
}

extension StoreFixture {
  public func generation(of store: any CacheStore, after previous: UInt64?) async -> UInt64? {
    store.generation(of: group)
  }

  package func generation(of store: any CacheStore) async -> UInt64? {
    await generation(of: store, after: nil)
  }

  package func newStore() throws -> any CacheStore { try newStore(timeout: .seconds(600)) }
}
