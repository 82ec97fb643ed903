import Foundation
import TestSupport

@testable import TokenCache

/// Lookups of tokens.
struct LookupTests {
  private let test = TestCache()

  @Test(.requirement("R5.7")) func `A token is found by any host of its cloud and no other`() async throws {
    try await test.save()
    for host in CloudInstances.known.aliases(of: "login.windows.net") {
      #expect(try await test.token(environment: host.uppercased())?.token.secret == "at-1")
    }
    #expect(try await test.token(environment: "login.microsoftonline.us") == nil)
  }

  @Test func `A token is found by a subset of its scopes in any case and order`() async throws {
    try await test.save(TestResponse(scope: "User.Read Mail.Read"))
    #expect(try await test.token("mail.READ user.read") != nil)
    #expect(try await test.token("Mail.Read") != nil)
    #expect(try await test.token("") != nil)
    #expect(try await test.token("Mail.Read Files.Read") == nil)
  }

  @Test func `The home tenant is meant by no realm and by common`() async throws {
    try await test.save()
    for realm in [nil, "common", "organizations", TestPerson.alice.home] {
      #expect(try await test.token(realm: realm) != nil)
    }
    for realm in ["consumers", "guest-tenant"] { #expect(try await test.token(realm: realm) == nil) }
  }

  @Test func `An application's own token is found without tenant, too`() async throws {
    let host = "login.microsoftonline.com"
    try await test.load([.accessToken("app", of: nil, client: TestCache.client, host: host, realm: "tenant")])
    for realm in [nil, "tenant", "other"] {
      let lookup = TokenLookup(
        homeAccountID: nil, environment: host, clientID: TestCache.client, realm: realm, scopes: [])
      #expect(try await test.cache.accessToken(for: lookup)?.token.secret == (realm == "other" ? nil : "app"))
    }
  }

  @Test(arguments: ["joe@adfs.example", "S-1-5-21"])
  func `A token of AD FS is found without tenant`(_ subject: String) async throws {
    let idToken = Data(#"{"sub":"\#(subject)","upn":"joe@adfs.example"}"#.utf8).base64URL
    try await test.cache.save(
      TokenResponse(fields: [
        "access_token": "adfs", "id_token": .string("e30.\(idToken)."), "scope": "User.Read",
      ]),
      for: TokenRequest(environment: "adfs.example", clientID: TestCache.client, authority: .adfs))
    var request = TokenLookup(
      homeAccountID: subject, environment: "adfs.example", clientID: TestCache.client, scopes: ["User.Read"])
    #expect(try await test.cache.accessToken(for: request)?.token.secret == "adfs")
    #expect(try await test.accounts().map(\.homeAccountID) == [subject.lowercased()])
    request.realm = "tenant"
    #expect(try await test.cache.accessToken(for: request) == nil)
  }

  @Test func `A token is found without an ID token but not without an account`() async throws {
    try await test.save(TestResponse(hasIDToken: false))
    let found = try #require(try await test.token())
    #expect(found.token.secret == "at-1" && found.idToken == nil && found.account != nil)
    try await test.save()
    #expect(try await test.token()?.idToken?.claims?.username == TestPerson.alice.username)
    #expect(try await test.token()?.account?.username == TestPerson.alice.username)
    let shard = test.shard(.alice)
    try test.store.update([shard], in: test.cache.group) { $0[shard].accounts = [:] }
    #expect(try await test.token() == nil)
  }

  @Test(
    .fault("clock jumps"),
    arguments: [
      ([:], 3299, 300, .valid), ([:], 3301, 300, .expired), ([:], 3599, 0, .valid), ([:], 3601, 0, .expired),
      // From the future.
      ([:], -1, 300, .expired),
      (["refresh_in": .integer(1800)], 1800, 300, .valid),
      (["refresh_in": .integer(1800)], 1801, 300, .needsRefresh),
      (["ext_expires_in": .integer(7200)], 3601, 300, .extendedLifetime),
      (["ext_expires_in": .integer(7200)], 7200, 300, .expired),
      (["ext_expires_in": .integer(7200)], -1, 300, .expired),
    ] as [(JSONObject, Double, Double, FoundAccessToken.Condition)])
  func `The condition of a token that lasts an hour follows from the clock and a buffer`(
    _ more: JSONObject, _ time: Double, _ buffer: Double, _ condition: FoundAccessToken.Condition
  ) async throws {
    try await test.save(TestResponse(more: more.merging(["expires_in": .integer(3600)]) { $1 }))
    test.setClock(time)
    #expect(try await test.token(buffer: buffer)?.condition == condition)
  }

  @Test func `The best token is taken and then the one that lasts longest`() async throws {
    let answers: [(secret: String, more: JSONObject)] = [
      ("long", ["expires_in": .integer(9000)]),
      ("due", ["expires_in": .integer(99_000), "refresh_in": .integer(1)]),
      ("short", ["expires_in": .integer(1000)]), ("as long", ["expires_in": .integer(9000 - 3)]),
    ]
    for (time, answer) in answers.enumerated() {
      test.setClock(Double(time))
      try await test.save(TestResponse(scope: "\(time)", accessToken: answer.secret, more: answer.more))
      test.setClock(10)
      // Of equal ones the last stored.
      #expect(try await test.token("")?.token.secret == ["long", "long", "long", "as long"][time])
    }
  }

  /// MSAL for Python files all of these as `AccessToken`.
  @Test(
    arguments: [
      ["token_type": "ssh-cert", "key_id": "key"], ["token_type": "Bearer", "ext_cache_key": "hash"],
    ] as [JSONObject])
  func `A token for something else is neither found nor replaced as a plain one`(_ fields: JSONObject)
    async throws
  {
    try await test.save(TestResponse(scope: "Other"))
    try await test.load([pythonToken("special", "User.Read openid profile", fields)])
    #expect(try await test.token() == nil)
    try await test.save()
    #expect(try await test.token()?.token.secret == "at-1")
    #expect(try await test.document.accessTokens["python"]?.secret == "special")
  }

  @Test func `An SSH certificate of MSAL for Python is found by its key`() async throws {
    try await test.save()
    let fields: JSONObject = ["token_type": "ssh-cert", "key_id": "key-1"]
    try await test.load([pythonToken("certificate", "User.Read", fields)])
    let own = AuthenticationScheme.bound(tokenType: "ssh-cert", keyID: "key-1")
    #expect(try await test.token(scheme: own)?.token.secret == "certificate")
    #expect(try await test.token(scheme: .bound(tokenType: "ssh-cert", keyID: "key-2")) == nil)
  }

  /// An access token of Alice's as MSAL for Python files it.
  private func pythonToken(_ secret: String, _ scopes: String, _ more: JSONObject) -> SampleRecord {
    .accessToken(
      secret, key: "python", of: TestPerson.alice.homeAccountID, client: TestCache.client,
      host: "login.microsoftonline.com", realm: "common", scopes: scopes, cachedAt: 1_767_225_600,
      expiresOn: 1_767_299_200, more)
  }

  @Test func `The own refresh token comes before the family's and the latest first`() async throws {
    try await test.save(TestResponse(refreshToken: "own", family: "1"))
    test.setClock(10)
    try await test.save(TestResponse(refreshToken: "family", family: "1"), client: TestCache.otherClient)
    #expect(try await test.refreshTokens() == ["own", "family"])
    #expect(try await test.refreshTokens(client: TestCache.otherClient) == ["family"])
  }

  @Test func `Of several refresh tokens the last stored comes first`() async throws {
    try await test.load(
      [("a", 100), ("b", 300), ("c", 200), ("d", 200)].map { name, time in
        .alices(name, key: name, host: "login.windows.net", time: time)
      })
    #expect(try await test.refreshTokens() == ["b", "c", "d", "a"])
  }

  @Test func `A client of which nothing is known tries family 1`() async throws {
    try await test.save(TestResponse(family: "1"))
    #expect(try await test.refreshTokens(client: "unknown") == ["rt-1"])
    #expect(try await test.refreshTokens(of: .bob, client: "unknown").isEmpty)
    #expect(try await test.refreshTokens(client: "unknown", environment: "login.microsoftonline.us").isEmpty)
  }

  @Test func `The own tokens come before the family's, and those of another family last`() async throws {
    try await test.load([
      .alices("labelled", key: "a", family: "2", time: 300),
      .alices("shared", key: "b", family: "1", time: 200),
      .alices("own", key: "c", time: 100),
      .appMetadata(key: "m", client: TestCache.client, host: "login.windows.net", ["family_id": "1"]),
      .appMetadata(key: "n", client: TestCache.client, host: "sts.windows.net", ["family_id": "2"]),
    ])
    let host = "login.windows.net"
    #expect(
      try await test.cache.appMetadata(clientID: TestCache.client, environment: host)?.familyID == "1")
    #expect(try await test.refreshTokens() == ["own", "shared", "labelled"])
  }

  @Test(.requirement("R4.26"), .fault("issuers"))
  func `What is under a host alone serves an issuer's client since its latest ID token`() async throws {
    func idToken(_ time: Int) -> SampleRecord {
      let claims = Data(#"{"iss":"https://h/one/","iat":\#(time)}"#.utf8).base64URL
      return .idToken("e30.\(claims).", host: "h")
    }
    try await test.load([
      .account(key: "account", host: "h"), idToken(100), idToken(200), .idToken("e30.e30.own", host: "h/one"),
      .accessToken("before", host: "h", scopes: "A", cachedAt: 199, expiresOn: 2_000_000_000),
      .accessToken("since", host: "h", scopes: "B", cachedAt: 200, expiresOn: 2_000_000_000),
      .refreshToken("own", host: "h", family: "1"),
      .refreshToken("other's", client: "d", host: "h", family: "1"),
    ])
    var lookup = TokenLookup(homeAccountID: "u.t", environment: "h/one", clientID: "c")
    lookup.issuer = "https://h/one"
    for (scope, secret) in [("A", nil), ("B", "since")] {
      lookup.scopes = ScopeSet(scope)
      let found = try await test.cache.accessToken(for: lookup)
      #expect(found?.token.secret == secret)
      #expect(found?.idToken?.secret == secret.map { _ in "e30.e30.own" })
    }
    #expect(try await test.cache.refreshTokens(for: lookup).map(\.secret) == ["own"])
    // Without a path, what is there may be of the issuer with one.
    (lookup.environment, lookup.issuer) = ("h", "https://h")
    #expect(try await test.cache.accessToken(for: lookup) == nil)
    #expect(try await test.cache.refreshTokens(for: lookup).isEmpty)
  }

  @Test func `A client that is known to have no family tries none`() async throws {
    try await test.save(TestResponse(family: "1"))
    try await test.cache.save(
      AppMetadata(clientID: "loner", environment: "login.microsoftonline.com", familyID: ""))
    #expect(try await test.refreshTokens(client: "loner").isEmpty)
    try await test.cache.save(
      AppMetadata(clientID: "loner", environment: "login.windows.net", familyID: "1"))
    #expect(try await test.refreshTokens(client: "loner") == ["rt-1"])
    #expect(try await test.document.appMetadata.count == 2)
    // As MSAL for Python writes it.
    try await test.load([.appMetadata(key: "m", client: "stranger", host: "login.windows.net")])
    #expect(try await test.refreshTokens(client: "stranger").isEmpty)
  }

  @Test func `A family that is known no more is forgotten`() async throws {
    for family in ["2", nil] {
      try await test.cache.save(
        AppMetadata(clientID: TestCache.client, environment: "login.windows.net", familyID: family))
    }
    let metadata = try await test.cache.appMetadata(
      clientID: TestCache.client, environment: "login.windows.net")
    #expect(metadata != nil)
    #expect(metadata?.familyID == nil)
  }

  @Test func `A refresh token is removed only while it is the one that was refused`() async throws {
    try await test.save()
    let request = TokenLookup(
      homeAccountID: TestPerson.alice.homeAccountID, environment: "login.windows.net",
      clientID: TestCache.client)
    let refused = try #require(try await test.cache.refreshTokens(for: request).first)
    try await test.save(TestResponse(refreshToken: "rt-2"))
    #expect(try await !test.cache.remove(refused))
    #expect(try await test.refreshTokens() == ["rt-2"])
    let current = try #require(try await test.cache.refreshTokens(for: request).first)
    #expect(try await test.cache.remove(current))
    #expect(try await test.refreshTokens().isEmpty)
    #expect(try await test.token() != nil)
  }

  @Test func `Memory is used until a write or for a minute`() async throws {
    try await test.save()
    func readsOfALookup() async throws -> Int {
      let before = test.store.reads
      _ = try await test.token()
      return test.store.reads - before
    }
    #expect(try await readsOfALookup() == 1)
    #expect(try await readsOfALookup() == 0)
    let other = TokenCacheAccessor(store: test.store, group: test.cache.group)
    try await other.save(
      TestResponse(accessToken: "theirs").response,
      for: TokenRequest(environment: "login.windows.net", clientID: TestCache.client))
    #expect(try await readsOfALookup() == 1)
    #expect(try await readsOfALookup() == 0)
    test.setClock(TokenCacheAccessor.revalidationInterval)
    #expect(try await readsOfALookup() == 0)
    test.setClock(TokenCacheAccessor.revalidationInterval + 1)
    #expect(try await readsOfALookup() == 1)
    test.setClock(-1000)
    #expect(try await readsOfALookup() == 1)
    #expect(try await readsOfALookup() == 0)
  }
}
