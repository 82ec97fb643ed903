import KeyringStore
import SecretService
import TestSupport

/// Daemons that die, are replaced, lose their data, are slow or send invalid responses while the store is in use.
@Suite(.timeLimit(.minutes(20)))
struct DaemonFaultTests {
  private let token = SampleToken("one", account: 1)
  private let next = SampleToken("next", account: 1)

  enum Call: CaseIterable {
    case groups, read, find, save, remove, clear

    func run(_ fixture: Fixture, _ token: SampleToken) async throws {
      switch self {
      case .groups: _ = try await fixture.store.groups()
      case .read: _ = try await fixture.store.read(.all, in: fixture.group)
      case .find: _ = try await fixture.otherCache().finds(token)
      case .save: try await fixture.cache.save(token)
      case .remove: try await fixture.cache.removeAccount(token.homeAccountID)
      case .clear: _ = try await fixture.otherGroup(on: fixture.store).clear()
      }
    }
  }

  @Test(.fault("killed in call"), arguments: Call.allCases)
  func `A daemon killed before, during and after a call costs at most that call`(call: Call) async throws {
    let fixture = try await Fixture(saving: token)
    for delay in 0..<5 {
      let victim = SampleToken("v\(delay)", account: 2)
      let running = Task { try await call.run(fixture, victim) }
      try await Task.sleep(for: .milliseconds(delay))
      fixture.keyring.killDaemon()
      let result = await running.result
      if case .failure(let error) = result { #expect(error as? CacheError == CacheError(.unavailable, "")) }
      try fixture.keyring.startDaemon()
      if call == .save, (try? result.get()) != nil { #expect(try await fixture.otherCache().finds(victim)) }
      try await call.run(fixture, victim)
      #expect(try await fixture.otherCache().finds(token))
      #expect(try await fixture.otherCache().snapshot().problems.isEmpty)
    }
  }

  @Test(.fault("no bus")) func `A bus that ends is an error at once, for every call`() async throws {
    let fixture = try await Fixture(saving: token)
    #expect(try await fixture.cache.finds(token))
    fixture.keyring.killBus()
    for call in Call.allCases {
      await #expect(throws: CacheError(.unavailable, ""), "\(call)") { try await call.run(fixture, next) }
    }
    // No writer has changed what is in memory.
    #expect(try await fixture.cache.finds(token))
  }

  @Test(.fault("deleted"))
  func `A deleted collection is out of reach, not empty, and a new one is used`() async throws {
    let fixture = try await Fixture(saving: token)
    let cancellable = Cancellable(timeout: .seconds(120))
    let bus = try BusConnection(address: fixture.keyring.busAddress, cancellable)
    let path = try await fixture.client.collection().path.description
    _ = try bus.call(
      "org.freedesktop.secrets", path, "org.freedesktop.Secret.Collection", "Delete", [], reply: "(o)",
      cancellable)
    for call in Call.allCases {
      await #expect(throws: CacheError(.unavailable, ""), "\(call)") { try await call.run(fixture, next) }
    }
    try fixture.keyring.restartDaemon()
    #expect(try await fixture.store.groups().isEmpty)
    try await fixture.cache.save(next)
    #expect(try await fixture.otherCache().finds(next))
  }

  @Test(.fault("taken over"))
  func `Another daemon that takes the service over is used from then on`() async throws {
    let fixture = try await Fixture(saving: token)
    let before = try await fixture.client.collection().path
    let replacing = try Child.run(
      "gnome-keyring-daemon",
      [
        "--replace", "--unlock", "--components=secrets",
        "--control-directory=\(fixture.keyring.directory)/run/keyring",
      ],
      environment: fixture.keyring.environment, input: PrivateKeyring.password)
    #expect(replacing.status == 0)
    // The new one ends with the bus.
    defer { fixture.keyring.killBus() }
    try await eventually { (try? await fixture.client.collection().path) ?? before != before }
    for cache in [fixture.accessor(on: fixture.store), fixture.otherCache()] {
      #expect(try await cache.finds(token))
    }
    try await fixture.cache.save(next)
    #expect(try await fixture.otherCache().finds(next))
  }

  @Test(.fault("taken over"), .enabled(if: KeyringProvider.kwallet.isInstalled, "kwalletd5 is not installed"))
  func `A keyring of another kind in its place shows its own items, and no error stays`() async throws {
    let first = try await Fixture(saving: token)
    first.keyring.killDaemon()
    try first.keyring.startDaemon(.kwallet)
    let cache = TokenCacheAccessor(store: first.store, group: first.group)
    #expect(try await !cache.finds(token))
    try await cache.save(next)
    #expect(try await first.otherCache().finds(next))
  }

  @Test(.fault("slow")) func `A slow daemon is waited for as long as the timeout allows`() async throws {
    let fixture = try await Fixture(saving: token)
    for call in Call.allCases {
      fixture.keyring.stopDaemon()
      let running = Task { try await call.run(fixture, next) }
      try await Task.sleep(for: .milliseconds(200))
      fixture.keyring.continueDaemon()
      try await running.value
    }
  }

  @Test(.fault("prompt hangs"))
  func `An unanswered prompt is given up at its deadline and harms nothing`() async throws {
    let fixture = try await Fixture(saving: token)
    try fixture.keyring.lockCollection()
    let prompter = try FakeService.silentPrompter(on: fixture.keyring)
    let cache = fixture.accessor(on: fixture.promptingStore(for: .seconds(1), timeout: .seconds(25)))
    for _ in 0..<2 {
      await expectCacheError(.timedOut) { try await cache.finds(token) }
      await expectCacheError(.timedOut) { try await cache.save(next) }
    }
    // The daemon has survived, and others are not kept waiting.
    await expectCacheError(.locked) { try await fixture.store.groups() }
    try fixture.keyring.unlockCollection()
    #expect(try await cache.finds(token))
    try await cache.save(next)
    #expect(try await fixture.otherCache().finds(next))
    withExtendedLifetime(prompter) {}
  }

  @Test(.fault("nonsense"), arguments: ["ReadAlias", "SearchItems", "GetSecrets", "GetAll"])
  func `An invalid response of the service is refused, and nothing is written`(method: String) async throws {
    let item = FakeService.collection + "/1"
    let group = try KeychainGroup("org.example.shared")
    let shard = ShardID(homeAccountID: token.homeAccountID, group: group)
    let service = try FakeService([
      "SearchItems": .found([item]), "GetSecrets": .error("org.example.Error.Odd"),
      "GetAll": .item(Fixture.attributes(shard, of: group)),
    ])
    service.setAnswer(method, .reply([.boolean(true), .uint32(7)]))
    let store = service.store()
    let cache = TokenCacheAccessor(store: store, group: group)
    await expectCacheError(.refused) { try await store.read(.all, in: group) }
    await expectCacheError(.refused) { try await cache.finds(token) }
    await expectCacheError(.refused) { try await cache.save(token) }
    #expect(!service.hasBeenWrittenTo)
  }

  @Test(.fault("nonsense"))
  func `A miss counts only where the service reports whether it is locked`() async throws {
    let service = try FakeService(["SearchItems": .found(), "Locked": .property(.string("false"))])
    await service.store().expectEveryCall(in: try KeychainGroup("org.example.shared"), toThrow: .refused)
    #expect(!service.hasBeenWrittenTo)
  }

  @Test(.fault("ends in order"))
  func `A service that took its items off the bus to end is out of reach, not empty`() async throws {
    let service = try FakeService(["SearchItems": .found([FakeService.collection + "/1"])])
    await expectCacheError(.unavailable) { try await service.store().groups() }
    // Begun again once.
    #expect(service.calls.count { $0 == "GetAll" } == 2)
    await service.store().expectEveryCall(in: try KeychainGroup("org.example.shared"), toThrow: .unavailable)
    #expect(!service.hasBeenWrittenTo)
  }

  @Test(.fault("nonsense")) func `A service that is silent is given up at the deadline`() async throws {
    let service = try FakeService(["SearchItems": .silence])
    let store = service.store(timeout: .milliseconds(500))
    let group = try KeychainGroup("org.example.shared")
    await expectCacheError(.timedOut) { try await store.read(.all, in: group) }
    await expectCacheError(.timedOut) { try await TokenCacheAccessor(store: store, group: group).save(token) }
  }

  @Test(arguments: ["SearchItems", "CreateItem"])
  func `A save says that it may have been applied if the keyring did not answer after it was sent`(
    method: String
  ) async throws {
    let service = try FakeService(["SearchItems": .found()])
    service.setAnswer(method, .error("org.freedesktop.DBus.Error.TimedOut"))
    let cache = TokenCacheAccessor(store: service.store(), group: try KeychainGroup("org.example.shared"))
    let error = await expectCacheError(.timedOut) { try await cache.save(token) }
    #expect(error?.message.contains("may or may not have been applied") == service.hasBeenWrittenTo)
    #expect(service.hasBeenWrittenTo == (method == "CreateItem"))
    service.setAnswer("SearchItems", .found())
    service.setAnswer("CreateItem", .error("org.example.Error.Odd"))
    let refusal = await expectCacheError(.refused) { try await cache.save(token) }
    #expect(refusal?.message.contains("may or may not") == false)
  }
}
