import Foundation
import KeyringStore
import LabSupport
import SecretService

@Suite(.lab, .serialized, .timeLimit(.minutes(20)))
struct LabTests {
  private let lab = Lab.current
  private let test: LabClient

  init() throws { test = try LabClient() }

  @Test(.conformance(1, 21, 22, 43, 49)) func `A sign-in, a cached token and a renewal work`() async throws {
    let result = try await test.signIn()
    #expect(result.account.username == "alice@contoso.test")
    #expect(result.account.homeAccountID == lab.directory.user("alice")?.homeAccountID)
    #expect(result.source == .network)
    #expect(result.cacheError == nil)
    let page = try #require(lab.requests(to: .authorize).first)
    #expect(page.query["response_mode"] == "form_post")
    #expect(page.query["code_challenge_method"] == "S256")
    #expect(page.query["scope"] == "User.Read openid profile offline_access")
    #expect(page.query["client_info"] == "1")
    #expect(page.query["state"]?.isEmpty == false)
    #expect(page.query["nonce"]?.isEmpty == false)
    #expect(page.duplicates.isEmpty)
    #expect(lab.requests(to: .discovery).count == 1)
    let before = lab.log.count
    #expect(try await test.silent(result.account).accessToken == result.accessToken)
    #expect(lab.log.count == before)
    #expect(try await test.silent(result.account, ["Mail.Read"]).source == .network)
    #expect(try await test.silent(result.account, ["Mail.Read"]).source == .cache)
    let refreshed = try #require(lab.requests(to: .token).last)
    #expect(refreshed.path.hasPrefix("/\(LabDirectory.contoso)/"))
    #expect(refreshed.headers["x-client-current-telemetry"] == "4|34,2|")
    #expect(lab.requests(to: .token).allSatisfy { $0.status == 200 && $0.duplicates.isEmpty })
  }

  @Test(.conformance(2)) func `Without form_post the code leaves the browser's address`() async throws {
    lab.configure { $0.metadata = ["response_modes_supported": ["query"]] }
    let test = try LabClient(tenant: "\(LabDirectory.contoso)/v2.0", kind: .oidc, action: "watch")
    let result = try await test.signIn()
    #expect(try await test.silent(result.account).source == .cache)
    #expect(lab.requests(to: .authorize).first?.query["response_mode"] == "query")
    #expect(await lab.requests(to: .other, atLeast: 1).first?.query["status"] == "303")
  }

  @Test(.conformance(3)) func `A code with another proof gives nothing`() async throws {
    let transport = try lab.transport()
    let changed = ChangedTransport { request throws(HTTPTransportError) in
      var request = request
      let form = request.body.map { String(decoding: $0, as: UTF8.self) }
      request.body = form.map { Data($0.replacing("code_verifier=", with: "code_verifier=x").utf8) }
      return try await transport.send(request)
    }
    let test = try LabClient(transport: changed)
    let error = await expectError(.invalidGrant) { try await test.signIn() }
    #expect(error?.stsErrorCodes == [501_481])
    #expect(try await test.recordCount() == 0)
  }

  @Test(.conformance(4)) func `A code works once; a second use changes nothing in the cache`() async throws {
    let sendsTwice = Mutex(false)
    let transport = try lab.transport()
    let twice = ChangedTransport { request throws(HTTPTransportError) in
      if sendsTwice.withLock({ $0 }), request.body != nil { _ = try await transport.send(request) }
      return try await transport.send(request)
    }
    let test = try LabClient(transport: twice)
    try await test.signIn("bob")
    let before = try await test.cache.snapshot().document
    sendsTwice.withLock { $0 = true }
    let error = await expectError(.invalidGrant) { try await test.signIn() }
    #expect(error?.stsErrorCodes == [54005])
    #expect(try await test.cache.snapshot().document == before)
  }

