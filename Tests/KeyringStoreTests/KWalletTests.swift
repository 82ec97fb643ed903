import KeyringStore
import SecretService
import TestSupport

/// The store on KWallet, which differs from gnome-keyring in much of what the specification leaves open.
@Suite(
  .serialized, .timeLimit(.minutes(20)),
  .enabled(if: KeyringProvider.kwallet.isInstalled, "kwalletd5 is not installed"))
struct KWalletTests {
  private let token = SampleToken("one", account: 1)
  private let next = SampleToken("next", account: 1)
  private let other = SampleToken("other", account: 2)

  private func fixture() throws -> Fixture { try Fixture(provider: .kwallet) }

  @Test(.fault("KWallet"))
  func `What is saved is found, by this store and by others, without a prompt`() async throws {
    let fixture = try fixture()
    #expect(try await fixture.store.groups().isEmpty)
    #expect(try await !fixture.cache.finds(token))
    try await fixture.cache.save(token)
    try await fixture.cache.save(other)
    for cache in [fixture.cache, fixture.otherCache()] {
      #expect(try await cache.finds(token))
      #expect(try await cache.finds(other))
      #expect(try await !cache.finds(next))
      #expect(try await cache.accounts().count == 2)
      #expect(try await cache.store.groups() == [fixture.group])
      #expect(try await cache.snapshot().problems.isEmpty)
    }
  }

  @Test(.fault("KWallet"))
  func `A save changes the item in place, and items have the format's attributes`() async throws {
    let fixture = try await Fixture(.kwallet, saving: token)
    try await fixture.unlock()
    let before = try await fixture.item(token)
    try await fixture.cache.save(next)
    let items = try await fixture.allItems()
    #expect(items.count == 2)
    for item in items {
      let shard = try #require(item.properties.attributes["shard"])
      #expect(item.properties.attributes == fixture.attributes(ShardID(rawValue: shard)))
    }
    let after = try await fixture.item(token)
    #expect(after.properties.path == before.properties.path)
    #expect(after.secret != before.secret)
    for found in [token, next] { #expect(try await fixture.otherCache().finds(found)) }
  }

  @Test(.fault("KWallet")) func `What is removed is gone, and only that`() async throws {
    let fixture = try await Fixture(.kwallet, saving: token, next, other)
    let second = try fixture.otherGroup(on: fixture.store)
    try await second.save(token)
    #expect(try await fixture.store.groups().map(\.name) == ["org.example.other", "org.example.shared"])
    try await fixture.cache.removeAccount(token.homeAccountID)
    for cache in [fixture.cache, fixture.otherCache()] {
      #expect(try await !cache.finds(token))
      #expect(try await cache.finds(other))
    }
    #expect(try await fixture.cache.clear() > 0)
    #expect(try await fixture.otherCache().snapshot().document.isEmpty)
    #expect(try await second.finds(token))
  }

  @Test(.fault("KWallet"))
  func `Damaged, duplicate and foreign items are reported as such`() async throws {
    let fixture = try fixture()
    try await fixture.unlock()
    try await fixture.cache.save(token)
    try await fixture.create(fixture.attributes(fixture.shard(token)), try await fixture.shardText(next))
    try await fixture.create(fixture.attributes(fixture.shard(other)), "garbage")
    var strange = fixture.attributes(fixture.shard(SampleToken("x", account: 3)))
    strange["xdg:schema"] = "com.example.Theirs"
    try await fixture.create(strange, "{}")
    let kinds = try await fixture.store.read(.all, in: fixture.group).problems.map(\.kind.rawValue).sorted()
    #expect(kinds == ["damaged", "duplicate", "foreign"])
    for found in [token, next] { #expect(try await fixture.otherCache().finds(found)) }
    await expectCacheError(.damaged) { try await fixture.cache.save(other) }

    try await fixture.store.update([fixture.shard(token)], in: fixture.group) { _ in }
    #expect(try await fixture.items(fixture.shard(token)).count == 1)
    #expect(try await fixture.store.remove(.damaged, in: fixture.group) == 1)
    try await fixture.cache.save(other)
    for found in [token, next, other] { #expect(try await fixture.otherCache().finds(found)) }
    #expect(try await fixture.allItems().contains { $0.properties.attributes == strange })
  }

  @Test(.fault("KWallet")) func `A closed wallet is locked, never empty, and nothing asks`() async throws {
    let fixture = try await Fixture(.kwallet, saving: token)
    try fixture.keyring.closeWallet()
    try fixture.keyring.startDaemon(unlocked: false)
    for store in [fixture.store, fixture.otherStore()] {
      let log = try await fixture.keyring.logOfCalls {
        await store.expectEveryCall(in: fixture.group, toThrow: .locked, of: next)
      }
      #expect(!log.contains("Prompt"))
    }
    try fixture.keyring.restartDaemon()
    for cache in [fixture.cache, fixture.otherCache()] {
      #expect(try await cache.finds(token))
      #expect(try await !cache.finds(next))
    }
  }

  @Test(.fault("KWallet"))
  func `What was saved is there after KWallet was closed and started again`() async throws {
    let fixture = try await Fixture(.kwallet, saving: token)
    try fixture.keyring.closeWallet()
    await expectCacheError(.unavailable) { try await fixture.otherStore().groups() }
    try fixture.keyring.startDaemon()
    // The store that wrote, whose session is dead, and one that knows nothing yet.
    for cache in [fixture.cache, fixture.otherCache()] { #expect(try await cache.finds(token)) }
    try await fixture.cache.save(next)
    #expect(try await fixture.otherCache().finds(next))
  }

  @Test(.fault("KWallet killed"))
  func `Killed within seconds of a save KWallet may forget it, but the store goes on`() async throws {
    let fixture = try await Fixture(.kwallet, saving: token)
    try fixture.keyring.closeWallet()
    try fixture.keyring.startDaemon()
    try await fixture.cache.save(other)
    try fixture.keyring.restartDaemon()
    let cache = fixture.otherCache()
    #expect(try await cache.finds(token))
    // KWallet writes secrets five seconds later. An empty item is all that may be left.
    _ = try await cache.finds(other)
    #expect(try await cache.snapshot().problems.isEmpty)
    try await cache.save(other)
    #expect(try await fixture.otherCache().finds(other))
  }

  @Test(.fault("KWallet")) func `Four processes that save at once lose nothing`() async throws {
    let fixture = try fixture()
    try await fixture.unlock()
    try await fixture.saveByProcesses(4, saves: 25, accounts: 3)
    // One for each account and one for what belongs to none.
    #expect(try await fixture.allItems().count == 4)
  }
}
