import EtcdStore
import HTTPSupport
import Sealing
import Synchronization
import TestSupport
import Testing
import TokenCache

/// Changes that begin with what the process has in memory instead of reading it.
@Suite(.timeLimit(.minutes(20)))
struct RememberedShardTests {
  private let fixture: Fixture
  private let shard: ShardID
  private let transport = MeddlingTransport()

  init() throws {
    fixture = try Fixture()
    shard = fixture.shard(1)
  }

  /// A store whose requests are counted, and that has written once.
  private func warmStore() async throws -> EtcdCacheStore {
    let store = try fixture.store(watching: nil, through: transport)
    #expect(try await store.increment(1, of: fixture) == 1)
    return store
  }

  /// How many transactions it takes to add one, once or more, which gives `results`.
  private func transactions(in store: EtcdCacheStore, adding results: ClosedRange<Int>) async throws -> Int {
    let before = transport.methods.count
    for expected in results { #expect(try await store.increment(1, of: fixture) == expected) }
    return transport.methods.dropFirst(before).count { $0 == "/v3/kv/txn" }
  }

  @Test func `A store that is used for the first time sends no request twice`() async throws {
    try await fixture.store().increment(1, of: fixture)
    func requests(_ call: (EtcdCacheStore) async throws -> Void) async throws -> [String] {
      let before = transport.methods.count
      try await call(fixture.store(watching: nil, through: transport))
      return transport.methods.dropFirst(before).map { String($0.dropFirst("/v3/".count)) }
    }
    // What is there, the keys, what is there again, by now to be opened, and the change.
    let save = try await requests { try await $0.increment(1, of: fixture) }
    #expect(save == ["kv/txn", "kv/txn", "kv/txn", "lease/grant", "kv/txn"])
    #expect(try await requests { _ = try await $0.read(.some([shard]), in: fixture.group) }.count == 3)
    #expect(try await requests { _ = try await $0.remove(.everything, in: fixture.group) }.count == 4)
  }

  @Test func `A change of what was written last is one request`() async throws {
    let store = try await warmStore()
    #expect(try await transactions(in: store, adding: 2...4) == 3)
    #expect(try await fixture.number() == 4)
  }

  @Test(.fault("changed since")) func `What others have written is read before it is changed`() async throws {
    let store = try await warmStore()
    let other = try fixture.store()
    for expected in [2, 4, 6] {
      #expect(try await other.increment(1, of: fixture) == expected)
      #expect(try await transactions(in: store, adding: expected + 1...expected + 1) == 3)
    }
    // A process that has read it since need not read it again.
    #expect(try await other.increment(1, of: fixture) == 8)
    _ = try await store.read(.some([shard]), in: fixture.group)
    #expect(try await transactions(in: store, adding: 9...9) == 1)
  }

  @Test(.fault("changed since")) func `What others have removed is not there any more`() async throws {
    let store = try await warmStore()
    #expect(try await fixture.store().remove(.everything, in: fixture.group) == 1)
    #expect(try await store.increment(1, of: fixture) == 1)
  }

  @Test(.fault("changed since"))
  func `A change that has nothing to do in memory is made of what etcd has`() async throws {
    let store = try await warmStore()
    #expect(try await fixture.store().remove(.everything, in: fixture.group) == 1)
    let result = try await store.update([shard], in: fixture.group) { [fixture, shard] contents in
      contents.documents[shard] == nil ? fixture.increment(1, in: &contents) : 0
    }
    #expect(result == 1)
    #expect(try await fixture.number() == 1)
  }

  @Test(.fault("changed since"))
  func `A change that fails in memory may succeed with what is there`() async throws {
    let store = try await warmStore()
    #expect(try await fixture.store().increment(1, of: fixture) == 2)
    let result = try await store.update([shard], in: fixture.group) {
      [fixture, shard] (contents) throws(CacheError) in
      guard fixture.number(in: contents[shard]) == 2 else { throw CacheError(.refused, "Too early.") }
      return fixture.increment(1, in: &contents)
    }
    #expect(result == 3)
    await #expect(throws: CacheError(.refused, "")) {
      try await store.update([shard], in: fixture.group) { (_) throws(CacheError) in
        throw CacheError(.refused, "No.")
      }
    }
    #expect(try await fixture.number() == 3)
  }

  @Test(.fault("changed since")) func `Nothing is sealed with a key that others have changed`() async throws {
    let store = try await warmStore()
    let newKey = try fixture.file("new-key", String(repeating: "k", count: 32))
    let other = try fixture.store()
    _ = try await other.rekey(to: .keyFile(path: newKey))
    await #expect(throws: CacheError.self) { try await store.increment(1, of: fixture) }
    #expect(try await other.increment(1, of: fixture) == 2)
    let reader = try fixture.store(key: .keyFile(path: newKey))
    let contents = try await reader.read(.all, in: fixture.group)
    #expect(contents.problems.isEmpty && fixture.number(in: contents[shard]) == 2)
  }

  @Test(.fault("changed since"))
  func `A change from memory whose response is lost is made once`() async throws {
    let isLost = Atomic(false)
    let store = try fixture.store(
      watching: nil,
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        let answer = try await send(request)
        if request.writes, isLost.exchange(false, ordering: .relaxed) { throw .connectionLost("lost") }
        return answer
      })
    #expect(try await store.increment(1, of: fixture) == 1)
    for expected in 2...4 {
      isLost.store(true, ordering: .relaxed)
      #expect(try await store.increment(1, of: fixture) == expected)
    }
    #expect(try await fixture.number() == 4)
  }
}
