import Foundation
import TestSupport

@testable import TokenCache

/// Which of two records stays when caches are merged.
struct ImportTests {
  private let test = TestCache()

  @Test func `The newer record wins under the present key`() async throws {
    try await test.load([.alices("old", key: "mine", time: 100)])
    let summary = try await test.load([.alices("new", key: "theirs", time: 200)])
    #expect(summary == ImportSummary(saved: 1, kept: 0))
    #expect(try await test.document.refreshTokens.mapValues(\.secret) == ["mine": "new"])
  }

  @Test func `An older record changes nothing`() async throws {
    try await test.load([.alices("new", key: "mine", time: 200)])
    let generation = test.generation
    let summary = try await test.load([.alices("old", key: "theirs", time: 100)])
    #expect(summary == ImportSummary(saved: 0, kept: 1))
    #expect(try await test.refreshTokens() == ["new"])
    #expect(test.generation == generation)
  }

  @Test func `An import again changes nothing`() async throws {
    let source = TestCache()
    try await source.save(TestResponse(family: "1"))
    try await source.save(TestResponse(person: .bob), client: TestCache.otherClient)
    let document = try await source.document
    let first = try await test.cache.import(document)
    #expect(first == ImportSummary(saved: document.recordCount, kept: 0))
    let generation = test.generation
    #expect(try await test.cache.import(document) == ImportSummary(saved: 0, kept: document.recordCount))
    #expect(test.generation == generation)
    #expect(try await test.document == document)
  }

  @Test func `The sign-in state of accounts that the import does not name is kept`() async throws {
    let source = TestCache()
    try await test.save()
    try await test.cache.removeAccount(TestPerson.alice.homeAccountID, clientID: TestCache.client)
    try await source.save(TestResponse(person: .bob))
    _ = try await test.cache.import(try await source.document)
    #expect(try await test.state(of: TestPerson.alice.homeAccountID) == .signedOut)
    #expect(try await test.state(of: TestPerson.bob.homeAccountID) == .signedIn)
  }

