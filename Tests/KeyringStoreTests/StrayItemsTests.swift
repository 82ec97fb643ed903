import KeyringStore
import SecretService
import StoreSupport
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

  /// R1.1: what names another shard than its records do, or none, is not found by the shard's name.
  @Test(.requirement("R5.9"), .fault("left behind"), arguments: [true, false], [nil, "other"])
  func `Tokens in an item that is not their shard's are not left in silence`(
    namesOther: Bool, client: String?
  ) async throws {
    var attributes = fixture.attributes(fixture.shard(other))
    if !namesOther { attributes["shard"] = nil }
    try await fixture.create(attributes, try await fixture.shardText(one))
    let cache = fixture.otherCache()
    try await cache.updateAccountMetadata(clientID: one.request.clientID, of: one.homeAccountID) {
      [id = one.homeAccountID] in $0.setSignInState(.signedOut, of: id)
    }
    let clientID = client == nil ? nil : one.request.clientID
    await expectCacheError(.refused) { try await cache.removeAccount(one.homeAccountID, clientID: clientID) }
    let error = await expectCacheError(.refused) { try await cache.removeClient(one.request.clientID) }
    #expect(error?.advice?.contains("clear --all --group \(fixture.group.name)") == true)
    let token = try #require(try await cache.snapshot().document.accessTokens.values.first)
    await expectCacheError(.refused) { try await cache.remove(token) }
    // Nor is the mark removed before them.
    let metadata = try await fixture.otherCache().accountMetadata(
      clientID: one.request.clientID, of: one.homeAccountID)
    #expect(metadata?.signInState(of: one.homeAccountID) == .signedOut)

    #expect(try await cache.clear() == 2)
    #expect(try await fixture.allItems().isEmpty)
  }

  /// An item of the shard, to which a keyring editor added an attribute.
  private func createEdited(_ token: SampleToken) async throws {
    let attributes = fixture.attributes(shard).merging(["theirs": "1"]) { $1 }
    try await fixture.create(attributes, try await fixture.shardText(token))
  }

  /// R5.2
  @Test(.requirement("R5.2"), .fault("edited item"), arguments: [true, false])
  func `An item with one attribute more is read as its shard, and the next write gives it the right ones`(
    isAlone: Bool
  ) async throws {
    if !isAlone { try await fixture.cache.save(three) }
    try await createEdited(one)
    let contents = try await fixture.store.read(.some([shard]), in: fixture.group)
    #expect(contents.problems.map(\.kind) == (isAlone ? [.edited] : [.duplicate, .edited]))
    #expect(try await fixture.otherCache().finds(one))
    try await fixture.cache.save(two)
    #expect(try await fixture.items(shard).map(\.properties.ownAttributes) == [fixture.attributes(shard)])
    for token in [one, two] { #expect(try await fixture.otherCache().finds(token)) }
    #expect(try await fixture.store.read(.some([shard]), in: fixture.group).problems.isEmpty)
  }

  @Test(.fault("edited item"), arguments: ["account", "client", "token", "everything"])
  func `A removal takes what is in an item with one attribute more`(_ removal: String) async throws {
    try await createEdited(one)
    let cache = fixture.otherCache()
    switch removal {
    case "account": #expect(try await cache.removeAccount(one.homeAccountID).count == 3)
    case "client": #expect(try await cache.removeClient(one.request.clientID).count == 3)
    case "token":
      let token = try #require(try await cache.snapshot().document.accessTokens.values.first)
      #expect(try await cache.remove(token))
    default: #expect(try await cache.clear() == 1)
    }
    #expect(
      try await !fixture.allItems().contains {
        String(decoding: $0.secret, as: UTF8.self).contains(one.accessToken)
      })
  }

  @Test(.requirement("R8.2"), .fault("left behind"))
  func `An item that is still there after its removal is reported`() async throws {
    let found = FakeService.Answer.found([FakeService.collection + "/1"])
    func service(_ search: FakeService.Answer) throws -> FakeService {
      try FakeService([
        "SearchItems": search, "GetAll": .item(fixture.attributes(shard)),
        "Delete": .reply([.objectPath("/")]),
      ])
    }
    // Another program may have written one meanwhile.
    let written = try service(.inTurn(found, then: .inTurn(found, then: .found())))
    #expect(try await written.store().remove(.everything, in: fixture.group) == 2)
    let full = try service(found)
    let store = full.store()
    let error = await expectCacheError(.refused) { try await store.remove(.everything, in: fixture.group) }
    #expect(error?.message.contains("still there") == true)
    #expect(full.calls.count { $0 == "Delete" } == 3)
  }

  @Test(.fault("left behind"))
  func `A removal of everything takes one search more than steps`() async throws {
    for account in 1...20 { try await fixture.cache.save(SampleToken("t\(account)", account: account)) }
    let calls = try await fixture.keyring.calls { _ = try await fixture.cache.clear() }
    // Each step searches. The last search finds nothing, and is repeated once it is known that the keyring is not locked.
    #expect(calls.count { $0.method == "SearchItems" } == 4)
    #expect(calls.count { $0.method == "Delete" } == 21)
    #expect(try await fixture.allItems().isEmpty)
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
    case schema, noSchema, noShard, noVersion

    /// Whether it has at least the schema of this format.
    var isOurs: Bool { self == .noShard || self == .noVersion }

    func attributes(_ shard: ShardID, _ fixture: Fixture) -> [String: String] {
      var attributes = fixture.attributes(shard)
      switch self {
      case .schema: attributes["xdg:schema"] = "com.example.Theirs"
      // What gnome-keyring makes of an item without a schema when it next reads its file.
      case .noSchema: attributes["xdg:schema"] = "org.freedesktop.Secret.Generic"
      case .noShard: attributes["shard"] = nil
      case .noVersion: attributes["version"] = nil
      }
      return attributes
    }
  }

  @Test(.requirement("R8.1"), .fault("stray items"), arguments: Foreign.allCases, ["{}", "not JSON"])
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
    #expect(try await fixture.store.remove(.everything, in: fixture.group) == (foreign.isOurs ? 3 : 2))
    #expect(try await fixture.allItems() == (foreign.isOurs ? [] : before))
  }

  @Test func `An item of another program under a shard's name does not get into the shard`() async throws {
    let text = try await fixture.shardText(two)
    try await fixture.create(Foreign.schema.attributes(shard, fixture), text)
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
    .requirement("R8.1"),
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
    for secret in ["garbage", "{}"] { try await fixture.create(fixture.attributes(shard), secret) }
    let cache = fixture.otherCache()
    let exported = try await cache.snapshot()
    #expect(exported.problems.map(\.kind) == [.damaged, .duplicate])
    #expect(exported.document.accessTokens.values.map(\.secret) == [one.accessToken])
    // The answer is the same whether or not the whole group was read before.
    await expectCacheError(.damaged) { try await cache.finds(one) }
    _ = try await cache.accounts(AccountFilter(signedInOnly: false))
    await expectCacheError(.damaged) { try await cache.finds(one) }

    #expect(try await fixture.store.remove(.damaged, in: fixture.group) == 1)
    #expect(try await cache.finds(one))
  }

  @Test(.requirement("R5.4"), .fault("stray items")) func `An empty item counts as absent and is put to use`()
    async throws
  {
    let path = try await fixture.create(fixture.attributes(shard), "")
    let contents = try await fixture.store.read(.all, in: fixture.group)
    #expect(contents.documents.isEmpty)
    #expect(contents.problems.isEmpty)
    #expect(try await !fixture.cache.finds(one))
    try await fixture.cache.save(one)
    #expect(try await fixture.items(shard).map(\.properties.path) == [path])
    #expect(try await fixture.otherCache().finds(one))
  }

  @Test(.requirement("R9.1", "R9.2"), .fault("stray items"), arguments: ["2", "0", "x"])
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

