import KeyringStore
import SecretService
import TestSupport
import WorkerSupport

/// Writes that have to begin again, and what a writer must not take from its memory.
@Suite(.timeLimit(.minutes(20)))
struct RepeatedWriteTests {
  enum End: CaseIterable {
    /// The service had written the secret before it ended.
    case afterWriting
    case beforeWriting
    /// Another program wrote a secret before the service was available again.
    case beforeAnotherWrite
  }

  @Test(.fault("ends in write"), arguments: End.allCases)
  func `A service that ends during a write does not have the change made twice`(_ end: End) async throws {
    let item = FakeService.collection + "/1"
    let group = try KeychainGroup("org.example.shared")
    let shard = ShardID(homeAccountID: "1.t", group: group)
    let stored = StoredSecret(number: 0)
    let service = try FakeService([
      "SearchItems": .reply([.objectPaths([item]), .objectPaths([])]),
      "GetAll": .item(Fixture.attributes(shard, of: group)),
      "GetSecrets": .computed { _ in
        .reply([.array(of: "{o(oayays)}", [.entry(.objectPath(item), stored.secret)])])
      },
      "SetSecret": .inTurn(
        .computed { arguments in
          if end == .afterWriting { stored.secret = arguments[0] }
          if end == .beforeAnotherWrite { stored.secret = StoredSecret(number: 7).secret }
          return .error("org.freedesktop.DBus.Error.NoReply")
        },
        then: .computed { arguments in
          stored.secret = arguments[0]
          return .reply([])
        }),
    ])
    let store = service.store(timeout: .seconds(60))
    let number = try await store.update([shard], in: group) { contents in
      let number = 1 + (StoredSecret.number(in: contents[shard]) ?? 0)
      contents[shard] = StoredSecret.document(number)
      stored.countChange()
      return number
    }
    let startsOver = end == .beforeAnotherWrite
    #expect(number == (startsOver ? 8 : 1))
    #expect(stored.changes == (startsOver ? 2 : 1))
    #expect(service.calls.count { $0 == "SetSecret" } == (end == .afterWriting ? 1 : 2))
    let contents = try await store.read(.some([shard]), in: group)
    #expect(StoredSecret.number(in: contents[shard]) == number)
  }

  @Test(.fault("writer killed"))
  func `After a writer died in the middle a save searches, and readers use memory again`() async throws {
    let fixture = try Fixture()
    let (old, new, next) = (
      SampleToken("old", account: 0), SampleToken("new", account: 0), SampleToken("next", account: 0)
    )
    try await fixture.cache.save(old)
    let worker = try Worker(fixture.keyring, "serve", fixture.group.name)
    #expect(await worker.nextLine() == "ready")
    #expect(await worker.ask("begin") == "writing")
    worker.kill()
    _ = await worker.finish()
    #expect(fixture.store.generation(of: fixture.group) == nil)
    // What that writer may have done.
    let path = try #require(try await fixture.items(fixture.shard(new)).first).properties.path
    try await fixture.client.setSecret(.init(copying: try await fixture.shardText(new)), of: path)
    let log = try await fixture.keyring.logOfCalls { () async throws in try await fixture.cache.save(next) }
    #expect(log.count { $0 == "SearchItems" } == 2)
    for token in [new, next] { #expect(try await fixture.otherCache().finds(token)) }
    #expect(fixture.store.generation(of: fixture.group) != nil)
    let second = try await fixture.keyring.logOfCalls { () async throws in try await fixture.cache.save(old) }
    #expect(!second.contains("SearchItems"))
  }

  @Test(.enabled(if: NetworkMount.isPossible, "mounts need root, bindfs and sshfs"))
  func `Where the lock file has no counter each save searches`() async throws {
    let fixture = try Fixture()
    let directory = try TemporaryDirectory()
    let mount = try NetworkMount(.withLocks, of: try directory.directory("run"))
    let store = fixture.otherStore(environment: ["XDG_RUNTIME_DIR": mount.path])
    let cache = TokenCacheAccessor(store: store, group: fixture.group)
    for number in 0..<3 {
      let log = try await fixture.keyring.logOfCalls { () async throws in
        try await cache.save(SampleToken("t\(number)", account: 0))
      }
      #expect(log.contains("SearchItems"))
    }
    #expect(store.generation(of: fixture.group) == nil)
  }
}

/// The secret of an item with a number in it, as a service keeps it.
private final class StoredSecret: Sendable {
  private let state: Mutex<(secret: Variant, changes: Int)>

  init(number: Int) {
    let json = (try? Self.document(number).json()) ?? Data()
    state = Mutex(
      (
        .tuple([.objectPath(FakeService.session), .bytes([]), .bytes(Array(json)), .string("text/plain")]), 0
      ))
  }

  var secret: Variant {
    get { state.withLock(\.secret) }
    set { state.withLock { $0.secret = newValue } }
  }

  /// How often a change was called.
  var changes: Int { state.withLock(\.changes) }

  func countChange() { state.withLock { $0.changes += 1 } }

  static func document(_ number: Int) -> CacheDocument {
    let json = #"""
      {"Account": {"1.t-e-t": {"home_account_id": "1.t", "environment": "e", "realm": "t", "number": "\#(number)"}}}
      """#
    return (try? CacheDocument(json: Data(json.utf8))) ?? CacheDocument()
  }

  static func number(in document: CacheDocument) -> Int? {
    document.accounts.values.first?.fields["number"]?.stringValue.flatMap { Int($0) }
  }
}
