import Foundation
import TestSupport

@testable import IdentityClient

struct InteractiveTests {
  private let test = TestClient()

  @Test(.conformance(1)) func `Code with PKCE, a form as answer, state and nonce`() async throws {
    let result = try await test.signIn()
    #expect(result.accessToken == "access-1")
    #expect(result.source == .network)
    #expect(result.expiresOn == test.clock.now.addingTimeInterval(3600))
    #expect(result.scopes == ["User.Read", "openid", "profile", "offline_access"])
    #expect(result.cacheError == nil)

    let page = try #require(test.browser.pages.first)
    #expect(page.absoluteString.hasPrefix("https://login.microsoftonline.com/common/oauth2/v2.0/authorize?"))
    let query = test.browser.lastQuery
    #expect(query["client_id"] == TestPerson.clientID)
    #expect(query["response_type"] == "code")
    #expect(query["response_mode"] == "form_post")
    #expect(query["scope"] == "User.Read openid profile offline_access")
    #expect(query["redirect_uri"] == "http://localhost:37469")
    #expect(query["code_challenge_method"] == "S256")
    #expect(query["client_info"] == "1")
    #expect(query["prompt"] == nil && query["instance_aware"] == nil)
    #expect(query["x-client-SKU"] == "Llavero")
    #expect(query["state"]?.utf8.count == 43)
    #expect(query["nonce"]?.utf8.count == 43)
    #expect(test.browser.modes == [.formPost])

    let sent = try #require(test.transport.tokenRequests.first)
    #expect(sent.url.path == "/common/oauth2/v2.0/token")
    #expect(sent.form["grant_type"] == "authorization_code")
    #expect(sent.form["code"] == "code-1")
    #expect(sent.form["redirect_uri"] == query["redirect_uri"])
    #expect(sent.form["scope"] == "User.Read openid profile offline_access")
    let verifier = try #require(sent.form["code_verifier"])
    #expect(Data(sha256(Array(verifier.utf8))).base64URL == query["code_challenge"])
    #expect(sent.headers["x-client-current-telemetry"] == "4|167,0|")
    #expect(sent.form["client_secret"] == nil)
  }

  @Test func `Every sign-in has a state, a nonce and a proof of its own`() async throws {
    var seen: Set<String> = []
    for _ in 0..<3 {
      try await test.signIn()
      for name in ["state", "nonce", "code_challenge"] {
        #expect(seen.insert(try #require(test.browser.lastQuery[name])).inserted)
      }
    }
  }

  @Test func `What the application asks for is asked for`() async throws {
    let own = TestClient { configuration in
      configuration.capabilities = ["CP1", "CP2"]
      configuration.applicationName = "Mail"
      configuration.applicationVersion = "3"
      configuration.extraQueryParameters = ["dc": "one"]
    }
    var request = InteractiveRequest(
      scopes: ["A", "B", "a"], loginHint: "alice@contoso.test", prompt: .login)
    request.extraScopesToConsent = ["https://other.test/Read"]
    request.domainHint = "organizations"
    request.extraQueryParameters = ["slice": "test+more", "prompt": "none", "response_mode": "fragment"]
    request.claims = try ClaimsRequest(json: #"{"id_token":{"auth_time":{"essential":true}}}"#)
    try await own.signIn(scopes: ["A", "B"], request: request)
    let query = own.browser.lastQuery
    #expect(query["scope"] == "A B https://other.test/Read openid profile offline_access")
    // The application's parameters replace none.
    #expect(query["prompt"] == "login" && query["response_mode"] == "form_post")
    #expect(query["login_hint"] == "alice@contoso.test")
    #expect(query["domain_hint"] == "organizations")
    #expect(query["slice"] == "test+more")
    #expect(query["dc"] == "one")
    #expect(query["x-app-name"] == "Mail")
    #expect(query["X-AnchorMailbox"] == "UPN:alice@contoso.test")
    #expect(
      query["claims"]
        == #"{"access_token":{"xms_cc":{"values":["CP1","CP2"]}},"id_token":{"auth_time":{"essential":true}}}"#
    )
    let sent = try #require(own.transport.tokenRequests.first)
    #expect(sent.form["scope"] == "A B openid profile offline_access")
    #expect(sent.form["claims"] == query["claims"])
    #expect(sent.query["slice"] == "test+more" && sent.query["dc"] == "one")
    #expect(sent.headers["x-app-ver"] == "3")
  }

