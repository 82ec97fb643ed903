import CSQLite
import Glibc
import TokenCache

/// A connection to the store's file, for one thread.
final class Database {
  /// What the first column of each row names, and what is in the last.
  typealias Rows = [(name: String, value: [UInt8])]
  typealias Statement = (sql: String, texts: [String], blob: [UInt8]?)

  private var connection: OpaquePointer?
  private let path: String

  /// Opens the file; `timeout` is for the wait for its other users. One that does not exist is made, or has no rows.
  init(_ path: String, timeout: Duration, makesFile: Bool = false) throws(CacheError) {
    self.path = path
    if !makesFile, access(path, F_OK) != 0, errno == ENOENT { return }
    guard sqlite3_open(path, &connection) == SQLITE_OK else { throw failure }
    sqlite3_busy_timeout(connection, Int32(min(max(timeout / .milliseconds(1), 1), Double(Int32.max - 1))))
    try rows("CREATE TABLE IF NOT EXISTS keys (id INTEGER PRIMARY KEY CHECK (id = 0), value BLOB)")
    try rows("CREATE TABLE IF NOT EXISTS shards (keychain TEXT, id TEXT, value BLOB, UNIQUE (keychain, id))")
  }

  deinit { sqlite3_close_v2(connection) }

  /// The sealed keys; `nil` if the store does not exist.
  func keys() throws(CacheError) -> [UInt8]? { try rows("SELECT id, value FROM keys").first?.value }

  /// Runs statements in one transaction, which has no effect if one of them fails.
  func transaction(_ changes: [Statement]) throws(CacheError) {
    guard connection != nil else { throw CacheError(.unavailable, "The SQLite file does not exist.") }
    do throws(CacheError) {
      for change in [("BEGIN IMMEDIATE", [], nil)] + changes + [("COMMIT", [], nil)] {
        try rows(change.sql, change.texts, change.blob)
      }
    } catch {
      // After some failures SQLite has done so itself.
      _ = try? rows("ROLLBACK")
      throw error
    }
  }

  /// Runs a statement with these values.
  @discardableResult
  func rows(_ sql: String, _ texts: [String] = [], _ blob: [UInt8]? = nil) throws(CacheError) -> Rows {
    guard let connection else { return [] }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
    defer { sqlite3_finalize(statement) }
    // SQLite copies the values.
    let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    var results = texts.enumerated().map { sqlite3_bind_text(statement, Int32($0 + 1), $1, -1, copy) }
    if let blob {
      results.append(sqlite3_bind_blob(statement, Int32(texts.count + 1), blob, Int32(blob.count), copy))
    }
    guard results.allSatisfy({ $0 == SQLITE_OK }) else { throw failure }
    var rows = Rows()
    var result = sqlite3_step(statement)
    while result == SQLITE_ROW {
      let last = sqlite3_column_count(statement) - 1
      let value = UnsafeRawBufferPointer(
        start: sqlite3_column_blob(statement, last), count: Int(sqlite3_column_bytes(statement, last)))
      rows.append((String(cString: sqlite3_column_text(statement, 0)), Array(value)))
      result = sqlite3_step(statement)
    }
    guard result == SQLITE_DONE else { throw failure }
    return rows
  }

  private var failure: CacheError {
    CacheError(
      .unavailable, "The SQLite file cannot be used: \(String(cString: sqlite3_errmsg(connection))).",
      advice: "Check the directory with \"ls -ld '\(path)'\".")
  }
}
