import EtcdStore
import Sealing
import TestSupport

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

  /// The requests of a new store, as that of a tool, which watches if it is used for long enough.
  private func requests(
    key: KeySource? = nil, _ call: (EtcdCacheStore) async throws -> Void
  ) async throws -> [String] {
    let before = transport.methods.count
    try await call(fixture.store(key: key, through: transport))
    return transport.methods.dropFirst(before).map { String($0.dropFirst("/v3/".count)) }
  }

  @Test func `A store that is used for the first time sends no request that it does not need`() async throws {
    let (token, group) = (SampleToken("one", account: 1), fixture.group)
    let shard = fixture.shard(token)
    try await fixture.cache.save(token)
    let lookup = try await requests { store in
      let isFound = try await fixture.accessor(on: store).finds(token)
      #expect(isFound)
    }
    #expect(lookup == ["kv/txn"])
    // Another token: the same one in the same second is no change.
    let other = SampleToken("other", account: 1)
    let save = try await requests { try await fixture.accessor(on: $0).save(other) }
    #expect(save == ["kv/txn", "lease/grant", "kv/txn"])
    let renewal = try await requests { store in
      let cache = fixture.accessor(on: store)
      #expect(try await cache.finds(token))
      try await store.withRenewalTurn(of: shard, in: group, within: .seconds(600)) { () async throws in
        _ = try await cache.snapshot(of: token.homeAccountID)
        try await cache.save(SampleToken("two", account: 1))
      }
      #expect(try await cache.finds(SampleToken("two", account: 1)))
    }
    #expect(
      renewal == [
        // The lookup, the turn, the lookup in it, and the change of what it found, which has a lease of its own.
        "kv/txn", "lease/grant", "kv/txn", "kv/txn", "lease/grant", "kv/txn",
        // The end of the turn, and the lookup after it.
        "lease/revoke", "kv/txn",
      ])
    #expect(try await requests { _ = try await $0.read(.all, in: group) } == ["kv/txn", "kv/range"])
    #expect(
      try await requests { _ = try await $0.remove(.everything, in: group) }
        // The last are the second look.
        == ["kv/txn", "kv/range", "lease/grant", "kv/txn", "kv/txn", "kv/range"])
  }

  @Test func `A passphrase is asked for between two reads`() async throws {
    let passphrase = KeySource.passphrase("words")
    try await fixture.store(key: passphrase).increment(1, of: fixture)
    let read = try await requests(key: passphrase) {
      _ = try await $0.read(.some([shard]), in: fixture.group)
    }
    #expect(read == ["kv/txn", "kv/txn", "kv/txn"])
  }

  @Test func `A key of the keyring is read between two reads, and its error ends the call`() async throws {
    try await fixture.store().increment(1, of: fixture)
    let read = try await requests(key: .keyring()) { store in
      await expectCacheError(.wrongKey) { try await store.read(.some([shard]), in: fixture.group) }
    }
    #expect(read == ["kv/txn", "kv/txn"])
  }

  @Test func `Large shards are read once each, with a few requests for each`() async throws {
    let count = 30
    try await fixture.store().increment(0, of: fixture)
    for account in 1..<count {
      try await fixture.put(Array(repeating: 0, count: 800_000), to: fixture.name(fixture.shard(account)))
    }
    let read = try await requests { store in
      let contents = try await store.read(.all, in: fixture.group)
      #expect(contents.documents.count == 1 && contents.problems.count == count - 1)
    }
    #expect(read.count < count * 5)
  }

  @Test func `Reading a group makes etcd count each shard a few times, however many there are`() async throws
  {
    let count = 300
    let counted = Mutex<[Int]>([])
    try await fixture.store().increment(0, of: fixture)
    for account in 1..<count {
      try await fixture.put(Array(repeating: 0, count: 20_000), to: fixture.name(fixture.shard(account)))
    }
    let store = try fixture.checkingStore { (request, send) throws(HTTPTransportError) in
      let answer = try await send(request)
      if request.head.path == "/v3/kv/range",
        let object = try? JSONObject(foreign: answer.body, within: .cache),
        let number = object["count"]?.numberValue
      {
        counted.withLock { $0.append(Int(number)) }
      }
      return answer
    }
    let contents = try await store.read(.all, in: fixture.group)
    #expect(contents.documents.count == 1 && contents.problems.count == count - 1)
    let counts = counted.withLock { $0 }
    // One after the other from each page to the end, these would count three times as many.
    #expect(counts.count > 5 && counts.reduce(0, +) < count * 5 / 2, "\(counts)")
  }

  @Test func `Removing a group lists few keys more than it has`() async throws {
    let count = 400
    let listed = Mutex(0)
    for account in 0..<count { try await fixture.put([0], to: fixture.name(fixture.shard(account))) }
    let store = try fixture.checkingStore { (request, send) throws(HTTPTransportError) in
      let answer = try await send(request)
      if request.head.path == "/v3/kv/range",
        let values = (try? JSONObject(foreign: answer.body, within: .cache))?["kvs"]?.arrayValue
      {
        listed.withLock { $0 += values.count }
      }
      return answer
    }
    #expect(try await store.remove(.everything, in: fixture.group) == count)
    #expect(listed.withLock { $0 } < count * 3 / 2)
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

  @Test func `A change of shards of which one is not in memory begins with reading`() async throws {
    let store = try await warmStore()
    #expect(try await fixture.store().increment(2, of: fixture) == 1)
    let before = transport.methods.count
    let results = try await store.update([shard, fixture.shard(2)], in: fixture.group) { [fixture] contents in
      (1...2).map { fixture.increment($0, in: &contents) }
    }
    #expect(results == [2, 2])
    #expect(transport.methods.dropFirst(before).count { $0 == "/v3/kv/txn" } == 2)
  }

  @Test func `A change of fifty shards that were read is one request`() async throws {
    let accounts = Array(0..<50)
    try await fixture.store().write(1, to: accounts, of: fixture)
    let store = try fixture.store(watching: nil, through: transport)
    _ = try await store.read(.some(accounts.map(fixture.shard)), in: fixture.group)
    let before = transport.methods.count
    try await store.write(2, to: accounts, of: fixture)
    #expect(transport.methods.dropFirst(before).count { $0 == "/v3/kv/txn" } == 1)
    #expect(try await fixture.number() == 2)
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
    await expectCacheError(.refused) {
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
    let store = try fixture.checkingStore { (request, send) throws(HTTPTransportError) in
      let answer = try await send(request)
      if request.writes, isLost.exchange(false, ordering: .relaxed) { throw .connectionLost("lost") }
      return answer
    }
    #expect(try await store.increment(1, of: fixture) == 1)
    for expected in 2...4 {
      isLost.store(true, ordering: .relaxed)
      #expect(try await store.increment(1, of: fixture) == expected)
    }
    #expect(try await fixture.number() == 4)
  }
}