  @Test func `An application inside of another names it, and a QR code is asked for`() async throws {
    let own = TestClient { configuration in
      configuration.nestedAuthBroker = NestedAuthBroker(
        clientID: "host", redirectURI: "msauth.com.example.host://auth")
    }
    let account = try await own.signIn { $0.prefersQRCodeAndPIN = true }.account
    #expect(own.browser.lastQuery["pc"] == "18")
    #expect(own.browser.lastQuery["brk_client_id"] == "host")
    #expect(own.browser.lastQuery["brk_redirect_uri"] == "msauth.com.example.host://auth")
    own.transport.answerTokens(.refusal("invalid_grant"))
    await expectError(.interactionRequired) { try await own.renew(account) }
    for sent in own.transport.tokenRequests {
      #expect(sent.form["brk_client_id"] == "host")
      #expect(sent.form["brk_redirect_uri"] == "msauth.com.example.host://auth")
    }
    #expect(own.transport.tokenRequests.count == 2)

    try await test.signIn()
    #expect(test.browser.lastQuery["pc"] == nil && test.browser.lastQuery["brk_client_id"] == nil)
  }

  @Test func `A private window is used where the browser has one, and its absence is logged`() async throws {
    try await test.signIn { $0.prefersEphemeralSession = true }
    #expect(test.browser.privatePages == 0)
    #expect(test.log.count(of: "The browser cannot be asked for a private window") == 1)
    test.browser.hasPrivateWindows = true
    try await test.signIn { $0.prefersEphemeralSession = true }
    #expect(test.browser.privatePages == 1)
    try await test.signIn()
    #expect(test.browser.privatePages == 1)
    #expect(test.log.count(of: "The browser cannot be asked for a private window") == 1)
  }

  @Test(arguments: [Prompt.promptIfNecessary, .selectAccount])
  func `A known account is sent to the server, unless one is to be chosen`(_ prompt: Prompt) async throws {
    let account = try await test.signIn().account
    try await test.signIn { ($0.account, $0.prompt) = (account, prompt) }
    let query = test.browser.lastQuery
    #expect(query["login_req"] == TestPerson.alice.uid)
    #expect(query["domain_req"] == TestPerson.alice.home)
    #expect(query["login_hint"] == (prompt == .selectAccount ? nil : "alice@contoso.test"))
    #expect(query["prompt"] == (prompt == .selectAccount ? "select_account" : nil))
  }

  @Test(
    arguments: [(Prompt.promptIfNecessary, "login"), (.selectAccount, "login"), (.consent, "consent")],
    [false, true])
  func `Signed-out accounts need the password or consent`(
    _ prompt: (asked: Prompt, sent: String), _ wipeAccount: Bool
  ) async throws {
    let account = try await test.signIn().account
    try await test.client.signOut(account, SignOutOptions(wipeAccount: wipeAccount))
    try await test.signIn { ($0.account, $0.prompt) = (account, prompt.asked) }
    #expect(test.browser.lastQuery["prompt"] == prompt.sent)
    #expect(try await test.client.accounts().count == 1)
  }

  @Test func `An account is marked as signed out although not all of it could be removed`() async throws {
    let account = try await test.signIn().account
    test.store.kill(after: 1)
    await expectError(.cache) { try await test.client.signOut(account, SignOutOptions(wipeAccount: true)) }
    test.store.kill(after: nil)
    try await test.signIn { $0.account = account }
    #expect(test.browser.lastQuery["prompt"] == "login")
  }

