import EtcdStore
import Sealing
import TestSupport

/// Invalid values, and servers that are not etcd, are full or send invalid responses.
@Suite(.timeLimit(.minutes(20)))
struct FaultTests {
  private let fixture: Fixture
  private let one = SampleToken("one", account: 1)
  private let two = SampleToken("two", account: 2)

  init() throws { fixture = try Fixture() }

  private func cache(_ store: EtcdCacheStore) -> TokenCacheAccessor { fixture.accessor(on: store) }

  @Test(.fault("bad value"))
  func `The value of another shard, group or store is told from the right one`() async throws {
    let other = try KeychainGroup("org.example.other")
    try await fixture.cache.save(one)
    try await fixture.cache.save(two)
    try await TokenCacheAccessor(store: fixture.store(), group: other).save(one)
    let elsewhere = try Fixture()
    try await elsewhere.cache.save(one)

    let name = fixture.name(fixture.shard(one))
    let sound = try #require(try await fixture.value(name))
    let foreign = ShardID(homeAccountID: one.homeAccountID, group: other)
    for (source, kind) in [
      (fixture.name(fixture.shard(two)), StoreProblem.Kind.damaged),
      ("\(fixture.prefix)/\(other)/\(foreign)", .damaged),
      (elsewhere.name(elsewhere.shard(one)), .wrongKey),
    ] {
      try await fixture.put(try #require(try await fixture.value(source)), to: name)
      let contents = try await fixture.store().read(.some([fixture.shard(one)]), in: fixture.group)
      #expect(contents.problems.map(\.kind) == [kind] && contents.documents.isEmpty)
      await #expect(throws: CacheError.self) {
        try await cache(fixture.store()).save(SampleToken("new", account: 1))
      }
    }
    try await fixture.put(sound, to: name)
    #expect(try await cache(fixture.store()).finds(one))
  }

  @Test(.requirement("R15.1"), .fault("bad value"))
  func `A process that saw a newer value detects that an older one was put back`() async throws {
    let store = try fixture.store(watching: nil)
    let name = fixture.name(fixture.shard(one))
    try await cache(store).save(one)
    let old = try #require(try await fixture.value(name))
    try await cache(store).save(SampleToken("newer", account: 1))
    try await fixture.put(old, to: name)
    // A read of another account says nothing of this one.
    _ = try await store.read(.some([fixture.shard(two)]), in: fixture.group)
    let contents = try await store.read(.some([fixture.shard(one)]), in: fixture.group)
    #expect(contents.problems.map(\.kind) == [.rolledBack] && contents.documents.isEmpty)
    await expectCacheError(.rolledBack) { try await cache(store).save(one) }
    // What is taken away and made anew is newer, whatever the clocks say.
    #expect(try await store.remove(.damaged, in: fixture.group) == 1)
    try await cache(store).save(one)
    #expect(try await cache(store).finds(one))
  }

  @Test(.fault("bad value")) func `A value that is restored after its removal was seen is current`()
    async throws
  {
    let store = try fixture.store(watching: nil)
    let name = fixture.name(fixture.shard(one))
    try await cache(store).save(one)
    let old = try #require(try await fixture.value(name))
    try await cache(store).save(SampleToken("newer", account: 1))
    try fixture.remove(name)
    #expect(try await store.read(.all, in: fixture.group).documents[fixture.shard(one)] == nil)
    try await fixture.put(old, to: name)
    let contents = try await store.read(.some([fixture.shard(one)]), in: fixture.group)
    #expect(contents.problems.isEmpty && contents.documents.count == 1)
  }

  @Test(.fault("bad value")) func `Values of other programs are reported and stay`() async throws {
    try await fixture.cache.save(one)
    let notes = "\(fixture.prefix)/\(fixture.group)/notes"
    try await fixture.put([1], to: notes)
    try await fixture.put([1], to: "\(fixture.prefix)/another/program")
    try await fixture.put([1], to: "\(fixture.prefix)/\(fixture.group)//\(fixture.shard(one))")
    let store = try fixture.store()
    let problems = try await store.read(.all, in: fixture.group).problems
    #expect(problems.map(\.kind) == [.foreign, .foreign])
    #expect(try await store.groups() == [fixture.group])
    #expect(try await store.remove(.damaged, in: fixture.group) == 0)
    #expect(try await store.remove(.everything, in: fixture.group) == 2)
    #expect(try await fixture.value(notes) == [1])
    #expect(try await store.groups().isEmpty)
  }

