import Foundation
import Synchronization
import Testing

@testable import TokenCache

/// Which of two records stays when caches are brought together.
struct ImportTests {
  private static func refreshToken(_ secret: String, time: Int?, key: String = "k") -> String {
    """
    {"RefreshToken": {"\(key)": {"credential_type": "RefreshToken", "secret": "\(secret)",
      "home_account_id": "\(TestPerson.alice.homeAccountID)", "environment": "login.microsoftonline.com",
      "client_id": "\(TestCache.client)"\(time.map { #", "last_modification_time": "\#($0)""# } ?? "")}}}
    """
  }

  @Test func theNewerRecordWinsUnderTheKeyThatIsThere() async throws {
    let test = TestCache()
    try await test.load(Self.refreshToken("old", time: 100, key: "mine"))
    let summary = try await test.cache.import(
      CacheDocument(json: Data(Self.refreshToken("new", time: 200, key: "theirs").utf8)))
    #expect(summary == ImportSummary(saved: 1, kept: 0))
    #expect(try await test.document.refreshTokens.mapValues(\.secret) == ["mine": "new"])
  }

  @Test func anOlderRecordChangesNothing() async throws {
    let test = TestCache()
    try await test.load(Self.refreshToken("new", time: 200, key: "mine"))
    let generation = test.generation
    let summary = try await test.cache.import(
      CacheDocument(json: Data(Self.refreshToken("old", time: 100, key: "theirs").utf8)))
    #expect(summary == ImportSummary(saved: 0, kept: 1))
    #expect(try await test.refreshTokens() == ["new"])
    #expect(test.generation == generation)
  }

  @Test func anImportWinsWhereNeitherSaysHowOldItIs() async throws {
    let test = TestCache()
    try await test.load(Self.refreshToken("one", time: nil))
    try await test.load(Self.refreshToken("two", time: nil))
    #expect(try await test.refreshTokens() == ["two"])
  }

  @Test func aRecordWithoutTimeIsOlderThanOneWith() async throws {
    let test = TestCache()
    try await test.load(Self.refreshToken("timed", time: 100))
    try await test.load(Self.refreshToken("untimed", time: nil))
    #expect(try await test.refreshTokens() == ["timed"])
  }

  @Test func anImportAgainChangesNothing() async throws {
    let (test, source) = (TestCache(), TestCache())
    try await source.save(TestAnswer(family: "1"))
    try await source.save(TestAnswer(person: .bob), client: TestCache.otherClient)
    let document = try await source.document
    let first = try await test.cache.import(document)
    #expect(first == ImportSummary(saved: document.recordCount, kept: 0))
    let generation = test.generation
    #expect(try await test.cache.import(document) == ImportSummary(saved: 0, kept: document.recordCount))
    #expect(test.generation == generation)
    #expect(try await test.document == document)
  }

  @Test func whatOnlyTheOlderRecordKnowsIsKept() async throws {
    let test = TestCache()
    func account(_ field: String) -> String {
      """
      {"Account": {"a": {"home_account_id": "u.t", "environment": "login.windows.net", "realm": "t",
        "authority_type": "MSSTS", \(field)}}}
      """
    }
    try await test.load(account(#""given_name": "Alice""#))
    try await test.load(account(#""family_name": "Liddell""#))
    let fields = try #require(try await test.document.accounts["a"]).fields
    #expect(fields["given_name"] == "Alice")
    #expect(fields["family_name"] == "Liddell")
  }

  @Test func theSignInStateOfAccountsThatTheImportDoesNotNameIsKept() async throws {
    let (test, source) = (TestCache(), TestCache())
    try await test.save()
    try await test.cache.removeAccount(TestPerson.alice.homeAccountID, clientID: TestCache.client)
    try await source.save(TestAnswer(person: .bob))
    _ = try await test.cache.import(try await source.document)
    let metadata = try #require(try await test.cache.accountMetadata(clientID: TestCache.client))
    #expect(metadata.signInState(of: TestPerson.alice.homeAccountID) == .signedOut)
    #expect(metadata.signInState(of: TestPerson.bob.homeAccountID) == .signedIn)
  }

  @Test func whatIsKnownOfAFamilyIsNotForgottenOverAnImportThatKnowsNothing() async throws {
    let test = TestCache()
    try await test.save(TestAnswer(family: "1"))
    try await test.load(
      """
      {"AppMetadata": {"m": {"client_id": "\(TestCache.client)", "environment": "login.microsoftonline.com"}}}
      """)
    #expect(try await test.document.appMetadata.values.map(\.familyID) == ["1"])
  }

  @Test func everyAccountGetsAShardOfItsOwn() async throws {
    let (test, source) = (TestCache(), TestCache())
    for person in [TestPerson.alice, .bob] { try await source.save(TestAnswer(person: person)) }
    let steps = Mutex<[[Int]]>([])
    _ = try await test.cache.import(try await source.document) { done, all in
      steps.withLock { $0.append([done, all]) }
    }
    #expect(steps.withLock { $0 } == [[1, 3], [2, 3], [3, 3]])
    let contents = test.store.read(.all, in: test.cache.group)
    let ids = [nil, TestPerson.alice.homeAccountID, TestPerson.bob.homeAccountID]
    #expect(
      Set(contents.documents.keys) == Set(ids.map { ShardID(homeAccountID: $0, group: test.cache.group) }))
    let alices = contents[ShardID(homeAccountID: TestPerson.alice.homeAccountID, group: test.cache.group)]
    #expect(alices.recordCount == 4)
  }
}
