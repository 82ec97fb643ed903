import KeyringStore
import SecretService
import TestSupport

/// A keyring that is absent, ends, or does not answer.
@Suite(.timeLimit(.minutes(20)))
struct UnreachableKeyringTests {
  private let token = SampleToken("one", account: 1)
  private let next = SampleToken("next", account: 1)

  @Test(.fault("killed"))
  func `What was saved is there after the daemon was killed right away`() async throws {
    let fixture = try Fixture()
    for number in 0..<5 {
      let token = SampleToken("t\(number)", account: number % 2)
      try await fixture.cache.save(token)
      try fixture.keyring.restartDaemon()
      // From memory, which is unchanged, and from the keyring through a session that is dead.
      #expect(try await fixture.cache.finds(token))
      let again = fixture.accessor(on: fixture.store)
      #expect(try await again.finds(token))
      #expect(try await fixture.otherCache().finds(token))
    }
    for cache in [fixture.cache, fixture.otherCache()] {
      for number in 0..<5 { #expect(try await cache.finds(SampleToken("t\(number)", account: number % 2))) }
    }
    #expect(try await fixture.allItems().count == 3)
  }

  @Test(
    .conformance(71), .fault("no bus", "no collection"),
    arguments: [("unix:path=/proc/nonexistent/bus", nil), ("nonsense", nil), (nil, "Missing")]
      as [(String?, String?)])
  func `Without the bus or the collection every operation says that the keyring is out of reach`(
    address: String?, collection: String?
  ) async throws {
    let fixture = try Fixture()
    let connection = SecretServiceConnection(busAddress: address ?? fixture.keyring.busAddress)
    let store = KeyringCacheStore(
      connection, collection: collection, environment: fixture.keyring.environment)
    await store.expectEveryCall(in: fixture.group, toThrow: .unavailable)
    #expect(try await fixture.allItems().isEmpty)
  }

  @Test(.conformance(71), .fault("no service"))
  func `Without a service every operation fails, and works once there is one`() async throws {
    let fixture = try Fixture(startingDaemon: false)
    await fixture.store.expectEveryCall(in: fixture.group, toThrow: .unavailable)
    try fixture.keyring.startDaemon()
    try await fixture.cache.save(token)
    #expect(try await fixture.cache.finds(token))
    fixture.keyring.killDaemon()
    await fixture.store.expectEveryCall(in: fixture.group, toThrow: .unavailable)
  }

  @Test(.fault("no collection"))
  func `Without a default collection the keyring is out of reach, not empty`() async throws {
    let fixture = try Fixture(startingDaemon: false)
    try fixture.keyring.startDaemon(unlocked: false)
    await fixture.store.expectEveryCall(in: fixture.group, toThrow: .unavailable)
  }

  @Test func `A store of the session bus sends no token as plaintext unless that is allowed`() async {
    await #expect(processExitsWith: .success) {
      let service = try FakeService(["SearchItems": .found()])
      setenv("DBUS_SESSION_BUS_ADDRESS", service.keyring.busAddress, 1)
      await expectCacheError(.refused) { try await KeyringCacheStore().groups() }
      #expect(try await KeyringCacheStore(allowsPlainSession: true).groups().isEmpty)
    }
  }

  @Test(.fault("stopped"))
  func `A daemon that does not respond is waited for until the timeout`() async throws {
    try await expectTimeouts(of: .gnomeKeyring)
  }

  @Test(
    .fault("stopped", "KWallet"),
    .enabled(if: KeyringProvider.kwallet.isInstalled, "kwalletd5 is not installed"))
  func `KWallet that does not respond is waited for until the timeout`() async throws {
    try await expectTimeouts(of: .kwallet)
  }

  private func expectTimeouts(of provider: KeyringProvider) async throws {
    let fixture = try Fixture(timeout: .seconds(1), provider: provider)
    let patient = fixture.otherCache()
    try await patient.save(token)
    // Connected, however long that takes, so that what is waited for is an answer.
    try await eventually { (try? await fixture.store.groups()) == [fixture.group] }
    fixture.keyring.stopDaemon()
    let duration = await ContinuousClock().measure {
      await expectCacheError(.timedOut) { try await fixture.cache.finds(token) }
      await expectCacheError(.timedOut) { try await fixture.cache.save(next) }
      await expectCacheError(.timedOut) { try await fixture.store.groups() }
      await expectCacheError(.timedOut) { try await fixture.otherStore(timeout: .seconds(1)).groups() }
    }
    #expect(duration >= .seconds(4))
    fixture.keyring.continueDaemon()
    #expect(try await patient.finds(token))
    try await patient.save(next)
    #expect(try await patient.finds(next))
    // The store that timed out works again.
    try await eventually { (try? await fixture.cache.finds(next)) == true }
  }

  @Test(.fault("stopped"))
  func `A cancelled task goes on at once while the daemon does not answer`() async throws {
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
    for call in calls { await expectCacheError(.cancelled) { try await call.value } }
    fixture.keyring.continueDaemon()
    #expect(try await reader.finds(token))
    try await cache.save(next)
    #expect(try await reader.finds(next))
  }

  @Test(.fault("killed in call"))
  func `A daemon that dies under a write leaves no half of it`() async throws {
    let fixture = try await Fixture(saving: token)
    var saved = [token]
    for number in 0..<10 {
      let token = SampleToken("t\(number)", account: 1)
      let cache = fixture.cache
      let call = Task { try await cache.save(token) }
      try await Task.sleep(for: .milliseconds(number))
      try fixture.keyring.restartDaemon()
      // Whether it succeeded the second time or failed: what was acknowledged is there.
      if (try? await call.value) != nil { saved.append(token) }
    }
    let snapshot = try await fixture.otherCache().snapshot()
    #expect(snapshot.problems.isEmpty)
    let secrets = Set(snapshot.document.accessTokens.values.compactMap(\.secret))
    #expect(secrets.isSuperset(of: saved.map(\.accessToken)))
    #expect(secrets.allSatisfy { SampleToken.name(ofAccessToken: $0) != nil })
    #expect(try await fixture.items(fixture.shard(token)).count == 1)
  }
}