  @Test func `Groups whose names begin alike are kept apart`() async throws {
    let names = ["a.b", "a.b.c", "a.b-c", "a.b0", "a.B"]
    let store = try fixture.store()
    for name in names {
      let group = try KeychainGroup(name)
      try await TokenCacheAccessor(store: store, group: group).save(SampleToken(name, account: 1))
    }
    #expect(try await store.groups().map(\.name) == names.sorted())
    #expect(try await store.remove(.everything, in: KeychainGroup("a.b")) == 2)
    for name in names {
      let cache = TokenCacheAccessor(store: try fixture.store(), group: try KeychainGroup(name))
      #expect(try await cache.finds(SampleToken(name, account: 1)) == (name != "a.b"))
    }
  }

  @Test(.requirement("R15.3"), .fault("etcd keys", "bad value"))
  func `Without its keys the store is damaged, and no new ones are made`() async throws {
    try await fixture.cache.save(one)
    let keys = try #require(try await fixture.value(fixture.keys))
    try fixture.remove(fixture.keys)
    for call in [
      { _ = try await fixture.store().read(.all, in: fixture.group) },
      { try await cache(fixture.store()).save(two) },
      { _ = try await fixture.store().rekey() },
    ] as [@Sendable () async throws -> Void] {
      let error = await expectCacheError(.damaged) { try await call() }
      #expect(error?.message.contains(fixture.keys) == true)
    }
    try await fixture.put([1, 2, 3], to: fixture.keys)
    await expectCacheError(.damaged) { try await cache(fixture.store()).save(two) }
    // Of a later version, larger than any of this one.
    let later = Array("LLAVEROK".utf8) + [0, 0, 0, 2, 0, 1, 0x11, 0x70] + .init(repeating: 0, count: 69_984)
    try await fixture.put(later, to: fixture.keys)
    await expectCacheError(.newerVersion) { try await cache(fixture.store()).save(two) }
    try await fixture.put(keys, to: fixture.keys)
    #expect(try await cache(fixture.store()).finds(one))
  }