extension StrayItemsTests {
  @Test(.fault("stray items"), .requirement("R9.1"))
  func `An item of a later version beside one of this hides nothing, and is foreign`() async throws {
    try await fixture.cache.save(one)
    var attributes = fixture.attributes(shard)
    attributes["version"] = "2"
    try await fixture.create(attributes, "what only the future can read")
    for selection in [ShardSelection.some([shard]), .all] {
      let contents = try await fixture.store.read(selection, in: fixture.group)
      #expect(contents.problems.map(\.kind) == [.foreign] && contents.documents[shard] != nil)
    }
    #expect(try await fixture.otherCache().accounts().count == 1)
    // One that names no shard may hide something.
    attributes["shard"] = nil
    try await fixture.create(attributes, "what only the future can read")
    let kinds = try await fixture.store.read(.all, in: fixture.group).problems.map(\.kind.rawValue).sorted()
    #expect(kinds == [StoreProblem.Kind.foreign, .newerVersion].map(\.rawValue).sorted())
  }

  @Test func `An item that goes while its group is read or removed hides no other`() async throws {
    let items = ["/1", "/2", "/3"].map { FakeService.collection + $0 }
    let gone = FakeService.Answer.error("org.freedesktop.DBus.Error.UnknownObject")
    let item = FakeService.Answer.item(fixture.attributes(shard))
    let secret = Variant.secret(try await fixture.shardText(one))
    let service = try FakeService([
      "SearchItems": .found(items), "Collections": .property(.objectPaths([FakeService.collection])),
      "Locked": .computed { $0[0].string == "org.freedesktop.Secret.Item" ? gone : .locked(false) },
      "GetSecrets": .secrets([items[0]: secret, items[2]: secret]), "Delete": .reply([.objectPath("/")]),
    ])
    let store = service.store()
    for selection in [ShardSelection.some([shard]), .all] {
      service.setAnswer("GetAll", .inTurn(gone, then: item))
      let contents = try await store.read(selection, in: fixture.group)
      #expect(Array(contents.documents.keys) == [shard] && contents.problems.isEmpty)
    }
    service.setAnswer("GetAll", .inTurn(gone, then: item))
    service.setAnswer("SearchItems", .inTurn(.found(items), then: .found()))
    #expect(try await store.remove(.everything, in: fixture.group) == 2)
    // A service that does not say when an item was changed.
    service.setAnswer("SearchItems", .found([items[0]]))
    service.setAnswer("GetSecrets", .secrets([items[0]: .secret([0])]))
    let problem = try await store.read(.some([shard]), in: fixture.group).problems.first
    #expect(problem?.kind == .damaged && problem?.modified == nil)
  }

