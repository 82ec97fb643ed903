import KeyringStore
import SecretService
import TestSupport

/// The store on KeePassXC: one run of everything in one connection. KeePassXC crashes when items are written while it saves,
/// as it does after each change, for which one client suffices; the store leaves it time to, but knows nothing of other
/// clients. Without a display 2.7.4 hangs at its start every other time. So it runs only when `TEST_KEEPASSXC` is set.
@Suite(
  .serialized, .timeLimit(.minutes(20)),
  .enabled(
    if: ProcessInfo.processInfo.environment["TEST_KEEPASSXC"] != nil && KeyringProvider.keepassxc.isInstalled,
    "TEST_KEEPASSXC is not set, or keepassxc is not installed"))
struct KeePassXCTests {
  @Test(.fault("KeePassXC"))
  func `With the permission to prompt what is saved is found, changed and removed`() async throws {
    let fixture = try Fixture(provider: .keepassxc)
    let (one, two) = (SampleToken("one", account: 1), SampleToken("two", account: 1))
    // KeePassXC answers a new item by a prompt, which shows nothing here.
    let error = await expectCacheError(.locked) { try await fixture.cache.save(one) }
    #expect(error?.advice?.contains("prompt") == true)

    let store = fixture.promptingStore(for: .seconds(60), timeout: .seconds(60))
    let cache = fixture.accessor(on: store)
    #expect(try await store.groups().isEmpty)
    for token in [one, two] {
      try await cache.save(token)
      #expect(try await cache.finds(token))
    }
    let again = fixture.accessor(on: store)
    for token in [one, two] { #expect(try await again.finds(token)) }
    #expect(try await store.groups() == [fixture.group])
    let snapshot = try await again.snapshot()
    #expect(snapshot.problems.isEmpty)
    #expect(snapshot.document.accessTokens.count == 2)
    try await cache.removeAccount(one.homeAccountID)
    #expect(try await !again.finds(one))
    _ = try await cache.clear()
    #expect(try await store.groups().isEmpty)
  }
}