  @Test(.fault("other keys"))
  func `Where another store's keys are, a change of keys counts what they do not open`() async throws {
    try await fixture.cache.save(one)
    let elsewhere = try Fixture()
    try await elsewhere.cache.save(one)
    let sound = try #require(try await fixture.value(fixture.keys))
    try await fixture.put(try #require(try await fixture.value(elsewhere.keys)), to: fixture.keys)
    #expect(try await fixture.store().rekey() == RekeySummary(resealed: 0, left: 2, kept: 2))
    #expect(try await fixture.store().remove(.damaged, in: fixture.group) == 0)
    try await fixture.put(sound, to: fixture.keys)
    #expect(try await cache(fixture.store()).finds(one))
  }

  @Test(.fault("bad value")) func `Another key does not open the store, and the error says so`() async throws
  {
    try await fixture.cache.save(one)
    let other = try fixture.file("other", String(repeating: "k", count: 40))
    await expectCacheError(.wrongKey) { try await cache(fixture.store(key: .keyFile(path: other))).save(two) }
    await expectCacheError(.wrongKey) { try await cache(fixture.store(key: .passphrase("words"))).save(two) }
  }

  @Test(.fault("many writers")) func `Sixteen stores that begin at once make one set of keys`() async throws {
    try await atOnce(0..<16) { number in
      let store = try fixture.store(key: .passphrase("the same"))
      try await cache(store).save(SampleToken("t\(number)", account: number % 4))
    }
    let reader = cache(try fixture.store(key: .passphrase("the same")))
    for number in 0..<16 { #expect(try await reader.finds(SampleToken("t\(number)", account: number % 4))) }
  }

  @Test(.fault("many writers"))
  func `A store that another makes at the same moment is not taken for one without keys`() async throws {
    let isFirst = Atomic(true)
    let store = try fixture.store(
      through: MeddlingTransport { [self] (request, send) throws(HTTPTransportError) in
        // There are no keys yet; now it is looked for shards.
        if request.head.path == "/v3/kv/range", isFirst.exchange(false, ordering: .relaxed) {
          try? await fixture.cache.save(two)
        }
        return try await send(request)
      })
    try await cache(store).save(one)
    let madeNow = !isFirst.load(ordering: .relaxed)
    #expect(madeNow)
    let reader = cache(try fixture.store())
    #expect(try await reader.finds(one))
    #expect(try await reader.finds(two))
  }

  @Test(.fault("many writers"))
  func `A change of keys seals everything again, while others read and write`() async throws {
    for account in 0..<5 { try await fixture.cache.save(SampleToken("t\(account)", account: account)) }
    let writer = cache(try fixture.store())
    try await writer.save(one)
    let before = try await keyIDs()
    async let saves: Void = {
      for number in 0..<20 { try await writer.save(SampleToken("w\(number)", account: number % 5)) }
    }()
    let summary = try await fixture.store().rekey()
    try await saves
    #expect(summary.left == 0 && summary.resealed > 0)
    let after = try await keyIDs()
    #expect(after.count == 1 && before.isDisjoint(with: after))
    for number in 0..<20 {
      #expect(try await fixture.cache.finds(SampleToken("w\(number)", account: number % 5)))
    }
    let key = try fixture.file("other", String(repeating: "k", count: 40))
    _ = try await fixture.store().rekey(to: .keyFile(path: key))
    await expectCacheError(.wrongKey) { try await cache(fixture.store()).save(two) }
    #expect(try await cache(fixture.store(key: .keyFile(path: key))).finds(one))
  }

  /// The ids of the keys that the shards are sealed with.
  private func keyIDs() async throws -> Set<[UInt8]> {
    var ids: Set<[UInt8]> = []
    for name in try fixture.names() where name.hasPrefix("\(fixture.prefix)/\(fixture.group)/") {
      guard let value = try await fixture.value(name), value.count > 100 else { continue }
      ids.insert(Array(value[16..<32]))
    }
    return ids
  }

  @Test(.fault("full or large"))
  func `A change of 300 shards is made as a whole, and a larger one refused`() async throws {
    let store = try fixture.store(timeout: .seconds(600))
    let accounts = Array(0..<300)
    try await store.write(1, to: accounts, of: fixture)
    for selection in [ShardSelection.all, .some(accounts.map(fixture.shard))] {
      #expect(try await store.read(selection, in: fixture.group).documents.count == 300)
    }
    let error = await expectCacheError(.tooLarge) {
      try await store.write(2, to: accounts, of: fixture, padding: 5000)
    }
    #expect(error?.advice?.isEmpty == false)
    let documents = try await store.read(.all, in: fixture.group).documents
    #expect(accounts.allSatisfy { fixture.number(in: documents[fixture.shard($0)] ?? CacheDocument()) == 1 })
    #expect(try await store.remove(.everything, in: fixture.group) == 300)
  }

  @Test(.fault("full or large")) func `Values of a megabyte are read a few at a time`() async throws {
    let store = try fixture.store()
    for account in 0..<9 { try await store.increment(account, of: fixture, padding: 1_000_000) }
    for selection in [ShardSelection.all, .some((0..<9).map(fixture.shard))] {
      #expect(try await fixture.store().read(selection, in: fixture.group).documents.count == 9)
    }
    await expectCacheError(.tooLarge) { try await store.increment(0, of: fixture, padding: 1_600_000) }
  }

  @Test(.fault("restored"))
  func `A change is newer than what a cluster with more revisions had`() async throws {
    let store = try fixture.store()
    for _ in 0..<20 { try await store.increment(1, of: fixture) }
    let restored = try Fixture(EtcdNode())
    for (from, to) in [
      (fixture.keys, restored.keys), (fixture.name(fixture.shard(1)), restored.name(restored.shard(1))),
    ] {
      try await restored.put(try #require(try await fixture.value(from)), to: to)
    }
    let reader = try restored.store(watching: nil)
    #expect(try await reader.numbers(of: restored) == [1: 20])
    #expect(try await restored.store().increment(1, of: restored) == 21)
    #expect(try await reader.numbers(of: restored) == [1: 21])
  }

  @Test(.fault("full or large"))
  func `A full database is reported as such, and what was saved stays`() async throws {
    let fixture = try Fixture(EtcdNode(["--quota-backend-bytes=2000000"]))
    let store = try fixture.store()
    try await store.increment(1, of: fixture)
    let error = await expectCacheError(.tooLarge) {
      for account in 2..<50 { try await store.increment(account, of: fixture, padding: 200_000) }
    }
    #expect(error?.message.contains("NOSPACE") == true && error?.advice?.contains("alarm disarm") == true)
    #expect(try await fixture.number() == 1)
  }

  @Test(.fault("endpoint"))
  func `An invalid endpoint, an invalid prefix and http to another machine are refused`() throws {
    for endpoint in [
      "http://192.0.2.1:2379", "http://etcd.example.com", "http://127.0.0.1.example.com", "etcd:2379", "",
      "https://user:hunter2@etcd.example.com", "https://etcd.example.com/path", "ftp://127.0.0.1",
    ] {
      let error = #expect(throws: CacheError.self) { try fixture.store(at: [endpoint]) }
      #expect(error?.advice?.isEmpty == false && error?.description.contains("hunter2") == false)
    }
    for prefix in ["", "/", "///", "a b", "a\nb", String(repeating: "x", count: 256)] {
      #expect(throws: CacheError(.refused, "")) { try fixture.store(prefix: prefix) }
    }
    _ = try fixture.store(prefix: "/" + String(repeating: "x", count: 254) + "//")
    #expect(throws: CacheError(.unavailable, "")) { try fixture.store(at: []) }
  }

  @Test(.fault("endpoint")) func `An endpoint that does not respond is left for the next one`() async throws {
    try await fixture.cache.save(one)
    let dead = "http://127.0.0.1:\(ReservedPort.refusing.number)"
    let store = try fixture.store(at: [dead, fixture.node.endpoint])
    #expect(try await cache(store).finds(one))
    try await cache(store).save(two)
    #expect(try await cache(store).finds(two))
    let unreachable = try fixture.store(at: [dead], timeout: .seconds(60))
    let error = await #expect(throws: CacheError.self) { try await cache(unreachable).save(two) }
    #expect(
      error?.code == .unavailable && error?.message.contains("No endpoint of etcd can be reached") == true)
    #expect(error?.advice?.contains("etcdctl endpoint health") == true)
  }

  @Test(
    .fault("endpoint"),
    arguments: [
      (.timedOut, .timedOut), (.malformedResponse("noise"), .refused), (.untrustedServer("no"), .unavailable),
    ] as [(HTTPTransportError, CacheError.Code)])
  func `Where one endpoint cannot be found the error is that of the other`(
    _ other: HTTPTransportError, _ code: CacheError.Code
  ) async throws {
    let store = try fixture.store(
      at: ["http://127.0.0.1:1", "http://127.0.0.1:2"], timeout: .seconds(1), watching: nil,
      through: MeddlingTransport { (request, _) throws(HTTPTransportError) in
        throw request.head.authority == "127.0.0.1:1" ? .cannotFindHost("gone") : other
      })
    await expectCacheError(code) { try await store.read(.all, in: fixture.group) }
  }

  @Test(.requirement("R15.4"), .fault("endpoint")) func `Two clusters are not taken for one`() async throws {
    try await fixture.cache.save(one)
    let isOther = Atomic(false)
    let transport = MeddlingTransport(replacing: "\"cluster_id\":\"", with: "\"cluster_id\":\"1") {
      isOther.load(ordering: .relaxed)
    }
    let store = try fixture.store(watching: nil, through: transport)
    #expect(try await cache(store).finds(one))
    isOther.store(true, ordering: .relaxed)
    let error = await expectCacheError(.refused) { _ = try await cache(store).finds(one) }
    #expect(error?.message.contains("another cluster") == true)
  }

  @Test(
    .fault("etcd nonsense"),
    arguments: [
      "", "no JSON", "[]", "{}", #"{"header":{}"#, #"{"header":{}}"#, #"{"header":{"revision":"5"}}"#,
      header("-1"), header("99999999999999999999"), header("\(Int64.max)"), header("5", #""responses":{}"#),
      header("5", #""responses":[]"#),
      header("5", #""responses":[{"response_range":{"kvs":[{"key":"?"}]}}]"#),
      header("5", #""responses":[{"response_range":{"kvs":[{"key":"YQ==","mod_revision":"2"}]}}]"#),
      #"{"error":"no leader","code":14}"#, String(repeating: "[", count: 100_000),
    ].abbreviated)
  func `An invalid response is refused, and nothing is written`(_ body: Named<String>) async throws {
    let body = body.value
    let store = try fixture.checkingStore { _, _ in .init(.init(status: .ok), body: Data(body.utf8)) }
    let group = fixture.group
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await store.read(.all, in: group) }, { try await cache(store).save(one) },
      { _ = try await store.remove(.damaged, in: group) },
    ]
    for call in calls {
      let error = await expectCacheError(.refused) { try await call() }
      #expect(error?.message.contains("response is invalid") == true)
    }
    #expect(try fixture.names().isEmpty)
  }

  /// An answer that begins as etcd's do.
  private static func header(_ revision: String, _ more: String = #""more":false"#) -> String {
    #"{"header":{"revision":"\#(revision)","cluster_id":"1"},\#(more)}"#
  }

  @Test(.requirement("R15.5"), .fault("set back"))
  func `A state older than the one seen before is refused`() async throws {
    try await fixture.cache.save(one)
    let isOld = Atomic(false)
    let transport = MeddlingTransport(replacing: "\"revision\":\"", with: "\"revision\":\"0\",\"was\":\"") {
      isOld.load(ordering: .relaxed)
    }
    let store = try fixture.store(watching: nil, through: transport)
    #expect(try await cache(store).finds(two) == false)
    isOld.store(true, ordering: .relaxed)
    for call in [
      { _ = try await cache(store).finds(two) }, { try await cache(store).save(two) },
    ] as [@Sendable () async throws -> Void] {
      let error = await expectCacheError(.rolledBack) { try await call() }
      #expect(error?.message.contains("older state") == true)
    }
    isOld.store(false, ordering: .relaxed)
    #expect(try await cache(store).finds(one))
  }

  @Test(.fault("kept values"))
  func `What has not changed is neither sent nor opened again, and what has is`() async throws {
    let sizes = Mutex<[Int]>([])
    let reads = Atomic(0)
    let store = try fixture.checkingStore { (request, send) throws(HTTPTransportError) in
      let answer = try await send(request)
      sizes.withLock { $0.append(answer.body.count) }
      // The smallest request asks for nothing of the group.
      if request.says("/stamp") { reads.add(1, ordering: .relaxed) }
      return answer
    }
    let (other, shard, group) = (try fixture.store(), fixture.shard(1), fixture.group)
    func read(_ number: Int, isSent: Bool) async throws {
      sizes.withLock { $0 = [] }
      reads.store(0, ordering: .relaxed)
      let contents = try await store.read(.some([shard]), in: group)
      #expect(fixture.number(in: contents[shard]) == number)
      let size = sizes.withLock { $0.reduce(0, +) }
      #expect(isSent ? size > 100_000 : size < 5000)
      let count = reads.load(ordering: .relaxed)
      #expect(count == (isSent ? 1 : 0))
    }
    try await other.increment(1, of: fixture, padding: 100_000)
    try await read(1, isSent: true)
    try await read(1, isSent: false)
    try await other.increment(1, of: fixture, padding: 100_000)
    try await read(2, isSent: true)
    // What it has written itself it knows.
    sizes.withLock { $0 = [] }
    for number in 3...5 {
      #expect(try await store.increment(1, of: fixture, padding: 100_000) == number)
    }
    #expect(sizes.withLock { $0.reduce(0, +) } < 10_000)
    try await read(5, isSent: false)
    #expect(try await fixture.number() == 5)
    try await other.increment(2, of: fixture)
    #expect(try await store.read(.some([shard, fixture.shard(2)]), in: group).documents.count == 2)
    try await fixture.damage(shard)
    #expect(try await store.read(.some([shard]), in: group).problems.map(\.kind) == [.damaged])
    #expect(try await store.remove(.damaged, in: group) == 1)
    #expect(try await store.read(.some([shard]), in: group).documents.isEmpty)
  }

  @Test(.fault("clocks")) func `Writers whose clocks are a day apart, and jump, lose nothing`() async throws {
    let saved = try await atOnce(0..<8) { writer in
      let cache = TokenCacheAccessor(store: try fixture.store(), group: fixture.group) {
        Date() + .random(in: -86_400...86_400)
      }
      let tokens = (0..<20).map { SampleToken("w\(writer)-\($0)", account: $0 % 4) }
      for token in tokens { try await cache.save(token) }
      return tokens.map(\.name)
    }.flatMap(\.self)
    #expect(saved.count == 8 * 20)
    #expect(try await fixture.savedNames() == Set(saved))
  }

  @Test(.fault("etcd nonsense"))
  func `A response that is too large, incomplete or from a proxy is an error`() async throws {
    for (answer, code): (Result<HTTPTransportResponse, HTTPTransportError>, CacheError.Code) in [
      (.failure(.responseTooLarge(limit: 1)), .refused), (.failure(.connectionLost("It broke.")), .timedOut),
      (.success(.init(.init(status: .badGateway), body: Data("<html>".utf8))), .refused),
      (.failure(.untrustedServer("Not trusted.")), .unavailable),
      (.success(.init(.init(status: .temporaryRedirect), body: Data("{}".utf8))), .refused),
      (
        .success(
          .init(.init(status: .serviceUnavailable), body: Data(#"{"error":"no leader","code":14}"#.utf8))),
        .timedOut
      ),
    ] {
      let timeout = Duration.seconds(code == .timedOut ? 1 : 120)
      let store = try fixture.checkingStore(timeout: timeout) { (_, _) throws(HTTPTransportError) in
        try answer.get()
      }
      for call in [{ _ = try await store.read(.all, in: fixture.group) }, { _ = try await store.groups() }]
        as [@Sendable () async throws -> Void]
      {
        let error = await #expect(throws: CacheError.self) { try await call() }
        #expect(error?.code == code && error?.advice?.isEmpty == false, "\(answer)")
        #expect(error?.leavesOutcomeOpen == false, "\(answer)")
      }
    }
    // Another endpoint would send as much.
    let store = try storeWithAnotherEndpoint { () throws(HTTPTransportError) in
      throw .responseTooLarge(limit: 1)
    }
    await expectCacheError(.refused) { try await store.read(.all, in: fixture.group) }
  }

  @Test(
    .fault("etcd refuses"),
    arguments: [
      (7, "permission denied", .refused, "has no right"),
      (8, "mvcc: database space exceeded", .tooLarge, "NOSPACE"),
      (3, "request is too large", .tooLarge, "larger than one etcd request"),
      (3, "too many operations in txn request", .tooLarge, "one etcd transaction"),
      (11, "mvcc: required revision has been compacted", .timedOut, "compacted meanwhile"),
      (3, "authentication failed, invalid user ID or password", .wrongKey, "user name or password"),
      (3, "user name is empty", .refused, "requires a user"),
      (9, "user name not found", .refused, "requires a user"),
      (16, "invalid auth token", .refused, "requires a user"),
      (15, "corrupt cluster", .refused, "raised an alarm"),
      (12, "not capable", .refused, "refused: etcdserver: not capable."),
    ] as [(Int, String, CacheError.Code, String)])
  func `What etcd refuses is explained, without another endpoint`(
    _ code: Int, _ message: String, _ expected: CacheError.Code, _ words: String
  ) async throws {
    let requests = Atomic(0)
    let store = try storeWithAnotherEndpoint { () throws(HTTPTransportError) in
      requests.add(1, ordering: .relaxed)
      let body = #"{"error":"etcdserver: \#(message)","code":\#(code)}"#
      return .init(.init(status: .badRequest), body: Data(body.utf8))
    }
    let error = await expectCacheError(expected) { try await store.read(.all, in: fixture.group) }
    #expect(error?.message.contains(words) == true && error?.advice?.isEmpty == false)
    await expectCacheError(expected) { try await store.groups() }
    let count = requests.load(ordering: .relaxed)
    #expect(count == 2)
  }

  @Test(
    .fault("etcd refuses"),
    arguments: [
      (1, "canceled"), (2, "unknown"), (4, "deadline exceeded"), (10, "aborted"), (13, "internal"),
      (14, "no leader"),
      (8, "too many requests"),
    ])
  func `What etcd cannot do for a moment is asked of the next endpoint`(_ code: Int, _ message: String)
    async throws
  {
    try await fixture.cache.save(one)
    let store = try storeWithAnotherEndpoint { () throws(HTTPTransportError) in
      let body = #"{"error":"etcdserver: \#(message)","code":\#(code)}"#
      return .init(.init(status: .serviceUnavailable), body: Data(body.utf8))
    }
    #expect(try await cache(store).finds(one))
  }

  /// A store whose first endpoint gives an answer of the test's, and whose second is etcd.
  private func storeWithAnotherEndpoint(
    _ answer: @escaping @Sendable () throws(HTTPTransportError) -> HTTPTransportResponse
  ) throws -> EtcdCacheStore {
    let first = "http://127.0.0.1:1"
    return try fixture.store(
      at: [first, fixture.node.endpoint], watching: nil,
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        first.hasSuffix(request.head.authority ?? "") ? try answer() : try await send(request)
      })
  }

  @Test(.fault("etcd nonsense")) func `A key that has two values in a response is an error`() async throws {
    try await cache(fixture.store()).save(one)
    let store = try fixture.checkingStore { (request, send) throws(HTTPTransportError) in
      var response = try await send(request)
      let text = String(decoding: response.body, as: UTF8.self)
        .replacing(/"kvs":\[([^\]]+)\]/) { "\"kvs\":[\($0.1),\($0.1)]" }
      response.body = Data(text.utf8)
      return response
    }
    let error = await expectCacheError(.refused) {
      try await store.read(.some([fixture.shard(one)]), in: fixture.group)
    }
    #expect(error?.message.contains("response is invalid") == true)
    let transport = MeddlingTransport(replacing: #""ID":""#, with: #""ID":"0","was":""#)
    let withoutLease = try fixture.store(through: transport)
    let noLease = await expectCacheError(.refused) { try await withoutLease.increment(1, of: fixture) }
    #expect(noLease?.message == "etcd's response is invalid: it holds no lease.")
  }

  /// The second ends with the first brace that closes something, the third is nothing.
  @Test(.fault("etcd nonsense"), arguments: [20, 1000, 0])
  func `After a response that was cut off between two chunks the request is repeated`(
    _ length: Int
  ) async throws {
    try await cache(fixture.store()).save(one)
    let cut = Atomic(0)
    let store = try fixture.checkingStore { (request, send) throws(HTTPTransportError) in
      var response = try await send(request)
      if cut.add(1, ordering: .relaxed).oldValue < 2 {
        response.head.headerFields[.transferEncoding] = "chunked"
        let brace = response.body.firstIndex(of: UInt8(ascii: "}")) ?? 0
        response.body = Data(response.body.prefix(min(length, brace + 1)))
      }
      return response
    }
    #expect(try await cache(store).finds(one))
  }

  @Test func `A call that is cancelled ends at once, and its request with it`() async throws {
    let (began, end) = (AsyncStream<Void>.makeStream(), AsyncStream<Bool>.makeStream())
    let store = try fixture.checkingStore { (_, _) throws(HTTPTransportError) in
      began.continuation.yield()
      do { try await Task.sleep(for: .seconds(100)) } catch {}
      end.continuation.yield(Task.isCancelled)
      throw .cancelled
    }
    let waiting = Task { try await store.read(.all, in: fixture.group) }
    for await _ in began.stream { break }
    waiting.cancel()
    await expectCacheError(.cancelled) { try await waiting.value }
    for await isCancelled in end.stream {
      #expect(isCancelled)
      break
    }
  }

  @Test func `A lookup that is cancelled ends at once if the transport ignores that`() async throws {
    let isHanging = Atomic(false)
    let (began, end) = (AsyncStream<Void>.makeStream(), AsyncStream<Never>.makeStream())
    let store = try fixture.checkingStore { (request, send) throws(HTTPTransportError) in
      guard isHanging.load(ordering: .relaxed) else { return try await send(request) }
      began.continuation.yield()
      // A task of its own, which is not cancelled with its caller.
      await Task { for await _ in end.stream {} }.value
      throw .connectionLost("It hung.")
    }
    try await cache(store).save(one)
    isHanging.store(true, ordering: .relaxed)
    let waiting = Task { try await store.read(.some([fixture.shard(one)]), in: fixture.group) }
    for await _ in began.stream { break }
    waiting.cancel()
    await expectCacheError(.cancelled) { try await waiting.value }
    end.continuation.finish()
  }
}
