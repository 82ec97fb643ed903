import SoupTransport
import TestSupport

@testable import Lending

/// Borrowing at a socket from scripted lenders.
@Suite(.timeLimit(.minutes(20)))
struct LoanBrokerTests {
  /// A scripted lender and its borrower.
  private struct Borrowed {
    let server: RawServer
    let lender: LoanBroker
    private let scripted: ScriptedLender

    init(timeout: Duration = .seconds(300), _ serve: @escaping @Sendable (RawConnection) -> Void) throws {
      try self.init(ScriptedLender(serve), timeout)
    }

    init(
      terms: String = LentThings.terms(),
      token answer: @escaping @Sendable (_ query: [String: String]) -> (Int, String)
    ) throws {
      try self.init(ScriptedLender(terms: terms, token: answer), .seconds(300))
    }

    private init(_ scripted: ScriptedLender, _ timeout: Duration) throws {
      (self.scripted, server) = (scripted, scripted.server)
      lender = LoanBroker(
        transport: try SoupHTTPTransport(unixSocket: server.path), termsTimeout: timeout,
        tokenTimeout: timeout, now: { Date() })
    }

    var tokenRequests: [[String: String]] { scripted.tokenRequests }

    func client(tenant: String = LentThings.tenant) throws -> PublicClient {
      let url = try #require(URL(string: "https://login.microsoftonline.com/\(tenant)"))
      return client(authority: try Authority(url: url))
    }

    func client(authority: Authority) -> PublicClient {
      var configuration = ClientConfiguration(clientID: LentThings.client, authority: authority)
      configuration.brokerPolicy = .required
      return PublicClient(
        configuration: configuration, cache: TokenCacheAccessor(store: InMemoryStore()), broker: lender)
    }

    /// A token for the account that is lent.
    func token(
      tenant: String = LentThings.tenant, forceRefresh: Bool = false, claims: ClaimsRequest? = nil
    ) async throws -> AuthenticationResult {
      let client = try client(tenant: tenant)
      let account = try #require(await client.accountsFromDevice().first)
      return try await client.acquireTokenSilent(
        SilentRequest(scopes: ["User.Read"], account: account, forceRefresh: forceRefresh, claims: claims))
    }

    /// The error of a request for a token.
    func failure(tenant: String = LentThings.tenant) async -> IdentityError? {
      await #expect(throws: IdentityError.self) { try await token(tenant: tenant) }
    }
  }

