import Foundation
import TestSupport

@testable import TokenCache

/// The records of a token response.
struct SaveTests {
  private let test = TestCache()

  @Test func `A response leaves five records under their keys`() async throws {
    try await test.save()
    let document = try await test.document
    let (home, client) = ("\(TestPerson.alice.homeAccountID)-login.windows.net", TestCache.client)
    let tenant = TestPerson.alice.home
    #expect(
      Array(document.accessTokens.keys)
        == ["\(home)-accesstoken-\(client)-\(tenant)-user.read openid profile"])
    #expect(Array(document.refreshTokens.keys) == ["\(home)-refreshtoken-\(client)--"])
    #expect(Array(document.idTokens.keys) == ["\(home)-idtoken-\(client)-\(tenant)-"])
    #expect(Array(document.accounts.keys) == ["\(home)-\(tenant)"])
    #expect(Array(document.appMetadata.keys) == ["appmetadata-login.windows.net-\(client)"])
    #expect(
      document.accountMetadata.values.first?.signInState(of: TestPerson.alice.homeAccountID) == .signedIn)
    #expect(document.refreshTokens.values.first?.fields["target"] == nil)
  }

  @Test(.requirement("R3.9")) func `Every time is written as a decimal string`() async throws {
    try await test.save(
      TestResponse(more: [
        "expires_in": .integer(3600), "ext_expires_in": "7200", "refresh_in": .integer(1800),
      ]))
    let document = try await test.document
    let token = try #require(document.accessTokens.values.first)
    #expect(token.fields["cached_at"] == "1767225600")
    #expect(token.fields["expires_on"] == "1767229200")
    #expect(token.fields["extended_expires_on"] == "1767232800")
    #expect(token.fields["refresh_on"] == "1767227400")
    let ends = [300.0, 3000].map { token.lifetime.validUntil(buffer: $0)?.timeIntervalSince1970 }
    #expect(ends == [1_767_227_400, 1_767_226_200])
    #expect(document.refreshTokens.values.first?.fields["last_modification_time"] == "1767225600")
  }

  @Test func `A response without lifetime lasts an hour and an absolute time wins`() async throws {
    try await test.save(TestResponse(more: [:]))
    #expect(try await test.token()?.token.expiresOn == test.now.addingTimeInterval(3600))
    try await test.save(TestResponse(more: ["expires_on": "1767226000", "expires_in": .integer(9999)]))
    #expect(try await test.token()?.token.expiresOn == Date(timeIntervalSince1970: 1_767_226_000))
    // Until the first second of the year 10000.
    let interval = JSONValue.integer(Int64(253_402_300_800 - TestCache.start))
    #expect(TokenResponse(fields: ["refresh_in": interval]).refreshOn(at: test.now) == nil)
  }

  @Test func `The requested scopes are saved if the response names none`() throws {
    let request = TokenRequest(environment: "login.windows.net", clientID: "client", scopes: "Mail.Read")
    let records = try TokenRecords(TestResponse(scope: nil).response, for: request, at: Date())
    #expect(records.accessToken?.target == "Mail.Read")
  }

  @Test func `A failed save leaves nothing`() async throws {
    #expect(try await test.accounts().isEmpty)
    test.store.fail(CacheError(.unavailable, "gone"))
    await expectCacheError(.unavailable) { try await test.save() }
    #expect(try await test.cache.snapshot().isEmpty)
    #expect(try await test.token() == nil)
    #expect(try await test.accounts(signedInOnly: false).isEmpty)
  }

  @Test func `A failed save leaves the tokens from before`() async throws {
    try await test.save()
    let before = try await test.document
    test.store.fail(CacheError(.unavailable, "gone"))
    let answer = TestResponse(accessToken: "at-2", refreshToken: "rt-2")
    await expectCacheError(.unavailable) { try await test.save(answer) }
    #expect(try await test.document == before)
    #expect(try await test.token()?.token.secret == "at-1")
    #expect(try await test.refreshTokens() == ["rt-1"])
  }

  @Test(.requirement("R6.2")) func `The shard of the account is written last and in one update`() async throws
  {
    try await test.save()
    #expect(test.store.updates == [[test.shard(nil), test.shard(.alice)]])
  }

  @Test func `A response without an account is refused`() async throws {
    let answer = TestResponse(hasIDToken: false, hasClientInfo: false)
    await expectCacheError(.invalidResponse) { try await test.save(answer) }
    #expect(try await test.document.isEmpty)
  }

  @Test func `A refresh response without an account is saved for the account of the request`()
    async throws
  {
    try await test.save()
    try await test.save(
      TestResponse(accessToken: "at-2", refreshToken: nil, hasIDToken: false, hasClientInfo: false),
      homeAccountID: TestPerson.alice.homeAccountID)
    #expect(try await test.token()?.token.secret == "at-2")
    #expect(try await test.document.recordCount == 6)
  }

  @Test func `A response for another account than the request's is saved for its own`() async throws {
    try await test.save()
    try await test.save(
      TestResponse(person: .bob, accessToken: "bobs"), homeAccountID: TestPerson.alice.homeAccountID)
    #expect(try await test.token()?.token.secret == "at-1")
    #expect(try await test.token(of: .bob)?.token.secret == "bobs")
  }

  /// R4.5
  @Test(
    .fault("openid alone"),
    arguments: [
      ("User.Read Mail.Read", "mail.read Calendars.Read", ["two"]),
      ("User.Read", "Mail.Read", ["one", "two"]),
      ("openid profile User.Read", "openid profile", ["one", "two"]),
      ("openid", "openid User.Read", ["one", "two"]), ("openid", "openid email", ["one", "two"]),
    ])
  func `A token that shares a scope is replaced, unless it is one of OpenID Connect's`(
    _ first: String, _ second: String, _ remaining: [String]
  ) async throws {
    try await test.save(TestResponse(scope: first, accessToken: "one"))
    try await test.save(TestResponse(scope: second, accessToken: "two"))
    #expect(try await test.document.accessTokens.values.compactMap(\.secret).sorted() == remaining)
  }

  @Test func `Tokens of another client, tenant or account stay`() async throws {
    try await test.save()
    try await test.save(TestResponse(accessToken: "client"), client: TestCache.otherClient)
    try await test.save(TestResponse(tenant: "guest-tenant", accessToken: "tenant"))
    try await test.save(TestResponse(person: .bob, accessToken: "bobs"))
    #expect(try await test.document.accessTokens.count == 4)
    #expect(try await test.token()?.token.secret == "at-1")
    #expect(try await test.token(client: TestCache.otherClient)?.token.secret == "client")
    #expect(try await test.token(realm: "guest-tenant")?.token.secret == "tenant")
    #expect(try await test.token(of: .bob)?.token.secret == "bobs")
  }

  @Test(.requirement("R5.8"), .fault("challenges"))
  func `A token requested with claims serves without them, and replaces the last one`()
    async throws
  {
    try await test.save(TestResponse(scope: "User.Read Mail.Read", accessToken: "plain"))
    for number in 0..<20 {
      let claims = #"{"access_token":{"nbf":{"value":"\#(number)"}}}"#
      try await test.save(TestResponse(accessToken: "at-\(number)"), claims: claims)
      #expect(try await test.token()?.token.secret == "at-\(number)")
      #expect(try await test.token(claims: claims)?.token.secret == "at-\(number)")
      #expect(try await test.token(claims: claims.uppercased()) == nil)
      #expect(try await test.document.accessTokens.values.map(\.requestedClaims) == [claims])
    }
    try await test.save(TestResponse(scope: "User.Read Files.Read", accessToken: "plain"))
    #expect(try await test.document.accessTokens.values.map(\.requestedClaims) == [nil])
  }

  @Test(.requirement("R14.2")) func `Bound tokens and plain ones are separate`() async throws {
    let scheme = AuthenticationScheme.bound(tokenType: "Pop", keyID: "key-1")
    try await test.save(TestResponse(accessToken: "bound"), scheme: scheme)
    try await test.save(TestResponse(accessToken: "plain"))
    #expect(try await test.token()?.token.secret == "plain")
    #expect(try await test.token(scheme: scheme)?.token.secret == "bound")
    #expect(try await test.token(scheme: .bound(tokenType: "Pop", keyID: "key-2")) == nil)
    #expect(try await test.token(scheme: .bound(tokenType: "ssh-cert", keyID: "key-1")) == nil)
  }

  @Test func `Unchanged records are not written`() async throws {
    try await test.save()
    let generation = test.generation
    try await test.save()
    #expect(test.generation == generation)
    // The same refresh token once more is no news either, however late.
    test.setClock(100)
    try await test.save(TestResponse(accessToken: nil))
    #expect(test.generation == generation)
    try await test.save(TestResponse(accessToken: nil, refreshToken: "rt-2"))
    #expect(test.generation != generation)
  }

  @Test func `A refresh token is replaced in place`() async throws {
    try await test.save()
    test.setClock(100)
    try await test.save(TestResponse(refreshToken: "rt-2"))
    #expect(try await test.document.refreshTokens.values.map(\.secret) == ["rt-2"])
    #expect(try await test.document.refreshTokens.values.first?.lastModified == test.now)
  }

  @Test(arguments: ["1", .integer(1)] as [JSONValue])
  func `A member of a family keeps two refresh tokens and its family`(_ family: JSONValue) async throws {
    try await test.save(TestResponse(more: ["foci": family]))
    let document = try await test.document
    let home = "\(TestPerson.alice.homeAccountID)-login.windows.net"
    #expect(
      document.refreshTokens.keys.sorted()
        == ["\(home)-refreshtoken-1--", "\(home)-refreshtoken-\(TestCache.client)--"])
    #expect(document.refreshTokens["\(home)-refreshtoken-\(TestCache.client)--"]?.familyID == nil)
    #expect(document.appMetadata.values.map(\.familyID) == ["1"])
  }

  @Test func `The family's refresh token is that of the client that stored it last`() async throws {
    try await test.save(TestResponse(refreshToken: "rt-1", family: "1"))
    test.setClock(10)
    try await test.save(TestResponse(refreshToken: "rt-2", family: "1"), client: TestCache.otherClient)
    let family = try await test.document.refreshTokens.values.filter { $0.familyID == "1" }
    #expect(family.map(\.secret) == ["rt-2"])
    #expect(family.map(\.clientID) == [TestCache.otherClient])
  }

  @Test func `A client without family is remembered as such`() async throws {
    try await test.save()
    #expect(
      try await test.cache.appMetadata(clientID: TestCache.client, environment: "login.microsoft.com")?
        .familyID
        == "")
  }

  @Test func `A description shows no token`() async throws {
    try await test.save()
    let document = try await test.document
    let found = try #require(try await test.token())
    let refresh = try await test.cache.refreshTokens(
      for: TokenLookup(
        homeAccountID: TestPerson.alice.homeAccountID, environment: "login.windows.net",
        clientID: TestCache.client))
    for value: Any in [
      document, found, refresh, document.credentials.map(\.credential), TestResponse().response,
      found.idToken as Any,
    ] {
      var text = "\(value) \(String(reflecting: value))"
      dump(value, to: &text)
      for secret in ["at-1", "rt-1", "e30."] { #expect(!text.contains(secret)) }
    }
  }
}
