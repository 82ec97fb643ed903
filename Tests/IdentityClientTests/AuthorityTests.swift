import Foundation
import TestSupport

@testable import IdentityClient

struct AuthorityTests {
  private let test = TestClient()

  private static let host = "https://login.contoso.test"

  private static func instances(_ aliases: [String], cache: String? = nil) -> ScriptedAnswer {
    .json([
      "tenant_discovery_endpoint": "https://login.contoso.test/common/.well-known/openid-configuration",
      "api-version": "1.1",
      "metadata": .array([
        .object([
          "preferred_network": .string(aliases[0]), "preferred_cache": .string(cache ?? aliases[0]),
          "aliases": .array(aliases.map(JSONValue.string)),
        ])
      ]),
    ])
  }

  private func answerInstances(_ test: TestClient, _ answer: ScriptedAnswer) {
    test.transport.script { seen in seen.url.path == "/common/discovery/instance" ? answer : nil }
  }

  @Test(.conformance(46)) func `An unknown host is looked up with Microsoft, or refused`() async throws {
    let test = TestClient("https://evil.test/common")
    answerInstances(test, .refusal("invalid_instance", code: 50049))
    for _ in 0..<2 {
      let error = await expectError(.authorityValidationFailed) { try await test.client.resolve() }
      #expect(error?.oauthError == "invalid_instance")
    }
    #expect(test.transport.requests.count == 1)
    let asked = try #require(test.transport.requests.first)
    #expect(asked.url.host == "login.microsoftonline.com")
    #expect(asked.query["api-version"] == "1.1")
    #expect(asked.query["authorization_endpoint"] == "https://evil.test/common/oauth2/v2.0/authorize")
    await expectError(.interactionRequired) { try await test.silent(TestPerson.alice.brokerAccount) }
  }