  /// Signs alice in at an OpenID Connect provider, which knows no client info and no tenant.
  private func signIn(_ provider: TestClient) async throws(IdentityError) {
    try await provider.signIn(
      changing: ["client_info": .null], idToken: ["iss": "https://id.example.test/realm", "tid": .null])
  }

  @Test(
    .conformance(2),
    arguments: [
      (JSONValue.array(["query", "fragment"]), ResponseMode.query), (.array(["form_post"]), .formPost),
      (.null, .query),
    ])
  func `Without form_post a query is used`(_ modes: JSONValue, _ expected: ResponseMode) async throws {
    let other = TestClient("https://id.example.test/realm", kind: .oidc)
    other.transport.setMetadata(["response_modes_supported": modes])
    try await signIn(other)
    #expect(other.browser.modes == [expected])
    #expect(other.browser.lastQuery["response_mode"] == expected.rawValue)
    #expect(other.browser.lastQuery["client_info"] == nil)
    #expect(other.transport.tokenRequests.first?.headers["x-client-sku"] == nil)
  }

  @Test(
    .conformance(63),
    arguments: [
      (.failure(.connectionLost("reset")), .network, 1), (.failure(.timedOut), .network, 1),
      (.failure(.cannotConnect("refused")), .network, 2), (.json([:], status: 500), .serverError, 1),
      (.json([:], status: 503), .serverError, 1),
    ] as [(ScriptedAnswer, IdentityError.Code, Int)])
  func `Only a code that did not arrive is resent`(
    _ answer: ScriptedAnswer, _ code: IdentityError.Code, _ count: Int
  ) async throws {
    test.transport.answerTokens(answer, answer)
    await expectError(code) { try await test.acquire() }
    #expect(test.transport.tokenRequests.count == count)
  }

  @Test(.conformance(5), arguments: ["", "other", nil as String?])
  func `A response with another state is refused`(_ state: String?) async throws {
    test.browser.person { _ in
      var answer = ["code": "code-1"]
      answer["state"] = state
      return answer
    }
    await expectError(.invalidState) { try await test.signIn() }
    #expect(test.transport.tokenRequests.isEmpty)
  }

  @Test(.conformance(5, 6)) func `The authenticator is told which responses are expected`() async throws {
    let verdicts = Mutex<[Bool]>([])
    test.browser.expectation { isExpected, query in
      let good = ["error": "access_denied", "state": query["state"] ?? ""]
      for answer in [["error": "access_denied"], ["code": "x", "state": "wrong"], [:], good] {
        verdicts.withLock { $0.append(isExpected(answer)) }
      }
      return good
    }
    await expectError(.userCanceled) { try await test.acquire() }
    #expect(verdicts.withLock { $0 } == [false, false, false, true])
  }

  @Test(.conformance(7)) func `An answer without an ID token is refused`() async throws {
    await expectError(.invalidResponse) { try await test.signIn(changing: ["id_token": .null]) }
  }

  @Test(
    .conformance(7, 8, 9, 10),
    arguments: [
      ["nonce": "other"] as JSONObject, ["nonce": .null], ["aud": "another"], ["aud": .array(["another"])],
      ["aud": .null],
      ["aud": .array([.string(TestPerson.clientID), "another"])], ["azp": "another"],
      ["iss": "https://login.microsoftonline.com/other/v2.0"], ["iss": "https://evil.test/x/v2.0"],
      ["iss": .null],
      ["tid": "other"], ["exp": .integer(1_799_999_700)], ["exp": .null], ["nbf": .integer(1_800_000_301)],
      ["iat": .integer(1_800_000_301)], ["nbf": .null, "iat": .integer(1_800_000_301)],
    ].abbreviated)
  func `ID tokens of another nonce, audience, issuer or time fail`(_ changes: Named<JSONObject>)
    async throws
  {
    let error = await expectError(.invalidResponse) { try await test.signIn(idToken: changes.value) }
    let isTime = !Set(changes.value.keys).isDisjoint(with: ["exp", "nbf", "iat"])
    #expect(error?.advice == (isTime ? "Check this machine's clock." : nil))
    #expect(try await test.recordCount() == 0)
  }

