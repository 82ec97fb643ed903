import Sealing
import StoreSupport
import TokenCache

/// The groups in a database, while one call of the store works on them.
struct SQLiteBackend: StoreBackend {
  static let cancelled = CacheError(.cancelled, "The call to the SQLite store was cancelled.")
  static let timedOut = CacheError(.timedOut, "The SQLite store timed out.")

  let database: Database
  let keys: StoreKeys

  func groups() throws(CacheError) -> [KeychainGroup] {
    try database.rows("SELECT DISTINCT keychain FROM shards ORDER BY keychain").compactMap {
      try? KeychainGroup(String(decoding: $0[0], as: UTF8.self))
    }
  }

  /// Loads rows. A commit has to know the store's keys; a reader of a store that does not exist gets none.
  func load(
    _ shards: ShardSelection, of group: KeychainGroup, _ turn: Turn?
  ) throws(CacheError) -> Loaded<DataKeys?> {
    let value = try database.keys()
    if value == nil && turn == nil { return Loaded(GroupContents(), nil) }
    let keys = try keys.keys(in: value)
    let query = "SELECT id, value FROM shards WHERE keychain = ?"
    var rows: [[[UInt8]]] = []
    switch shards {
    case .all: rows = try database.rows(query, [group.name])
    case .some(let ids):
      for id in ids { rows += try database.rows(query + " AND id = ?", [group.name, id.rawValue]) }
    }
    let sealed = rows.map { (shard: Self.shard($0), bytes: $0[1]) }
    let contents = SealedFormat.contents(of: sealed, in: group, with: keys) { "The row \($0)" }
    return Loaded(contents, keys)
  }

  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], of group: KeychainGroup,
    over loaded: Loaded<DataKeys?>
  ) throws(CacheError) -> [(id: ShardID, sealed: [UInt8]?)] {
    try changes.map { (id, document) throws(CacheError) in
      guard let document, let keys = loaded.version else { return (id, nil) }
      return (id, try SealedFormat.seal(document, of: id, in: group, with: keys))
    }
  }

  /// Writes rows in one transaction, which has no effect if one of them fails.
  func commit(
    _ encoded: [(id: ShardID, sealed: [UInt8]?)], to group: KeychainGroup, over loaded: Loaded<DataKeys?>,
    _ turn: Turn
  ) throws(CacheError) -> DataKeys?? {
    try turn.announce { () throws(CacheError) in
      try database.transaction { () throws(CacheError) in
        for (id, sealed) in encoded {
          let statement =
            sealed == nil
            ? "DELETE FROM shards WHERE keychain = ? AND id = ?"
            : "INSERT OR REPLACE INTO shards VALUES (?, ?, ?)"
          _ = try database.rows(statement, [group.name, id.rawValue], sealed)
        }
      }
    }
    return nil
  }

  func remove(
    _ removal: Removal, from group: KeychainGroup, _ turn: Turn
  ) throws(CacheError) -> (count: Int, isDone: Bool) {
    let ids =
      switch removal {
      case .everything:
        try database.rows("SELECT id FROM shards WHERE keychain = ?", [group.name]).map(Self.shard)
      case .damaged:
        try load(.all, of: group, nil).contents.problems.filter { $0.remedy == .removal }.compactMap(\.shard)
      }
    if !ids.isEmpty {
      _ = try commit(ids.map { ($0, nil) }, to: group, over: Loaded(GroupContents(), nil), turn)
    }
    return (ids.count, true)
  }

  private static func shard(_ row: [[UInt8]]) -> ShardID {
    ShardID(rawValue: String(decoding: row[0], as: UTF8.self))
  }
}
