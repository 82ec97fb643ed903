import TestSupport

@testable import IdentityClient
@testable import Lending

private let prefix = "/token?api-version=2019-08-01&"

@Suite(.timeLimit(.minutes(20)))
struct LenderTests {
  static let places: [Named<Lender.Place?>] = [Named("a socket", nil), Named("a port", .port(0))]

  @Test(arguments: places)
  func `A token is returned in App Service's format, without anything else of the cache`(
    _ place: Named<Lender.Place?>
  ) async throws {
    let start = Date().timeIntervalSince1970
    let lender = try TestLender(at: place.value)
    let answer = await lender.send(prefix + "resource=https%3A%2F%2Fmanagement.azure.com")
    var token = try answer.token()
    let end = token.removeValue(forKey: "expires_on")?.stringValue.flatMap(Double.init)
    #expect(try #require(end) >= start + 3599)
    #expect(
      token == [
        "access_token": "token-1", "resource": "https://management.azure.com", "token_type": "Bearer",
        "client_id": .string(TestLender.client), "username": "alice@contoso.test",
        "home_account_id": .string(LentThings.account), "tenant_id": .string(TestLender.tenant),
        "scope": "https://management.azure.com/.default openid profile",
      ])
    #expect(answer.text.contains("\r\nCache-Control: no-store\r\n"))
    #expect(answer.text.contains("\r\nContent-Type: application/json\r\n"))
    #expect(lender.calls == [.init(scopes: ["https://management.azure.com/.default"], isForced: false)])
  }

  @Test(arguments: places)
  func `The terms are returned without a token`(_ place: Named<Lender.Place?>) async throws {
    let lender = try TestLender(at: place.value)
    #expect(
      try await lender.send("/loan").members() == [
        "scopes": .array(["User.Read Mail.Read", "https://management.azure.com/.default"]),
        "username": "alice@contoso.test", "home_account_id": .string(LentThings.account),
        "client_id": .string(TestLender.client), "environment": "login.windows.net",
        "authority": "https://login.microsoftonline.com/common", "tenant_id": .string(TestLender.tenant),
        "expires_on": .string("\(Int64(lender.lender.loan.end.timeIntervalSince1970))"),
        "authority_kind": "aad",
      ])
    #expect(lender.calls.isEmpty)
  }

  private static let guestTenant = "33333333-3333-3333-3333-333333333333"

  @Test(arguments: [TestPerson.alice.home, guestTenant])
  func `A client's tokens are those of the loan's authority and client`(_ tenant: String) async throws {
    let cache = TokenCacheAccessor(store: InMemoryStore())
    let request = TokenRequest(environment: TestPerson.alice.host, clientID: TestPerson.clientID)
    for tenant in [Self.guestTenant, TestPerson.alice.home] {
      var person = TestPerson.alice
      person.tenant = tenant
      let tokens = person.tokens(at: Date(), access: "of \(tenant)")
      try await cache.save(TokenResponse(fields: tokens), for: request)
    }
    let client = PublicClient(configuration: ClientConfiguration(clientID: TestPerson.clientID), cache: cache)
    let account = try #require(try await client.accounts().first)
    func loan(_ clientID: String) throws -> Loan {
      try Loan(
        scopes: [["User.Read"]], account: account, clientID: clientID,
        authority: Authority("https://\(TestPerson.alice.host)/\(tenant)"), duration: .seconds(60))
    }
    let tokens = Lender.tokens(of: try loan(TestPerson.clientID), from: client)
    #expect(try await tokens(["User.Read"], .never)?.accessToken == "of \(tenant)")
    #expect(try await tokens(["Mail.Send"], .never) == nil)
    #expect(
      throws: LendingError.unusable("The loan is of the client another, not \(TestPerson.clientID).")
    ) {
      try Lender(loan("another"), at: .port(0), client: client)
    }
  }

  @Test(
    .fault("asks again"),
    arguments: ["&token_sha256_to_refresh=" + LoanProtocol.hash(of: "old"), "&min_validity=900"])
  func `A new token that could not be stored is lent for its minute`(_ demand: String) async throws {
    let lender = try TestLender(
      token: { (call, _) throws(IdentityError) in result(call.scopes, "new", source: .network) },
      cached: { result($0, "old", lasting: 400) })
    for _ in 0..<2 {
      #expect(try await lender.send(prefix + "scope=User.Read" + demand).accessToken() == "new")
    }
    #expect(lender.calls.count == 1)
  }

  @Test(
    .fault("scope spelling", "not lent"),
    arguments: [
      "scope=User.Read", "scope=user.READ", "scope=Mail.Read+User.Read", "scope=Mail.Read%20User.Read",
      "scope=User.Read&scope=Mail.Read&scope=user.read", "scope=User.Read+openid+profile+offline_access",
      "scope=User.Read&client_id=\(TestLender.client)", "scope=User.Read&client_id=ALICE%40contoso.test",
      "scope=User.Read&xms_cc=cp1", "scope=https://graph.microsoft.com/User.Read",
      "scope=https://GRAPH.microsoft.com/mail.read+User.Read",
    ])
  func
    `Case, order, repetition and Graph's address of scopes are ignored, and the loan's own scopes are requested`(
      _ query: String
    ) async throws
  {
    let lender = try TestLender()
    _ = try await lender.send(prefix + query).token()
    #expect(lender.calls == [.init(scopes: ["User.Read", "Mail.Read"], isForced: false)])
  }

  @Test(
    .fault("scope spelling", "not lent"),
    arguments: [
      "scope=Files.Read", "scope=User.Read+Files.Read",
      "scope=User.Read+https://management.azure.com/.default",
      "scope=https://graph.microsoft.com/.default", "scope=https://graph.microsoft.com/Files.Read",
      "scope=https://graph.microsoft.com.evil.example/User.Read",
      "scope=http://graph.microsoft.com/User.Read",
      "scope=https://graph.microsoft.com//User.Read", "scope=https://graph.microsoft.com/openid",
      "scope=User.Read.All", "scope=User.Rea", "scope=User%2ERead%00", "scope=User.Read/",
      "scope=%2BUser.Read",
      "scope=openid", "scope=offline_access+openid+profile", "scope=+",
      "resource=https://management.azure.com/", "resource=https://management.azure.com:443",
      "resource=https://management.azure.com/.default", "resource=management.azure.com", "resource=User.Read",
      "resource=https://management.azure.com%23", "scope=https://management.azure.com//.default",
      "scope=Us%C4%B1r.Read", "scope=User.Read%E2%80%8B",
    ])
  func `Scopes that are not lent are refused, and so are other spellings of those that are`(_ query: String)
    async throws
  {
    let lender = try TestLender()
    try await lender.expectRefusal(.invalidScope, 403, of: lender.send(prefix + query))
  }

  @Test(
    .fault("second account"),
    arguments: ["bob%40contoso.test", "c0000000-0000-4000-8000-000000000002", "x", "x=y"])
  func `A second account, and another client, are refused`(_ identity: String) async throws {
    let lender = try TestLender()
    try await lender.expectRefusal(
      .unauthorizedClient, 403, of: lender.send(prefix + "scope=User.Read&client_id=\(identity)"))
  }

  @Test(.fault("second account"))
  func `A token of another account is not lent`() async throws {
    let bob = Account(
      homeAccountID: "b0b.\(TestLender.tenant)", username: "bob@contoso.test",
      environment: "login.windows.net", tenantProfiles: [])
    let lender = try TestLender { (call, _) throws(IdentityError) in
      result(call.scopes, "bobs-token", account: bob)
    }
    let answer = await lender.send()
    #expect(answer.status == 500)
    #expect(!answer.text.contains("bob"))
  }

  @Test(arguments: [
    "/token", "/token?scope=User.Read", "/token?api-version=2017-09-01&scope=User.Read", prefix,
    prefix + "scope=User.Read&resource=User", prefix + "scope", prefix + "scope=",
    prefix + "resource=a&resource=b", prefix + "scope=User.Read&account=bob",
    prefix + "scope=User.Read&mi_res_id=x", prefix + "scope=User.Read&client_id=",
    prefix + "scope=User.Read&api-version=2019-08-01", prefix + "scope=%ff",
    prefix + "scope=User.Read&min_validity=-1", prefix + "scope=User.Read&min_validity=1e9",
    prefix + "scope=User.Read&min_validity=1000000", prefix + "scope=User.Read&token_sha256_to_refresh=abc",
    prefix + "scope=User.Read&token_sha256_to_refresh=g" + String(repeating: "0", count: 63), prefix + "=",
  ])
  func `An invalid request is refused`(_ target: String) async throws {
    let lender = try TestLender()
    try await lender.expectRefusal(.invalidRequest, 400, of: lender.send(target))
  }

  @Test(arguments: places, ["POST", "HEAD", "OPTIONS", "PUT"])
  func `Methods other than GET are refused`(_ place: Named<Lender.Place?>, _ method: String) async throws {
    let lender = try TestLender(at: place.value)
    let answer = await lender.send(method: method)
    #expect(answer.status == 405)
    #expect(answer.text.contains("\r\nAllow: GET\r\n"))
    #expect(lender.calls.isEmpty)
  }

  @Test(arguments: ["/", "/token/", "/loan/x", "/metadata/identity/oauth2/token", "//token"])
  func `Another path is not found`(_ path: String) async throws {
    let lender = try TestLender()
    #expect(await lender.send(path + "?api-version=2019-08-01&scope=User.Read").status == 404)
  }

  @Test(
    .fault("web page"), arguments: places,
    ["evil.example", "localhost.evil.example", "localhost:1x", "", "evil.example:{port}"])
  func `A request for another host name is refused`(
    _ place: Named<Lender.Place?>, _ host: String
  ) async throws {
    let lender = try TestLender(at: place.value)
    for target in ["/loan", prefix + "scope=User.Read"] {
      let answer = await lender.send(target, host: host)
      #expect(answer.status == 403 || answer.status == 400)
      #expect(!answer.text.contains("alice"))
    }
    #expect(lender.calls.isEmpty)
  }

  @Test(
    .fault("web page"), arguments: places,
    [
      "Origin: http://localhost", "Origin: null", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors",
      "Sec-Fetch-Dest: image",
    ])
  func `A request from a web page is refused, even with the secret`(
    _ place: Named<Lender.Place?>, _ field: String
  ) async throws {
    let lender = try TestLender(at: place.value)
    let answer = await lender.send(fields: [field])
    #expect(answer.status == 403)
    #expect(try answer.refusal() == .accessDenied)
    #expect(!answer.text.lowercased().contains("access-control-"))
    #expect(lender.calls.isEmpty)
  }

  @Test(
    .fault("no secret"),
    arguments: [[], ["X-IDENTITY-HEADER: x"], ["X-IDENTITY-HEADER:"], ["Authorization: Bearer x"]])
  func `A port requires its secret`(_ fields: [String]) async throws {
    let lender = try TestLender(at: .port(0))
    for target in ["/loan", "/", prefix + "scope=User.Read"] {
      let answer = await lender.send(target, fields: fields, secret: false)
      #expect(answer.status == 401)
      #expect(try answer.refusal() == .invalidClient)
    }
    #expect(lender.calls.isEmpty)
    _ = try await lender.send().token()
  }

  @Test func `A token that a resource refused is renewed at most once a minute`() async throws {
    let lender = try TestLender { (call, number) throws(IdentityError) in
      result(call.scopes, call.isForced ? "new" : number == 1 ? "old" : "new", source: .cache)
    }
    let query = prefix + "scope=User.Read&token_sha256_to_refresh="
    #expect(try await lender.send(query + LoanProtocol.hash(of: "another")).accessToken() == "old")
    #expect(lender.calls.count == 1)
    #expect(try await lender.send(query + LoanProtocol.hash(of: "old")).accessToken() == "new")
    _ = try await lender.send(query + LoanProtocol.hash(of: "new").uppercased()).token()
    #expect(lender.calls.filter(\.isForced).count == 1)
    _ = try await lender.send(query + LoanProtocol.hash(of: "new")).token()
    #expect(lender.calls.filter(\.isForced).count == 1)
    lender.pass(.seconds(61))
    _ = try await lender.send(query + LoanProtocol.hash(of: "new")).token()
    #expect(lender.calls.filter(\.isForced).count == 2)
  }

  /// Tokens are made by the test itself: they must not expire while it waits to run.
  typealias Outcome = @Sendable () -> Result<AuthenticationResult, IdentityError>

  static let outcomes: [Named<Outcome>] = [
    Named("no network", { .failure(IdentityError(.network, "")) }),
    Named("503", { .failure(IdentityError(.serverError, "")) }),
    Named("an invalid response", { .failure(IdentityError(.invalidResponse, "")) }),
    Named("interaction required", { .failure(IdentityError(.interactionRequired, "")) }),
    Named("scopes declined", { .failure(IdentityError(.serverDeclinedScopes, "")) }),
    Named("invalid scope", { .failure(IdentityError(.invalidScope, "")) }),
    Named(
      "a short token",
      { .success(result(["User.Read", "Mail.Read"], "short", lasting: 200, source: .network)) }),
    Named(
      "the cached one, while the server is down",
      { .success(result(["User.Read", "Mail.Read"], "alive", lasting: 200, source: .cache)) }),
    Named(
      "a cached one with more scopes",
      { .success(result(["User.Read", "Mail.ReadWrite"], "wide", source: .cache)) }),
  ]

  @Test(.fault("asks again"), arguments: outcomes)
  func `Whatever the server responds, it is asked once a minute`(_ outcome: Named<Outcome>) async throws {
    let value = outcome.value()
    let lender = try TestLender(
      token: { (_, _) throws(IdentityError) in try value.get() }, cached: { _ in nil })
    let statuses = Mutex<Set<Int>>([])
    for minute in 1...2 {
      for query in ["", "&min_validity=900", "&token_sha256_to_refresh=" + LoanProtocol.hash(of: "short")] {
        for _ in 0..<3 {
          let status = await lender.send(prefix + "scope=User.Read" + query).status ?? 0
          if query.isEmpty { statuses.withLock { _ = $0.insert(status) } }
        }
      }
      #expect(lender.calls.count == minute)
      lender.pass(.seconds(60))
    }
    // The response is the same within the minute.
    #expect(statuses.withLock { $0.count } == 1)
    // Another token of the loan has its own minute.
    _ = await lender.send(prefix + "resource=https%3A%2F%2Fmanagement.azure.com")
    #expect(lender.calls.count == 3)
  }

  @Test(.fault("asks again")) func `A token that another program stored is lent at once`() async throws {
    let stored = Mutex<AuthenticationResult?>(nil)
    let lender = try TestLender(
      token: { (_, _) throws(IdentityError) in throw IdentityError(.interactionRequired, "") },
      cached: { _ in stored.withLock { $0 } })
    #expect(try await lender.send().refusal() == .interactionRequired)
    stored.withLock { $0 = result(["User.Read", "Mail.Read"], "after the sign-in") }
    #expect(try await lender.send().accessToken() == "after the sign-in")
    #expect(lender.calls.count == 1)
  }

  @Test func `A token that expires too soon is renewed, or refused as short-lived`() async throws {
    let lender = try TestLender { (call, _) throws(IdentityError) in
      result(call.scopes, call.isForced ? "long" : "short", lasting: call.isForced ? 3600 : 200)
    }
    #expect(try await lender.send(prefix + "scope=User.Read&min_validity=100").accessToken() == "short")
    #expect(try await lender.send(prefix + "scope=User.Read&min_validity=900").accessToken() == "long")
    lender.pass(.seconds(61))
    let answer = await lender.send(prefix + "scope=User.Read&min_validity=999999")
    #expect(answer.status == 400)
    #expect(try answer.refusal() == .shortLived)
  }

  @Test(.fault("asks again")) func `A server that does not respond keeps no borrower waiting`() async throws {
    let end = AsyncStream.makeStream(of: Never.self)
    func lender(_ token: String?) throws -> TestLender {
      try TestLender(
        token: { (_, _) throws(IdentityError) in
          for await _ in end.stream {}
          throw .cancelled
        }, cached: { scopes in token.map { result(scopes, $0, lasting: 600) } },
        renewalTimeout: .milliseconds(50))
    }
    let (valid, empty) = (try lender("valid"), try lender(nil))
    for _ in 0..<2 {
      #expect(try await valid.send(prefix + "scope=User.Read&min_validity=86400").refusal() == .shortLived)
      #expect(try await empty.send().refusal() == .temporarilyUnavailable)
    }
    // The renewal goes on.
    #expect(valid.calls.count == 1 && empty.calls.count == 1)
    end.continuation.finish()
  }

  @Test(
    .fault("wider token"),
    arguments: [
      (["User.Read"], ["User.Read", "Mail.ReadWrite"], ["new", "new", "new"]),
      (["User.Read", "Mail.Read"], ["User.Read", "Mail.Read"], ["new", "cached", "cached"]),
    ])
  func `A token that was requested with more scopes is not lent, unless the server always adds them`(
    renewed: [String], cached: [String], lent: [String]
  ) async throws {
    let lender = try TestLender([["User.Read"]]) { (call, _) throws(IdentityError) in
      call.isForced ? result(renewed, "new", source: .network) : result(cached, "cached", source: .cache)
    }
    for token in lent { #expect(try await lender.send().accessToken() == token) }
    lender.pass(.seconds(61))
    #expect(try await lender.send().accessToken() == lent.last)
    #expect(lender.calls.filter(\.isForced).count == 1)
  }

  @Test(
    .fault("cannot renew"),
    arguments: [
      (IdentityError(.interactionRequired, "secret words"), 400, .interactionRequired),
      (IdentityError(.accountNotFound, "secret words"), 400, .interactionRequired),
      (IdentityError(.network, "secret words"), 503, .temporarilyUnavailable),
      (IdentityError(.serverError, "secret words"), 503, .temporarilyUnavailable),
      (IdentityError(.brokerFailed, "secret words"), 500, .serverError),
      (IdentityError(cache: CacheError(.locked, "secret words")), 400, .interactionRequired),
      (IdentityError(cache: CacheError(.signedOut, "secret words")), 400, .interactionRequired),
      (IdentityError(cache: CacheError(.unavailable, "secret words")), 503, .temporarilyUnavailable),
      (IdentityError(cache: CacheError(.timedOut, "secret words")), 503, .temporarilyUnavailable),
      (IdentityError(cache: CacheError(.wrongKey, "secret words")), 500, .serverError),
    ] as [(IdentityError, Int, LoanRefusal.Code)])
  func `A refusal names its reason and no details`(
    _ error: IdentityError, status: Int, code: LoanRefusal.Code
  ) async throws {
    let lender = try TestLender { (_, _) throws(IdentityError) in throw error }
    let answer = await lender.send()
    #expect(answer.status == status)
    #expect(try answer.refusal() == code)
    #expect(answer.text.contains("\r\nRetry-After: 10\r\n") == (status == 503))
    #expect(!answer.text.contains("secret words"))
    let needsSignIn = code == .interactionRequired && error.cacheError?.code != .locked
    #expect(answer.text.contains("Sign-in required") == needsSignIn)
  }

  @Test(.fault("asks again")) func `A renewal that failed has one outcome for its minute`() async throws {
    func lender() throws -> TestLender {
      try TestLender(
        token: { (_, _) throws(IdentityError) in throw IdentityError(.network, "No.") },
        cached: { result($0, "old", lasting: 600) })
    }
    let (first, second) = (try lender(), try lender())
    let refused = "&token_sha256_to_refresh=" + LoanProtocol.hash(of: "old")
    for _ in 0..<2 {
      let answer = await first.send(prefix + "scope=User.Read" + refused)
      #expect(try answer.refusal() == .temporarilyUnavailable)
    }
    for _ in 0..<2 {
      let answer = await second.send(prefix + "scope=User.Read&min_validity=86400")
      #expect(try answer.refusal() == .shortLived)
    }
  }

  @Test(.fault("expired")) func `An expired loan gives no token, and its socket is removed`() async throws {
    for isSuspended in [false, true] {
      let lender = try TestLender(duration: .seconds(60))
      _ = try await lender.send().token()
      // The clock advances, or was put back while the time passed.
      if isSuspended { lender.time.change { $0.uptime = .seconds(60) } }
      lender.time.change { $0.wall = isSuspended ? .seconds(-9999) : .seconds(60) }
      let answer = await lender.send()
      #expect(try answer.refusal() == .accessDenied)
      await lender.lender.run()
      #expect(try FileManager.default.contentsOfDirectory(atPath: lender.directory.path) == [])
      #expect(await lender.send().text.isEmpty)
      #expect(lender.calls.count == 1)
    }
  }

  @Test(.fault("ends renewing")) func `A token that arrives after the end of the loan is not lent`()
    async throws
  {
    let gate = Gate()
    let lender = try TestLender { (call, _) throws(IdentityError) in
      await gate.wait()
      return result(call.scopes, "late-token", lasting: 9999)
    }
    async let answer = lender.send()
    await gate.arrival()
    lender.pass(.seconds(3601))
    gate.open()
    let (status, text) = (await answer.status, await answer.text)
    #expect(status != 200 && !text.contains("late-token"))
  }

  @Test(.fault("expired")) func `A loan ends by itself`() async throws {
    let directory = try TemporaryDirectory()
    let loan = try TestLender.loan(lasting: .milliseconds(10))
    let lender = try Lender(loan, at: .socket(path: directory.path + "/s")) { _, _ throws(IdentityError) in
      throw .cancelled
    }
    await lender.run()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
  }

  @Test(
    arguments: [
      [], [[]], [["openid"]], [["User.Read", "offline_access"]], [["User Read"]], [[""]],
      [[TestLender.client]],
    ] as [[[String]]])
  func `A loan without scopes, or with reserved or invalid ones, is refused`(_ scopes: [[String]]) {
    #expect(throws: IdentityError.self) { try TestLender.loan(scopes, lasting: .seconds(1)) }
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(7 * 86400 + 1)])
  func `A loan lasts for a week at most`(_ duration: Duration) {
    #expect(throws: IdentityError.self) { try TestLender.loan(lasting: duration) }
    #expect(throws: Never.self) { try TestLender.loan(lasting: Loan.longestDuration) }
  }

  @Test func `Each request is reported with its borrower`() async throws {
    let lender = try TestLender()
    _ = await lender.send()
    _ = await lender.send(prefix + "scope=a-token-by-mistake")
    let events = lender.events
    #expect(events.map(\.status) == [200, 403])
    #expect(events.map(\.error) == [nil, "invalid_scope"])
    let offered =
      "Scope not offered by the lender. Offered: User.Read Mail.Read; https://management.azure.com/.default."
    #expect(events.map(\.reason) == [nil, offered])
    #expect(events.map(\.scopes) == [["User.Read", "Mail.Read"], []])
    #expect(events[0].borrower.process == getpid())
    #expect(events[0].borrower.user == geteuid())
    #expect(events[0].borrower.command?.isEmpty == false)
    #expect(!"\(events)".contains("mistake"))
  }

  @Test(.fault("not lent"))
  func `A refusal has its reason in the member that managed identity clients show`() async throws {
    let members = try await (try TestLender()).send(prefix + "scope=Mail.Send").members()
    #expect(members["message"]?.stringValue?.contains("Offered: User.Read Mail.Read;") == true)
    #expect(members["message"] == members["error_description"])
    #expect(members.keys.sorted() == ["error", "error_description", "message", "statusCode"])
  }

  @Test(.fault("asked often")) func `A decision on one connection at a port is not kept`() async {
    let permissions = Permissions { _, _ in true }
    for _ in 1...100 {
      #expect(await permissions.allows(Borrower(nil, .gone), ["User.Read"]) == true)
    }
    #expect(permissions.state.withLock { $0.decisions.count } == 0)
  }

  @Test func `Sixteen borrowers wait for the user at most`() async throws {
    let gate = Gate()
    let permissions = Permissions { _, _ in
      await gate.wait()
      return true
    }
    let refused = Watched(0)
    async let decisions = atOnce(0..<17) { _ in
      let decision = await permissions.allows(Borrower(nil, .gone), ["User.Read"])
      if decision == nil { refused.change { $0 += 1 } }
      return decision
    }
    try await eventually { permissions.state.withLock { $0.waiting } + refused.read(\.self) == 17 }
    #expect(refused.read(\.self) == 1)
    gate.open()
    let allowed = try await decisions.count { $0 == true }
    #expect(allowed == 16)
  }

  @Test func `The user is asked once for each program`() async throws {
    let asked = Mutex(0)
    let allow: Lender.PermissionHandler = { _, _ in
      asked.withLock { $0 += 1 }
      return true
    }
    let lender = try TestLender(asking: allow)
    for _ in 0..<3 { _ = try await lender.send().token() }
    #expect(asked.withLock { $0 } == 1)
    // At a port the program is not known.
    let port = try TestLender(at: .port(0), asking: allow)
    for _ in 0..<2 { _ = try await port.send().token() }
    #expect(asked.withLock { $0 } == 3)
    _ = await port.send("/loan")
    #expect(asked.withLock { $0 } == 3)
  }

  @Test(.fault("unanswered"), arguments: [false, nil])
  func `A borrower that is declined, or without a decision, gets no token`(_ answer: Bool?) async throws {
    let lender = try TestLender(asking: { _, _ in answer })
    let refused = await lender.send()
    try lender.expectRefusal(.accessDenied, 403, of: refused)
  }
}