  @Test(
    .conformance(10),
    arguments: [
      ["exp": .integer(1_799_999_701)] as JSONObject, ["nbf": .integer(1_800_000_300)],
      ["iat": .integer(1_800_000_300)], ["aud": .array([.string(TestPerson.clientID)])],
      ["azp": .string(TestPerson.clientID)],
      ["aud": .array([.string(TestPerson.clientID), "another"]), "azp": .string(TestPerson.clientID)],
    ].abbreviated)
  func `Clocks may be minutes apart`(_ changes: Named<JSONObject>) async throws {
    let changes = changes.value
    #expect(try await test.signIn(idToken: changes).accessToken == "access-1")
  }

  @Test(.conformance(9), arguments: ["none", "None", ""])
  func `An ID token without a signature is refused`(_ algorithm: String) async throws {
    let (browser, clock) = (test.browser, test.clock)
    test.transport.script { seen in
      guard seen.form["code"] != nil else { return nil }
      let nonce = JSONValue.string(browser.lastQuery["nonce"] ?? "")
      let token = TestPerson.alice.idToken(at: clock.now, changing: ["nonce": nonce], algorithm: algorithm)
      return .json(TestPerson.alice.tokens(at: clock.now, changing: ["id_token": .string(token)]))
    }
    await expectError(.invalidResponse) { try await test.acquire() }
  }

  @Test(
    .conformance(11),
    arguments: [
      (true, nil as String?, false), (true, "https://evil.test", false), (false, "https://evil.test", false),
      (true, "https://id.example.test/realm", true), (false, nil, true),
    ])
  func `A missing or wrong issuer counts`(
    _ isPromised: Bool, _ issuer: String?, _ isGood: Bool
  ) async throws {
    let other = TestClient("https://id.example.test/realm", kind: .oidc)
    other.transport.setMetadata(["authorization_response_iss_parameter_supported": .bool(isPromised)])
    other.browser.answer(adding: issuer.map { ["iss": $0] } ?? [:])
    await expectOutcome(isGood ? nil : .invalidResponse) { () throws(IdentityError) in
      try await signIn(other)
    }
    #expect(other.transport.tokenRequests.isEmpty == !isGood)
  }

  @Test(
    .conformance(11),
    arguments: [
      ("https://login.microsoftonline.com/\(TestPerson.alice.home)/v2.0", true, true),
      // The ID token is another tenant's.
      ("https://login.microsoftonline.com/\(TestPerson.clientID)/v2.0", true, false),
      ("https://login.microsoftonline.com//v2.0", false, false),
      ("https://login.microsoftonline.com/v2.0", false, false),
      ("https://login.microsoftonline.com/a/b/v2.0", false, false),
      ("https://evil.test/\(TestPerson.alice.home)/v2.0", false, false),
    ])
  func `An issuer of many tenants is named by one of them`(
    _ issuer: String, _ isKnown: Bool, _ isGood: Bool
  ) async throws {
    test.transport.setMetadata(["authorization_response_iss_parameter_supported": .bool(true)])
    test.browser.answer(adding: ["iss": issuer])
    await expectOutcome(isGood ? nil : .invalidResponse) { () throws(IdentityError) in
      try await test.signIn()
    }
    #expect(test.transport.tokenRequests.isEmpty == !isKnown)
    #expect(try await (test.recordCount() == 0) == !isGood)
  }

