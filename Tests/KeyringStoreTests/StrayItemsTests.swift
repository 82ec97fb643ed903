import KeyringStore
import SecretService
import TestSupport

/// Items that no store of this version would leave behind.
@Suite(.timeLimit(.minutes(20)))
struct StrayItemsTests {
  private let one = SampleToken("one", account: 1)
  private let two = SampleToken("two", account: 1)
  private let three = SampleToken("three", account: 1)
  private let other = SampleToken("other", account: 2)
  private let fixture: Fixture
  private let shard: ShardID

  init() throws {
    fixture = try Fixture()
    shard = fixture.shard(one)
  }

  @Test(.fault("stray items"))
  func `Two items of one shard are read as one, reported, and become one`() async throws {
    try await fixture.cache.save(one)
    try await fixture.create(fixture.attributes(shard), try await fixture.shardText(two))
    #expect(try await fixture.items(shard).count == 2)

    _ = try await fixture.expectProblem(.duplicate, of: shard)
    let cache = fixture.otherCache()
    for token in [one, two] { #expect(try await cache.finds(token)) }

    try await fixture.cache.save(three)
    #expect(try await fixture.items(shard).count == 1)
    for token in [one, two, three] { #expect(try await fixture.otherCache().finds(token)) }
    #expect(try await fixture.store.read(.all, in: fixture.group).problems.isEmpty)
  }

  /// R1.1: what names another shard than its records do, or has an attribute more, is not found by the shard's name.
  @Test(.fault("stray items"), arguments: [true, false], [nil, "other"])
  func `Tokens in an item that is not their shard's are not left in silence`(
    hasMore: Bool, client: String?
  ) async throws {
    let shard = hasMore ? shard : fixture.shard(other)
    let more = hasMore ? ["theirs": "1"] : [:]
    try await fixture.create(
      fixture.attributes(shard).merging(more) { $1 }, try await fixture.shardText(one))
    let cache = fixture.otherCache()
    let clientID = client == nil ? nil : one.request.clientID
    await expectCacheError(.refused) { try await cache.removeAccount(one.homeAccountID, clientID: clientID) }
    let error = await expectCacheError(.refused) { try await cache.removeClient(one.request.clientID) }
    #expect(error?.advice?.contains("clear --all --group \(fixture.group.name)") == true)
    #expect(
      try await fixture.allItems().contains {
        String(decoding: $0.secret, as: UTF8.self).contains(one.accessToken)
      })
  }

  @Test func `Two items of one shard become one even if a writer changes nothing`() async throws {
    for token in [one, two] {
      try await fixture.create(fixture.attributes(shard), try await fixture.shardText(token))
    }
    try await fixture.store.update([shard], in: fixture.group) { _ in }
    #expect(try await fixture.items(shard).count == 1)
    for token in [one, two] { #expect(try await fixture.cache.finds(token)) }
  }

  @Test func `Of two items of one shard the newer has the last word, and stays`() async throws {
    let text = String(decoding: try await fixture.shardText(one), as: UTF8.self)
    for number in 1...8 { try await fixture.create(["number": "\(number)"], "") }
    let first = try await fixture.create(fixture.attributes(shard), text)
    // Items have the time in seconds.
    let time = try await fixture.client.item(first).modified
    try await eventually { Glibc.time(nil) > time }
    // A record of the same age.
    let second = try await fixture.create(
      fixture.attributes(shard), text.replacing(one.accessToken, with: "other"))
    // Their paths do not say which is the newer.
    #expect(first.description > second.description)
    for selection in [ShardSelection.all, .some([shard])] {
      let document = try await fixture.store.read(selection, in: fixture.group)[shard]
      #expect(document.accessTokens.values.map(\.secret) == ["other"])
    }
    try await fixture.store.update([shard], in: fixture.group) { _ in }
    #expect(try await fixture.items(shard).map(\.properties.path) == [second])
  }

  /// An item of another program that a search for the group or the shard finds.
  enum Foreign: CaseIterable {
    case schema, noSchema, attribute, noShard, noVersion

    func attributes(_ shard: ShardID, _ fixture: Fixture) -> [String: String] {
      var attributes = fixture.attributes(shard)
      switch self {
      case .schema: attributes["xdg:schema"] = "com.example.Theirs"
      // What gnome-keyring makes of an item without a schema when it next reads its file.
      case .noSchema: attributes["xdg:schema"] = "org.freedesktop.Secret.Generic"
      case .attribute: attributes["theirs"] = "1"
      case .noShard: attributes["shard"] = nil
      case .noVersion: attributes["version"] = nil
      }
      return attributes
    }
  }

  @Test(.fault("stray items"), arguments: Foreign.allCases, ["{}", "not JSON"])
  func `An item of another program is reported and left alone`(foreign: Foreign, text: String) async throws {
    let path = try await fixture.create(foreign.attributes(shard, fixture), text)
    func theirs() async throws -> [Fixture.Item] {
      try await fixture.allItems().filter { $0.properties.path == path }
    }
    let before = try await theirs()
    for _ in 0..<2 {
      let contents = try await fixture.store.read(.all, in: fixture.group)
      #expect(contents.problems.map(\.kind) == [.foreign])
      try await fixture.cache.save(one)
      #expect(try await fixture.otherCache().finds(one))
      #expect(try await fixture.items(shard).filter { $0.properties.path != path }.count == 1)
      #expect(try await theirs() == before)
    }
    #expect(try await fixture.store.remove(.damaged, in: fixture.group) == 0)
    #expect(try await fixture.store.remove(.everything, in: fixture.group) == 2)
    #expect(try await fixture.allItems() == before)
  }

  @Test func `An item of another program under a shard's name does not get into the shard`() async throws {
    let text = try await fixture.shardText(two)
    try await fixture.create(Foreign.attribute.attributes(shard, fixture), text)
    let contents = try await fixture.store.read(.some([shard]), in: fixture.group)
    #expect(contents.documents.isEmpty)
    #expect(contents.problems.map(\.kind) == [.foreign])
    try await fixture.cache.save(one)
    let cache = fixture.otherCache()
    #expect(try await cache.finds(one))
    #expect(try await !cache.finds(two))
  }

  /// The beginning of a cache, cut off.
  private static let truncated = Array(#"{"AccessToken": {"key": {"secret": "tok"#.utf8)

  @Test(
    .fault("stray items"),
    arguments: [
      Array("garbage".utf8), truncated, Array(#"{"AccessToken": []}"#.utf8), [0x7B, 0xFF, 0xFE, 0x7D],
      Array("[]".utf8), [0],
    ].abbreviated)
  func `A damaged item is reported, kept as it is, and does not affect the others`(
    bytes: Named<[UInt8]>
  ) async throws {
    let bytes = bytes.value
    try await fixture.cache.save(other)
    try await fixture.create(fixture.attributes(shard), bytes)
    let before = try await fixture.items(shard)

    let documents = try await fixture.expectProblem(.damaged, of: shard)
    #expect(documents[shard] == nil)
    let cache = fixture.cache
    for _ in 0..<2 {
      await expectCacheError(.damaged) { try await cache.save(one) }
      await expectCacheError(.damaged) { try await cache.finds(one) }
      // A reader that has everything else in memory knows no more of this one.
      _ = try await cache.accounts(AccountFilter(signedInOnly: false))
    }
    #expect(try await fixture.items(shard) == before)
    #expect(try await cache.finds(other))
    try await cache.save(SampleToken("more", account: 2))

    #expect(try await fixture.store.remove(.damaged, in: fixture.group) == 1)
    #expect(try await fixture.items(shard).isEmpty)
    #expect(try await fixture.otherCache().finds(other))
    try await cache.save(one)
    #expect(try await cache.finds(one))
  }

  @Test func `A damaged copy hides neither itself nor what the other copy holds`() async throws {
    try await fixture.cache.save(one)
    try await fixture.create(fixture.attributes(shard), "garbage")
    let cache = fixture.otherCache()
    let exported = try await cache.snapshot()
    #expect(exported.problems.map(\.kind) == [.damaged])
    #expect(exported.document.accessTokens.values.map(\.secret) == [one.accessToken])
    // The answer is the same whether or not the whole group was read before.
    await expectCacheError(.damaged) { try await cache.finds(one) }
    _ = try await cache.accounts(AccountFilter(signedInOnly: false))
    await expectCacheError(.damaged) { try await cache.finds(one) }

    #expect(try await fixture.store.remove(.damaged, in: fixture.group) == 1)
    #expect(try await cache.finds(one))
  }

  @Test(.fault("stray items")) func `An empty item counts as absent and is put to use`() async throws {
    let path = try await fixture.create(fixture.attributes(shard), "")
    let contents = try await fixture.store.read(.all, in: fixture.group)
    #expect(contents.documents.isEmpty)
    #expect(contents.problems.isEmpty)
    #expect(try await !fixture.cache.finds(one))
    try await fixture.cache.save(one)
    #expect(try await fixture.items(shard).map(\.properties.path) == [path])
    #expect(try await fixture.otherCache().finds(one))
  }

  @Test(.fault("stray items"), arguments: ["2", "0", "x"])
  func `An item of another version is reported and not written over, and goes with everything`(
    _ version: String
  ) async throws {
    var attributes = fixture.attributes(shard)
    attributes["version"] = version
    attributes["unheard-of"] = "1"
    let path = try await fixture.create(attributes, "what only the future can read")
    let before = try await fixture.allItems()

    #expect(try await fixture.expectProblem(.newerVersion, of: shard).isEmpty)
    let cache = fixture.cache
    await expectCacheError(.newerVersion) { try await cache.save(one) }
    await expectCacheError(.newerVersion) { try await cache.finds(one) }
    #expect(try await fixture.allItems() == before)
    try await cache.save(other)
    #expect(try await cache.finds(other))
    #expect(try await fixture.store.remove(.damaged, in: fixture.group) == 0)
    #expect(try await fixture.allItems().contains { $0.properties.path == path })
    #expect(try await fixture.store.remove(.everything, in: fixture.group) == 3)
    #expect(try await fixture.allItems().isEmpty)
  }
}

extension Fixture {
  /// Expects one problem, whether all of the group is read or the shard, and returns what can be read.
  fileprivate func expectProblem(
    _ kind: StoreProblem.Kind, of shard: ShardID
  ) async throws -> [ShardID: CacheDocument] {
    var documents: [ShardID: CacheDocument] = [:]
    for selection in [ShardSelection.some([shard]), .all] {
      let contents = try await store.read(selection, in: group)
      #expect(contents.problems.map(\.kind) == [kind])
      #expect(contents.problems.map(\.shard) == [shard])
      documents.merge(contents.documents) { $1 }
    }
    return documents
  }
}
