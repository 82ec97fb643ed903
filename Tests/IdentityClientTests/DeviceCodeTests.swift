import Foundation
import TestSupport

@testable import IdentityClient

struct DeviceCodeTests {
  private let test = TestClient()
  private let shown = Watched<[DeviceCode]>([])

  /// Answers with a code, and then answers what asks for the token.
  private func answer(changing changes: JSONObject = [:], _ tokens: ScriptedAnswer...) {
    test.transport.answerDevices(.deviceCode(changing: changes))
    tokens.forEach { test.transport.answerTokens($0) }
  }

  private var tokens: ScriptedAnswer { .json(TestPerson.alice.tokens(at: test.clock.now)) }

  private func acquire(_ scopes: [String] = ["User.Read"]) async throws(IdentityError) -> AuthenticationResult
  {
    try await test.client.acquireToken(
      DeviceCodeRequest(scopes: scopes) { [shown] code in shown.change { $0.append(code) } })
  }

  @Test(.conformance(63), arguments: [400, 429, 503])
  func `A poll waits as long as the server asks`(_ status: Int) async throws {
    answer(
      status == 400
        ? .refusal("authorization_pending", headers: ["Retry-After": "60"])
        : .json([:], status: status, headers: ["Retry-After": "60"]), .refusal("authorization_pending"),
      tokens)
    _ = try await acquire()
    let interval = Duration.seconds(status == 400 ? 5 : 10)
    #expect(test.clock.waits == [.seconds(5), .seconds(60), interval])
  }

  @Test(.conformance(63)) func `A pause beyond the code's time ends the flow with the server's reason`()
    async throws
  {
    // The first poll is after five seconds of 900.
    answer(.json([:], status: 503, headers: ["Retry-After": "895"]))
    let error = await expectError(.serverError) { try await acquire() }
    #expect(error?.httpStatus == 503)
    answer(.refusal("authorization_pending", headers: ["Retry-After": "3600"]), tokens)
    _ = try await acquire()
  }

  @Test(.conformance(54)) func `The code is shown, and the token is then found in the cache`() async throws {
    answer(
      .refusal("authorization_pending", code: 70016), .refusal("authorization_pending", code: 70016),
      tokens)
    let result = try await acquire()

    let code = try #require(shown.read(\.first))
    #expect(code.userCode == "ABCD-EFGH")
    #expect(code.verificationURI.absoluteString == "https://microsoft.com/devicelogin")
    #expect(code.message == "Open the page and enter the code.")
    #expect(result.accessToken == "access-1")
    #expect(result.source == .network)
    #expect(result.account.homeAccountID == TestPerson.alice.homeAccountID)
    #expect(result.account.username == "alice@contoso.test")
    #expect(result.tenantProfile?.tenantID == TestPerson.alice.home)
    #expect(
      result.authority.url.absoluteString == "https://login.microsoftonline.com/\(TestPerson.alice.home)")

    #expect(test.clock.waits == [.seconds(5), .seconds(5), .seconds(5)])
    let asked = try #require(test.transport.requests.first { $0.url.path.hasSuffix("/devicecode") })
    #expect(asked.form["client_id"] == TestPerson.clientID)
    #expect(asked.form["scope"] == "User.Read openid profile offline_access")
    let polled = try #require(test.transport.tokenRequests.first)
    #expect(polled.form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code")
    #expect(polled.form["device_code"] == "device-1")
    #expect(polled.form["client_info"] == "1")
    #expect(test.transport.tokenRequests.last?.headers["x-client-last-telemetry"] == "4|0|||")

