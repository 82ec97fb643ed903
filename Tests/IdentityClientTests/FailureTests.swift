import Foundation
import Logging
import TestSupport

@testable import IdentityClient

struct FailureTests {
  private let test = TestClient()
  /// Its access token has expired.
  private let account: Account

  init() async throws { account = try await test.expired() }

  @Test(
    .conformance(61, 62),
    arguments: [
      (HTTPTransportError.cannotFindHost("no such name"), 2), (.cannotConnect("refused"), 2),
      (.connectionLost("reset"), 2), (.timedOut, 2), (.untrustedServer("self-signed"), 1),
      (.malformedResponse("garbage"), 1), (.responseTooLarge(limit: 1 << 20), 1),
    ])
  func `Each network failure has its own error`(_ failure: HTTPTransportError, _ attempts: Int) async throws {
    let before = test.transport.tokenRequests.count
    test.transport.answerTokens(.failure(failure), .failure(failure))
    let error = await expectError(.network) { try await test.silent(account) }
    #expect(error?.transportError == failure)
    #expect(error?.isThrottled == false)
    #expect(test.transport.tokenRequests.count == before + attempts)
    #expect(test.clock.waits.count == attempts - 1)
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
  }

  @Test(.conformance(61)) func `The advice about a certificate is the transport's alone`() {
    let error = IdentityError(transport: .untrustedServer("The certificate of id.test has expired."))
    #expect(error.description == "A certificate is not trusted: The certificate of id.test has expired.")
  }