  @Test func `What KWallet brings back is known by a shard's label and by what is in it`() async throws {
    let items = (1...6).map { "\(FakeService.collection)/\($0)" }
    let other = try KeychainGroup("org.example.other")
    func label(_ group: KeychainGroup) -> String { "Llavero: \(group.name) (\(shard.rawValue.prefix(8)))" }
    let (ours, theirs) = (FakeService.Answer.item([:], label: label(fixture.group)), label(other))
    let inOrder: [FakeService.Answer] = [
      .error("org.freedesktop.DBus.Error.UnknownObject"), .item(["theirs": "1"], label: label(fixture.group)),
      ours, .item([:], label: theirs), .item([:], label: theirs),
    ]
    let answers = inOrder.reversed().reduce(ours) { .inTurn($1, then: $0) }
    let service = try FakeService(
      [
        "SearchItems": .found(), "Collections": .property(.objectPaths([])),
        "Delete": .reply([.objectPath("/")]),
        "GetSecrets": .secrets([
          items[2]: .secret(try await fixture.shardText(one)), items[3]: .secret([]), items[4]: .secret([]),
          // Of the first group, by its label.
          items[5]: .secret([0]),
        ]),
      ], names: ["org.freedesktop.secrets", "org.kde.kwalletd5"])
    let (store, there) = (service.store(), FakeService.Answer.property(.objectPaths(items)))
    service.setAnswer("GetAll", answers)
    service.setAnswer("Items", there)
    #expect(try await store.returnedItems().mapValues(\.count) == [fixture.group: 1, other: 2])
    service.setAnswer("GetAll", answers)
    service.setAnswer("Items", .inTurn(there, then: .property(.objectPaths([]))))
    #expect(try await store.remove(.everything, in: fixture.group) == 1)
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
