import KeyringStore
import SecretService
import StoreSupport
import TestSupport

/// A locked keyring is never taken for an empty one.
@Suite(.timeLimit(.minutes(20)))
struct LockedKeyringTests {
  private let token = SampleToken("one", account: 1)
  private let unknown = SampleToken("unknown", account: 2)

  enum Lock: CaseIterable {
    /// Unlocked once, and then locked: attributes are shown as they are.
    case lockedAgain
    /// The daemon was started anew and never unlocked: attributes are hashed, schemas hidden.
    case neverUnlocked

    func apply(to keyring: PrivateKeyring) throws {
      switch self {
      case .lockedAgain: try keyring.lockCollection()
      case .neverUnlocked: try keyring.restartDaemon(unlocked: false)
      }
    }
  }

  @Test(
    .requirement("R5.1", "R5.3"), .conformance(71), .fault("locked"), arguments: Lock.allCases, [true, false])
  func `Every operation says that the keyring is locked`(lock: Lock, hasItems: Bool) async throws {
    let fixture = try Fixture()
    if hasItems { try await fixture.cache.save(token) }
    try lock.apply(to: fixture.keyring)
    let group = fixture.group
    // The store that wrote, whose session is dead after a restart, and one that knows nothing yet.
    for store in [fixture.store, fixture.otherStore()] {
      for token in [token, unknown] {
        await store.expectEveryCall(in: group, toThrow: .locked, of: token)
      }
    }

    try fixture.keyring.unlockCollection()
    for cache in [fixture.cache, fixture.otherCache()] {
      #expect(try await cache.finds(token) == hasItems)
      #expect(try await !cache.finds(unknown))
      #expect(try await cache.store.groups() == (hasItems ? [group] : []))
    }
    try await fixture.cache.save(unknown)
    #expect(try await fixture.otherCache().finds(unknown))
    #expect(try await fixture.otherCache().finds(token) == hasItems)
    #expect(try await fixture.allItems().count == (hasItems ? 3 : 2))
  }

  @Test(.requirement("R6.4"), .fault("locked"))
  func `A keyring that is locked while it is in use is unlocked again without loss`() async throws {
    let fixture = try await Fixture(saving: token)
    for _ in 0..<5 {
      try fixture.keyring.lockCollection()
      let next = SampleToken("next", account: 1)
      await expectCacheError(.locked) { try await fixture.cache.save(next) }
      try fixture.keyring.unlockCollection()
      #expect(try await fixture.cache.finds(token))
      #expect(try await !fixture.cache.finds(next))
    }
    #expect(try await fixture.allItems().count == 2)
  }

  @Test(.fault("locked")) func `Without permission, a locked keyring makes no prompt again and again`()
    async throws
  {
    let service = try FakeService(["Locked": .locked(true), "Unlock": .unlockPrompt])
    let store = service.store()
    for _ in 0..<5 { await expectCacheError(.locked) { try await store.groups() } }
    #expect(service.calls.count { $0 == "Unlock" } == 1)
    // Once for the collection, and once for items in it.
    service.setAnswer("Unlock", .reply([.objectPaths([FakeService.collection]), .objectPath("/")]))
    await expectCacheError(.locked) { try await service.store().groups() }
    #expect(service.calls.count { $0 == "Unlock" } == 3)
  }

  @Test(.fault("no prompt")) func `A dismissed prompt is the answer to all calls that wait for it`()
    async throws
  {
    let service = try FakeService(["Locked": .locked(true), "Unlock": .unlockPrompt])
    let access = KeyringAccess(
      SecretServiceConnection(busAddress: service.keyring.busAddress, allowsPlainSession: true),
      collection: nil, prompt: .allowed(waitingUpTo: .seconds(600)), timeout: .seconds(600))
    let begun = Watched(0)
    let calls = (0..<3).map { _ in
      Task {
        begun.change { $0 += 1 }
        try await access.unlock(CacheError(.collectionLocked, collection: nil))
      }
    }
    try await eventually { begun.read { $0 == 3 } && service.calls.contains("Prompt") }
    service.completePrompt(dismissed: true, .objectPaths([]))
    for call in calls { await expectCacheError(.promptDismissed) { try await call.value } }
    #expect(service.calls.count { $0 == "Prompt" } == 1)
  }
}
