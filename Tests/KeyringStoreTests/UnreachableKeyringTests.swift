import KeyringStore
import SecretService
import TestSupport
import Testing
import TokenCache
import WorkerSupport

/// A keyring that is absent, ends, or does not answer.
@Suite(.timeLimit(.minutes(20)))
struct UnreachableKeyringTests {
  private let token = SampleToken("one", account: 1)
  private let next = SampleToken("next", account: 1)

  @Test func `What was saved is there after the daemon was killed right away`() async throws {
    let fixture = try Fixture()
    for number in 0..<5 {
      let token = SampleToken("t\(number)", account: number % 2)
      try await fixture.cache.save(token)
      fixture.keyring.killDaemon()
      try fixture.keyring.startDaemon()
      // From memory, which nobody changed, and from the keyring through a session that is dead.
      #expect(try await fixture.cache.finds(token))
      let again = TokenCacheAccessor(store: fixture.store, group: fixture.group)
      #expect(try await again.finds(token))
      #expect(try await fixture.otherCache().finds(token))
    }
    for number in 0..<5 {
      #expect(try await fixture.cache.finds(SampleToken("t\(number)", account: number % 2)))
    }
    #expect(try await fixture.allItems().count == 3)
  }

  @Test func `A save after a restart connects again`() async throws {
    let fixture = try Fixture()
    try await fixture.cache.save(token)
    fixture.keyring.killDaemon()
    try fixture.keyring.startDaemon()
    try await fixture.cache.save(next)
    #expect(try await fixture.otherCache().finds(token))
    #expect(try await fixture.otherCache().finds(next))
  }

  @Test(.conformance(71), arguments: ["unix:path=/proc/nonexistent/bus", "nonsense"])
  func `Without a bus every operation says that the keyring is out of reach`(address: String) async throws {
    let fixture = try Fixture()
    let store = KeyringCacheStore(busAddress: address, environment: fixture.keyring.environment)
    try await fixture.expectUnavailable(store)
    #expect(try await fixture.allItems().isEmpty)
  }

  @Test(.conformance(71)) func `Without a service every operation says so, and works once there is one`()
    async throws
  {
    let fixture = try Fixture(startingDaemon: false)
    try await fixture.expectUnavailable(fixture.store)
    try fixture.keyring.startDaemon()
    try await fixture.cache.save(token)
    #expect(try await fixture.cache.finds(token))
    fixture.keyring.killDaemon()
    try await fixture.expectUnavailable(fixture.store)
  }

  @Test func `A collection that does not exist is out of reach`() async throws {
    let fixture = try Fixture()
    let store = KeyringCacheStore(
      collection: "Nobody's", busAddress: fixture.keyring.busAddress,
      environment: fixture.keyring.environment)
    try await fixture.expectUnavailable(store)
    #expect(try await fixture.allItems().isEmpty)
  }

  @Test func `Without a default collection the keyring is out of reach, not empty`() async throws {
    let fixture = try Fixture(startingDaemon: false)
    try fixture.keyring.startDaemon(unlocked: false)
    try await fixture.expectUnavailable(fixture.store)
  }

  @Test func `A daemon that does not answer is waited for until the timeout and works again later`()
    async throws
  {
    let fixture = try Fixture(timeout: .seconds(1))
    let patient = fixture.otherStore()
    let patientCache = TokenCacheAccessor(store: patient, group: fixture.group)
    try await patientCache.save(token)
    // Connected, however long that takes, so that what is waited for is an answer.
    try await eventually { (try? await fixture.store.groups()) == [fixture.group] }
    fixture.keyring.stopDaemon()
    let timedOut = CacheError(.timedOut, "")
    let duration = await ContinuousClock().measure {
      await #expect(throws: timedOut) { try await fixture.cache.finds(token) }
      await #expect(throws: timedOut) { try await fixture.cache.save(next) }
      await #expect(throws: timedOut) { try await fixture.store.groups() }
      await #expect(throws: timedOut) { try await fixture.otherStore(timeout: .seconds(1)).groups() }
    }
    #expect(duration >= .seconds(4))
    fixture.keyring.continueDaemon()
    #expect(try await patientCache.finds(token))
    try await patientCache.save(next)
    #expect(try await patientCache.finds(next))
    // The store that gave up is of use again.
    try await eventually { (try? await fixture.cache.finds(next)) == true }
  }

  @Test func `A cancelled task goes on at once while the daemon does not answer`() async throws {
    let fixture = try Fixture(timeout: .seconds(600))
    try await fixture.cache.save(token)
    let reader = fixture.otherCache()
    fixture.keyring.stopDaemon()
    let cache = fixture.cache
    let calls = [
      Task { try await cache.save(next) }, Task { _ = try await reader.finds(token) },
      Task { _ = try await reader.store.groups() }, Task { _ = try await cache.clear() },
    ]
    for call in calls {
      await Task.yield()
      call.cancel()
    }
    for call in calls { await #expect(throws: CacheError(.cancelled, "")) { try await call.value } }
    fixture.keyring.continueDaemon()
    #expect(try await reader.finds(token))
    try await cache.save(next)
    #expect(try await reader.finds(next))
  }

  @Test func `A daemon that dies under a write leaves no half of it`() async throws {
    let fixture = try Fixture()
    try await fixture.cache.save(token)
    var saved = [token]
    for number in 0..<10 {
      let token = SampleToken("t\(number)", account: 1)
      let cache = fixture.cache
      let call = Task { try await cache.save(token) }
      try await Task.sleep(for: .milliseconds(number))
      fixture.keyring.killDaemon()
      try fixture.keyring.startDaemon()
      // Whether it succeeded the second time or failed: what was acknowledged is there.
      if (try? await call.value) != nil { saved.append(token) }
    }
    let snapshot = try await fixture.otherCache().snapshot()
    let (document, problems) = (snapshot.document, snapshot.problems)
    #expect(problems.isEmpty)
    let secrets = Set(document.accessTokens.values.compactMap(\.secret))
    #expect(secrets.isSuperset(of: saved.map(\.accessToken)))
    #expect(secrets.allSatisfy { SampleToken.name(ofAccessToken: $0) != nil })
    #expect(try await fixture.items(fixture.shard(token)).count == 1)
  }
}

extension Fixture {
  /// Expects that nothing can be done with a store, that the error says what to do, and that nothing is
  /// answered as if the store were empty.
  fileprivate func expectUnavailable(_ store: KeyringCacheStore) async throws {
    let cache = TokenCacheAccessor(store: store, group: group)
    let token = SampleToken("any", account: 3)
    let calls: [() async throws -> Void] = [
      { _ = try await store.groups() }, { _ = try await store.read(.all, in: group) },
      { try await cache.save(token) }, { _ = try await cache.finds(token) },
      { _ = try await cache.accounts() }, { _ = try await cache.clear() },
    ]
    for call in calls {
      let error = await #expect(throws: CacheError(.unavailable, "")) { try await call() }
      #expect(error?.advice != nil)
    }
  }
}