  @Test(.conformance(46), arguments: [true, false])
  func `The application's own authority is asked itself, and may fail`(_ answers: Bool) async throws {
    let url = try #require(URL(string: "\(Self.host):8443/common"))
    let test = TestClient(url.absoluteString) { configuration in
      configuration.knownAuthorities = [configuration.authority]
    }
    answerInstances(
      test,
      answers
        ? Self.instances(["login.contoso.test:8443", "sts.contoso.test:8443"]) : .text("no", status: 404))
    let metadata = try await test.client.resolve()
    #expect(metadata.tokenEndpoint.absoluteString == "\(Self.host):8443/common/oauth2/v2.0/token")
    #expect(test.transport.requests.allSatisfy { $0.url.host == "login.contoso.test" })
    #expect(
      test.cache.clouds.aliases(of: "sts.contoso.test:8443")
        == (answers ? ["login.contoso.test:8443", "sts.contoso.test:8443"] : ["sts.contoso.test:8443"]))
    let count = test.transport.requests.count
    test.clock.advance(61)
    _ = try await test.client.resolve()
    #expect(test.transport.requests.count == count)
  }

  @Test(.conformance(46)) func `Without validation no server is asked`() async throws {
    let test = TestClient("\(Self.host)/common") { $0.validateAuthority = false }
    _ = try await test.client.resolve()
    test.clock.advance(61)
    _ = try await test.client.resolve()
    #expect(test.transport.instanceRequests.isEmpty && test.transport.requests.count == 1)
  }

  @Test(
    .conformance(46),
    arguments: ["contoso.b2clogin.com", "evil.test", "b.login.contoso.test", "11.0.0.1"])
  func `A host that vouches for itself has aliases of its domain alone`(_ alias: String) async throws {
    for host in ["login.contoso.test", "contoso.test", "10.0.0.1"] {
      let test = TestClient("https://\(host)/common") { configuration in
        configuration.knownAuthorities = [configuration.authority]
      }
      answerInstances(test, Self.instances([host, alias]))
      _ = try await test.client.resolve()
      #expect(test.cache.clouds.aliases(of: alias) == [alias])
    }
  }

  @Test(.conformance(46)) func `No host can add itself to a known cloud`() async throws {
    // Nor does it speak for others.
    for (host, alias) in [
      ("login.contoso.test", "login.microsoftonline.com"), ("sts.contoso.test", "other.contoso.test"),
    ] {
      let test = TestClient("\(Self.host)/common") { configuration in
        configuration.knownAuthorities = [configuration.authority]
      }
      answerInstances(test, Self.instances([host, alias]))
      _ = try await test.client.resolve()
      #expect(test.cache.clouds.aliases(of: host) == [host])
      #expect(test.cache.clouds.canonical("login.microsoftonline.com") == "login.windows.net")
    }
  }

  @Test func `Microsoft's metadata names a host's aliases and preferred names`() async throws {
    let test = TestClient("https://sts.contoso.test/common")
    answerInstances(
      test, Self.instances(["login.contoso.test", "sts.contoso.test"], cache: "cache.contoso.test"))
    _ = try await test.client.resolve()
    #expect(test.transport.discoveryRequests.map(\.url.host) == ["login.contoso.test"])
    var person = TestPerson.alice
    person.host = "login.contoso.test"
    let account = try await test.signIn(person).account
    #expect(account.environment == "cache.contoso.test")
    #expect(try await test.silent(account).source == .cache)
    // Another process.
    let next = test.another("https://sts.contoso.test/common")
    answerInstances(
      next, Self.instances(["login.contoso.test", "sts.contoso.test"], cache: "cache.contoso.test"))
    #expect(try await next.silent(account).source == .cache)
    let offline = test.another("https://sts.contoso.test/common")
    offline.transport.script { _ in .failure(.cannotConnect("down")) }
    await expectError(.network) { try await offline.silent(account) }
  }

  @Test func `An authority that could not say which hosts it has is asked again after a minute`() async throws
  {
    func own(_ configuration: inout ClientConfiguration) {
      configuration.knownAuthorities = [configuration.authority]
    }
    let answer = Self.instances(["login.contoso.test", "sts.contoso.test"], cache: "sts.contoso.test")
    let test = TestClient("\(Self.host)/common", configure: own)
    answerInstances(test, answer)
    _ = try await test.client.resolve()
    var person = TestPerson.alice
    person.host = "login.contoso.test"
    let account = try await test.signIn(person).account
    let next = test.another("\(Self.host)/common", configure: own)
    answerInstances(next, .text("", status: 503))
    for _ in 0..<2 { await expectError(.interactionRequired) { try await next.silent(account) } }
    let asked = next.transport.instanceRequests.count
    answerInstances(next, answer)
    await expectError(.interactionRequired) { try await next.silent(account) }
    #expect(next.transport.instanceRequests.count == asked)
    next.clock.advance(61)
    #expect(try await next.silent(account).source == .cache)
  }

  @Test(arguments: ["login.microsoftonline.com", "login.microsoftonline.us", "login.chinacloudapi.cn"])
  func `Known clouds need no instance discovery`(_ host: String) async throws {
    let test = TestClient("https://\(host)/common")
    let metadata = try await test.client.resolve()
    #expect(test.transport.requests.count == 1)
    #expect(metadata.tokenEndpoint.host() == CloudInstances.known.preferredNetwork(of: host))
  }

  @Test(
    .conformance(80),
    arguments: [
      "https://login.microsoftonline.com/tfp/contoso.onmicrosoft.com/B2C_1_SignIn",
      "https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_SignIn",
      "https://localhost/TFP/tenant/policy",
    ])
  func `An address of B2C is no authority of Entra ID`(_ address: String) throws {
    let url = try #require(URL(string: address))
    #expect(throws: IdentityError(.invalidParameter, "")) { try Authority(url: url, kind: .aad) }
    #expect(try Authority(url: url).kind == .b2c)
  }

  @Test(.conformance(47), arguments: Authority.Kind.allCases)
  func `An authority without TLS is refused`(_ kind: Authority.Kind) throws {
    let url = try #require(URL(string: "http://login.contoso.test/adfs/policy/x"))
    #expect(throws: IdentityError(.invalidParameter, "")) { try Authority(url: url, kind: kind) }
    #expect(throws: IdentityError(.invalidParameter, "")) { try Authority(url: url) }
  }

  @Test(
    .conformance(48),
    arguments: [
      "token_endpoint", "authorization_endpoint", "device_authorization_endpoint", "end_session_endpoint",
    ],
    [
      "http://login.microsoftonline.com/x", "https://evil.test/token",
      "https://login.microsoftonline.us/token",
      "https://login.microsoftonline.com@evil.test/token", "https://login.microsoftonline.com:8443/token",
      "not an address",
    ])
  func `Endpoints without TLS or in other clouds fail`(_ name: String, _ address: String)
    async throws
  {
    try await expectRefusal(of: [name: .string(address)])
  }

  private func expectRefusal(of metadata: JSONObject) async throws {
    test.transport.setMetadata(metadata)
    await expectError(.authorityValidationFailed) { try await test.acquire() }
    #expect(test.browser.pages.isEmpty)
  }

  @Test(
    .conformance(48),
    arguments: [
      ("https://login.microsoftonline.com/common", nil, "login.windows.net", true),
      ("https://id.example.test/realm", .oidc, "tokens.example.test", true),
      ("https://login.microsoftonline.com/tenant", .oidc, "tokens.example.test", false),
      ("https://login.contoso.test/common", nil, "tokens.example.test", false),
    ] as [(String, Authority.Kind?, String, Bool)])
  func `Other hosts of the same cloud are fine, and those of a provider that is in none`(
    _ authority: String, _ kind: Authority.Kind?, _ host: String, _ isGood: Bool
  ) async throws {
    let test = TestClient(authority, kind: kind) { $0.validateAuthority = false }
    test.transport.setMetadata(["token_endpoint": .string("https://\(host)/oauth2/v2.0/token")])
    await expectOutcome(isGood ? nil : .authorityValidationFailed) { () throws(IdentityError) in
      try await test.client.resolve()
    }
    if isGood { #expect(try await test.client.resolve().tokenEndpoint.host() == host) }
  }

  @Test(.conformance(48), arguments: ["token_endpoint", "authorization_endpoint", "issuer"])
  func `Metadata without what is needed is refused`(_ name: String) async throws {
    try await expectRefusal(of: [name: .null])
  }

  @Test(
    .conformance(48),
    arguments: [
      ("https://id.example.test/realm", true), ("https://id.example.test/realm/", true),
      ("https://id.example.test", true), ("https://evil.test/realm", false),
      ("http://id.example.test/realm", false),
      ("https://contoso.b2clogin.com/x", true), ("https://evilb2clogin.com/x", false),
      ("https://login.microsoftonline.com/x", true), ("https://west.login.microsoftonline.com/x", true),
      ("https://id.example.test.evil.test/realm", false), ("https://intranet/realm", false),
    ])
  func `An OpenID Connect provider's issuer must be itself`(_ issuer: String, _ isGood: Bool) async throws {
    let test = TestClient("https://id.example.test/realm", kind: .oidc)
    test.transport.setMetadata(["issuer": .string(issuer)])
    await expectOutcome(isGood ? nil : .authorityValidationFailed) { () throws(IdentityError) in
      try await test.client.resolve()
    }
  }

  @Test(.conformance(49)) func `Metadata is asked for once, also by callers at the same time`() async throws {
    try await atOnce(0..<10) { _ in _ = try await test.client.resolve() }
    test.clock.advance(3600)
    _ = try await test.client.resolve()
    #expect(test.transport.discoveryRequests.count == 1)
  }

  @Test(.conformance(49)) func `A network that was down is no verdict on the authority`() async throws {
    test.transport.script { _ throws(HTTPTransportError) in throw .cannotConnect("down") }
    await expectError(.network) { try await test.client.resolve() }
    test.transport.script { _ in nil }
    _ = try await test.client.resolve()
  }

  @Test(
    .conformance(49), .fault("proxy page"),
    arguments: [
      ScriptedAnswer.text("<html>Sign in to this network</html>", status: 200), .text("", status: 200),
      .text("<html>Forbidden</html>", status: 403), .json(["message": "blocked"], status: 403, headers: [:]),
      .json(["message": "blocked"], status: 200, headers: [:]), .text("busy", status: 503),
    ])
  func `Nor is a page of a proxy`(_ answer: ScriptedAnswer) async throws {
    for authority in [nil, "https://login.contoso.test/common"] {
      let test = TestClient(authority)
      test.transport.script { _ in answer }
      await #expect(throws: IdentityError.self) { try await test.client.resolve() }
      test.transport.script { seen in
        guard seen.url.path.hasSuffix("/discovery/instance") else { return nil }
        return .json(["tenant_discovery_endpoint": "https://login.contoso.test"])
      }
      _ = try await test.client.resolve()
    }
  }

  @Test(.conformance(49), .fault("proxy page")) func `What a server refuses stays refused`() async throws {
    test.transport.script { _ in .refusal("invalid_tenant", code: 90002) }
    for _ in 0..<3 {
      await expectError(.authorityValidationFailed) { try await test.client.resolve() }
    }
    #expect(test.transport.discoveryRequests.count == 1)
  }

  @Test(.fault("proxy page")) func `A refusal does not stay for ever: it may be a gateway's`() async throws {
    let test = TestClient("https://id.example/issuer", kind: .oidc)
    test.transport.script { _ in .json(["status": .integer(404), "error": "Not Found"], status: 404) }
    await expectError(.authorityValidationFailed) { try await test.client.resolve() }
    test.transport.script { _ in nil }
    test.clock.advance(61)
    _ = try await test.client.resolve()
  }

  @Test func `A token endpoint with another end has no device endpoint beside it`() async throws {
    for (end, expected) in [("token", "devicecode"), ("token/", nil), ("token?p=x", nil)] {
      let test = TestClient()
      let base = "https://login.microsoftonline.com/common/oauth2/v2.0/"
      test.transport.setMetadata([
        "token_endpoint": .string(base + end), "device_authorization_endpoint": .null,
      ])
      let endpoint = try await test.client.resolve().deviceAuthorizationEndpoint
      #expect(endpoint?.absoluteString == expected.map { base + $0 })
    }
  }

  @Test(.conformance(50), arguments: [301, 302, 307, 308]) func `Redirects fail`(_ status: Int) async throws {
    let account = try await test.signIn().account
    test.transport.answerTokens(.json([:], status: status, headers: ["Location": "https://evil.test/token"]))
    await expectError(.unexpectedHTTPResponse) { try await test.renew(account) }
    #expect(test.transport.requests.allSatisfy { $0.url.host == "login.microsoftonline.com" })
  }

  @Test(.conformance(80)) func `A B2C policy has own accounts and tokens of its home tenant`() async throws {
    let tenant = "44444444-4444-4444-4444-444444444444"
    var person = TestPerson(uid: "oid-b2c_1_signin", home: tenant, username: "dora@example.test")
    person.tenant = tenant
    let test = TestClient("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_signin")
    test.transport.setMetadata(["issuer": .string("https://contoso.b2clogin.com/\(tenant)/v2.0/")])
    let claims: JSONObject = [
      "iss": .string("https://contoso.b2clogin.com/\(tenant)/v2.0/"), "preferred_username": .null,
      "tfp": "B2C_1_signin", "tid": .null,
    ]
    let account = try await test.signIn(person, scopes: ["https://api.test/read"], idToken: claims).account
    #expect(
      test.transport.discoveryRequests.first?.url.path
        == "/tfp/contoso.onmicrosoft.com/B2C_1_signin/v2.0/.well-known/openid-configuration")
    #expect(test.transport.instanceRequests.isEmpty)
    #expect(account.homeAccountID == "oid-b2c_1_signin.\(tenant)")
    let cached = try await test.silent(account, ["https://api.test/read"])
    #expect(cached.source == .cache && cached.authority == test.client.configuration.authority)
    test.clock.advance(4000)
    test.transport.answerTokens(test.tokens(scope: "https://api.test/read", of: person, idToken: claims))
    #expect(try await test.silent(account, ["https://api.test/read"]).accessToken == "access-2")

    // No silent call gets an empty token, and none loses the new refresh token.
    test.clock.advance(3400)
    test.transport.answerTokens(
      test.tokens(
        refresh: "refresh-3", scope: "https://api.test/read", of: person,
        changing: ["access_token": .null, "scope": .null], idToken: claims))
    #expect(try await test.silent(account, ["https://api.test/read"]).accessToken == "access-2")
    #expect(try await test.secrets(.refreshToken) == ["refresh-3"])
    // Where no scope of an API is granted, it gives an ID token alone.
    let signedIn = try await test.signIn(
      person, scopes: ["https://api.test/read"], changing: ["access_token": .null], idToken: claims)
    #expect(signedIn.accessToken.isEmpty)
    #expect(signedIn.account.homeAccountID == account.homeAccountID)
    // The text that stands for a missing user name is no hint.
    #expect(account.username == "Missing from the token response")
    for hint in [nil, "dora@example.test"] {
      try await test.signIn(person, scopes: ["https://api.test/read"], idToken: claims) {
        ($0.account, $0.loginHint) = (account, hint)
      }
      #expect(test.browser.lastQuery["login_hint"] == hint)
    }
    // Another policy gives the same person another id; another person is refused.
    let edit = try Authority("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_edit")
    func dora(_ uid: String) -> TestPerson {
      TestPerson(uid: uid, home: tenant, username: "dora@example.test")
    }
    let edited = try await test.signIn(
      dora("oid-b2c_1_edit"), scopes: ["https://api.test/read"], idToken: claims
    ) {
      ($0.account, $0.authority) = (account, edit)
    }
    #expect(edited.account.homeAccountID == "oid-b2c_1_edit.\(tenant)")
    await expectError(.mismatchedUser) {
      try await test.signIn(dora("other-b2c_1_edit"), idToken: claims) {
        ($0.account, $0.authority) = (account, edit)
      }
    }
  }

  @Test(arguments: [
    ("https://login.microsoftonline.com/common", "https://login.microsoftonline.com/new"),
    ("https://contoso.ciamlogin.com", "https://contoso.ciamlogin.com/new"),
    ("https://contoso.b2clogin.com/tenant/policy", "https://contoso.b2clogin.com/new/policy"),
    (
      "https://login.microsoftonline.com:8080/tfp/tenant/policy",
      "https://login.microsoftonline.com:8080/tfp/new/policy"
    ), ("https://login.microsoftonline.com/adfs", nil),
  ])
  func `A tenant replaces another where there is one`(_ address: String, _ expected: String?)
    throws
  {
    let authority = try Authority(url: #require(URL(string: address)))
    let replaced = try? authority.replacingTenant(with: "new")
    #expect(replaced?.url.absoluteString == expected)
    #expect(replaced.map { $0.kind == authority.kind && $0.tenant == "new" } ?? true)
    #expect(throws: IdentityError.self) { try authority.replacingTenant(with: "a/b") }
  }

  @Test func `A text that is no URL is no authority`() throws {
    #expect(try Authority("https://fs.contoso.test/adfs").kind == .adfs)
    #expect(Authority.made("https://id.example/realms/A", .oidc).environment == "id.example/realms/%41")
    let (one, two) = (TestPerson.alice.home, TestPerson.clientID)
    let resolved = Authority.entra("contoso.test").resolved(by: "https://login.contoso.test/\(one)/\(two)")
    #expect(resolved == .entra(one))
    let base = URL(string: "https://login.microsoftonline.com/")
    let relative = try #require(URL(string: "common", relativeTo: base))
    #expect(try Authority(url: relative) == .default)
    let short = try #require(URL(string: "https://contoso.test/tenant"))
    #expect(throws: IdentityError(.invalidParameter, "")) { try Authority(url: short, kind: .b2c) }
    let error = #expect(throws: IdentityError.self) { try Authority("") }
    #expect(error?.code == .invalidParameter)
  }

  @Test(.conformance(80)) func `AD FS sends no client info; the subject is the account`() async throws {
    let test = TestClient("https://fs.contoso.test/adfs")
    let claims: JSONObject = [
      "iss": "https://fs.contoso.test/adfs", "tid": .null, "sub": "Subject=", "oid": .null,
    ]
    let result = try await test.signIn(changing: ["client_info": .null], idToken: claims)
    let account = result.account
    #expect(test.transport.discoveryRequests.first?.url.path == "/adfs/.well-known/openid-configuration")
    #expect(account.homeAccountID == "subject=" && result.tenantProfile?.claims?.subject == "Subject=")
    #expect(try await test.silent(account).source == .cache)
    #expect(try await test.cache.snapshot().document.accounts.values.map(\.accountType) == [.adfs])
    test.clock.advance(4000)
    test.transport.answerTokens(test.tokens(changing: ["client_info": .null], idToken: claims))
    #expect(try await test.silent(account).accessToken == "access-2")
    #expect(test.transport.tokenRequests.last?.url.path == "/adfs/oauth2/token")
  }

  @Test(.conformance(80), arguments: [Authority.Kind.adfs, .oidc])
  func `A subject in other letters is another account`(_ kind: Authority.Kind) async throws {
    let address = "https://fs.contoso.test/adfs"
    let test = TestClient(address, kind: kind)
    func claims(_ subject: String) -> JSONObject {
      ["iss": .string(address), "tid": .null, "sub": .string(subject), "oid": .null]
    }
    let account = try await test.signIn(changing: ["client_info": .null], idToken: claims("Subject=")).account
    test.transport.answerTokens(
      test.tokens(changing: ["client_info": .null], idToken: claims("SUBJECT=")))
    await expectError(.mismatchedUser) { try await test.renew(account) }
    #expect(try await test.secrets(.accessToken) == ["access-1"])
  }

  /// Signs alice in to an issuer, whose authority is a client's own.
  private func signIn(
    at address: String, kind: Authority.Kind = .oidc, issuer: String? = nil, in store: ScriptedStore,
    number: Int = 1
  ) async throws -> (test: TestClient, account: Account) {
    let test = TestClient(address, kind: kind, store: store, clock: TestClock())
    let issuer = JSONValue.string(issuer ?? address)
    test.transport.setMetadata(["issuer": issuer])
    let account = try await test.signIn(
      changing: [
        "access_token": .string("access-\(number)"), "refresh_token": .string("refresh of \(number)"),
      ],
      idToken: ["iss": issuer]
    ).account
    return (test, account)
  }

  @Test(
    .requirement("R4.25"),
    .conformance(80), .fault("issuers"),
    arguments: [
      ("https://id.example/oauth2/default", "https://id.example/oauth2/payments", Authority.Kind.oidc),
      ("https://id.example/realms/a", "https://id.example/realms/A", .oidc),
      ("https://id.example", "https://id.example/realms/a", .oidc),
      ("https://id.example/one.test", "https://id.example/two.test", .ciam),
    ])
  func `Issuers of one host share no token`(_ one: String, _ two: String, _ kind: Authority.Kind) async throws
  {
    let store = ScriptedStore()
    let (first, account) = try await signIn(at: one, kind: kind, in: store)
    let other = TestClient(two, kind: kind, store: store, clock: first.clock)
    await expectError(.interactionRequired) { try await other.silent(account) }
    #expect(other.transport.tokenRequests.isEmpty)
    let (second, _) = try await signIn(at: two, kind: kind, in: store, number: 2)
    for (test, address, number) in [(first, one, 1), (second, two, 2)] {
      #expect(try await test.silent(account).accessToken == "access-\(number)")
      test.transport.answerTokens(test.tokens("renewed", idToken: ["iss": .string(address)]))
      #expect(try await test.silent(account) { $0.forceRefresh = true }.accessToken == "renewed")
      #expect(test.transport.tokenRequests.last?.form["refresh_token"] == "refresh of \(number)")
    }
  }

  @Test(
    .requirement("R4.26"),
    .conformance(80), .fault("issuers"),
    arguments: [
      ("https://id.example/oauth2/default", "https://id.example/oauth2/payments", Authority.Kind.oidc, true),
      ("https://id.example/oauth2/default", "https://id.example", .oidc, true),
      ("https://id.example/one.test", "https://id.example/two.test", .ciam, false),
    ])
  func `What the cache has under a host alone is of the issuer of its ID token`(
    _ one: String, _ two: String, _ kind: Authority.Kind, _ isKnown: Bool
  ) async throws {
    let store = ScriptedStore()
    let issuer = one + "/"
    let (first, account) = try await signIn(at: one, kind: kind, issuer: issuer, in: store)
    // As other libraries write it.
    let document = try await first.cache.snapshot().document
    let environment = Authority.made(one, kind).environment
    let text = String(decoding: try document.json(), as: UTF8.self)
    try await first.cache.clear()
    _ = try await first.cache.import(
      try CacheDocument(json: Data(text.replacing(environment, with: "id.example").utf8)))
    let other = TestClient(two, kind: kind, store: store, clock: first.clock)
    other.transport.setMetadata(["issuer": .string(two)])
    await expectError(.interactionRequired) { try await other.silent(account) }
    #expect(other.transport.tokenRequests.isEmpty)
    let own = TestClient(one, kind: kind, store: store, clock: first.clock)
    own.transport.setMetadata(["issuer": .string(issuer)])
    // Only discovery says who the issuer of External ID is.
    #expect(try await own.silent(account).accessToken == "access-1")
    #expect(own.transport.discoveryRequests.isEmpty == isKnown)
    own.transport.answerTokens(own.tokens("renewed", idToken: ["iss": .string(issuer)]))
    #expect(try await own.silent(account) { $0.forceRefresh = true }.accessToken == "renewed")
    #expect(own.transport.tokenRequests.map { $0.form["refresh_token"] } == ["refresh of 1"])
  }

  @Test(.conformance(80)) func `External ID without a path is the tenant that its host names`() async throws {
    let test = TestClient("https://contoso.ciamlogin.com")
    let tenant = TestPerson.alice.home
    let issuer = "https://\(tenant).ciamlogin.com/\(tenant)/v2.0"
    test.transport.setMetadata(["issuer": .string(issuer)])
    let account = try await test.signIn(idToken: ["iss": .string(issuer)]).account
    #expect(
      test.transport.discoveryRequests.first?.url.path
        == "/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration")
    #expect(try await test.silent(account).source == .cache)
  }

  @Test(.conformance(80), .fault("External ID's guest"))
  func `A guest of External ID has the profile of the tenant that the token is for`() async throws {
    let test = TestClient("https://contoso.ciamlogin.com")
    var guest = TestPerson.alice
    guest.tenant = "33333333-3333-3333-3333-333333333333"
    let issuer = "https://\(guest.issuingTenant).ciamlogin.com/\(guest.issuingTenant)/v2.0"
    test.transport.setMetadata(["issuer": .string(issuer)])
    let result = try await test.signIn(guest, idToken: ["iss": .string(issuer)])
    let profile = try #require(result.tenantProfile)
    #expect(profile.tenantID == guest.tenant && profile.claims?.tenantID == guest.tenant)
    #expect(!profile.isHomeTenant)
    let cached = try await test.silent(result.account)
    #expect(cached.source == .cache && cached.tenantProfile == profile)
    test.clock.advance(4000)
    test.transport.answerTokens(test.tokens(of: guest, idToken: ["iss": .string(issuer)]))
    #expect(try await test.renew(result.account).tenantProfile?.tenantID == profile.tenantID)
    #expect(try await test.secrets(.accessToken) == ["access-2"])
  }

  /// MSAL for Python and .NET write the domain, that for Node the policy; MSAL for Python writes "adfs".
  @Test(
    .conformance(80), .fault("other realm"),
    arguments: [
      (
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_in", "u-b2c_1_in.t",
        "contoso.onmicrosoft.com"
      ),
      ("https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_in", "u-b2c_1_in.t", "b2c_1_in"),
      ("https://contoso.b2clogin.com/contoso.onmicrosoft.com/own", "u.t", "contoso.onmicrosoft.com"),
      ("https://contoso.ciamlogin.com", "u.t", "contoso.onmicrosoft.com"),
      ("https://fs.contoso.test/adfs", "s", "adfs"), ("https://fs.contoso.test/adfs", "s", ""),
    ])
  func `A token under the realm of another library serves, and so does what is added`(
    _ authority: String, _ id: String, _ realm: String
  ) async throws {
    let test = TestClient(authority)
    let (host, client) = (test.client.configuration.authority.host, TestPerson.clientID)
    let idToken = TestPerson.alice.idToken(at: test.clock.now, changing: ["tid": .null])
    let now = Int(test.clock.now.timeIntervalSince1970)
    _ = try await test.cache.import(
      CacheDocument([
        .accessToken(
          "theirs", of: id, client: client, host: host, realm: realm, scopes: "a", cachedAt: now,
          expiresOn: now + 3600
        ),
        .idToken(idToken, of: id, client: client, host: host, realm: realm),
        .refreshToken("refresh", of: id, client: client, host: host),
        .account(id, key: "account", host: host, realm: realm),
      ]))
    let account = try #require(try await test.client.accounts().first)
    #expect(try await test.silent(account, ["a"]).accessToken == "theirs")
    test.transport.answerTokens(
      test.tokens(scope: "b", changing: ["id_token": .null, "client_info": .null]))
    #expect(try await test.silent(account, ["b"]).accessToken == "access-2")
    #expect(try await test.silent(account, ["b"]).source == .cache)
    let realms = try await test.cache.snapshot().document.accessTokens.values.map { $0.realm ?? "" }
    #expect(realms == [realm, realm])
  }
}

extension PublicClient {
  fileprivate func resolve() async throws(IdentityError) -> AuthorityMetadata {
    try await metadata(of: configuration.authority)
  }
}