  @Test(.conformance(13, 20), arguments: ["User.Read", "unregistered"])
  func `A sign-in that is never finished times out with a hint`(_ kind: String) async throws {
    let test = try LabClient { configuration in
      if kind == "unregistered" { configuration.redirectURI = URL(string: "http://localhost/nowhere") }
    }
    lab.configure { $0.authorize = .page }
    var request = InteractiveRequest(scopes: ["User.Read"])
    request.timeout = .seconds(1)
    let error = await expectError(.timedOut) { try await test.client.acquireToken(request) }
    #expect(error?.advice?.contains("redirect URI is registered") == true)
    try await portCloses(try #require(test.redirectPorts.first))
  }

  @Test(.conformance(14)) func `Cancelling frees the port, and leaves the browser running`() async throws {
    let test = try LabClient(action: "linger")
    lab.configure { $0.authorize = .page }
    let signIn = Task { try await test.client.acquireToken(InteractiveRequest(scopes: ["User.Read"])) }
    let report = await lab.requests(to: .other, atLeast: 1)
    let browser = try #require(report.first?.query["process"].flatMap { pid_t($0) })
    signIn.cancel()
    await expectError(.cancelled) { try await signIn.value }
    try await portCloses(try #require(test.redirectPorts.first))
    // One that ended is there until its parent waits for it.
    #expect(kill(browser, SIGTERM) == 0)
    try await eventually { kill(browser, 0) != 0 }
  }

  @Test(.conformance(5, 6, 15, 16)) func `Other requests are refused; the sign-in goes on`() async throws {
    let test = try LabClient(action: "noise")
    #expect(try await test.signIn().account.username == "alice@contoso.test")
    #expect(
      lab.requests(to: .other).first?.query == [
        "favicon": "404", "get": "405", "state": "400", "stateless": "400", "twice": "400", "host": "400",
        "script": "403",
      ])
  }

  @Test(.conformance(18)) func `Two sign-ins at once do not meet`() async throws {
    lab.configure { $0.authorize = .loginHint }
    let (one, other) = (try LabClient(), try LabClient(app: LabApps.mail))
    var (ofAlice, ofBob) = (
      InteractiveRequest(scopes: ["User.Read"]), InteractiveRequest(scopes: ["User.Read"])
    )
    (ofAlice.loginHint, ofBob.loginHint) = ("alice@contoso.test", "bob@contoso.test")
    let (alice, bob) = (ofAlice, ofBob)
    async let first = one.client.acquireToken(alice)
    async let second = other.client.acquireToken(bob)
    #expect(try await first.account.username == "alice@contoso.test")
    #expect(try await second.account.username == "bob@contoso.test")
    let ports = one.redirectPorts + other.redirectPorts
    #expect(Set(ports).count == 2)
  }

  @Test(.conformance(19)) func `A port that is taken is named`() async throws {
    let port = try #require(URL(string: lab.baseURL)?.port)
    let test = try LabClient { $0.redirectURI = URL(string: "http://localhost:\(port)") }
    let error = await expectError(.listenerFailed) { try await test.signIn() }
    #expect(error?.message.contains("\(port)") == true)
  }

  @Test(.conformance(27, 31)) func `Many callers send each one-time refresh token once`() async throws {
    lab.configure { $0.strictRefreshTokens = true }
    let account = try await test.signIn().account
    for _ in 0..<2 { _ = try await test.silent(account) { $0.forceRefresh = true } }
    let scopes = ["Mail.Read", "Calendars.Read", "Mail.Read", "Calendars.Read", "Files.Read"]
    try await atOnce(scopes) { [test] scope in try await test.silent(account, [scope]) }
    let sent = lab.requests(to: .token).compactMap { $0.form["refresh_token"] }
    #expect(sent.count == 5)
    #expect(Set(sent).count == 5)
    #expect(try await test.refreshTokens().count == 1)
  }

  @Test(.conformance(32)) func `Two clients of one store do not lose the refresh token`() async throws {
    lab.configure { $0.strictRefreshTokens = true }
    let store = InMemoryStore()
    let (one, other) = (try LabClient(store: store), try LabClient(store: store))
    let account = try await one.signIn().account
    try await atOnce(["Mail.Read", "Calendars.Read", "Files.Read", "Mail.Send"]) { scope in
      try await atOnce([one, other]) { client in try await client.silent(account, [scope]) }
    }
    let sent = lab.requests(to: .token).compactMap { $0.form["refresh_token"] }
    #expect(Set(sent).count == sent.count)
    #expect(sent.count == 4)
  }

  @Test(.conformance(30)) func `A used refresh token needs a sign-in; the account stays`() async throws {
    lab.configure { $0.strictRefreshTokens = true }
    let account = try await test.signIn().account
    // The answer is lost after the server has used the token up.
    lab.inject(LabFault(.token, count: 1, connection: .drop, afterHandling: true))
    await expectError(.interactionRequired) { try await test.silent(account, ["Mail.Read"]) }
    #expect(try await test.client.accounts().count == 1)
  }

  @Test(.conformance(33, 34, 35, 36, 37), arguments: AccountCondition.allCases)
  func `Each problem of an account has its own error and advice`(_ condition: AccountCondition) async throws {
    let account = try await test.signIn().account
    try lab.setCondition(condition, of: "alice")
    let error = await #expect(throws: IdentityError.self) { try await test.silent(account, ["Mail.Read"]) }
    #expect(
      error?.code
        == (condition == .protectionPolicyRequired
          ? .serverProtectionPoliciesRequired : .interactionRequired))
    let advice =
      switch condition {
      case .accountDeleted: "The user name or the password is wrong."
      case .badToken, .tokenExpired: "The session has expired"
      case .passwordExpired: "The password has expired"
      case .messageOnly: "The organisation's policies block"
      case .additionalAction, .deviceAuthenticationFailed: "The device must be registered"
      case .basicAction: "A second factor is needed"
      case .consentRequired: "Consent is needed"
      case .protectionPolicyRequired: "Ask the organisation's administrator."
      case .accountDisabled: "The account or the application is disabled"
      }
    #expect(error?.advice?.hasPrefix(advice) == true)
    #expect(error?.canBeResolvedBySignIn == ![.messageOnly, .accountDisabled].contains(condition))
    let tokens = try await test.refreshTokens().count
    #expect(tokens == (condition == .badToken || condition == .accountDeleted ? 0 : 1))
    #expect(try await test.client.accounts().count == (condition == .accountDeleted ? 0 : 1))
  }