  @Test(
    .conformance(12),
    arguments: [
      (["error": "access_denied"], IdentityError.Code.userCanceled),
      (["error": "access_denied", "error_description": "AADB2C90091: cancelled"], .userCanceled),
      (["error": "login_required", "error_subcode": "cancel"], .userCanceled),
      (["error": "server_error"], .serverError), (["error": "invalid_scope"], .invalidScope),
      (["error": "unsupported_response_type"], .authorizationFailed), ([:], .invalidResponse),
    ])
  func `Declining is its own error`(_ answer: [String: String], _ code: IdentityError.Code) async throws {
    test.browser.person { query in answer.merging(["state": query["state"] ?? ""]) { $1 } }
    let error = await expectError(code) { try await test.signIn() }
    #expect(error?.oauthError == answer["error"])
    #expect(error?.correlationID != nil)
  }

  @Test(.conformance(17)) func `What a server writes cannot drive a terminal`() async throws {
    test.browser.person { query in
      [
        "error": "server_error", "error_description": "AADSTS90033: <script>\u{1B}[2J\r\n\u{7}gone",
        "state": query["state"] ?? "",
      ]
    }
    let error = await #expect(throws: IdentityError.self) { try await test.signIn() }
    #expect(error?.oauthErrorDescription == "AADSTS90033: <script> [2J gone")
    #expect(error?.stsErrorCodes == [90033])
    #expect(error?.advice?.contains("try again later") == true)
  }

  @Test(.conformance(13), arguments: [IdentityError.Code.timedOut, .cancelled])
  func `An authenticator's error is passed on; the next can begin`(_ code: IdentityError.Code) async throws {
    test.browser.person { _ throws(IdentityError) in throw IdentityError(code, "") }
    await expectError(code) { try await test.signIn() }
    test.browser.answer()
    try await test.signIn()
  }

  @Test func `One sign-in at a time`() async throws {
    let (gate, test) = (Gate(), test)
    test.browser.person { query in
      await gate.wait()
      return ["code": "code-1", "state": query["state"] ?? ""]
    }
    let first = Task { try await test.signIn() }
    await gate.arrival()
    await expectError(.interactiveSessionAlreadyRunning) { try await test.signIn() }
    gate.open()
    _ = try await first.value
    #expect(test.browser.pages.count == 1)
    try await test.signIn()
  }

  @Test func `A client without a browser says so`() async throws {
    let client = PublicClient(
      configuration: ClientConfiguration(clientID: TestPerson.clientID), cache: test.cache,
      transport: test.transport)
    await expectError(.noAuthenticator) {
      try await client.acquireToken(InteractiveRequest(scopes: ["User.Read"]))
    }
    #expect(test.transport.requests.isEmpty)
  }

  @Test(.conformance(41)) func `Another account than requested is refused; no tokens change`() async throws {
    let account = try await test.signIn().account
    await expectError(.mismatchedUser) {
      try await test.signIn(.bob) { $0.account = account }
    }
    #expect(try await test.client.accounts() == [account])
    #expect(try await test.secrets(.accessToken) == ["access-1"])
  }

  @Test func `Client info is required of Microsoft's services`() async throws {
    let error = await expectError(.invalidResponse) {
      try await test.signIn(changing: ["client_info": .null])
    }
    #expect(error?.message == "Client info was not returned in the server response")
  }

  @Test(.conformance(66)) func `A token type is compared without case; another is refused`() async throws {
    try await test.signIn(changing: ["token_type": "bearer", "something": .array([.null])])
    await expectError(.invalidResponse) { try await test.signIn(changing: ["token_type": "pop"]) }
  }

  @Test(.conformance(67)) func `Declined scopes are reported, and granted ones stored`() async throws {
    let error = await expectError(.serverDeclinedScopes) {
      try await test.signIn(
        changing: ["scope": "User.Read openid"],
        request: InteractiveRequest(scopes: ["User.Read", "Mail.Send"]))
    }
    #expect(error?.declinedScopes == ["Mail.Send"])
    let account = try #require(error?.result?.account)
    #expect(error?.homeAccountID == account.homeAccountID)
    #expect(try await test.silent(account).source == .cache)
    test.transport.answerTokens(test.tokens(scope: "Mail.Send"))
    #expect(try await test.silent(account, ["Mail.Send"]).source == .network)
  }

