public import Sealing
import StoreSupport
public import TokenCache

/// Keychain groups in an SQLite file, sealed.
///
/// Each shard is one row. A restored older row is not recognized, as it is in Llavero's file store.
public final class SQLiteCacheStore: CacheStore {
  private let store: GroupStore<SQLiteBackend>
  private let writers: GroupWriters

  /// Makes a store. The first write makes its keys.
  ///
  /// - Parameters:
  ///   - directory: The absolute path of an existing directory that is closed to other users. It has the file and the
  ///     groups' locks.
  ///   - key: The source of the key.
  ///   - timeout: How long a call may take, without the user's answer.
  public init(directory: String, key: KeySource, timeout: Duration = .seconds(25)) {
    let path = directory + "/cache.sqlite"
    let keys = StoreKeys(key, timeout: timeout)
    writers = GroupWriters(label: "sqlite.writes") { (directory, "\($0).lock") }
    store = GroupStore(writers, label: "sqlite.reads", timeout: timeout) { (call) throws(CacheError) in
      SQLiteBackend(database: try Database(path, timeout: call.deadline - .now), keys: keys)
    } cacheError: {
      $0
    } unlock: { (failure) throws(CacheError) in
      try await keys.unseal(after: failure, called: "The keys in \(path)", advice: "Restore a backup.") {
        () throws(CacheError) in
        try Database(path, timeout: timeout).keys()
      } writing: { (value) throws(CacheError) in
        let database = try Database(path, timeout: timeout, makesFile: true)
        _ = try database.rows("INSERT OR IGNORE INTO keys VALUES (0, ?)", [], value)
      }
    }
  }

  public func groups() async throws(CacheError) -> [KeychainGroup] { try await store.groups() }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents { try await store.read(shards, in: group) }

  public func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result { try await store.update(shards, in: group, change) }

  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    try await store.remove(removal, in: group)
  }

  public func generation(of group: KeychainGroup) -> UInt64? { writers.generation(of: group) }
}
