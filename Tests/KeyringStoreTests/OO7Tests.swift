import KeyringStore
import SecretService
import StoreSupport
import TestSupport

/// The store on a stand-in of oo7-daemon, which forgets what was changed in place and shows nothing of what is locked.
@Suite(.timeLimit(.minutes(20)))
struct OO7Tests {
  private let token = SampleToken("one", account: 1)
  private let next = SampleToken("next", account: 1)
  private let other = SampleToken("other", account: 2)

  @Test(.fault("oo7"), arguments: StoreRule.all(for: Fixture.self))
  func `The store keeps to what every store keeps to`(_ rule: StoreRule) async throws {
    try await rule.check(Fixture(provider: .oo7))
  }

  @Test(.fault("oo7"))
  func `What was saved and changed is there after oo7 was killed and started again`() async throws {
    let fixture = try await Fixture(.oo7, saving: token)
    // By the process that made the item, and by one that found it.
    try await fixture.cache.save(next)
    try await fixture.otherCache().save(other)
    try fixture.keyring.restartDaemon()
    for cache in [fixture.cache, fixture.otherCache()] {
      for found in [token, next, other] { #expect(try await cache.finds(found)) }
      #expect(try await cache.snapshot().problems.isEmpty)
    }
    #expect(try await fixture.allItems().count == 3)
  }

  @Test(.requirement("R6.3"), .fault("oo7"))
  func `A save replaces the item by one with the format's attributes`() async throws {
    let fixture = try await Fixture(.oo7, saving: token)
    let shard = fixture.shard(token)
    let before = try #require(try await fixture.items(shard).first).properties
    try await fixture.cache.save(next)
    let items = try await fixture.items(shard)
    let after = try #require(items.first).properties
    #expect(items.count == 1 && after.path != before.path)
    #expect(after.label == before.label && after.ownAttributes == fixture.attributes(shard))
    #expect(after.attributes["xdg:content-type"] == "text/plain")
  }

  @Test(.fault("oo7")) func `What is removed is gone after a restart, and only that`() async throws {
    let fixture = try await Fixture(.oo7, saving: token, next, other)
    let second = try fixture.otherGroup(on: fixture.store)
    try await second.save(token)
    try await fixture.cache.removeAccount(token.homeAccountID)
    try fixture.keyring.restartDaemon()
    for cache in [fixture.cache, fixture.otherCache()] {
      #expect(try await !cache.finds(token))
      #expect(try await cache.finds(other))
    }
    #expect(try await fixture.cache.clear() > 0)
    try fixture.keyring.restartDaemon()
    #expect(try await fixture.otherCache().snapshot().document.isEmpty)
    #expect(try await second.finds(token))
  }

  @Test(.fault("oo7"))
  func `Two items of a shard become one, and both's tokens are there after a restart`() async throws {
    let fixture = try await Fixture(.oo7, saving: token)
    try await fixture.create(fixture.attributes(fixture.shard(token)), try await fixture.shardText(next))
    try await fixture.otherStore().update([fixture.shard(token)], in: fixture.group) { _ in }
    #expect(try await fixture.items(fixture.shard(token)).count == 1)
    try fixture.keyring.restartDaemon()
    #expect(try await fixture.items(fixture.shard(token)).count == 1)
    for found in [token, next] { #expect(try await fixture.otherCache().finds(found)) }
  }

  @Test(.requirement("R5.6"), .fault("oo7 replaces"), arguments: [true, false])
  func `A reader who comes while an item is replaced waits for the new one`(readsAll: Bool) async throws {
    let fixture = try await Fixture(.oo7, saving: token, other)
    let shards = try await Set(fixture.store.read(.all, in: fixture.group).documents.keys)
    try fixture.order("oo7-holds-replacement")
    async let save: Void = fixture.cache.save(next)
    try await eventually { fixture.isThere("oo7-is-replacing") }
    let selection = readsAll ? ShardSelection.all : .some(Array(shards))
    let documents = try await fixture.otherStore().read(selection, in: fixture.group).documents
    #expect(Set(documents.keys) == shards)
    #expect(documents[fixture.shard(token)]?.accessTokens.count == 2)
    try await save
  }

  @Test(.fault("oo7 locked"), arguments: [true, false])
  func `A locked keyring is never taken for an empty one`(isNew: Bool) async throws {
    let fixture = try await Fixture(.oo7, saving: token)
    if isNew {
      try fixture.keyring.restartDaemon(unlocked: false)
    } else {
      try fixture.keyring.lockCollection()
    }
    for store in [fixture.store, fixture.otherStore()] {
      await store.expectEveryCall(in: fixture.group, toThrow: .locked, of: next)
    }
    try await fixture.promptingCache().save(next)
    try fixture.keyring.restartDaemon()
    for found in [token, next] { #expect(try await fixture.otherCache().finds(found)) }
  }

  @Test(.fault("oo7 locked"))
  func `A locked item is reported as locked, not as an invalid response`() async throws {
    let fixture = try await Fixture(.oo7, saving: token)
    let path = try await fixture.item(token).properties.path
    try fixture.keyring.lockCollection()
    await #expect(throws: SecretServiceError.collectionLocked) { try await fixture.client.item(path) }
    await #expect(throws: SecretServiceError.collectionLocked) {
      try await fixture.client.setSecret(SecretBytes(copying: [1]), of: path)
    }
  }

  @Test(.fault("oo7 locked"))
  func `Where oo7 cannot prompt, the error says that nothing was shown`() async throws {
    let fixture = try await Fixture(.oo7, saving: token)
    try fixture.keyring.restartDaemon(unlocked: false)
    try fixture.order("oo7-never-prompts")
    let error = await #expect(throws: CacheError.self) { try await fixture.promptingCache().finds(token) }
    #expect(error?.underlyingError as? SecretServiceError == .promptDismissed)
    #expect(error?.advice?.contains("Without a display") == true)
  }

  @Test(.fault("oo7"))
  func `Four processes that save at once lose nothing, before a restart and after it`() async throws {
    let fixture = try Fixture(provider: .oo7)
    try await fixture.saveByProcesses(4, saves: 25, accounts: 3)
    let names = try await fixture.savedNames()
    try fixture.keyring.restartDaemon()
    #expect(try await fixture.savedNames() == names)
  }
}

extension Fixture {
  /// Tells the stand-in what to do, by a file.
  fileprivate func order(_ name: String) throws {
    try Data().write(to: URL(filePath: keyring.directory + "/" + name))
  }

  fileprivate func isThere(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: keyring.directory + "/" + name)
  }

  fileprivate func promptingCache() -> TokenCacheAccessor { accessor(on: promptingStore(for: .seconds(120))) }
}
