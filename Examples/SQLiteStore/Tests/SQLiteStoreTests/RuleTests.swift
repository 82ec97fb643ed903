import CSQLite
import Foundation
@testable import SQLiteStore
import Sealing
import StoreRules
import StoreSupport
import Testing
import TokenCache

/// An empty directory for the store.
private final class Fixture: StoreFixture {
  static let abilities: StoreAbilities = [.groups, .shards, .damage, .counter, .limit, .waiting]
  let group: KeychainGroup
  let directory: URL

  init() throws {
    group = try KeychainGroup("org.example.shared")
    directory = .temporaryDirectory.appending(path: UUID().uuidString)
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: false, attributes: attributes)
    let key = directory.appending(path: "key")
    try Data((0..<32).map { UInt8($0) }).write(to: key)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  func newStore(timeout: Duration) -> any CacheStore {
    sqliteCacheStore(
      directory: directory.path, key: .keyFile(path: directory.appending(path: "key").path), timeout: timeout)
  }

  func damage(_ shard: ShardID) throws {
    var connection: OpaquePointer?
    try #require(sqlite3_open(directory.appending(path: "cache.sqlite").path, &connection) == SQLITE_OK)
    defer { sqlite3_close(connection) }
    let statement = "UPDATE shards SET value = x'00' WHERE id = '\(shard)'"
    try #require(sqlite3_exec(connection, statement, nil, nil, nil) == SQLITE_OK)
  }
}

@Suite(.timeLimit(.minutes(20)))
struct RuleTests {
  @Test(arguments: StoreRule.all(for: Fixture.self))
  func `The store keeps every store's rules`(_ rule: StoreRule) async throws {
    try await rule.check(Fixture())
  }

  @Test func `The file has no plaintext of a document`() async throws {
    let fixture = try Fixture()
    let shard = ShardID(homeAccountID: "1.t", group: fixture.group)
    let document = try CacheDocument(
      json: Data(#"{"Account": {"k": {"home_account_id": "1.t", "x": "visible"}}}"#.utf8))
    try await fixture.newStore(timeout: .seconds(600)).update([shard], in: fixture.group) {
      $0[shard] = document
    }
    let file = try Data(contentsOf: fixture.directory.appending(path: "cache.sqlite"))
    #expect(file.range(of: Data(shard.rawValue.utf8)) != nil)
    #expect(file.range(of: Data("visible".utf8)) == nil)
    #expect(file.range(of: Data("home_account_id".utf8)) == nil)
  }

  @Test func `Looking makes no file`() async throws {
    let fixture = try Fixture()
    let store = fixture.newStore(timeout: .seconds(600))
    #expect(try await store.groups().isEmpty)
    #expect(try await store.read(.all, in: fixture.group).documents.isEmpty)
    #expect(try await store.remove(.everything, in: fixture.group) == 0)
    #expect(!FileManager.default.fileExists(atPath: fixture.directory.appending(path: "cache.sqlite").path))
  }

  @Test func `A transaction that fails has no effect and blocks no other connection`() throws {
    let fixture = try Fixture()
    let path = fixture.directory.appending(path: "cache.sqlite").path
    let failing = try Database(path, timeout: .seconds(600), makesFile: true)
    #expect(throws: CacheError.self) {
      try failing.transaction([
        ("INSERT INTO keys VALUES (0, ?)", [], [1]), ("INSERT INTO keys VALUES (1, ?)", [], [2]),
      ])
    }
    let other = try Database(path, timeout: .zero)
    #expect(try other.keys() == nil)
    try other.transaction([("INSERT INTO keys VALUES (0, ?)", [], [3])])
    #expect(try failing.keys() == [3])
    #expect(throws: CacheError.self) { try failing.rows("SELECT value FROM keys", ["too many values"]) }
  }

  @Test func `A backend learns the deadline, and that its caller gave up`() async throws {
    let fixture = try Fixture()
    let directory = fixture.directory.path
    let (calls, calling) = AsyncStream.makeStream(of: StoreCall.self)
    let end = DispatchSemaphore(value: 0)
    let store = GroupStore<SQLiteBackend>(
      GroupWriters(label: "writes") { _ in (directory, "lock") }, label: "reads",
      StorePolicy("SQLite store", timeout: .seconds(600))
    ) { (call) throws(CacheError) in
      calling.yield(call)
      end.wait()
      throw CacheError(.unavailable, "Too late.")
    } unlock: { (failure) throws(CacheError) in
      throw failure
    }
    let task = Task { try await store.groups() }
    let call = try #require(await calls.first { _ in true })
    #expect(!call.isCancelled)
    #expect(call.deadline > .now)
    task.cancel()
    #expect(call.isCancelled)
    end.signal()
    await #expect(throws: CacheError.self) { try await task.value }
  }
}