  @Test func `A client without a cache gets a token and stores nothing`() async throws {
    let loan = try Borrowed { _ in (200, LentThings.token()) }
    let client = try loan.client()
    let account = try #require(await client.accountsFromDevice().first)
    #expect(account.username == "alice@contoso.test" && account.homeAccountID == LentThings.account)
    for _ in 1...2 {
      let result = try await client.acquireTokenSilent(SilentRequest(scopes: ["User.Read"], account: account))
      #expect(result.accessToken == "lent-token" && result.source == .broker)
      #expect(result.account.username == "alice@contoso.test" && result.tenantProfile?.isHomeTenant == true)
      #expect(result.expiresOn == LentThings.tokenEnd && result.scopes == ["User.Read"])
    }
    #expect(try await client.cache.snapshot().document == CacheDocument())
    #expect(loan.tokenRequests.count == 2)
    #expect(
      loan.tokenRequests.first == [
        "api-version": "2019-08-01", "scope": "User.Read", "client_id": LentThings.client,
        "min_validity": "300",
      ])
  }

  @Test func `The terms of a loan are read`() async throws {
    let loan = try Borrowed { _ in (200, "") }
    let terms = try await loan.lender.terms()
    #expect(terms.scopes == [["User.Read", "Mail.Read"], ["https://management.azure.com/.default"]])
    #expect(terms.clientID == LentThings.client && terms.tenantID == LentThings.tenant)
    #expect(terms.authority.description == "https://login.microsoftonline.com/\(LentThings.tenant)")
    #expect(terms.end == Date(timeIntervalSince1970: 4_102_444_800))
    let profile = terms.account.tenantProfiles.first
    #expect(profile?.localAccountID == "a11ce000-0000-4000-8000-000000000001")
    #expect(try await loan.lender.isAvailable())
    #expect(
      try await !loan.lender.supportsInteractiveSignIn(clientID: LentThings.client, correlationID: UUID()))
  }

  @Test func `Interactive sign-in is not possible where tokens are borrowed`() async throws {
    let loan = try Borrowed { _ in (200, LentThings.token()) }
    let client = try loan.client()
    await expectError(.interactionRequired) {
      try await client.acquireToken(InteractiveRequest(scopes: ["User.Read"]))
    }
    #expect(loan.server.connectionCount == 0)
  }

  @Test func `Tokens of AD FS, B2C and others are lent like those of Entra ID`() async throws {
    for authority in [
      "https://adfs.contoso.test/adfs", "https://contoso.b2clogin.com/contoso.onmicrosoft.com/policy",
    ] {
      let offer = LentThings.terms(["authority": .string(authority), "tenant_id": .null])
      let loan = try Borrowed(terms: offer) { _ in (200, LentThings.token(["tenant_id": .null])) }
      let terms = try await loan.lender.terms()
      let result = try await loan.client(authority: terms.authority).acquireTokenSilent(
        SilentRequest(scopes: ["User.Read"], account: terms.account))
      #expect(result.accessToken == "lent-token")
    }
  }

  @Test(arguments: [
    ("https://id.example.test", Authority.Kind.oidc), ("https://id.example.test/realms/main", .oidc),
    ("https://login.contoso.test/contoso.onmicrosoft.com/policy", .b2c),
    ("https://adfs.contoso.test/adfs", .adfs),
  ])
  func `The terms name the kind of authority`(_ address: String, _ kind: Authority.Kind) throws {
    let authority = try Authority(url: #require(URL(string: address)), kind: kind)
    let loan = try Loan(
      scopes: [["User.Read"]], account: TestLender.alice, clientID: LentThings.client,
      authority: authority, duration: .seconds(60))
    let response = try LenderResponse(JSONEncoder().encode(loan.response))
    #expect(try Loan(response, source: "loan").authority == authority)
  }

  @Test func `The hash of a refused token gets another one`() async throws {
    let number = Mutex(0)
    let loan = try Borrowed { query in
      let count = number.withLock { number in
        if query["token_sha256_to_refresh"] == LoanProtocol.hash(of: "token-\(number)") { number += 1 }
        return number
      }
      let scope = JSONValue.string(query["scope"] ?? "")
      return (200, LentThings.token(["access_token": .string("token-\(count)"), "scope": scope]))
    }
    let client = try loan.client()
    let account = try #require(await client.accountsFromDevice().first)
    let claims = try ClaimsRequest(json: #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#)
    var request = SilentRequest(scopes: ["User.Read"], account: account)
    #expect(try await client.acquireTokenSilent(request).accessToken == "token-0")
    request.claims = claims
    #expect(try await client.acquireTokenSilent(request).accessToken == "token-1")
    #expect(try await client.acquireTokenSilent(request).accessToken == "token-2")
    // Without an earlier token the borrower first gets the current one.
    request = SilentRequest(scopes: ["Mail.Read"], account: account, forceRefresh: true)
    #expect(try await client.acquireTokenSilent(request).accessToken == "token-3")
    #expect(
      loan.tokenRequests.map { $0["token_sha256_to_refresh"] != nil } == [false, true, true, false, true])
  }

  @Test(
    .fault("demands more"),
    arguments: [
      #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#,
      #"{"access_token":{"nbf":{"essential":true,"value":"1"},"polids":{"essential":true,"values":["p"]}}}"#,
      #"{"id_token":{"nbf":{"essential":true,"value":"1"}}}"#,
    ])
  func `Claims other than a newer token fail at once, and no lender is asked`(claims: String)
    async throws
  {
    let loan = try Borrowed { _ in (200, LentThings.token()) }
    let error = await expectError(.interactionRequired) {
      try await loan.token(claims: try ClaimsRequest(json: claims))
    }
    #expect(
      error?.mustBeResolvedByLender == true && error?.advice?.contains("where the tokens are lent") == true)
    var request = Self.request
    request.claims = String(claims.dropLast())
    await expectError(.interactionRequired) { try await loan.lender.tokenSilently(request) }
    #expect(loan.tokenRequests.isEmpty)
  }

  private static let request = BrokerRequest(
    clientID: LentThings.client, authority: .default, scopes: ["User.Read"], correlationID: UUID())

  @Test func `A token that ends now has expired`() throws {
    let end = Date(timeIntervalSince1970: 1_000_000_000)
    let response = try LenderResponse(Data(LentThings.token(["expires_on": "1000000000"]).utf8))
    let token = try response.token(for: Self.request, source: "loan", at: end - 1).0
    #expect(token.expiresOn == end)
    #expect(throws: IdentityError(.brokerFailed, "")) {
      try response.token(for: Self.request, source: "loan", at: end)
    }
  }

  @Test(.fault("demands more"))
  func `A resource that demands a newer token, with a reason, gets one`() async throws {
    let loan = try Borrowed { query in
      let name = query["token_sha256_to_refresh"] == nil ? "old" : "new"
      return (200, LentThings.token(["access_token": .string(name)]))
    }
    let claims = #"{"access_token":{"nbf":{"essential":true,"value":"1"},"xms_caeerror":{"value":"10012"}}}"#
    #expect(try await loan.token(claims: try ClaimsRequest(json: claims)).accessToken == "new")
  }

  @Test func `The same token again is an error`() async throws {
    let loan = try Borrowed { _ in (200, LentThings.token()) }
    await expectError(.interactionRequired) { try await loan.token(forceRefresh: true) }
  }

  @Test func `A token that expires soon is better than none`() async throws {
    let loan = try Borrowed { query in
      query["min_validity"] == nil
        ? (200, LentThings.token())
        : (400, LentThings.refusal("short_lived", 400, "It is good for a minute."))
    }
    #expect(try await loan.token().accessToken == "lent-token")
    #expect(loan.tokenRequests.map { $0["min_validity"] } == ["300", nil])
  }

  @Test(.fault("wrong account"))
  func `Another account, client or tenant than was asked for is refused`() async throws {
    let mallory = LentThings.account.replacing("a11ce", with: "bad00")
    let other = LentThings.tenant.replacing("7", with: "8")
    for (change, code) in [
      (["home_account_id": .string(mallory)], .mismatchedUser), (["client_id": "another"], .brokerFailed),
      (["tenant_id": .string(other)], .invalidParameter),
    ] as [(JSONObject, IdentityError.Code)] {
      let loan = try Borrowed { _ in (200, LentThings.token(change)) }
      let error = await loan.failure()
      #expect(error?.code == code, "\(change): \(String(describing: error))")
    }
    let loan = try Borrowed { _ in (200, LentThings.token()) }
    await expectError(.unauthorizedClient) {
      try await loan.lender.accounts(clientID: "another", correlationID: UUID())
    }
    // A domain may mean any tenant, unless it is in the terms.
    #expect(await loan.failure(tenant: "contoso.test")?.code == .invalidParameter)
  }

  private static let invalidTokens: [Named<String>] = [
    Named("nothing", ""), Named("text", "token"), Named("an array", "[]"), Named("another object", "{}"),
    Named("null", "null"),
    Named("half an object", #"{"access_token":"#), Named("no UTF-8", "\u{fffd}\0"),
    Named("deep", String(repeating: "[", count: 100_000)),
    // With the eight members of the token.
    Named("2001 values", LentThings.token(["x": .array(Array(repeating: .null, count: 1992))])),
    Named(
      "17 levels",
      LentThings.token(["x": (1...16).reduce(JSONValue.null) { value, _ in .array([value]) }])),
    Named("no token", LentThings.token(["access_token": ""])),
    Named("a token of two lines", LentThings.token(["access_token": "a\r\nX-Header: b"])),
    Named("a number for a token", LentThings.token(["access_token": .integer(1)])),
    Named("another type", LentThings.token(["token_type": "pop"])),
    Named("no account", LentThings.token(["home_account_id": " "])),
    Named("an id of two lines", LentThings.token(["home_account_id": "a\nb"])),
    Named("expired", LentThings.token(["expires_on": "1000000000"])),
    Named("no expiry", LentThings.token(["expires_on": ""])),
    Named("the year 10000", LentThings.token(["expires_on": "253402300800"])),
    Named("a negative expiry", LentThings.token(["expires_on": "-1"])),
    Named("an expiry in the far future", LentThings.token(["expires_on": "999999999999"])),
    Named("a huge expiry", LentThings.token(["expires_on": .string(String(repeating: "9", count: 400))])),
    Named("an expiry that is not a number", LentThings.token(["expires_on": "nan"])),
    Named("an expiry with an exponent", LentThings.token(["expires_on": "9e9"])),
    Named("a huge expiry with an exponent", LentThings.token(["expires_on": "1e300"])),
  ]

  @Test(.fault("invalid lender"), arguments: invalidTokens)
  func `An invalid token response is brokerFailed`(body: Named<String>) async throws {
    let loan = try Borrowed { _ in (200, body.value) }
    let error = await loan.failure()
    #expect(error?.code == .brokerFailed, "\(String(describing: error))")
    #expect(error?.message.contains("The lender failed") == true)
    #expect(error?.description.contains("X-Header") == false)
  }

  @Test(
    .fault("invalid lender"),
    arguments: [
      "", "{}", LentThings.terms(["authority": "http://example.com/x"]), LentThings.terms(["authority": ""]),
      LentThings.terms(["client_id": ""]), LentThings.terms(["expires_on": "soon"]),
      LentThings.terms(["home_account_id": ""]), LentThings.terms(["scopes": "User.Read"]),
    ].abbreviated)
  func `An invalid terms response is brokerFailed`(body: Named<String>) async throws {
    let loan = try Borrowed(terms: body.value) { _ in (200, "") }
    await expectError(.brokerFailed) { try await loan.lender.terms() }
  }

  @Test(.fault("exit 4", "invalid lender"))
  func `A lender that disconnects, floods or is silent is brokerFailed`() async throws {
    // What it writes first, and what it then repeats.
    let faults: [(name: String, start: String, block: String?)] = [
      ("closes in the middle", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", nil),
      ("endless body", "HTTP/1.1 200 OK\r\n\r\n", String(repeating: " ", count: 4096)),
      ("endless header", "HTTP/1.1 200 OK\r\n", "X: \(String(repeating: "x", count: 4096))\r\n"),
      ("no HTTP", "220 mail.contoso.test ESMTP\r\n\r\n", nil),
    ]
    for fault in faults {
      let loan = try Borrowed { connection in
        _ = connection.readRequest()
        connection.write(fault.start)
        while let block = fault.block, connection.write(block) {}
      }
      let error = await #expect(throws: IdentityError.self) { try await loan.lender.terms() }
      #expect(error?.code == .brokerFailed, "\(fault.name): \(String(describing: error))")
      #expect(error?.isLenderGone == fault.name.hasPrefix("closes"), "\(fault.name)")
    }
    let hasty = try Borrowed { _ in }
    let gone = await expectError(.brokerFailed) { try await hasty.lender.terms() }
    #expect(gone?.isLenderGone == true)
    let silent = try Borrowed(timeout: .milliseconds(300)) { connection in while connection.read() != nil {} }
    let error = await expectError(.brokerFailed) { try await silent.lender.terms() }
    #expect(error?.isLenderGone == true)
  }

  @Test func `A cancelled request does not wait for the lender`() async throws {
    let (asked, ask) = AsyncStream<Void>.makeStream()
    let loan = try Borrowed { connection in
      _ = connection.readRequest()
      ask.yield()
      while connection.read() != nil {}
    }
    let task = Task { try await loan.lender.terms() }
    for await _ in asked { break }
    task.cancel()
    await expectError(.cancelled) { try await task.value }
  }

  @Test(.fault("no lender"))
  func `A socket without a listener is noBroker`() async throws {
    let directory = try TemporaryDirectory()
    try RawServer.leaveBehind(at: directory.path + "/left")
    try directory.file("file")
    for name in ["left", "file", "none"] {
      let lender = LoanBroker(transport: try SoupHTTPTransport(unixSocket: "\(directory.path)/\(name)"))
      let error = await expectError(.noBroker) { try await lender.terms() }
      #expect(error?.isLenderGone == true)
      #expect(try await !lender.isAvailable())
    }
  }

  @Test(
    .fault("loan over"),
    arguments: [
      ("invalid_scope", 403, .invalidScope), ("access_denied", 403, .authorizationFailed),
      ("interaction_required", 400, .interactionRequired), ("temporarily_unavailable", 503, .network),
      ("unauthorized_client", 403, .unauthorizedClient), ("server_error", 500, .brokerFailed),
      ("invalid_request", 400, .brokerFailed), ("another_word", 418, .brokerFailed),
    ] as [(String, Int, IdentityError.Code)])
  func `A refusal of the lender keeps its meaning`(word: String, status: Int, code: IdentityError.Code)
    async throws
  {
    let loan = try Borrowed { _ in (status, LentThings.refusal(word, status, "Because.\u{1b}[31m")) }
    let error = await loan.failure()
    #expect(error?.code == code && error?.oauthError == word && error?.httpStatus == status)
    #expect(error?.message.contains("Because.") == true && error?.message.contains("\u{1b}") == false)
  }

  @Test(.fault("invalid lender"))
  func `An invalid refusal is brokerFailed`() async throws {
    for (status, body) in [
      (403, "<html>"), (500, ""), (302, ""), (200, LentThings.refusal("access_denied", 403, "No.")),
    ] {
      let loan = try Borrowed { _ in (status, body) }
      #expect(await loan.failure()?.code == .brokerFailed)
    }
  }

  @Test func `A printed broker or result has no token`() async throws {
    let loan = try Borrowed { _ in (200, LentThings.token()) }
    let result = try await loan.token()
    #expect(!"\(result) \(loan.lender) \(String(reflecting: loan.lender))".contains("lent-token"))
    var dumped = ""
    dump(loan.lender, to: &dumped)
    #expect(!dumped.contains("lent-token"))
  }
}