  @Test func `A member that is not an object is imported once, also if a record has its key`() throws {
    var document = CacheDocument([.appMetadata(key: "k")])
    let other = try CacheDocument(#"{"AppMetadata": {"k": null, "k-": 7}}"#)
    for _ in 1...3 {
      document.merge(other, in: .known)
      document = try CacheDocument(json: document.json())
    }
    #expect(document.appMetadata.count == 1)
    #expect(document.nonObjectMembers["AppMetadata"]?.count == 2)
  }

  /// R3.20
  @Test func `A member that moves takes no other member's key`() throws {
    var document = try CacheDocument(#"{"AppMetadata": {"k": 1}}"#)
    let other = try CacheDocument(
      #"{"AppMetadata": {"k": {"client_id": "c", "environment": "e"}, "k-": 7}}"#)
    for _ in 1...3 {
      document.merge(other, in: .known)
      document = try CacheDocument(json: document.json())
    }
    #expect(document.nonObjectMembers["AppMetadata"] == ["k-": .integer(7), "k--": .integer(1)])
  }

  /// Fields that are in the keys of others alone.
  @Test(arguments: [
    ("IdToken", "IdToken", #""family_id": "1""#), ("IdToken", "IdToken", #""requested_claims": "{}""#),
    ("IdToken", "IdToken", #""application_cache_identifier": "a""#),
    ("RefreshToken", "RefreshToken", #""application_cache_identifier": "a""#),
    ("RefreshToken", "RefreshToken", #""requestedClaims": "{}""#),
    ("AccessToken", "AccessToken", #""family_id": "1""#),
    ("AccessToken", "AccessToken_With_AuthScheme", #""token_type": "Bearer""#),
  ])
  func `A replaced record still fits its key`(
    _ section: String, _ type: String, _ field: String
  ) throws {
    func document(_ more: String, under key: String) throws -> CacheDocument {
      let json = """
        {"\(section)": {"\(key)": {"credential_type": "\(type)", "secret": "s", "home_account_id": "u.t",
          "environment": "login.microsoftonline.com", "client_id": "c", "realm": "t"\(more)}}}
        """
      return try CacheDocument(json)
    }
    let key = try #require(document("", under: "k").credentials.first?.credential.serializedKey)
    var merged = try document("", under: key)
    try merged.merge(document(", \(field)", under: "other"), in: .known)
    #expect(
      try merged.credentials.map(\.credential)
        == document(", \(field)", under: key).credentials.map(\.credential))
    #expect(merged.credentials.map(\.key) == [key])
    #expect(merged.credentials.map(\.credential.serializedKey) == [key])
  }

  @Test(.fault("older import")) func `Records with changed keys are recognized again`() async throws {
    func account(_ id: String, _ key: String, _ time: Int) -> SampleRecord {
      .account(id, key: key, realm: "r", ["last_modification_time": .string("\(time)")])
    }
    try await test.load([account("v.t", "k1", 1), account("v.t", "k2", 2)])
    let others = ["k1", "k2", "u.t-e-r"].enumerated().map { account("u.t", $1, 3 + $0) }
    try await test.load(others)
    let (generation, document) = (test.generation, try await test.document)
    #expect(Set(document.accounts.keys) == ["k1", "k2", "u.t-e-r", "u.t-e-r-", "u.t-e-r--"])
    #expect(try await test.load(others) == ImportSummary(saved: 0, kept: 3))
    #expect(try await test.document == document)
    #expect(test.generation == generation)
  }

  /// A merge that compared each token with each would take a quarter of an hour.
  @Test(.fault("many records"), .timeLimit(.minutes(5)))
  func `Ten thousand tokens are merged with as many others`() async throws {
    func cache(_ name: String) -> CacheDocument {
      CacheDocument(
        (0..<10_000).map { .accessToken("\(name)-\($0)", scopes: "openid profile \(name)-\($0)") })
    }
    var document = cache("one")
    #expect(document.merge(cache("two"), in: .known) == ImportSummary(saved: 10_000))
    #expect(document.accessTokens.count == 20_000)
  }

  @Test(arguments: CacheError.Code.allCases)
  func `Only an error of one account makes an import go on account by account`(_ code: CacheError.Code)
    async throws
  {
    let source = TestCache()
    for number in 0..<4 {
      try await source.save(TestResponse(person: TestPerson(uid: "u\(number)", home: "t", username: "u")))
    }
    let test = TestCache(store: ScriptedStore(shardsPerUpdate: 2))
    test.store.fail(CacheError(code, "No."))
    await expectCacheError(code) { [document = try await source.document] in
      try await test.cache.import(document)
    }
    let isOfOneAccount = [.damaged, .newerVersion, .rolledBack, .tooLarge].contains(code)
    #expect(test.store.updates.map(\.count) == (isOfOneAccount ? [2, 1, 1, 2, 1, 1, 1] : [2]))
    #expect(CacheError(code, "No.").leavesOutcomeOpen == (code == .cancelled))
  }

  @Test func `Every account gets a shard of its own`() async throws {
    let source = TestCache()
    for person in [TestPerson.alice, .bob] { try await source.save(TestResponse(person: person)) }
    let steps = Mutex<[[Int]]>([])
    _ = try await test.cache.import(try await source.document) { done, all in
      steps.withLock { $0.append([done, all]) }
    }
    #expect(steps.withLock { $0 } == [[1, 3], [2, 3], [3, 3]])
    #expect(InMemoryStore().shardsPerUpdate == 1)
    let contents = try test.store.read(.all, in: test.cache.group)
    #expect(Set(contents.documents.keys) == [test.shard(nil), test.shard(.alice), test.shard(.bob)])
    #expect(contents[test.shard(.alice)].recordCount == 5)
  }
}
