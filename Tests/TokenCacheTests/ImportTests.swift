import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TokenCache

/// Which of two records stays when caches are brought together.
struct ImportTests {
  private let test = TestCache()

  @Test func `The newer record wins under the key that is there`() async throws {
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

  @Test func `An import wins where neither says how old it is`() async throws {
    for secret in ["one", "two"] { try await test.load([.alices(secret, key: "k")]) }
    #expect(try await test.refreshTokens() == ["two"])
  }

  @Test func `A record without time is older than one with`() async throws {
    try await test.load([.alices("timed", key: "k", time: 100)])
    try await test.load([.alices("untimed", key: "k")])
    #expect(try await test.refreshTokens() == ["timed"])
  }

  @Test func `An import again changes nothing`() async throws {
    let source = TestCache()
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
    for field: JSONObject in [["given_name": "Alice"], ["family_name": "Liddell"]] {
      try await test.load([.account(key: "a", host: "login.windows.net", field)])
    }
    let fields = try #require(try await test.document.accounts["a"]).fields
    #expect(fields["given_name"] == "Alice")
    #expect(fields["family_name"] == "Liddell")
  }

  @Test func `The sign-in state of accounts that the import does not name is kept`() async throws {
    let source = TestCache()
    try await test.save()
    try await test.cache.removeAccount(TestPerson.alice.homeAccountID, clientID: TestCache.client)
    try await source.save(TestAnswer(person: .bob))
    _ = try await test.cache.import(try await source.document)
    let metadata = try #require(try await test.cache.accountMetadata(clientID: TestCache.client))
    #expect(metadata.signInState(of: TestPerson.alice.homeAccountID) == .signedOut)
    #expect(metadata.signInState(of: TestPerson.bob.homeAccountID) == .signedIn)
  }

  @Test func `What is known of a family is not forgotten over an import that knows nothing`() async throws {
    try await test.save(TestAnswer(family: "1"))
    try await test.load([.appMetadata(key: "m", client: TestCache.client, host: "login.microsoftonline.com")])
    #expect(try await test.document.appMetadata.values.map(\.familyID) == ["1"])
  }

  @Test(arguments: [(2, 3), (3, 2)])
  func `Two clients' tokens of a family that meet one of a third are two, whichever is newer`(
    _ first: Int, _ second: Int
  ) async throws {
    let (host, other) = ("login.windows.net", "login.microsoftonline.com")
    let document = try await group(
      importing: [familyToken("c", host, time: 1)],
      [familyToken("a", host, time: first), familyToken("b", other, time: second)])
    #expect(Set(document.refreshTokens.values.map(\.secret)) == ["a", "b"])
  }

  @Test func `What is no object comes in once, also where a record has its key`() throws {
    var document = CacheDocument([.appMetadata(key: "k")])
    let other = try CacheDocument(#"{"AppMetadata": {"k": null, "k-": 7}}"#)
    for _ in 1...3 {
      document.merge(other, in: .known)
      document = try CacheDocument(json: document.json())
    }
    #expect(document.appMetadata.count == 1)
    #expect(document.misfits["AppMetadata"]?.count == 2)
  }

  @Test func `Of app metadata that says nothing of a family what comes in stays`() async throws {
    let document = try await group(
      importing: [.appMetadata(key: "k", ["novel": "old"])], [.appMetadata(key: "k", ["novel": "new"])])
    #expect(document.appMetadata["k"]?.fields["novel"] == "new")
  }

  /// Imports caches into a new group, one after the other, and each twice: the second time says that nothing is
  /// new.
  private func group(importing caches: [SampleRecord]...) async throws -> CacheDocument {
    try await group(importing: caches)
  }

  private func group(importing caches: [[SampleRecord]]) async throws -> CacheDocument {
    let test = TestCache()
    for records in caches {
      try await test.load(records)
      let (generation, before) = (test.generation, try await test.document)
      #expect(try await test.load(records) == ImportSummary(saved: 0, kept: records.count), "\(before)")
      #expect(try await test.document == before)
      #expect(test.generation == generation)
    }
    return try await test.document
  }

  /// The secrets of the tokens that are there afterwards.
  private func secrets(importing caches: [SampleRecord]...) async throws -> [String] {
    try await group(importing: caches).credentials.compactMap(\.credential.secret).sorted()
  }

  /// The token of a family, of which a client is one.
  private func familyToken(_ client: String, _ host: String, time: Int) -> SampleRecord {
    .refreshToken(
      client, key: "u.t-\(host)-refreshtoken-1--", client: client, host: host, family: "1", time: time)
  }

  @Test(arguments: [[nil, nil], [1, 2], [2, 1], [1, nil], [3, 3]] as [[Int?]])
  func `Two tokens that meet one under a third key make one, and a second import changes nothing`(
    _ times: [Int?]
  ) async throws {
    let document = try await group(
      importing: [.refreshToken("k3")],
      [.refreshToken("k1", time: times[0]), .refreshToken("k2", time: times[1])])
    #expect(Array(document.refreshTokens.keys) == ["k3"])
    let newest = (times[0] ?? 0) > (times[1] ?? 0) ? "k1" : "k2"
    #expect(document.refreshTokens["k3"]?.secret == newest)
  }

  @Test func `An older record leaves every field of a newer one as it is`() async throws {
    let newer = SampleRecord.accessToken("new", host: "login.windows.net", realm: "common", cachedAt: 2)
    let older = SampleRecord.accessToken(
      "old", host: "login.microsoftonline.com", realm: "T", scopes: "b a", cachedAt: 1, ["x": .integer(1)])
    #expect(try await group(importing: [newer], [older]) == CacheDocument([newer]))
  }

  @Test func `A newer record is spelled as the key is that it comes under`() async throws {
    let older = SampleRecord.accessToken(
      "old", host: "login.windows.net", realm: "common", cachedAt: 1, ["x": .integer(1)])
    let newer = SampleRecord.accessToken(
      "new", host: "login.microsoftonline.com", realm: "T", scopes: "b a", cachedAt: 2)
    let token = try #require(try await group(importing: [older], [newer]).accessTokens["old"])
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

  @Test func `A refresh token under a key without scopes gets none from a newer one`() async throws {
    let document = try await group(
      importing: [.refreshToken("1", key: "u.t-e-refreshtoken-c--", time: 1)],
      [.refreshToken("2", key: "u.t-e-refreshtoken-c--a b", time: 2, ["target": "A B"])])
    #expect(document.refreshTokens.mapValues(\.secret) == ["u.t-e-refreshtoken-c--": "2"])
    #expect(document.refreshTokens.values.first?.target == nil)
  }

  @Test func `A family's token takes the place of the family's older one, whichever client stored it`()
    async throws
  {
    let (older, newer) = (
      familyToken("a", "login.windows.net", time: 1), familyToken("b", "login.windows.net", time: 2)
    )
    for (first, second) in [(older, newer), (newer, older)] {
      #expect(try await secrets(importing: [first], [second]) == ["b"])
    }
  }

  @Test func `Of tokens that share a scope the newer stays, in whichever order they come`() async throws {
    let older = SampleRecord.accessToken("old", scopes: "A B openid", cachedAt: 1)
    let newer = SampleRecord.accessToken("new", scopes: "B C openid", cachedAt: 2)
    for (first, second) in [(older, newer), (newer, older)] {
      #expect(try await secrets(importing: [first], [second]) == ["new"])
    }
  }

  @Test func `Tokens that share only scopes of OpenID Connect stay, in whichever order they come`()
    async throws
  {
    let resource = SampleRecord.accessToken("one", scopes: "openid profile A", cachedAt: 1)
    let openID = SampleRecord.accessToken("two", scopes: "openid profile", cachedAt: 2)
    for (first, second) in [(resource, openID), (openID, resource)] {
      #expect(try await secrets(importing: [first], [second]) == ["one", "two"])
    }
  }

  /// R4.8
  @Test func `One that comes in under the key that is there takes that place, and others come beside it`()
    async throws
  {
    func token(_ key: String, _ time: Int) -> SampleRecord {
      .refreshToken("\(key)\(time)", key: key, time: time)
    }
    for time in [1, 3] {
      let document = try await group(importing: [token("k", 2)], [token("k", time), token("l", 4)])
      #expect(document.refreshTokens.mapValues(\.secret) == ["k": "k\(max(time, 2))", "l": "l4"])
    }
  }

  @Test func `Two records of an unknown type are one only if they are of one family`() async throws {
    func token(_ family: JSONValue) -> SampleRecord {
      .credential(
        .refreshToken, key: "k\(family)",
        [
          "secret": family, "home_account_id": "u.t", "environment": "e", "client_id": "c",
          "family_id": family,
        ])
    }
    #expect(try await secrets(importing: [token("1")], [token("2")]) == ["1", "2"])
  }

  @Test func `Records that had to take other keys are known again`() async throws {
    func account(_ id: String, _ key: String, _ time: Int) -> SampleRecord {
      .account(id, key: key, realm: "r", ["last_modification_time": .string("\(time)")])
    }
    let others = ["k1", "k2", "u.t-e-r"].enumerated().map { account("u.t", $1, 3 + $0) }
    let document = try await group(importing: [account("v.t", "k1", 1), account("v.t", "k2", 2)], others)
    #expect(Set(document.accounts.keys) == ["k1", "k2", "u.t-e-r", "u.t-e-r-", "u.t-e-r--"])
  }

  @Test func `What is displaced displaces nothing`() async throws {
    let outer = [
      SampleRecord.accessToken("1", scopes: "A B", cachedAt: 1),
      .accessToken("5", scopes: "C D", cachedAt: 5),
    ]
    let middle = [SampleRecord.accessToken("3", scopes: "B C", cachedAt: 3)]
    for (first, second) in [(outer, middle), (middle, outer)] {
      #expect(try await secrets(importing: first, second) == ["1", "5"])
    }
  }

  @Test func `Tokens that one cache keeps apart stay apart`() async throws {
    let one = SampleRecord.accessToken("1", scopes: "A B", cachedAt: 1)
    let two = SampleRecord.accessToken("2", scopes: "B C", cachedAt: 2)
    #expect(try await secrets(importing: [one, two], [two], [one]) == ["1", "2"])
  }

  @Test(arguments: ["requested_claims": "{}", "ext_cache_key": "x"] as JSONObject)
  func `Tokens with claims or further parameters share nothing with plain ones`(
    _ name: String, _ value: JSONValue
  ) async throws {
    let plain = SampleRecord.accessToken("plain", scopes: "A B", cachedAt: 1)
    let other = SampleRecord.accessToken("other", scopes: "B C", cachedAt: 2, [name: value])
    for (first, second) in [(plain, other), (other, plain)] {
      #expect(try await secrets(importing: [first], [second]) == ["other", "plain"])
    }
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
    let source = TestCache()
    for person in [TestPerson.alice, .bob] { try await source.save(TestAnswer(person: person)) }
    let steps = Mutex<[[Int]]>([])
    _ = try await test.cache.import(try await source.document) { done, all in
      steps.withLock { $0.append([done, all]) }
    }
    #expect(steps.withLock { $0 } == [[1, 3], [2, 3], [3, 3]])
    let contents = test.store.read(.all, in: test.cache.group)
    #expect(Set(contents.documents.keys) == [test.shard(nil), test.shard(.alice), test.shard(.bob)])
    #expect(contents[test.shard(.alice)].recordCount == 4)
  }
}