  @Test(.conformance(34)) func `A second factor is asked for, with the claims it needs`() async throws {
    let account = try await test.signIn().account
    try lab.requireMFA(of: "alice")
    let error = await expectError(.interactionRequired) { try await test.silent(account, ["Mail.Read"]) }
    #expect(error?.advice?.contains("second factor") == true)
    let claims = try error?.claims.map { try ClaimsRequest(json: $0) }
    try await test.signIn("alice", ["Mail.Read"]) { request in
      request.account = account
      request.claims = claims
    }
    #expect(try await test.silent(account, ["Mail.Read"]).source == .cache)
  }

  @Test(.conformance(44)) func `A personal account signs in, but not to an organisation`() async throws {
    let account = try await test.signIn("carol").account
    #expect(account.homeAccountID.hasSuffix(LabTenant.consumers))
    let consumers = try Authority(url: #require(URL(string: lab.authority("consumers"))))
    #expect(try await test.silent(account) { $0.authority = consumers }.source == .cache)
    let organizations = try Authority(url: #require(URL(string: lab.authority("organizations"))))
    await expectError(.interactionRequired) {
      try await test.silent(account, ["Mail.Read"]) { $0.authority = organizations }
    }
  }

  @Test(.conformance(52, 53)) func `A revoked session gets one challenge, then signs in`() async throws {
    let test = try LabClient { $0.capabilities = ["cp1"] }
    let first = try await test.signIn()
    #expect(try await test.graph(first).head.status == .ok)
    try lab.revokeSessions(of: "alice")
    let refused = try await test.graph(first)
    #expect(refused.head.status == .unauthorized)
    let challenge = try #require(refused.head.headerFields[.wwwAuthenticate])
    let encoded = try #require(challenge.firstMatch(of: #/claims="([^"]+)"/#)?.1)
    let json = try #require(Data(base64Encoded: String(encoded)))
    let claims = try ClaimsRequest(json: String(decoding: json, as: UTF8.self))

    await expectError(.interactionRequired) { try await test.silent(first.account) { $0.claims = claims } }
    let second = try await test.signIn { request in
      request.account = first.account
      request.claims = claims
    }
    #expect(try await test.graph(second).head.status == .ok)
    let third = try await test.silent(first.account)
    #expect(third.source == .cache)
    #expect(try await test.graph(third).head.status == .ok)
    #expect(lab.requests(to: .graph).map(\.status) == [200, 401, 200, 200])
    let sent = lab.requests(to: .token).map { $0.form["claims"] ?? "" }
    #expect(sent.map { $0.contains("\"nbf\"") } == [false, true, true])
    #expect(sent.allSatisfy { $0.contains("\"xms_cc\"") })
  }

  @Test(.conformance(61)) func `A server with an untrusted certificate gets nothing`() async throws {
    let system = "/etc/ssl/certs/ca-certificates.crt"
    let test = try LabClient(transport: lab.transport(trusting: system))
    let error = await expectError(.network) { try await test.signIn() }
    guard case .untrustedServer = error?.transportError else {
      Issue.record("\(error?.transportError as Any)")
      return
    }
    #expect(lab.log.isEmpty)
  }

  @Test(.conformance(62), arguments: [LabFault.Connection.drop, .reset, .truncate, .garbage])
  func `A broken connection keeps the refresh token`(_ connection: LabFault.Connection) async throws {
    let account = try await test.signIn().account
    let before = try await test.refreshTokens()
    lab.inject(LabFault(.token, count: 2, connection: connection))
    let error = await #expect(throws: IdentityError.self) { try await test.silent(account, ["Mail.Read"]) }
    #expect([.network, .invalidResponse].contains(error?.code))
    #expect(try await test.refreshTokens() == before)
    lab.clearFaults()
    #expect(try await test.silent(account, ["Mail.Read"]).source == .network)
  }

  @Test(.conformance(65)) func `An answer without end is cut off`() async throws {
    let account = try await test.signIn().account
    lab.inject(LabFault(.token, bodySize: 50 << 20))
    let error = await #expect(throws: IdentityError.self) { try await test.silent(account, ["Mail.Read"]) }
    #expect(error?.transportError == .responseTooLarge(limit: 1 << 20))
  }

  @Test(.conformance(71)) func `Without a keyring tokens are returned, but stored in no file`() async throws {
    let directory = try TemporaryDirectory()
    let store = KeyringCacheStore(
      SecretServiceConnection(busAddress: "unix:path=/proc/nonexistent/bus"),
      environment: ["HOME": directory.path, "XDG_RUNTIME_DIR": directory.path])
    let test = try LabClient(store: store)
    let result = try await test.signIn()
    #expect(!result.accessToken.isEmpty)
    #expect(result.cacheError?.code == .unavailable)
    let error = await #expect(throws: IdentityError.self) { try await test.silent(result.account) }
    #expect(error?.cacheError?.code == .unavailable)
    let files = FileManager.default.enumerator(
      at: URL(filePath: directory.path), includingPropertiesForKeys: nil)
    // The lock and its counter may be there.
    for case let file as URL in files?.allObjects ?? [] {
      let text = String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
      for secret in [result.accessToken, "AccessToken", "RefreshToken"] { #expect(!text.contains(secret)) }
    }
  }

  @Test(.conformance(69)) func `Signing out clears the cache and opens the authority's page`() async throws {
    let account = try await test.signIn().account
    try await test.client.signOut(account, SignOutOptions(fromBrowser: true))
    #expect(try await test.client.accounts().isEmpty)
    #expect(try await test.refreshTokens().isEmpty)
    let page = try #require(lab.requests(to: .logout).first)
    let port = try #require(test.redirectPorts.first)
    #expect(page.query["post_logout_redirect_uri"]?.hasPrefix("http://localhost:") == true)
    #expect(page.query["post_logout_redirect_uri"] != "http://localhost:\(port)")
    #expect(page.query["state"]?.isEmpty == false)
    #expect(lab.requests(to: .logout).count == 1)
  }
}