    let before = test.transport.requests.count
    let again = try await test.silent(result.account)
    #expect(again.accessToken == "access-1")
    #expect(again.source == .cache)
    #expect(test.transport.requests.count == before)
  }

  @Test(.conformance(55)) func `Each slow_down adds five seconds to the interval`() async throws {
    answer(
      changing: ["interval": "3"],
      .refusal("slow_down"), .refusal("authorization_pending"), .refusal("slow_down"),
      tokens)
    _ = try await acquire()
    #expect(test.clock.waits == [.seconds(3), .seconds(8), .seconds(8), .seconds(13)])
  }

  @Test(
    .conformance(56, 57),
    arguments: [
      ("access_denied", 400, .userCanceled), ("authorization_declined", 400, .userCanceled),
      ("expired_token", 400, .deviceCodeExpired), ("bad_verification_code", 400, .authorizationFailed),
      ("device_not_found", 404, .authorizationFailed),
    ] as [(String, Int, IdentityError.Code)])
  func `A declined sign-in and an expired or unknown code have errors of their own`(
    _ name: String, _ status: Int, _ code: IdentityError.Code
  ) async throws {
    answer(.refusal("authorization_pending"), .refusal(name, status: status))
    let error = await expectError(code) { try await acquire() }
    #expect(error?.oauthError == name)
    #expect(error?.httpStatus == status)
    #expect(try await test.recordCount() == 0)
  }

  @Test(.conformance(57)) func `Stops by itself when the code has expired`() async throws {
    answer(
      changing: ["expires_in": .integer(15)], .refusal("authorization_pending"),
      .refusal("authorization_pending"))
    await expectError(.deviceCodeExpired) { try await acquire() }
    #expect(test.clock.waits.count == 2)
    #expect(test.transport.answersLeft == 0)
    // Also where the server failed, if it did not ask for a pause.
    answer(changing: ["expires_in": .integer(14)], .text("", status: 503))
    await expectError(.deviceCodeExpired) { try await acquire() }
  }

  @Test(.conformance(58)) func `A refusal with status 200 is a refusal`() async throws {
    for _ in 0..<2 {
      test.transport.answerDevices(.refusal("invalid_client", status: 200, code: 7_000_218))
      let error = await expectError(.invalidClient) { try await acquire() }
      #expect(error?.advice?.contains("public client flows") == true)
    }
    #expect(test.transport.requests.last?.headers["x-client-last-telemetry"] == "4|0|||")
    #expect(shown.read(\.first) == nil)
  }

  @Test(
    .conformance(59), .fault("proxy page"),
    arguments: [
      [.failure(.connectionLost("reset")), .failure(.connectionLost("reset"))],
      [.failure(.timedOut), .failure(.timedOut)],
      [.failure(.cannotConnect("down")), .failure(.cannotConnect("down"))],
      [.text("<html>portal</html>", status: 200)],
      [.text("oops", status: 503), .text("oops", status: 503)],
    ] as [[ScriptedAnswer]])
  func `A poll that is lost or fails at a server is repeated`(_ answers: [ScriptedAnswer]) async throws {
    answer()
    for answer in answers + [tokens] { test.transport.answerTokens(answer) }
    #expect(try await acquire().accessToken == "access-1")
    // Each poll waits for the interval, unless the server was not reached.
    if case .failure(.cannotConnect)? = answers.first { return }
    #expect(test.clock.waits.allSatisfy { $0 >= .seconds(5) })
  }

  @Test(.conformance(59), arguments: [("", 400), ("<html>not found</html>", 404), ("", 302)])
  func `A poll with an unreadable response and a status that is no outage ends the sign-in`(
    _ text: String, _ status: Int
  ) async throws {
    answer(.text(text, status: status), tokens)
    let error = await expectError(.unexpectedHTTPResponse) { try await acquire() }
    #expect(error?.httpStatus == status)
    #expect(test.transport.tokenRequests.count == 1)
  }

  @Test(.conformance(59)) func `Ends at once when the task is cancelled`() async throws {
    answer()
    let task = Mutex<Task<AuthenticationResult, any Error>?>(nil)
    test.clock.onWait.withLock {
      $0 = { _ in
        try? await eventually { task.withLock { $0 != nil } }
        task.withLock { $0?.cancel() }
      }
    }
    let begun = Task { try await self.acquire() as AuthenticationResult }
    task.withLock { $0 = begun }
    await expectError(.cancelled) { try await begun.value }
    #expect(test.transport.tokenRequests.isEmpty)
  }

  @Test(
    .conformance(60),
    arguments: [
      "http://microsoft.com/devicelogin", "javascript:alert(1)", "https://", "https://me@evil.test/",
    ])
  func `A page without TLS is never shown`(_ address: String) async throws {
    answer(changing: ["verification_uri": .string(address)])
    await expectError(.invalidResponse) { try await acquire() }
    #expect(shown.read(\.first) == nil)
  }

  @Test(.conformance(60)) func `Nothing that is shown can drive a terminal`() async throws {
    answer(
      changing: [
        "message": "Open\u{1B}[2J\r\nthe \u{202E}page\u{7}.", "user_code": "AB\u{1B}]0;x\u{7}CD",
      ], tokens)
    _ = try await acquire()
    let code = try #require(shown.read(\.first))
    #expect(code.message == "Open [2J the page .")
    #expect(code.userCode == "AB ]0;x CD")
  }

  @Test(
    .conformance(60),
    arguments: [
      (JSONValue.integer(0), 5.0), (.integer(-1), 5), (.integer(1_000_000_000), 60), ("7", 7), (.null, 5),
      ("soon", 5), (.double(0.001), 1),
    ])
  func `Absurd intervals become sensible ones`(_ interval: JSONValue, _ seconds: Double) async throws {
    answer(changing: ["interval": interval], tokens)
    _ = try await acquire()
    #expect(shown.read(\.first)?.interval == .seconds(seconds))
    #expect(test.clock.waits == [.seconds(seconds)])
  }

  @Test(.conformance(60)) func `An absurd lifetime does not make the program wait forever`() async throws {
    answer(changing: ["expires_in": .integer(1_000_000_000), "interval": .integer(60)])
    test.transport.script { seen in
      seen.url.path.hasSuffix("/token") ? .refusal("authorization_pending") : nil
    }
    await expectError(.deviceCodeExpired) { try await acquire() }
    #expect(test.clock.waits.count == 59)
  }

  @Test(.fault("no ID token"), arguments: [nil, "fabrikam.test"])
  func `A response without an ID token is of the tenant that was named`(_ domain: String?) async throws {
    let account = try await test.signIn().account
    let tenant = "33333333-3333-3333-3333-333333333333"
    let issuer = "https://login.microsoftonline.com/\(tenant)/v2.0"
    test.transport.setMetadata(["issuer": .string(issuer)])
    answer(
      .json(TestPerson.alice.tokens(at: test.clock.now, access: "other", changing: ["id_token": .null])))
    var request = DeviceCodeRequest(scopes: ["User.Read"]) { _ in }
    request.authority = .made("https://login.microsoftonline.com/\(domain ?? tenant)")
    let asked = request
    #expect(try await test.client.acquireToken(asked).authority.tenant == tenant)
    #expect(try await test.silent(account).accessToken == "access-1")
    let tokens = try await test.cache.snapshot().document.accessTokens.values
    #expect(Set(tokens.compactMap(\.realm)) == [TestPerson.alice.home, tenant])
  }

  @Test func `An authority without such an endpoint says so`() async throws {
    let other = TestClient("https://id.example.test", kind: .oidc)
    other.transport.setMetadata([
      "issuer": "https://id.example.test", "device_authorization_endpoint": .null,
    ])
    await expectError(.invalidParameter) {
      try await other.client.acquireToken(DeviceCodeRequest(scopes: ["a"]) { _ in })
    }
  }
}
