import KeyringStore
import SecretService
import TestSupport

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
    let fixture = try Fixture(startingDaemon: false)
    let (item, shard) = (FakeService.collection + "/1", fixture.shard(1))
    func secret(_ number: Int) throws -> Variant {
      .secret(Array(try fixture.document(account: 1, number: number).json()))
    }
    let stored = Mutex(try secret(0))
    let other = try secret(7)
    let service = try FakeService(
      [
        "SearchItems": .computed {
          $0[0].dictionary?["shard"] == shard.rawValue ? .found([item]) : .found()
        },
        "GetAll": .item(fixture.attributes(shard)),
        "GetSecrets": .computed { _ in .secrets([item: stored.withLock { $0 }]) },
        "SetSecret": .inTurn(
          .computed { arguments in
            if end == .afterWriting { stored.withLock { $0 = arguments[0] } }
            if end == .beforeAnotherWrite { stored.withLock { $0 = other } }
            return .error("org.freedesktop.DBus.Error.NoReply")
          },
          then: .computed { arguments in
            stored.withLock { $0 = arguments[0] }
            return .reply([])
          }),
      ], on: fixture.keyring)
    let store = service.store(timeout: .seconds(60))
    let changes = Atomic(0)
    let shards = [shard, fixture.shard(2)]
    let number = try await store.update(shards, in: fixture.group) { contents in
      changes.add(1, ordering: .relaxed)
      return fixture.increment(1, in: &contents)
    }
    let startsOver = end == .beforeAnotherWrite
    #expect(number == (startsOver ? 8 : 1))
    #expect(changes.load(ordering: .relaxed) == (startsOver ? 2 : 1))
    #expect(service.calls.count { $0 == "SetSecret" } == (end == .afterWriting ? 1 : 2))
    let contents = try await store.read(.some([shard]), in: fixture.group)
    #expect(fixture.number(in: contents[shard]) == number)
  }

  @Test(.fault("writer killed"))
  func `After a writer died in the middle a save searches, and readers use memory again`() async throws {
    let (old, new, next) = (
      SampleToken("old", account: 0), SampleToken("new", account: 0), SampleToken("next", account: 0)
    )
    let fixture = try await Fixture(saving: old)
    try await fixture.killWriter(leaving: new)
    let log = try await fixture.keyring.logOfCalls { try await fixture.cache.save(next) }
    #expect(log.count { $0 == "SearchItems" } == 2)
    for token in [new, next] { #expect(try await fixture.otherCache().finds(token)) }
    #expect(fixture.store.generation(of: fixture.group) != nil)
    let second = try await fixture.keyring.logOfCalls { try await fixture.cache.save(old) }
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
      let log = try await fixture.keyring.logOfCalls {
        try await cache.save(SampleToken("t\(number)", account: 0))
      }
      #expect(log.contains("SearchItems"))
    }
    #expect(store.generation(of: fixture.group) == nil)
  }
}
