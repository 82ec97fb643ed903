public import Sealing
import StoreSupport
public import TokenCache

/// Makes a store of keychain groups in an SQLite file, sealed. The first write makes its keys.
///
/// Each shard is one row. A restored older row is not recognized, as it is in Llavero's file store.
///
/// - Parameters:
///   - directory: The absolute path of an existing directory that is closed to other users. It has the file and the groups'
///     locks.
///   - key: The source of the key.
///   - timeout: How long a call may take, without the user's answer.
/// - Returns: The store.
public func sqliteCacheStore(
  directory: String, key: KeySource, timeout: Duration = .seconds(25)
) -> some CacheStore {
  let path = directory + "/cache.sqlite"
  let keys = StoreKeys(key, timeout: timeout)
  return GroupStore(
    GroupWriters(label: "sqlite.writes") { (directory, "\($0).lock") }, label: "sqlite.reads",
    StorePolicy("SQLite store", timeout: timeout)
  ) { (call) throws(CacheError) in
    SQLiteBackend(database: try Database(path, timeout: call.deadline - .now), keys: keys)
  } unlock: { (failure) throws(CacheError) in
    try await keys.unseal(after: failure, called: "The keys in \(path)", advice: "Restore a backup.") {
      () throws(CacheError) in
      try Database(path, timeout: timeout).keys()
    } writing: { (value) throws(CacheError) in
      try Database(path, timeout: timeout, makesFile: true).rows(
        "INSERT OR IGNORE INTO keys VALUES (0, ?)", [], value)
    }
  }
}

/// The groups in a database, while one call of the store works on them.
struct SQLiteBackend: StoreBackend {
  let database: Database
  let keys: StoreKeys
  private static let query = "SELECT id, value FROM shards WHERE keychain = ?"

  func groups() throws(CacheError) -> [KeychainGroup] {
    try database.rows("SELECT DISTINCT keychain FROM shards ORDER BY keychain").compactMap {
      try? KeychainGroup($0.name)
    }
  }

  /// Loads rows. A commit has to know the store's keys; a reader of a store that does not exist gets none.
  func load(
    _ shards: ShardSelection, of group: KeychainGroup, _ turn: Turn?
  ) throws(CacheError) -> Loaded<DataKeys?> {
    let value = try database.keys()
    if value == nil && turn == nil { return Loaded(GroupContents(), nil) }
    let keys = try keys.keys(in: value)
    let ids: [ShardID]? = if case .some(let ids) = shards { ids } else { nil }
    let condition = ids.map { " AND id IN (\($0.map { _ in "?" }.joined(separator: ",")))" } ?? ""
    let rows = try database.rows(Self.query + condition, [group.name] + (ids ?? []).map(\.rawValue))
    let sealed = rows.map { (shard: ShardID(rawValue: $0.name), bytes: $0.value) }
    return Loaded(SealedFormat.contents(of: sealed, in: group, with: keys) { "The row \($0)" }, keys)
  }

  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], of group: KeychainGroup,
    over loaded: Loaded<DataKeys?>
  ) throws(CacheError) -> [Database.Statement] {
    try changes.map { (id, document) throws(CacheError) in
      let row = [group.name, id.rawValue]
      guard let document, let keys = loaded.version else {
        return ("DELETE FROM shards WHERE keychain = ? AND id = ?", row, nil)
      }
      let sealed = try SealedFormat.seal(document, of: id, in: group, with: keys)
      return ("REPLACE INTO shards VALUES (?, ?, ?)", row, sealed)
    }
  }

  func commit(
    _ encoded: [Database.Statement], to group: KeychainGroup, over loaded: Loaded<DataKeys?>, _ turn: Turn
  ) throws(CacheError) -> DataKeys?? {
    turn.beginChange()
    defer { turn.endChange() }
    try database.transaction(encoded)
    return nil
  }

  func remove(
    _ removal: Removal, from group: KeychainGroup, _ turn: Turn
  ) throws(CacheError) -> (count: Int, isDone: Bool) {
    let ids =
      removal == .everything
      ? try database.rows(Self.query, [group.name]).map { ShardID(rawValue: $0.name) }
      : try load(.all, of: group, nil).contents.problems.filter { $0.remedy == .removal }.compactMap(\.shard)
    if !ids.isEmpty {
      let none = Loaded<DataKeys?>(GroupContents(), nil)
      let statements = try encode(ids.map { ($0, nil) }, of: group, over: none)
      _ = try commit(statements, to: group, over: none, turn)
    }
    return (ids.count, true)
  }
}
