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

  @Test func `The newer record wins under the key that is there`() async throws {
    let test = TestCache()
    try await test.load(Self.refreshToken("old", time: 100, key: "mine"))
    let summary = try await test.cache.import(
      CacheDocument(json: Data(Self.refreshToken("new", time: 200, key: "theirs").utf8)))
    #expect(summary == ImportSummary(saved: 1, kept: 0))
    #expect(try await test.document.refreshTokens.mapValues(\.secret) == ["mine": "new"])
  }

  @Test func `An older record changes nothing`() async throws {
    let test = TestCache()
    try await test.load(Self.refreshToken("new", time: 200, key: "mine"))
    let generation = test.generation
    let summary = try await test.cache.import(
      CacheDocument(json: Data(Self.refreshToken("old", time: 100, key: "theirs").utf8)))
    #expect(summary == ImportSummary(saved: 0, kept: 1))
    #expect(try await test.refreshTokens() == ["new"])
    #expect(test.generation == generation)
  }

  @Test func `An import wins where neither says how old it is`() async throws {
    let test = TestCache()
    try await test.load(Self.refreshToken("one", time: nil))
    try await test.load(Self.refreshToken("two", time: nil))
    #expect(try await test.refreshTokens() == ["two"])
  }

  @Test func `A record without time is older than one with`() async throws {
    let test = TestCache()
    try await test.load(Self.refreshToken("timed", time: 100))
    try await test.load(Self.refreshToken("untimed", time: nil))
    #expect(try await test.refreshTokens() == ["timed"])
  }

  @Test func `An import again changes nothing`() async throws {
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

  @Test func `What only the older record knows is kept`() async throws {
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

  @Test func `The sign-in state of accounts that the import does not name is kept`() async throws {
    let (test, source) = (TestCache(), TestCache())
    try await test.save()
    try await test.cache.removeAccount(TestPerson.alice.homeAccountID, clientID: TestCache.client)
    try await source.save(TestAnswer(person: .bob))
    _ = try await test.cache.import(try await source.document)
    let metadata = try #require(try await test.cache.accountMetadata(clientID: TestCache.client))
    #expect(metadata.signInState(of: TestPerson.alice.homeAccountID) == .signedOut)
    #expect(metadata.signInState(of: TestPerson.bob.homeAccountID) == .signedIn)
  }

  @Test func `What is known of a family is not forgotten over an import that knows nothing`() async throws {
    let test = TestCache()
    try await test.save(TestAnswer(family: "1"))
    try await test.load(
      """
      {"AppMetadata": {"m": {"client_id": "\(TestCache.client)", "environment": "login.microsoftonline.com"}}}
      """)
    #expect(try await test.document.appMetadata.values.map(\.familyID) == ["1"])
  }

  @Test(arguments: [(2, 3), (3, 2)])
  func `Two clients' tokens of a family that meet one of a third are two, whichever is newer`(
    _ first: Int, _ second: Int
  ) async throws {
    func token(_ client: String, _ host: String, time: Int) -> String {
      """
      "u.t-\(host)-refreshtoken-1--": {"credential_type": "RefreshToken", "secret": "\(client)", "family_id": "1",
        "home_account_id": "u.t", "environment": "\(host)", "client_id": "\(client)",
        "last_modification_time": "\(time)"}
      """
    }
    let (host, other) = ("login.windows.net", "login.microsoftonline.com")
    let document = try await group(
      importing: "{\"RefreshToken\": {\(token("c", host, time: 1))}}",
      "{\"RefreshToken\": {\(token("a", host, time: first)), \(token("b", other, time: second))}}")
    #expect(Set(document.refreshTokens.values.map(\.secret)) == ["a", "b"])
  }

  @Test func `What is no object comes in once, also where a record has its key`() throws {
    var document = try CacheDocument(
      json: Data(#"{"AppMetadata": {"k": {"client_id": "c", "environment": "e"}}}"#.utf8))
    let other = try CacheDocument(json: Data(#"{"AppMetadata": {"k": null, "k-": 7}}"#.utf8))
    for _ in 1...3 {
      document.merge(other, in: .known)
      document = try CacheDocument(json: document.json())
    }
    #expect(document.appMetadata.count == 1)
    #expect(document.misfits["AppMetadata"]?.count == 2)
  }

  @Test func `Of app metadata that says nothing of a family what comes in stays`() async throws {
    func metadata(_ text: String) -> String {
      #"{"AppMetadata": {"k": {"client_id": "c", "environment": "e", "novel": "\#(text)"}}}"#
    }
    let document = try await group(importing: metadata("old"), metadata("new"))
    #expect(document.appMetadata["k"]?.fields["novel"] == "new")
  }

  /// Imports caches into a new group, one after the other, and each twice: the second time says that nothing is
  /// new.
  private func group(importing caches: String...) async throws -> CacheDocument {
    let test = TestCache()
    for json in caches {
      try await test.load(json)
      let document = try CacheDocument(json: Data(json.utf8))
      let (generation, before) = (test.generation, try await test.document)
      #expect(
        try await test.cache.import(document) == ImportSummary(saved: 0, kept: document.recordCount),
        "\(json)")
      #expect(try await test.document == before)
      #expect(test.generation == generation)
    }
    return try await test.document
  }

  private static func accessToken(
    _ secret: String, key: String? = nil, scopes: String = "A B", realm: String = "t",
    host: String = "login.windows.net", cachedAt: Int?, more: String = ""
  ) -> String {
    """
    "\(key ?? secret)": {"credential_type": "AccessToken", "secret": "\(secret)", "home_account_id": "u.t",
      "environment": "\(host)", "client_id": "c", "realm": "\(realm)", "target": "\(scopes)"\(more)
      \(cachedAt.map { #", "cached_at": "\#($0)""# } ?? "")}
    """
  }

  private static func accessTokens(_ tokens: String...) -> String {
    #"{"AccessToken": {\#(tokens.joined(separator: ","))}}"#
  }

  @Test(arguments: [[nil, nil], [1, 2], [2, 1], [1, nil], [3, 3]] as [[Int?]])
  func `Two tokens that meet one under a third key make one, and a second import changes nothing`(
    _ times: [Int?]
  ) async throws {
    func token(_ name: String, _ time: Int?) -> String {
      #""\#(name)": {"credential_type": "RefreshToken", "secret": "\#(name)", "home_account_id": "u.t", "#
        + #""environment": "e", "client_id": "c""#
        + (time.map { #", "last_modification_time": "\#($0)""# } ?? "") + "}"
    }
    let (one, two) = (token("k1", times[0]), token("k2", times[1]))
    let document = try await group(
      importing: #"{"RefreshToken": {\#(token("k3", nil))}}"#, #"{"RefreshToken": {\#(one), \#(two)}}"#)
    #expect(Array(document.refreshTokens.keys) == ["k3"])
    let newest = (times[0] ?? 0) > (times[1] ?? 0) ? "k1" : "k2"
    #expect(document.refreshTokens["k3"]?.secret == newest)
  }

  @Test func `An older record leaves every field of a newer one as it is`() async throws {
    let newer = Self.accessTokens(Self.accessToken("new", realm: "common", cachedAt: 2))
    let older = Self.accessTokens(
      Self.accessToken(
        "old", scopes: "b a", realm: "T", host: "login.microsoftonline.com", cachedAt: 1, more: #", "x": 1"#))
    let document = try await group(importing: newer, older)
    #expect(try document == CacheDocument(json: Data(newer.utf8)))
  }

  @Test func `A newer record is spelled as the key is that it comes under`() async throws {
    let older = Self.accessTokens(Self.accessToken("old", realm: "common", cachedAt: 1, more: #", "x": 1"#))
    let newer = Self.accessTokens(
      Self.accessToken("new", scopes: "b a", realm: "T", host: "login.microsoftonline.com", cachedAt: 2))
    let token = try #require(try await group(importing: older, newer).accessTokens["old"])
    #expect(token.secret == "new")
    #expect([token.realm, token.target, token.environment] == ["common", "A B", "login.windows.net"])
    #expect(token.fields["x"] == .integer(1))
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
  func `What takes the place of a record for the same thing makes its key`(
    _ section: String, _ type: String, _ field: String
  ) throws {
    func document(_ more: String, under key: String) throws -> CacheDocument {
      let json = """
        {"\(section)": {"\(key)": {"credential_type": "\(type)", "secret": "s", "home_account_id": "u.t",
          "environment": "login.microsoftonline.com", "client_id": "c", "realm": "t"\(more)}}}
        """
      return try CacheDocument(json: Data(json.utf8))
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

  @Test func `A refresh token under a key without scopes gets none from a newer one`() async throws {
    func token(_ key: String, _ time: Int, _ more: String) -> String {
      """
      {"RefreshToken": {"\(key)": {"credential_type": "RefreshToken", "secret": "\(time)", "client_id": "c",
        "home_account_id": "u.t", "environment": "e", "last_modification_time": "\(time)"\(more)}}}
      """
    }
    let document = try await group(
      importing: token("u.t-e-refreshtoken-c--", 1, ""),
      token("u.t-e-refreshtoken-c--a b", 2, #", "target": "A B""#))
    #expect(document.refreshTokens.mapValues(\.secret) == ["u.t-e-refreshtoken-c--": "2"])
    #expect(document.refreshTokens.values.first?.target == nil)
  }

  @Test func `A family's token takes the place of the family's older one, whichever client stored it`()
    async throws
  {
    func token(_ client: String, _ time: Int) -> String {
      """
      {"RefreshToken": {"u.t-login.windows.net-refreshtoken-1--": {"credential_type": "RefreshToken",
        "secret": "\(client)", "home_account_id": "u.t", "environment": "login.windows.net", "family_id": "1",
        "client_id": "\(client)", "last_modification_time": "\(time)"}}}
      """
    }
    for caches in [[token("a", 1), token("b", 2)], [token("b", 2), token("a", 1)]] {
      let document = try await group(importing: caches[0], caches[1])
      #expect(document.refreshTokens.values.map(\.secret) == ["b"])
    }
  }

  @Test func `Of tokens that share a scope the newer stays, in whichever order they come`() async throws {
    let older = Self.accessTokens(Self.accessToken("old", scopes: "A B openid", cachedAt: 1))
    let newer = Self.accessTokens(Self.accessToken("new", scopes: "B C openid", cachedAt: 2))
    for caches in [[older, newer], [newer, older]] {
      #expect(try await group(importing: caches[0], caches[1]).accessTokens.values.map(\.secret) == ["new"])
    }
  }

  @Test func `Tokens that share only scopes of OpenID Connect stay, in whichever order they come`()
    async throws
  {
    let resource = Self.accessTokens(Self.accessToken("one", scopes: "openid profile A", cachedAt: 1))
    let openID = Self.accessTokens(Self.accessToken("two", scopes: "openid profile", cachedAt: 2))
    for caches in [[resource, openID], [openID, resource]] {
      #expect(try await group(importing: caches[0], caches[1]).accessTokens.count == 2)
    }
  }

  /// R4.8
  @Test func `One that comes in under the key that is there takes that place, and others come beside it`()
    async throws
  {
    func token(_ key: String, _ time: Int) -> String {
      #""\#(key)": {"credential_type": "RefreshToken", "secret": "\#(key)\#(time)", "home_account_id": "u.t", "#
        + #""environment": "e", "client_id": "c", "last_modification_time": "\#(time)"}"#
    }
    for time in [1, 3] {
      let document = try await group(
        importing: #"{"RefreshToken": {\#(token("k", 2))}}"#,
        #"{"RefreshToken": {\#(token("k", time)), \#(token("l", 4))}}"#)
      #expect(document.refreshTokens.mapValues(\.secret) == ["k": "k\(max(time, 2))", "l": "l4"])
    }
  }

  @Test func `Two records of an unknown type are one only if they are of one family`() async throws {
    func token(_ family: Int) -> String {
      #"{"RefreshToken": {"k\#(family)": {"secret": "\#(family)", "home_account_id": "u.t", "environment": "e", "#
        + #""client_id": "c", "family_id": "\#(family)"}}}"#
    }
    #expect(try await group(importing: token(1), token(2)).refreshTokens.count == 2)
  }

  @Test func `Records that had to take other keys are known again`() async throws {
    func account(_ id: String, _ key: String, _ time: Int) -> String {
      #""\#(key)": {"home_account_id": "\#(id)", "environment": "e", "realm": "r", "#
        + #""last_modification_time": "\#(time)"}"#
    }
    let first = #"{"Account": {\#(account("v.t", "k1", 1)), \#(account("v.t", "k2", 2))}}"#
    let others = ["k1", "k2", "u.t-e-r"].enumerated().map { account("u.t", $1, 3 + $0) }
    let document = try await group(importing: first, #"{"Account": {\#(others.joined(separator: ","))}}"#)
    #expect(Set(document.accounts.keys) == ["k1", "k2", "u.t-e-r", "u.t-e-r-", "u.t-e-r--"])
  }

  @Test func `What is displaced displaces nothing`() async throws {
    let outer = Self.accessTokens(
      Self.accessToken("1", scopes: "A B", cachedAt: 1), Self.accessToken("5", scopes: "C D", cachedAt: 5))
    let middle = Self.accessTokens(Self.accessToken("3", scopes: "B C", cachedAt: 3))
    for caches in [[outer, middle], [middle, outer]] {
      let tokens = try await group(importing: caches[0], caches[1]).accessTokens
      #expect(Set(tokens.keys) == ["1", "5"])
    }
  }

  @Test func `Tokens that one cache keeps apart stay apart`() async throws {
    let both = [
      Self.accessToken("1", scopes: "A B", cachedAt: 1), Self.accessToken("2", scopes: "B C", cachedAt: 2),
    ]
    let document = try await group(
      importing: Self.accessTokens(both[0], both[1]), Self.accessTokens(both[1]), Self.accessTokens(both[0]))
    #expect(document.accessTokens.count == 2)
  }

  @Test(arguments: [#", "requested_claims": "{}""#, #", "ext_cache_key": "x""#])
  func `Tokens with claims or further parameters share nothing with plain ones`(_ more: String) async throws {
    let plain = Self.accessTokens(Self.accessToken("plain", scopes: "A B", cachedAt: 1))
    let other = Self.accessTokens(Self.accessToken("other", scopes: "B C", cachedAt: 2, more: more))
    #expect(try await group(importing: plain, other).accessTokens.count == 2)
    #expect(try await group(importing: other, plain).accessTokens.count == 2)
  }

  /// A merge that compared each token with each would take an hour.
  @Test(.timeLimit(.minutes(20)))
  func `Twenty thousand tokens meet as many others`() async throws {
    func cache(_ name: String) -> CacheDocument {
      var document = CacheDocument()
      for number in 0..<20_000 {
        var token = Credential(
          type: .accessToken, homeAccountID: "u.t", environment: "e", clientID: "c", secret: "s")
        token.target = "openid profile \(name)-\(number)"
        document.accessTokens["\(name)-\(number)"] = token
      }
      return document
    }
    var document = cache("one")
    #expect(document.merge(cache("two"), in: .known) == ImportSummary(saved: 20_000))
    #expect(document.accessTokens.count == 40_000)
  }

  @Test func `Every account gets a shard of its own`() async throws {
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