  @Test(.conformance(71)) func `Tokens that cannot be stored are handed out, with the reason`() async throws {
    test.store.lock(isReadable: true)
    let result = try await test.signIn()
    #expect(result.accessToken == "access-1")
    #expect(result.account.username == "alice@contoso.test")
    #expect(result.tenantProfile?.claims?.subject != nil)
    #expect(result.cacheError?.code == .locked)
  }

  @Test(arguments: ["openid", "Profile", "offline_access", TestPerson.clientID, "", "two scopes"])
  func `Invalid and reserved scopes are refused`(_ scope: String) async throws {
    await expectError(.invalidParameter) { try await test.acquire(["User.Read", scope]) }
    #expect(test.browser.pages.isEmpty)
  }

  @Test(arguments: ["claims", "State", "redirect_uri"])
  func `The application cannot set the protocol's own parameters`(_ name: String) async throws {
    var request = InteractiveRequest(scopes: ["User.Read"])
    request.extraQueryParameters = [name: "x"]
    await expectError(.invalidParameter) { try await test.client.acquireToken(request) }
  }

  @Test func `The application's nonce is sent, and expected in the ID token`() async throws {
    var request = InteractiveRequest(scopes: ["User.Read"])
    request.extraQueryParameters = ["nonce": "application's"]
    let result = try await test.signIn(request: request)
    #expect(test.browser.lastQuery["nonce"] == "application's")
    #expect(result.claims?.string("nonce") == "application's")
    await expectError(.invalidResponse) {
      try await test.signIn(idToken: ["nonce": "another"], request: request)
    }
    // Not where nothing would check it, or where it is the same for all sign-ins.
    await expectError(.invalidParameter) {
      try await test.silent(result.account) { $0.extraQueryParameters = ["nonce": "x"] }
    }
    let own = TestClient { $0.extraQueryParameters = ["nonce": "x"] }
    await expectError(.invalidParameter) { try await own.signIn() }
  }

