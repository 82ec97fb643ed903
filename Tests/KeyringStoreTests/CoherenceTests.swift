import KeyringStore
import SecretService
import TestSupport

/// What a process remembers, and when it must not rely on it.
@Suite(.timeLimit(.minutes(20)))
struct CoherenceTests {
  private let old = SampleToken("old", account: 0)
  private let new = SampleToken("new", account: 0)

  /// Whether an accessor searches the keyring to find a token that is there.
  private func searches(
    for token: SampleToken, _ cache: TokenCacheAccessor, _ fixture: Fixture
  ) async throws -> Bool {
    try await fixture.keyring.logOfCalls { () async throws in #expect(try await cache.finds(token)) }
      .contains("SearchItems")
  }

  @Test func `A second lookup does not ask the keyring`() async throws {
    let fixture = try await Fixture(saving: old)
    // Nor where this process has written nothing.
    for cache in [fixture.cache, fixture.otherCache()] {
      #expect(try await cache.finds(old))
      let log = try await fixture.keyring.logOfCalls { () async throws in
        #expect(try await cache.finds(old))
        #expect(try await !cache.finds(new))
      }
      #expect(!log.contains("SearchItems"))
    }
  }

  @Test func `Two accessors of one process see each other's changes with their first lookup`() async throws {
    let fixture = try Fixture()
    let caches = [fixture.cache, fixture.accessor(on: fixture.store), fixture.otherCache()]
    for (number, writer) in caches.enumerated() {
      let token = SampleToken("t\(number)", account: 0)
      for cache in caches { #expect(try await !cache.finds(token)) }
      try await writer.save(token)
      for cache in caches { #expect(try await cache.finds(token)) }
    }
    try await caches[0].removeAccount(old.homeAccountID)
    for cache in caches {
      #expect(try await !cache.finds(SampleToken("t1", account: 0)))
      #expect(try await cache.accounts(AccountFilter(signedInOnly: false)).isEmpty)
    }
  }

  @Test func `Two processes see each other's changes with their first lookup`() async throws {
    try await Fixture().saveInTurnsWithAnotherProcess()
  }

  @Test(.fault("writer killed"))
  func `A writer waits for another process, and goes on when that is killed`() async throws {
    let fixture = try Fixture()
    try await fixture.waitForAnotherProcess {
      // Nor do writers of another group.
      try await fixture.otherGroup(on: fixture.store).save(old)
    }
  }

  @Test(.fault("writer killed"))
  func `After a writer died in the middle readers ask the keyring until the next write`() async throws {
    let fixture = try await Fixture(saving: old)
    #expect(try await fixture.cache.finds(old))
    let before = try #require(fixture.store.generation(of: fixture.group))

    try await fixture.killWriter(leaving: new)
    #expect(try await fixture.cache.finds(new))
    #expect(try await !fixture.cache.finds(old))
    #expect(try await searches(for: new, fixture.cache, fixture))

    let next = SampleToken("next", account: 0)
    try await fixture.otherCache().save(next)
    let after = try #require(fixture.store.generation(of: fixture.group))
    #expect(after > before)
    #expect(try await fixture.cache.finds(next))
    #expect(try await !searches(for: new, fixture.cache, fixture))
  }

  @Test(.requirement("R7.9")) func `No reader uses its memory during a write, and all do after a failed one`()
    async throws
  {
    let service = try FakeService(["SearchItems": .found(), "CreateItem": .silence])
    let store = service.store(timeout: .seconds(120))
    let group = try KeychainGroup("org.example.shared")
    let cache = TokenCacheAccessor(store: store, group: group)
    let saving = Task { try await cache.save(old) }
    try await eventually { service.calls.contains("CreateItem") }
    #expect(store.generation(of: group) == nil)
    saving.cancel()
    service.setAnswer("CreateItem", .error("org.example.Error.Odd"))
    await expectCacheError(.refused) { try await cache.save(old) }
    #expect(store.generation(of: group) != nil)
  }

  @Test(.requirement("R7.12"), .fault("sandbox")) func `In a sandbox every answer comes from the keyring`()
    async throws
  {
    let fixture = try Fixture()
    let store = fixture.otherStore(environment: ["SNAP": "/snap/example/1"])
    let cache = fixture.accessor(on: store)
    try await cache.save(old)
    #expect(store.generation(of: fixture.group) == nil)
    for _ in 0..<2 { #expect(try await searches(for: old, cache, fixture)) }
    // A change of which the lock file says nothing.
    try await fixture.client.delete(fixture.item(old).properties.path)
    #expect(try await !cache.finds(old))
  }

  @Test(.fault("lock deleted")) func `Readers see changes after the lock file was deleted`() async throws {
    let fixture = try Fixture()
    let reader = fixture.otherCache()
    try await fixture.cache.save(old)
    #expect(try await reader.finds(old))
    let name = String(sha256Hex(fixture.group.name).prefix(32)) + ".lock"
    #expect(unlink("\(fixture.keyring.directory)/run/llavero/\(name)") == 0)
    try await fixture.cache.save(new)
    // A second at most may pass before a reader looks whether the file is still there.
    try await eventually { try await reader.finds(new) }
    let last = SampleToken("last", account: 0)
    try await reader.save(last)
    #expect(try await fixture.cache.finds(last))
    #expect(try await reader.finds(last))
  }

  @Test(.requirement("R7.1"), .fault("runtime dir"))
  func `A runtime directory that cannot be used is an error for writers, not for readers`() async throws {
    let fixture = try await Fixture(saving: old)
    let store = fixture.otherStore(environment: ["XDG_RUNTIME_DIR": "/proc/nowhere"])
    let cache = fixture.accessor(on: store)
    #expect(try await cache.finds(old))
    let error = await expectCacheError(.unavailable) { try await cache.save(new) }
    #expect(error?.advice?.contains("XDG_RUNTIME_DIR") == true)
    #expect(try await cache.finds(old))
  }

  @Test(.fault("thousand tasks")) func `A thousand tasks save and read through one store`() async throws {
    try await Fixture(timeout: .seconds(600)).saveByAThousandTasks()
  }
}
