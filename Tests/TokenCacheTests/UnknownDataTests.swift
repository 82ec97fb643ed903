import Foundation
import TestSupport

@testable import TokenCache

/// Unknown and invalid data are kept and do no harm.
struct UnknownDataTests {
  private let test = TestCache()

  private static let id = TestPerson.alice.homeAccountID
  private static let client = TestCache.client

  private static let cache = """
    {"Future": {"a": [1, 2.5, null, true, "x", {"b": {}}]}, "version": 7, "big": 12345678901234567890,
     "AccessToken": {"not-object": "text", "unknown-type": {"credential_type": "Novel", "n": 1.25}},
     "RefreshToken": {"\(id)-login.windows.net-refreshtoken-\(client)--": {"credential_type": "RefreshToken",
       "secret": "old", "home_account_id": "\(id)", "environment": "login.windows.net",
       "client_id": "\(client)", "novel": {"deep": [1, "1"]}, "number": 1767225600, "text": "1767225600"}},
     "Account": {"\(id)-login.windows.net-\(TestPerson.alice.home)": {"home_account_id": "\(id)",
       "environment": "login.windows.net", "realm": "\(TestPerson.alice.home)", "authority_type": "MSSTS",
       "tenantProfiles": ["{}"]}},
     "AppMetadata": {"m": {"client_id": "someone", "environment": "e", "novel": false}}}
    """