  @Test(.fault("no sign-in helps"), arguments: [530_036, 53003, 50057, 700_016, 50105])
  func `The advice after a refusal that no sign-in ends does not ask for one`(_ code: Int64) throws {
    let error = try #require(
      IdentityError(refusal: ["error": "interaction_required", "error_codes": .array([.integer(code)])]))
    #expect(!error.canBeResolvedBySignIn)
    #expect(error.advice.map { !$0.lowercased().contains("sign in") } == true)
  }

  @Test(
    .fault("empty parameter"),
    arguments: [
      ("A parameter of the request is empty: check the one that the server names", [900_144]),
      ("The account is not in this tenant", [16000, 50020, 51004, 90072]),
      ("The redirect URI is not registered", [50011, 500_112]),
      ("The user name or the password is wrong", [50034, 50126]), ("The account is locked", [50053]),
      ("The password has expired", [50055, 50144]), ("The server cannot tell the tenant", [50059, 90019]),
      ("A second factor is needed", [50072, 50074, 50076, 50078, 50079, 50158]),
      ("The session has expired", [50085, 50173, 50132, 50133, 50089, 70008, 700_082, 70043]),
      ("The device must be registered", [50097, 50187, 53000, 53001, 50129]),
      ("The cloud or the tenant does not exist", [50049, 90002, 90038]), ("Consent is needed", [65001]),
      ("An administrator has to consent", [90094, 90095]), ("The person declined", [65004]),
      ("Check the scopes", [70011, 28002, 700_022, 700_023]),
      ("The failure is temporary", [90006, 90024, 90033, 90090, 50033, 50087]),
      ("The application cannot be used with this kind of account", [9_002_332, 90130, 90124]),
      ("The account or the application is disabled", [50057, 7_000_112, 70001]),
      ("The organisation's policies block", [53003, 530_032, 530_035, 530_036, 53004, 53011]),
    ] as [(String, [Int])])
  func `Each of Microsoft's numbers has its advice, and of several the first`(
    _ advice: String, _ codes: [Int]
  ) {
    for code in codes {
      let error = IdentityError(refusal: "invalid_grant", codes: [1, code, 54005])
      #expect(error.advice?.hasPrefix(advice) == true, "\(code)")
    }
  }

  @Test func `A password to reset at B2C has its advice, and one number that no sign-in ends is enough`() {
    let reset = IdentityError(refusal: "access_denied", description: "AADB2C90118: forgotten")
    #expect(reset.advice?.hasPrefix("The person asked to reset the password") == true)
    #expect(reset.canBeResolvedBySignIn)
    #expect(!IdentityError(refusal: "invalid_grant", codes: [50076, 50105]).canBeResolvedBySignIn)
    // Neither does one help where the request is for several resources.
    let several = IdentityError(refusal: "invalid_request", codes: [28000])
    #expect(several.forSilentRequest.code == .invalidRequest)
  }

  @Test(.conformance(61)) func `The task's end is no failure of the network`() async throws {
    test.transport.answerTokens(.failure(.cancelled))
    await expectError(.cancelled) { try await test.silent(account) }
  }

  @Test(.conformance(63)) func `A server that fails once is asked again half a second later`() async throws {
    test.transport.answerTokens(.text("oops", status: 500), test.tokens())
    #expect(try await test.silent(account).accessToken == "access-2")
    #expect(test.clock.waits == [.milliseconds(500)])
  }

  @Test(.conformance(63)) func `How often and how soon can be set`() async throws {
    let own = test.another { configuration in
      configuration.httpRetryCount = 3
      configuration.httpRetryInterval = .seconds(2)
    }
    own.transport.answerTokens(
      .text("", status: 500), .text("", status: 502), .text("", status: 504), test.tokens())
    #expect(try await own.silent(account).accessToken == "access-2")
    #expect(test.clock.waits == [.seconds(2), .seconds(2), .seconds(2)])
  }

  @Test func `How requests are sent is read when one is made`() async throws {
    let settings = Mutex<HTTPSettings>((retryCount: 0, retryInterval: .seconds(9), timeout: .seconds(7)))
    let transport = ScriptedTransport()
    let clock = TestClock()
    let sender = HTTPSender(
      transport: transport, settings: { settings.withLock { $0 } }, timing: clock.timing,
      log: ClientLog(logger: Logger(label: "test"), showsPersonalData: false))
    let url = try #require(URL(string: "https://login.microsoftonline.com/common/oauth2/v2.0/token"))
    transport.answerTokens(.text("", status: 500))
    #expect(try await sender.send([:], to: url).head.status.code == 500)
    #expect(transport.requests.last?.timeout == .seconds(7))
    settings.withLock { $0 = (retryCount: 1, retryInterval: .seconds(3), timeout: .seconds(6)) }
    transport.answerTokens(.text("", status: 500), .text("", status: 503))
    #expect(try await sender.send([:], to: url).head.status.code == 503)
    // One deadline for both attempts, within which there is no third one.
    settings.withLock { $0.retryCount = 3 }
    transport.answerTokens(.text("", status: 500), .text("", status: 503))
    #expect(try await sender.send([:], to: url).head.status.code == 503)
    #expect(transport.requests.suffix(2).map(\.timeout) == [.seconds(6), .seconds(3)])
    #expect(clock.waits == [.seconds(3), .seconds(3)])
  }

  @Test(.conformance(62)) func `The requests of a silent call have one deadline`() async throws {
    let own = test.another { $0.httpTimeout = .seconds(60) }
    own.transport.script { [clock = own.clock] _ in
      clock.advance(20)
      return nil
    }
    own.transport.answerTokens(test.tokens())
    _ = try await own.silent(account)
    #expect(own.transport.requests.map(\.timeout) == [.seconds(60), .seconds(40)])
  }

  @Test(arguments: [
    ("login.microsoftonline.com", true), ("contoso.b2clogin.com", false), ("contoso.ciamlogin.com", false),
    ("fs.contoso.test", false), ("graph.microsoft.us", true),
  ])
  func `The log masks hosts that name an organization`(_ host: String, _ isShown: Bool) async throws {
    let (transport, lines) = (ScriptedTransport(), LogLines())
    transport.answerTokens(.text("", status: 400))
    let url = try #require(URL(string: "https://\(host)/contoso/oauth2/v2.0/token"))
    let logged = LoggedTransport(transport, logger: Logger(label: "test", factory: { _ in lines.handler }))
    _ = try await logged.send(HTTPTransportRequest(try #require(HTTPRequest(.post, https: url))))
    #expect(lines.count(of: "The server responded.") == 1)
    #expect(lines.text.contains(host) == isShown)
  }

  @Test(
    .conformance(63, 64),
    arguments: [
      (503, "40" as String?, 40.0), (429, "40", 40), (429, nil, 60), (503, nil, 60), (500, nil, 60),
      (400, "40", 40), (429, "0", 0), (429, "7200", 3600), (429, "999999999", 3600), (429, "soon", 60),
      (429, "-5", 0),
      // The clock stands at 09:06:40 then.
      (429, "Fri, 15 Jan 2027 09:08:20 GMT", 100),
    ])
  func `Retry-After is respected`(_ status: Int, _ retryAfter: String?, _ seconds: Double) async throws {
    let answer = ScriptedAnswer.refusal(
      "temporarily_unavailable", status: status, headers: retryAfter.map { ["Retry-After": $0] } ?? [:])
    test.transport.answerTokens(answer)
    if status >= 500, retryAfter == nil { test.transport.answerTokens(answer) }
    let first = await #expect(throws: IdentityError.self) { try await test.silent(account) }
    #expect(first?.isThrottled == false)
    #expect(first?.httpStatus == status)
    let before = test.transport.requests.count
    if seconds > 0 {
      test.clock.advance(seconds - 1)
      let second = await #expect(throws: IdentityError.self) { try await test.silent(account) }
      #expect(second?.isThrottled == true)
      #expect(second?.code == first?.code)
      #expect(test.transport.requests.count == before)
      test.clock.advance(1)
    }
    test.transport.answerTokens(test.tokens())
    #expect(try await test.silent(account).accessToken == "access-2")
  }

  @Test func `A date in Retry-After is relative to the server's clock`() async throws {
    test.transport.answerTokens(
      .refusal(
        "temporarily_unavailable", status: 429,
        headers: ["Date": "Fri, 31 Dec 1999 23:59:29 GMT", "Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"]))
    for isThrottled in [false, true] {
      let error = await #expect(throws: IdentityError.self) { try await test.silent(account) }
      #expect(error?.isThrottled == isThrottled)
    }
    test.clock.advance(31)
    test.transport.answerTokens(test.tokens())
    #expect(try await test.silent(account).accessToken == "access-2")
  }

  @Test(.conformance(64)) func `Other requests are not throttled; the same request is`() async throws {
    test.transport.answerTokens(.json([:], status: 429))
    await expectError(.unhandledResponse) { try await test.silent(account) }
    test.transport.answerTokens(test.tokens("other", refresh: "refresh-1", scope: "Other"))
    #expect(try await test.silent(account, ["Other"]).accessToken == "other")
    let error = await #expect(throws: IdentityError.self) { try await test.silent(account) }
    #expect(error?.isThrottled == true)
  }

  @Test(.conformance(64)) func `A request that needs a person waits for a sign-in`() async throws {
    test.transport.answerTokens(.refusal("invalid_grant", "basic_action"))
    await expectError(.interactionRequired) { try await test.silent(account) }
    let before = test.transport.requests.count
    let error = await #expect(throws: IdentityError.self) { try await test.silent(account) }
    #expect(error?.isThrottled == true)
    #expect(error?.code == .interactionRequired)
    #expect(error?.subError == "basic_action")
    #expect(test.transport.requests.count == before)
    // The server gives the refresh token it gave before.
    try await test.signIn(scopes: ["Something.Else"])
    test.transport.answerTokens(test.tokens())
    #expect(try await test.silent(account).accessToken == "access-2")
  }

  @Test(.conformance(64)) func `Or until two minutes have passed`() async throws {
    test.transport.answerTokens(.refusal("invalid_grant"), .refusal("invalid_grant"))
    await expectError(.interactionRequired) { try await test.silent(account) }
    test.clock.advance(121)
    let error = await #expect(throws: IdentityError.self) { try await test.silent(account) }
    #expect(error?.isThrottled == false)
  }

  @Test(.conformance(64)) func `A clock that is put back does not prolong it`() async throws {
    test.transport.answerTokens(.json([:], status: 429))
    await expectError(.unhandledResponse) { try await test.silent(account) }
    test.clock.advance(-100)
    test.transport.answerTokens(test.tokens())
    #expect(try await test.silent(account).accessToken == "access-2")
  }

  @Test(.conformance(64)) func `The memory for it is bounded`() {
    let throttle = Throttle()
    let now = Date(timeIntervalSince1970: 0)
    for number in 0..<1500 {
      throttle.add(IdentityError(.serverError, ""), for: "\(number)", seconds: Double(number + 1), at: now)
    }
    let kept = (0..<1500).filter { throttle.error(for: ["\($0)"], at: now) != nil }
    #expect(kept == Array(500..<1500))
  }

  @Test(
    .conformance(65),
    arguments: [
      (ScriptedAnswer.text("<html>Welcome to the hotel</html>"), IdentityError.Code.invalidResponse),
      (.text("", status: 400), .unexpectedHTTPResponse), (.text(""), .invalidResponse),
      (.text("{\"access_token\":"), .invalidResponse), (.text("[]"), .invalidResponse),
      (.text("{}"), .invalidResponse), (.text("{\"access_token\":\"\"}"), .invalidResponse),
      (.text("{\"access_token\":7}"), .invalidResponse), (.text("\u{FFFD}\u{0}"), .invalidResponse),
      (.text(String(repeating: "[", count: 100_000)), .invalidResponse),
      (.text(String(repeating: "{\"a\":", count: 100_000)), .invalidResponse),
      (.text("not found", status: 404), .unexpectedHTTPResponse),
      (.text("forbidden", status: 403), .unexpectedHTTPResponse),
      // Invalid UTF-8.
      (.bytes([0xFF, 0xFE]), .invalidResponse), (.bytes([0x00]), .invalidResponse),
      (
        .bytes(Array(#"{"access_token":"a"#.utf8) + [0xE9] + Array(#"","expires_in":3600}"#.utf8)),
        .invalidResponse
      ),
    ].abbreviated)
  func `Invalid responses are errors`(_ row: Named<(ScriptedAnswer, IdentityError.Code)>) async throws {
    let (answer, code) = row.value
    test.transport.answerTokens(answer)
    await expectError(code) { try await test.silent(account) }
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
  }

  @Test(.conformance(65), .fault("part"), arguments: [201, 202, 203, 204, 206, 207, 226])
  func `A status of success that a token request cannot have is an error`(_ status: Int) async throws {
    let fields = TestPerson.alice.tokens(
      at: test.clock.now, scope: "User.Read", access: "access-2", refresh: "refresh-2")
    test.transport.answerTokens(.json(fields, status: status, headers: ["Content-Range": "bytes 0-99/200"]))
    let error = await expectError(.unexpectedHTTPResponse) { try await test.silent(account) }
    #expect(error?.httpStatus == status)
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
  }

  @Test(
    .conformance(65),
    arguments: [
      (["expires_in": "1800"] as JSONObject, 1800.0), (["expires_in": .double(1800.5)], 1800),
      (["expires_in": .integer(-1)], 0), (["expires_in": .double(1e20)], 3600),
      (["expires_in": .array([])], 3600),
      (["expires_in": .null], 3600), (["scope": .array(["User.Read", "openid"])], 3600),
      (["scope": .integer(1)], 3600),
      (["refresh_in": "x", "ext_expires_in": .object([:]), "foci": .integer(1)], 3600),
    ].abbreviated)
  func `Members of the wrong type are read or omitted`(_ row: Named<(JSONObject, Double)>) async throws {
    let (changes, lifetime) = row.value
    test.transport.answerTokens(test.tokens(changing: changes))
    let result = try await test.silent(account)
    #expect(result.accessToken == "access-2")
    #expect(result.expiresOn == test.clock.now.addingTimeInterval(lifetime))
    if lifetime > 0 { #expect(try await test.silent(account).source == .cache) }
  }

  @Test(
    .conformance(65),
    arguments: [nil, .string(""), .string(" "), .null, .integer(1), .string("a\r\nX: y")] as [JSONValue?])
  func `A response without an access token changes nothing`(_ token: JSONValue?) async throws {
    var answer: JSONObject = ["refresh_token": "refresh-2", "token_type": "Bearer"]
    answer["access_token"] = token
    test.transport.answerTokens(.json(answer), test.tokens())
    await expectError(.invalidResponse) { try await test.silent(account) }
    #expect(try await test.silent(account).accessToken == "access-2")
    #expect(Set(test.transport.tokenRequests.suffix(2).map { $0.form["refresh_token"] }).count == 1)
  }

  @Test(arguments: [
    ("invalid_scope", nil as String?, IdentityError.Code.invalidScope),
    ("invalid_client", nil, .invalidClient),
    ("unauthorized_client", "protection_policy_required", .serverProtectionPoliciesRequired),
    ("unauthorized_client", nil, .interactionRequired), ("access_denied", nil, .interactionRequired),
    ("consent_required", nil, .interactionRequired), ("login_required", nil, .interactionRequired),
    ("interaction_required", nil, .interactionRequired), ("something_new", nil, .interactionRequired),
    ("INVALID_SCOPE", nil, .invalidScope), ("temporarily_unavailable", nil, .serverError),
  ])
  func `Refusals of the application need no sign-in`(
    _ name: String, _ subError: String?, _ code: IdentityError.Code
  ) async throws {
    test.transport.answerTokens(.refusal(name, subError))
    let error = await expectError(code) { try await test.silent(account) }
    #expect(error?.oauthError == name)
    #expect(error?.subError == subError)
  }

  @Test func `The next request tells the server how those before it ended`() async throws {
    let id = UUID()
    // The field is a list of ASCII words.
    test.transport.answerTokens(.refusal("new,é_error"))
    await #expect(throws: IdentityError.self) { try await test.silent(account) { $0.correlationID = id } }
    test.transport.answerTokens(test.tokens(scope: "Other"), test.tokens(scope: "Third"))
    _ = try await test.silent(account, ["Other"])
    #expect(
      test.transport.tokenRequests.last?.headers["x-client-last-telemetry"]
        == "4|0|34,\(id.uuidString.lowercased())|new_error|")
    _ = try await test.silent(account, ["Other"])
    _ = try await test.silent(account, ["Other"])
    _ = try await test.silent(account, ["Third"])
    #expect(test.transport.tokenRequests.last?.headers["x-client-last-telemetry"] == "4|2|||")
  }

  @Test func `Of earlier failures the server is told the newest that fit`() {
    let many = ServerTelemetry()
    for _ in 0..<100 { many.finished(0, correlationID: nil, error: "") }
    let calls = Array(repeating: "0,", count: 75).joined(separator: ",")
    #expect(many.last == "4|0|\(calls)|\(String(repeating: ",", count: 74))|")
    for (length, fits) in [(341, true), (342, false)] {
      let (telemetry, error) = (ServerTelemetry(), String(repeating: "e", count: length))
      for error in ["old", error] { telemetry.finished(34, correlationID: nil, error: error) }
      #expect(telemetry.last == (fits ? "4|0|34,|\(error)|" : "4|0|||"))
    }
  }

  @Test(arguments: [
    ("1,0,0,,I", "I" as String?), ("1,0,0,,I,1", "I"), ("2,0,0,,I", nil), ("1,0,0,I", nil), ("1,0,0,,", nil),
  ])
  func `The account's kind that the server tells in a header field is kept`(
    _ field: String, _ kind: String?
  ) async throws {
    let fields = TestPerson.alice.tokens(at: test.clock.now, access: "access-2", refresh: "refresh-2")
    test.transport.answerTokens(.json(fields, headers: ["x-ms-clitelem": field]))
    _ = try await test.silent(account)
    #expect(try await test.cache.snapshot().document.refreshTokens.values.map(\.speInfo) == [kind])
  }

  @Test func `Microsoft's servers are told of no request to another provider`() async throws {
    test.transport.script { seen in
      seen.form["grant_type"] == "authorization_code" ? .refusal("invalid_grant") : nil
    }
    var request = InteractiveRequest(scopes: ["User.Read"])
    request.authority = try Authority(
      url: #require(URL(string: "https://id.example.test/realm")), kind: .oidc)
    await expectError(.invalidGrant) { [request] in try await test.client.acquireToken(request) }
    test.transport.answerTokens(test.tokens())
    _ = try await test.silent(account)
    #expect(test.transport.tokenRequests.last?.headers["x-client-last-telemetry"] == "4|0|||")
  }

  @Test(.conformance(72)) func `No log, error or result has a secret, and no log a person`() async throws {
    let secrets = [
      "access-1", "access-2", "refresh-1", "refresh-2", "code-1", TestPerson.alice.clientInfo,
      TestPerson.alice.idToken(at: test.clock.now),
    ]
    let people = ["alice@contoso.test", TestPerson.alice.uid, TestPerson.alice.home]
    let result = try await test.signIn()
    test.clock.advance(4000)
    test.transport.answerTokens(.text("", status: 503), .text("", status: 503))
    let failure = await #expect(throws: IdentityError.self) { try await test.silent(result.account) }
    test.clock.advance(100)
    test.transport.answerTokens(test.tokens())
    let second = try await test.silent(result.account)
    _ = try await test.silent(result.account)
    test.store.lock(isReadable: true)
    test.transport.answerTokens(.refusal("invalid_grant", "bad_token"))
    await #expect(throws: IdentityError.self) { try await test.renew(result.account) }
    let log = test.log.text
    #expect(log.contains("The server gave tokens."))
    #expect(log.contains("could not be removed"))
    #expect(failure?.advice == "Try again later.")
    // Those of requests and those of results.
    let ids = log.matches(of: /"correlation": ([0-9a-fA-F-]+)/).map { String($0.output.1) }
    #expect(Set(ids).count >= 4 && ids.allSatisfy { $0 == $0.lowercased() }, "\(ids)")
    let verifier = test.transport.tokenRequests.compactMap { $0.form["code_verifier"] }
    let state = try #require(test.browser.lastQuery["state"])
    let texts = [log, "\(result)", "\(second)", String(reflecting: result), "\(failure as Any)"]
    for text in texts {
      for secret in secrets + verifier + [state] { #expect(!text.contains(secret)) }
    }
    for person in people { #expect(!log.contains(person)) }
  }

  @Test(.conformance(72), arguments: ["login.microsoftonline.com", "login.contoso.test"])
  func `A proxy is not named in the log, and a host only if it is Microsoft's`(_ host: String) async throws {
    let own = TestClient("https://\(host)/adfs", kind: .adfs)
    let unreachable = HTTPTransportError.cannotFindHost("\(host): Error resolving proxy.contoso.test")
    own.transport.script { _ in .failure(unreachable) }
    await expectError(.network) { try await own.acquire() }
    #expect(own.log.text.contains("The server could not be reached."))
    #expect(!own.log.text.contains("proxy"))
    #expect(own.log.text.contains(host) == (host == "login.microsoftonline.com"))
  }

  @Test(.conformance(72)) func `The log shows personal data if configured`() async throws {
    let own = TestClient { $0.logsPersonalData = true }
    try await own.signIn()
    #expect(own.log.text.contains(TestPerson.alice.homeAccountID))
    #expect(!own.log.text.contains("access-1"))
  }
}

struct RetryAfterTests {
  private let now = Date(timeIntervalSince1970: 784_111_777)

  @Test(arguments: [
    ("120", 120.0 as Double?), (" 120 ", 120), ("1.5", 1.5), ("-1", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
    ("Sun, 06 Nov 1994 08:51:37 GMT", 120), ("Sun, 06 Nov 1994 08:40:00 GMT", 0),
    ("Sunday, 06-Nov-94 08:51:37 GMT", 120), ("Sun Nov  6 08:51:37 1994", 120),
    ("Sun, 06 Nov 1994 08::51:37 GMT", nil), ("\t120", 120),
    ("Thu, 29 Feb 1996 00:00:00 GMT", 41_440_223), ("Sun, 06 Nov 1994 25:00:00 GMT", nil),
    ("Sun, 06 Foo 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37", nil), ("", nil), ("inf", nil),
    ("nan", nil),
  ])
  func `Is read`(_ text: String, _ seconds: Double?) {
    #expect(HTTPDate.secondsToWait(text, date: nil, now: now) == seconds)
  }
}
