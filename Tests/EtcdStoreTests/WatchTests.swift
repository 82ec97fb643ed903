import EtcdStore
import TestSupport

/// Whether memory is still what etcd has.
@Suite(.timeLimit(.minutes(20)))
struct WatchTests {
  private let fixture: Fixture
  private let token = SampleToken("one", account: 1)
  private let quick = GroupWatch.Timing(
    interval: .milliseconds(50), validity: .milliseconds(400), idle: .seconds(60))
  /// Its responses are valid also on a busy machine.
  private let steady = GroupWatch.Timing(
    interval: .milliseconds(20), validity: .seconds(60), idle: .seconds(60))

  init() throws { fixture = try Fixture() }

  private func cache(_ store: EtcdCacheStore) -> TokenCacheAccessor { fixture.accessor(on: store) }

  /// Waits until a store knows the state, or does not any more.
  private func wait(until isKnown: Bool, _ store: EtcdCacheStore) async throws {
    try await eventually { (store.generation(of: fixture.group) != nil) == isKnown }
  }

  @Test func `A lookup reads only after a change by others`() async throws {
    let transport = MeddlingTransport()
    // What is seen is seen by the watch: it is not polled meanwhile.
    let timing = GroupWatch.Timing(
      interval: .seconds(600), validity: .seconds(1200), idle: .seconds(600))
    let cache = cache(try fixture.store(watching: timing, through: transport))
    let store = try #require(cache.store as? EtcdCacheStore)
    // A program that ends soon does not watch.
    for _ in 0..<31 { #expect(store.generation(of: fixture.group) == nil) }
    try await fixture.cache.save(token)
    #expect(transport.methods.isEmpty)
    try await wait(until: true, store)
    #expect(try await cache.finds(token))
    let reads = transport.methods.count
    for _ in 0..<1000 { #expect(try await cache.finds(token)) }
    // The watch may have asked meanwhile; a thousand lookups did not.
    #expect(transport.methods.count < reads + 500)

    let generation = store.generation(of: fixture.group)
    let other = SampleToken("two", account: 1)
    try await fixture.cache.save(other)
    #expect(await fixture.generation(of: store, after: generation) != nil)
    #expect(try await cache.finds(other))
  }

  @Test func `What this process writes it sees at once`() async throws {
    let store = try fixture.store()
    try await cache(store).save(token)
    try await wait(until: true, store)
    for number in 0..<20 {
      let generation = store.generation(of: fixture.group)
      try await cache(store).save(SampleToken("t\(number)", account: 1))
      #expect(generation == nil || store.generation(of: fixture.group) != generation)
      #expect(try await cache(store).finds(SampleToken("t\(number)", account: 1)))
    }
  }

  @Test(.fault("watch ends")) func `A transport that cannot stream makes every lookup read`() async throws {
    let store = try fixture.store(through: ChangedTransport(MeddlingTransport.forward))
    try await cache(store).save(token)
    for _ in 0..<50 {
      #expect(store.generation(of: fixture.group) == nil)
      #expect(try await cache(store).finds(token))
    }
  }

  @Test func `A watch that goes on is polled, and not begun again`() async throws {
    let transport = MeddlingTransport()
    let store = try fixture.store(watching: steady, through: transport)
    try await cache(store).save(token)
    try await wait(until: true, store)
    let count = transport.methods.count
    try await eventually { transport.methods.count >= count + 5 }
    #expect(store.generation(of: fixture.group) != nil)
    #expect(transport.streams == 1)
  }

  @Test func `A watch without lookups ends, and the next ones begin another`() async throws {
    let ends = Atomic(0)
    let transport = MeddlingTransport(stream: { (_, request, receive) throws(HTTPTransportError) in
      defer { ends.add(1, ordering: .relaxed) }
      return try await MeddlingTransport.stream(request, receive)
    })
    let store = try fixture.store(
      watching: GroupWatch.Timing(
        interval: .milliseconds(20), validity: .seconds(60), idle: .milliseconds(300)),
      through: transport)
    try await cache(store).save(token)
    try await wait(until: true, store)
    try await eventually { ends.load(ordering: .relaxed) == transport.streams }
    // Nothing is asked any more.
    var count = 0
    while count != transport.methods.count {
      count = transport.methods.count
      for number in 0..<50 { try await fixture.cache.save(SampleToken("t\(number)", account: 2)) }
    }
    try await wait(until: true, store)
  }

  @Test func `The age of a watch is known once it reports changes, and never without one`() async throws {
    let store = try fixture.store()
    _ = try await store.watchAge(of: fixture.group, timeout: .seconds(600))
    #expect(store.generation(of: fixture.group) != nil)
    let other = try fixture.store(watching: nil)
    await expectCacheError(.timedOut) { try await other.watchAge(of: fixture.group) }
    #expect(other.generation(of: fixture.group) == nil)
  }

  @Test(.fault("watch ends"))
  func `A watch that ends is begun again, and the state is unknown in between`() async throws {
    let isCut = Atomic(false)
    let store = try fixture.store(
      watching: quick, through: MeddlingTransport(receive: { isCut.load(ordering: .relaxed) ? nil : $0 }))
    try await cache(store).save(token)
    try await wait(until: true, store)
    isCut.store(true, ordering: .relaxed)
    try await fixture.cache.save(SampleToken("two", account: 1))
    try await wait(until: false, store)
    isCut.store(false, ordering: .relaxed)
    try await wait(until: true, store)
    #expect(try await cache(store).finds(SampleToken("two", account: 1)))
  }

  @Test(.fault("watch ends"))
  func `A watch that misses a change is left for another`() async throws {
    let isSilent = Atomic(false)
    let streams = Atomic(0)
    let store = try fixture.store(
      watching: quick,
      through: MeddlingTransport(receive: { part in
        if String(decoding: part, as: UTF8.self).contains("\"created\"") {
          streams.add(1, ordering: .relaxed)
        }
        return isSilent.load(ordering: .relaxed) ? Data() : part
      }))
    try await cache(store).save(token)
    let before = await fixture.generation(of: store, after: nil)
    let count = streams.load(ordering: .relaxed)
    isSilent.store(true, ordering: .relaxed)
    let other = SampleToken("two", account: 1)
    try await fixture.cache.save(other)
    // Polling finds it, and a moment later the watch is left.
    try await eventually { store.generation(of: fixture.group) != before }
    #expect(try await cache(store).finds(other))
    try await wait(until: false, store)
    // On a busy machine the state is unknown for a moment also while a watch goes on, so the next one is waited for.
    try await eventually {
      _ = store.generation(of: fixture.group)
      return streams.load(ordering: .relaxed) > count
    }
    isSilent.store(false, ordering: .relaxed)
    try await wait(until: true, store)
  }

  @Test(.fault("watch ends"))
  func `A watch that never says that it has begun is left for another`() async throws {
    let beginnings = Atomic(0)
    let store = try fixture.store(
      watching: quick,
      through: MeddlingTransport(receive: { part in
        guard String(decoding: part, as: UTF8.self).contains("\"created\"") else { return part }
        return beginnings.add(1, ordering: .relaxed).newValue > 2 ? part : Data()
      }))
    try await cache(store).save(token)
    try await wait(until: true, store)
    #expect(beginnings.load(ordering: .relaxed) > 2)
    #expect(try await cache(store).finds(token))
  }

  @Test(.requirement("R15.10"), .fault("watch ends"))
  func `While etcd does not respond, the state is unknown after a while`() async throws {
    let node = try EtcdNode()
    let fixture = try Fixture(node)
    let store = try fixture.store(watching: quick)
    try await fixture.accessor(on: store).save(token)
    try await eventually { store.generation(of: fixture.group) != nil }
    node.signal(SIGSTOP)
    try await eventually { store.generation(of: fixture.group) == nil }
    node.signal(SIGCONT)
    try await eventually { store.generation(of: fixture.group) != nil }
    #expect(try await fixture.accessor(on: store).finds(token))
  }

  @Test(.fault("watch ends")) func `Compaction hurts neither the watch nor a read`() async throws {
    let node = try EtcdNode()
    let fixture = try Fixture(node)
    let store = try fixture.store(watching: quick)
    let cache = fixture.accessor(on: store)
    try await cache.save(token)
    for number in 0..<10 {
      _ = store.generation(of: fixture.group)
      try await fixture.cache.save(SampleToken("t\(number)", account: 1))
      let revision = try await RawGateway(node).revision()
      try node.control("compact", "\(revision)")
      #expect(try await fixture.store(watching: nil).read(.all, in: fixture.group).problems.isEmpty)
    }
    try await eventually { store.generation(of: fixture.group) != nil }
    #expect(try await cache.finds(SampleToken("t9", account: 1)))
  }

  @Test(.fault("watch ends"))
  func `A watch that begins at what was compacted away is begun anew`() async throws {
    let node = try EtcdNode()
    let fixture = try Fixture(node)
    let followsPoll = Atomic(false)
    let transport = MeddlingTransport(stream: { (number, request, receive) throws(HTTPTransportError) in
      if number == 1 {
        let message = request.body.flatMap { try? JSONObject(foreign: $0, within: .cache) }
        let start = message?["create_request"]?.objectValue?["start_revision"]?.numberValue
        let revision = try? await RawGateway(node).revision()
        followsPoll.store(start == revision.map { Double($0 + 1) }, ordering: .relaxed)
        // Two changes after the question at which revision to begin, also where the watch is given up meanwhile.
        await Task {
          for number in 0..<2 { try? await fixture.cache.save(SampleToken("t\(number)", account: 1)) }
          _ = try? await node.control("compact", "\(RawGateway(node).revision())")
        }.value
      }
      return try await MeddlingTransport.stream(request, receive)
    })
    let store = try fixture.store(watching: quick, through: transport)
    try await eventually { store.generation(of: fixture.group) != nil && transport.streams >= 2 }
    let isNext = followsPoll.load(ordering: .relaxed)
    #expect(isNext)
    #expect(
      try await fixture.accessor(on: store).finds(SampleToken("t1", account: 1)))
  }

  @Test(
    .fault("watch nonsense"),
    arguments: [
      String(repeating: "x", count: 100_000), "\n", "{}\n", "[\n", #"{"error":{"code":14}}"# + "\n",
      #"{"result":{"created":1}}"# + "\n", #"{"result":{"canceled":true}}"# + "\n",
      #"{"result":{"events":[{"kv":{"mod_revision":"-1"}}]}}"# + "\n",
      #"{"result":{"events":[{"kv":{"mod_revision":"99999999999999999999"}}]}}"# + "\n", event,
    ].abbreviated)
  func `A watch with invalid or endless events is left, and begun again after a pause`(_ text: Named<String>)
    async throws
  {
    let text = text.value
    let counts = Mutex<[Int]>([])
    let transport = MeddlingTransport(stream: { _, _, receive in
      var count = 1
      while count < 100_000, receive(Data(text.utf8)) { count += 1 }
      counts.withLock { $0.append(count) }
      return .init(status: .ok)
    })
    let store = try fixture.store(watching: quick, through: transport)
    let start = ContinuousClock.now
    try await eventually {
      #expect(store.generation(of: fixture.group) == nil)
      return transport.streams >= 5
    }
    // The shortest pause is half of the interval.
    let pauses = transport.streams - 1
    #expect(.milliseconds(25) * pauses <= ContinuousClock.now - start)
    // A line may have a mebibyte, and so may a second.
    let (found, expected) = (counts.withLock { $0 }, text == Self.event ? 100..<50_000 : 1..<20)
    #expect(found.allSatisfy { expected.contains($0) }, "\(found)")
    try await cache(store).save(token)
    #expect(try await cache(store).finds(token))
  }

  private static let event = #"{"result":{"events":[{"kv":{"mod_revision":"1"}}]}}"# + "\n"

  @Test(.fault("watch nonsense")) func `The largest revision is invalid`() async throws {
    let transport = MeddlingTransport(
      replacing: "\"revision\":\"", with: "\"revision\":\"\(Int64.max)\",\"was\":\"")
    let store = try fixture.store(watching: quick, through: transport)
    try await eventually {
      #expect(store.generation(of: fixture.group) == nil)
      return transport.methods.count >= 3
    }
    await expectCacheError(.refused) { try await store.read(.all, in: fixture.group) }
  }

  @Test func `A store that is released ends its watch`() async throws {
    weak var transport: MeddlingTransport?
    do {
      let made = MeddlingTransport()
      transport = made
      let store = try fixture.store(watching: quick, through: made)
      try await cache(store).save(token)
      try await wait(until: true, store)
    }
    try await eventually { transport == nil }
  }
}