  @Test func `Unknown data survive twenty saves`() async throws {
    try await test.load(Self.cache)
    let before = try PlainJSON(Data(Self.cache.utf8))
    for round in 1...20 {
      test.setClock(Double(round))
      try await test.save(TestResponse(accessToken: "at-\(round)", refreshToken: "rt-\(round)"))
    }
    let after = try await PlainJSON(test.document.json())
    for section in ["Future", "version", "big"] { #expect(after[section] == before[section]) }
    for name in ["not-object", "unknown-type"] {
      #expect(after["AccessToken"]?[name] == before["AccessToken"]?[name])
    }
    #expect(after["AppMetadata"]?["m"] == before["AppMetadata"]?["m"])
    let token = try #require(after["RefreshToken"]?.members.values.first)
    #expect(token["secret"] == .string("rt-20"))
    for name in ["novel", "number", "text"] {
      #expect(token[name] == before["RefreshToken"]?.members.values.first?[name])
    }
    #expect(after["Account"]?.members.values.first?["tenantProfiles"] == .array([.string("{}")]))
  }

  @Test func `Times that are numbers are read and stay numbers`() async throws {
    try await test.save()
    try await test.load(Self.token(cachedAt: "1767225600", expiresOn: "1767229200"))
    #expect(try await test.token("Absurd")?.condition == .valid)
    try await test.save(TestResponse(scope: "Other", accessToken: "other"))
    let token = try #require(try await test.document.accessTokens["t"])
    #expect(token.fields["expires_on"] == .integer(1_767_229_200))
    #expect(token.fields["cached_at"] == .integer(1_767_225_600))
  }

  @Test(arguments: [
    "1e300", "-1e300", "-1", "253402300800", #""253402300800""#, #""99999999999999999999999999""#, #""nan""#,
    #""inf""#, #""soon""#, #""""#, "null", "true", "[]", "{}", "0", "12345678901234567890", "0.5", "1e-200",
    "0.1234567890123456789012345678901234567",
  ])
  func `An absurd time counts as expired and is kept`(_ time: String) async throws {
    try await test.save()
    let json = Self.token(cachedAt: "1", expiresOn: time)
    try await test.load(json)
    #expect(try await test.token("Absurd")?.condition == .expired)
    let original = try PlainJSON(Data(json.utf8))["AccessToken"]?["t"]
    #expect(try await PlainJSON(test.document.json())["AccessToken"]?["t"] == original)
    #expect(try await test.cache.removeExpired().count == 1)
  }

  @Test(arguments: ["1e300", "253402300800", #""inf""#, "[]"])
  func `An absurd time of caching does not crash`(_ time: String) async throws {
    try await test.save()
    try await test.load(Self.token(cachedAt: time, expiresOn: "1767229200"))
    #expect(try await test.token("Absurd") != nil)
  }

  @Test(
    .fault("no lifetime"),
    arguments: [
      (.double(1e300), 3600), (.integer(-5), 0), (.integer(0), 0), (.integer(.max), 3600), ("1e300", 3600),
      (.integer(253_402_300_800), 3600),
      ("-1", 0), ("nan", 3600), ("", 3600), (.null, 3600), (.bool(true), 3600),
    ] as [(JSONValue, Double)])
  func `Of absurd lifetimes in a response one that is not positive has ended`(
    _ value: JSONValue, _ lifetime: Double
  ) async throws {
    try await test.save(
      TestResponse(more: [
        "expires_in": value, "expires_on": value, "ext_expires_in": value, "refresh_in": value,
      ]))
    let token = try #require(try await test.token()?.token)
    #expect(token.expiresOn == test.now.addingTimeInterval(lifetime))
    #expect(token.credential.extendedExpiresOn == nil)
    #expect(token.credential.refreshOn == nil)
  }

  @Test func `A time that no integer holds is not written`() {
    var token = Credential(fields: [:])
    for seconds in [1e300, -1e300, .infinity, .nan] {
      token.expiresOn = Date(timeIntervalSince1970: seconds)
      #expect(token.fields["expires_on"] == nil)
    }
  }

  @Test(arguments: [
    "", "{", "[]", "null", "7", #"{"AccessToken": {"a": {"secret""#, #"{"AccessToken": []}"#,
    #"{"RefreshToken": "x"}"#, #"{"Account": 1}"#, #"{"AppMetadata": true}"#, #"{"IdToken": [{}]}"#,
  ])
  func `Invalid caches are reported as damaged`(_ json: String) {
    #expect(throws: CacheError(.damaged, "")) { try CacheDocument(json) }
  }

  @Test(arguments: [[0xFF, 0xFE, 0x00], [0x7B, 0xFF, 0x7D], [0x00], [0xEF, 0xBB, 0xBF]])
  func `Bytes that are not text are reported as damaged`(_ bytes: [UInt8]) {
    #expect(throws: CacheError(.damaged, "")) { try CacheDocument(json: Data(bytes)) }
  }

  @Test func `An error about a damaged cache quotes nothing of it`() throws {
    let error = #expect(throws: CacheError.self) {
      try CacheDocument(json: Data(#"{"RefreshToken": {"k": {"secret": "very secret""#.utf8))
    }
    #expect(try #require(error).description.contains("secret") == false)
  }

  @Test func `Null sections and a byte order mark do no harm`() throws {
    let document = try CacheDocument(json: Data("\u{FEFF}{\"AccessToken\": null, \"x\": null,}".utf8))
    #expect(try PlainJSON(document.json()) == .object(["x": .null]))
  }

  @Test func `A damaged shard is reported and not taken for empty`() async throws {
    try await test.save()
    test.store.report(StoreProblem(.damaged, shard: test.shard(.alice), detail: "torn"))
    await expectCacheError(.damaged) { try await test.token() }
    #expect(try await test.cache.snapshot().problems.map(\.kind) == [.damaged])
    #expect(try await test.token(of: .bob) == nil)
  }

  /// A key may say something else than the fields of its record.
  @Test func `A record under another's key is not lost`() async throws {
    let key = "\(Self.id)-login.windows.net-refreshtoken-\(Self.client)--"
    let theirKey = key.replacing(Self.client, with: "someone")
    try await test.load([
      refreshToken("squatter", key, client: "someone", ["x": .integer(1)]),
      refreshToken("rightful", theirKey, client: "third"),
    ])
    try await test.save()
    let tokens = try await test.document.refreshTokens
    #expect(tokens[key]?.secret == "rt-1")
    #expect(tokens.values.compactMap(\.secret).sorted() == ["rightful", "rt-1", "squatter"])
    #expect(try await test.refreshTokens(client: "someone") == ["squatter"])
  }

  @Test func `An import under a false key displaces nothing`() async throws {
    try await test.save()
    let key = "\(Self.id)-login.windows.net-refreshtoken-\(Self.client)--"
    for _ in 1...3 {
      try await test.load([refreshToken("squatter", key, client: "someone")])
      let tokens = try await test.document.refreshTokens
      #expect(tokens.count == 2)
      #expect(tokens[key]?.secret == "rt-1")
      #expect(try await test.refreshTokens(client: "someone") == ["squatter"])
    }
  }

  @Test func `An export has both records that two shards keep under one key`() async throws {
    for (id, secret) in [("a.a", "first"), ("b.b", "second")] {
      try await test.load([.refreshToken(secret, key: "same", of: id)])
    }
    #expect(
      try await test.document.refreshTokens.values.compactMap(\.secret).sorted() == ["first", "second"])
  }

  private func refreshToken(
    _ secret: String, _ key: String, client: String, _ more: JSONObject = [:]
  ) -> SampleRecord {
    .refreshToken(secret, key: key, of: Self.id, client: client, host: "login.windows.net", more)
  }

  private static func token(cachedAt: String, expiresOn: String) -> String {
    """
    {"AccessToken": {"t": {"credential_type": "AccessToken", "secret": "s", "home_account_id": "\(id)",
      "environment": "login.windows.net", "client_id": "\(client)", "realm": "\(TestPerson.alice.home)",
      "target": "Absurd", "cached_at": \(cachedAt), "expires_on": \(expiresOn)}}}
    """
  }
}
