import Sealing
import SecretService
import TestSupport

@testable import EncryptedFileStore

/// A store with a key of the Secret portal, with a portal that misbehaves. `LlaveroTests.SandboxTests` have a real one.
@Suite(.timeLimit(.minutes(20)))
struct PortalTests {
  private let token = SampleToken("one", account: 1)
  private let secret = [UInt8](0x80..<0xc0)
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func store(_ portal: FakePortal, within timeout: Duration = .seconds(120))
    -> EncryptedFileCacheStore
  {
    fixture.otherStore(key: .portal(waitingUpTo: timeout), busAddress: portal.busAddress)
  }

  private func cache(_ portal: FakePortal) -> TokenCacheAccessor { fixture.accessor(on: store(portal)) }

  @Test func `The same secret opens the store, and is requested with the token that came with it`()
    async throws
  {
    let portal = try FakePortal(.secret(secret, results: ["token": .string("first")]))
    let cache = cache(portal)
    #expect(try await !cache.finds(token))
    #expect(portal.calls.isEmpty)
    try await cache.save(token)
    #expect(try await cache.finds(token))
    #expect(portal.calls.map(\.token) == [nil])
    // A later token is not that of this secret.
    portal.setBehavior(.secret(secret, results: ["token": .string("second")]))
    for _ in 0..<2 { #expect(try await self.cache(portal).finds(token)) }
    #expect(portal.calls.map(\.token) == [nil, "first", "first"])
    #expect(Set(portal.calls.map(\.request)).count == 3)

    #expect(try await store(portal).rekey() == RekeySummary(resealed: 3, left: 0))
    #expect(try await self.cache(portal).finds(token))
    #expect(portal.calls.last?.token == "second")
  }

  @Test(.fault("portal secret"), arguments: [0, 1, 31, 4097, 100_000])
  func `A secret that is too short or too long makes no store`(size: Int) async throws {
    let portal = try FakePortal(.secret(.init(repeating: 7, count: size)))
    let error = await expectCacheError(.refused) { try await cache(portal).save(token) }
    let expected = size < 32 ? SecretPortal.tooShort(size) : SecretPortal.tooLong
    #expect(error?.message == expected.message)
    #expect(error?.advice != nil)
    #expect(!fixture.isThere(fixture.keys))
  }

  @Test(.fault("portal secret"), arguments: [32, 4096])
  func `A secret of the shortest or the longest size is accepted`(size: Int) async throws {
    let longestToken = String(repeating: "t", count: SecretPortal.maximumTokenSize)
    let portal = try FakePortal(
      .secret(.init(repeating: 7, count: size), results: ["token": .string(longestToken)]))
    try await cache(portal).save(token)
    #expect(try await cache(portal).finds(token))
  }

  @Test(
    .fault("portal fails"),
    arguments: ([
      (
        FakePortal.Behavior.secret([], response: 1), SecretPortal.denied, CacheError.Code.promptDismissed
      ),
      (.secret([], response: 2), SecretPortal.failed, .unavailable),
      (.error("org.freedesktop.DBus.Error.UnknownMethod"), SecretPortal.noBackend, .unavailable),
      (.error("org.freedesktop.portal.Error.NotAllowed"), SecretPortal.notAllowed("fake"), .refused),
      (.error("org.freedesktop.DBus.Error.AccessDenied"), SecretPortal.notAllowed("fake"), .refused),
      (.error("org.freedesktop.DBus.Error.TimedOut"), SecretPortal.timedOut, .timedOut),
      (.error("org.example.Odd"), SecretPortal.refused("org.example.Odd", "fake"), .refused),
      (.nonsense, SecretPortal.malformedResponse("RetrieveSecret"), .refused),
      (.wrongType, SecretPortal.malformedResponse("RetrieveSecret"), .refused),
      (.elsewhere, SecretPortal.malformedResponse("RetrieveSecret"), .refused),
      (
        .secret(.init(repeating: 7, count: 64), results: ["token": .boolean(true)]),
        SecretPortal.malformedResponse("RetrieveSecret"), .refused
      ),
      (
        .secret(
          .init(repeating: 7, count: 64), results: ["token": .string(String(repeating: "t", count: 1025))]),
        SecretPortal.malformedResponse("RetrieveSecret"), .refused
      ),
      (.death, SecretPortal.portalGone, .unavailable),
    ] as [(FakePortal.Behavior, CacheError, CacheError.Code)]).abbreviated)
  func `A portal that returns no secret is an error with the reason, and the store is not changed`(
    _ row: Named<(FakePortal.Behavior, CacheError, CacheError.Code)>
  ) async throws {
    let (behavior, expected, code) = row.value
    let sound = try FakePortal(.secret(secret))
    try await cache(sound).save(token)
    let before = try fixture.files()
    let portal = try FakePortal(behavior)
    for isWrite in [false, true] {
      // The portal has ended before the second time.
      if case .death = behavior, isWrite { continue }
      let error = await expectCacheError(code) {
        if isWrite { try await cache(portal).save(token) }
        _ = try await cache(portal).finds(token)
      }
      #expect(error?.message == expected.message)
      #expect(error?.advice == expected.advice)
    }
    #expect(try fixture.files() == before)
    #expect(try await cache(sound).finds(token))
  }

  @Test(.fault("no portal"))
  func `Without a portal or a bus the key is not available`() async throws {
    let bus = try PrivateKeyring(startingDaemon: false)
    func error(_ address: String) async -> CacheError? {
      await expectCacheError(.unavailable) {
        try await fixture.otherStore(key: .portal(), busAddress: address).open(makingStore: true)
      }
    }
    #expect(await error(bus.busAddress)?.message == SecretPortal.noPortal.message)
    bus.shutdown()
    #expect(await error(bus.busAddress)?.message == SecretPortal.noSessionBus.message)
  }

  @Test(.fault("no portal"))
  func `A bus that ends during the request is an error at once`() async throws {
    let portal = try FakePortal(.silence)
    let task = Task { try await store(portal).open(makingStore: true) }
    _ = await portal.nextCall()
    portal.keyring.killBus()
    let error = await expectCacheError(.unavailable) { try await task.value }
    #expect(error?.message == SecretPortal.portalGone.message)
  }

  @Test(.fault("portal silent"))
  func `A silent portal times out, and its request ends at once when it is cancelled`()
    async throws
  {
    let portal = try FakePortal(.silence)
    let late = await expectCacheError(.timedOut) {
      try await store(portal, within: .milliseconds(300)).open(makingStore: true)
    }
    #expect(late?.message == SecretPortal.timedOut.message)
    #expect(late?.advice != nil)
    // On a busy machine the time was over before the call.
    if !portal.calls.isEmpty { _ = await portal.nextCall() }

    let task = Task { try await store(portal).open(makingStore: true) }
    _ = await portal.nextCall()
    task.cancel()
    await expectCacheError(.cancelled) { try await task.value }
    #expect(!fixture.isThere(fixture.keys))
  }

  @Test(.fault("portal forged")) func `Only the portal's own response ends the request`() async throws {
    let portal = try FakePortal(.silence)
    let task = Task { try await store(portal).open(makingStore: true) }
    let call = try #require(await portal.nextCall())
    try portal.endFromOtherConnection(call)
    portal.end(call, response: 1)
    await expectCacheError(.promptDismissed) { try await task.value }
  }

  @Test(.fault("swapped files"))
  func `Another application's secret opens nothing and changes nothing`() async throws {
    let portal = try FakePortal(.secret(secret))
    try await cache(portal).save(token)
    let before = try fixture.files()
    let keys = try fixture.bytes(fixture.keys)
    let other = try FakePortal(.secret(secret.reversed()))
    let error = await expectCacheError(.wrongKey) { try await cache(other).save(token) }
    #expect(error?.underlyingError as? SealError == .wrongKey)
    #expect(error?.advice?.contains("Another application made it") == true)
    #expect(try fixture.files() == before)
    #expect(try fixture.bytes(fixture.keys) == keys)
  }

  @Test func `A store changes from another key to the portal's and back`() async throws {
    let portal = try FakePortal(.secret(secret, results: ["token": .string("t")]))
    try await fixture.cache.save(token)
    let file = fixture.otherStore(busAddress: portal.busAddress)
    #expect(try await file.rekey(to: .portal()) == RekeySummary(resealed: 3, left: 0))
    let error = await expectCacheError(.wrongKey) { try await fixture.otherCache().finds(token) }
    #expect(error?.underlyingError as? SealError == .otherKeySource(.portal))
    #expect(try await cache(portal).finds(token))
    let key = KeySource.keyFile(path: fixture.directory + "/key")
    #expect(try await store(portal).rekey(to: key) == RekeySummary(resealed: 3, left: 0))
    #expect(try await fixture.otherCache().finds(token))
  }

  @Test(.fault("portal token")) func `An invalid token in the keys is damage`() async throws {
    let portal = try FakePortal(.secret(secret, results: ["token": .string("ttttt")]))
    try await cache(portal).save(token)
    let keys = try fixture.bytes(fixture.keys)
    #expect(keys.count == 145)
    for (offset, byte) in [(38, 0x20), (39, 200), (50, 0xff)] as [(Int, UInt8)] {
      try fixture.forge(fixture.keys) { $0[offset] = byte }
      await expectCacheError(.damaged) { try await cache(portal).finds(token) }
      try fixture.write(keys, to: fixture.keys)
    }
    // Another token or another length, with a sound check sum.
    for (offset, byte) in [(39, 4), (50, 0x75)] as [(Int, UInt8)] {
      try fixture.forge(fixture.keys) { $0[offset] = byte }
      await expectCacheError(.wrongKey) { try await cache(portal).finds(token) }
      try fixture.write(keys, to: fixture.keys)
    }
    #expect(try await cache(portal).finds(token))
  }
}
