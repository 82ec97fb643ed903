import KeyringStore
import SecretService
import TestSupport

/// How a group lies in the keyring, and that nothing is written without need.
@Suite(.timeLimit(.minutes(20)))
struct ItemFormatTests {
  private let token = SampleToken("one", account: 1)
  private let fixture: Fixture

  init() async throws { fixture = try await Fixture(saving: token) }

  @Test(.requirement("R2.2"))
  func `An item has the format's attributes, no others, and no personal data in them`() async throws {
    let items = try await fixture.allItems()
    #expect(items.count == 2)
    for shard in [fixture.shard(token), fixture.commonShard] {
      let item = try #require(try await fixture.items(shard).first)
      #expect(item.properties.attributes == fixture.attributes(shard))
      #expect(item.properties.label == "Llavero: org.example.shared (\(shard.rawValue.prefix(8)))")
    }
    for item in items {
      let texts = Array(item.properties.attributes.values) + [item.properties.label]
      for personal in [
        token.userID, token.homeAccountID, token.username, SampleToken.clientID, token.scope, "contoso",
      ] {
        #expect(texts.allSatisfy { !$0.contains(personal) })
      }
    }
  }

  @Test(.requirement("R6.3")) func `A save changes an item in place`() async throws {
    let before = try await fixture.item(token)
    try await fixture.cache.save(SampleToken("two", account: 1))
    let after = try await fixture.items(fixture.shard(token))
    #expect(after.count == 1)
    let item = try #require(after.first)
    #expect(item.secret != before.secret)
    let (new, old) = (item.properties, before.properties)
    #expect(new.path == old.path && new.attributes == old.attributes && new.label == old.label)
  }

  @Test func `Nothing is written where nothing changed`() async throws {
    let (shard, common) = (fixture.shard(token), fixture.commonShard)
    let generation = fixture.store.generation(of: fixture.group)
    let before = try await fixture.allItems()
    let log = try await fixture.keyring.logOfCalls {
      try await fixture.store.update([common, shard], in: fixture.group) { contents in
        contents[shard] = contents[shard]
        contents[ShardID(rawValue: "unused")] = CacheDocument()
      }
      try await fixture.cache.updateAccountMetadata(clientID: SampleToken.clientID, of: nil) { _ in }
      try await fixture.cache.removeExpired()
    }
    #expect(log.contains("SearchItems"))
    for method in ["SetSecret", "CreateItem", "Delete"] { #expect(!log.contains(method)) }
    #expect(try await fixture.allItems() == before)
    #expect(fixture.store.generation(of: fixture.group) == generation)

    let next = try await fixture.keyring.logOfCalls {
      try await fixture.cache.save(SampleToken("two", account: 1))
    }
    #expect(next.count { $0 == "SetSecret" } == 1)
    #expect(!next.contains("CreateItem"))
    #expect(fixture.store.generation(of: fixture.group) != generation)
  }

  @Test(.requirement("R10.1"), .fault("large item"))
  func `A document that is too large is refused before anything is sent`() async throws {
    let before = try await fixture.allItems()
    let generation = fixture.store.generation(of: fixture.group)
    let (common, shard) = (fixture.commonShard, fixture.shard(token))
    let log = try await fixture.keyring.logOfCalls {
      await expectCacheError(.tooLarge) {
        try await fixture.store.update([common, shard], in: fixture.group) { contents in
          contents[common].otherSections["Small"] = .object(["text": "small"])
          let large = String(repeating: "x", count: SecretServiceClient.maximumSecretSize)
          contents[shard].otherSections["Large"] = .object(["text": .string(large)])
        }
      }
    }
    #expect(!log.contains("SetSecret"))
    #expect(try await fixture.allItems() == before)
    #expect(fixture.store.generation(of: fixture.group) == generation)
    #expect(try await fixture.cache.finds(token))
  }

  @Test func `What is no group of Llavero's is not listed`() async throws {
    try await fixture.create(["xdg:schema": "org.llavero.TokenCache", "group": "no group"], "")
    try await fixture.create(["xdg:schema": "com.example.Theirs", "group": "org.example.theirs"], "")
    #expect(try await fixture.store.groups() == [fixture.group])
    let service = try FakeService([
      "SearchItems": .found(["/1", "/2"].map { FakeService.collection + $0 }),
      "GetAll": .inTurn(.item([:]), then: .item(["group": fixture.group.name])),
    ])
    #expect(try await service.store().groups() == [fixture.group])
  }

  @Test func `A hundred items go at once, and only those of the group`() async throws {
    let fixture = try Fixture()
    let other = try fixture.otherGroup(on: fixture.store)
    try await other.save(token)
    for number in 0..<100 {
      let shard = ShardID(homeAccountID: "account \(number)", group: fixture.group)
      try await fixture.create(fixture.attributes(shard), number.isMultiple(of: 2) ? "{}" : "damaged")
    }
    #expect(try await fixture.store.remove(.damaged, in: fixture.group) == 50)
    #expect(try await fixture.allItems().count == 50)
    #expect(try await fixture.cache.clear() == 50)
    #expect(try await fixture.allItems().isEmpty)
    #expect(try await fixture.cache.clear() == 0)
    #expect(try await other.finds(token))
  }
}