  @Test func `Claims among the parameters are the request's, unless it has others`() async throws {
    let own = TestClient { $0.capabilities = ["CP1"] }
    var request = InteractiveRequest(scopes: ["User.Read"])
    request.extraQueryParameters = ["claims": #"{"id_token":{"email":null}}"#]
    try await own.signIn(request: request)
    let sent = try ClaimsRequest(json: #require(own.browser.lastQuery["claims"]))
    #expect(Set(try sent.json().split(separator: "\"").map(String.init)).isSuperset(of: ["email", "CP1"]))
    request.claims = try ClaimsRequest(json: #"{"id_token":{"name":null}}"#)
    await expectError(.invalidParameter) { try await own.client.acquireToken(request) }
  }

  @Test func `A request without scopes signs in, also without an access token`() async throws {
    let result = try await test.signIn(
      scopes: [], changing: ["access_token": .null],
      request: InteractiveRequest(scopes: []))
    #expect(result.accessToken.isEmpty)
    #expect(try await test.client.accounts() == [result.account])
    await expectError(.invalidResponse) { try await test.signIn(changing: ["access_token": .null]) }
    await expectError(.invalidResponse) {
      try await test.signIn(
        scopes: [], changing: ["access_token": .integer(7)], request: InteractiveRequest(scopes: []))
    }
  }

  @Test func `A redirect URI without TLS must be on this machine`() async throws {
    let own = TestClient { $0.redirectURI = URL(string: "http://contoso.test/answer") }
    await expectError(.nonHttpsRedirect) { try await own.signIn() }
  }

  @Test(arguments: [
    (true, "", "login.microsoftonline.us", "login.microsoftonline.us"),
    (true, "", "evil.test", "login.microsoftonline.com"),
    (false, "", "login.microsoftonline.us", "login.microsoftonline.com"),
    (false, "True", "login.microsoftonline.us", "login.microsoftonline.us"),
    (false, "True", "evil.test", "login.microsoftonline.com"),
  ])
  func `Only known clouds are asked`(
    _ isSupported: Bool, _ parameter: String, _ named: String, _ expected: String
  ) async throws {
    let own = TestClient {
      $0.multipleCloudsSupported = isSupported
      if !parameter.isEmpty { $0.extraQueryParameters = ["instance_aware": parameter] }
    }
    own.browser.answer(adding: [
      "cloud_instance_host_name": named, "iss": "https://\(expected)/\(TestPerson.alice.home)/v2.0",
    ])
    var person = TestPerson.alice
    person.host = expected
    let result = try await own.signIn(person)
    #expect(
      own.browser.lastQuery["instance_aware"] == (isSupported ? "true" : parameter.isEmpty ? nil : parameter))
    #expect(own.transport.tokenRequests.first?.url.host == expected)
    #expect(result.account.environment == (expected.hasSuffix(".us") ? expected : "login.windows.net"))
    #expect(try await own.silent(result.account).source == .cache)
  }

  @Test func `A refusal asks no other cloud`() async throws {
    let own = TestClient { $0.multipleCloudsSupported = true }
    own.browser.person { query in
      [
        "state": query["state"] ?? "", "error": "access_denied",
        "cloud_instance_host_name": "login.microsoftonline.us",
      ]
    }
    await expectError(.userCanceled) { try await own.acquire() }
    #expect(own.transport.requests.allSatisfy { $0.url.host?.hasSuffix(".us") == false })
  }
}

struct OwnSchemeTests {
  private func client() -> TestClient {
    TestClient { $0.redirectURI = URL(string: "msauth.com.example.mail://auth") }
  }

  @Test func `The answer that the system hands over ends the sign-in, once`() async throws {
    let test = client()
    test.browser.idle()
    let signIn = Task { try await test.signIn() }
    _ = try await test.browser.nextPage()
    let state = try #require(test.browser.lastQuery["state"])
    func url(_ text: String) throws -> URL { try #require(URL(string: text)) }
    #expect(!test.client.handleRedirect(try url("msauth.com.example.mail://auth?code=x&state=wrong")))
    #expect(!test.client.handleRedirect(try url("msauth.com.example.mail://other?code=x&state=\(state)")))
    #expect(!test.client.handleRedirect(try url("msauth.com.example.files://auth?code=x&state=\(state)")))
    #expect(
      !test.client.handleRedirect(try url("msauth.com.example.mail://auth?code=x&code=y&state=\(state)")))
    #expect(!test.client.handleRedirect(try url("msauth.com.example.mail://auth?=x&code=y&state=\(state)")))
    #expect(!test.client.handleRedirect(try url("msauth.com.example.mail://auth/x?code=y&state=\(state)")))
    let answer = try url("msauth.com.example.mail://auth/?code=own%26code&state=\(state)")
    #expect(test.client.handleRedirect(answer))
    #expect(!test.client.handleRedirect(answer))
    _ = try await signIn.value
    #expect(test.transport.tokenRequests.first?.form["code"] == "own&code")
    #expect(test.transport.tokenRequests.first?.form["redirect_uri"] == "msauth.com.example.mail://auth")
    #expect(test.browser.lastQuery["response_mode"] == "query")
    #expect(!test.client.handleRedirect(answer))
  }

  @Test func `A page that cannot be opened ends it too`() async throws {
    let test = client()
    test.browser.person { _ throws(IdentityError) in throw IdentityError(.timedOut, "") }
    await expectError(.timedOut) { try await test.signIn() }
  }

  @Test(.conformance(14)) func `And so does the end of the task`() async throws {
    let test = client()
    test.browser.idle()
    let signIn = Task { try await test.signIn() }
    _ = try await test.browser.nextPage()
    signIn.cancel()
    await expectError(.cancelled) { try await signIn.value }
  }

  @Test func `Without a waiting sign-in no address is taken`() throws {
    let address = try #require(URL(string: "msauth.com.example.mail://auth?code=x"))
    #expect(!client().client.handleRedirect(address))
  }
}
