import Foundation
import TestSupport

@testable import IdentityClient

struct RenewalTests {
  private static let otherID = "22222222-aaaa-bbbb-cccc-000000000002"
  private let test = TestClient()
  private let account: Account

  init() async throws { account = try await test.signIn().account }

  @Test(
    arguments: [
      ["iat": .integer(1_800_009_000)] as JSONObject, ["nbf": .integer(1_800_009_000)], ["exp": .integer(1)],
    ].abbreviated)
  func `A replaced refresh token is kept although the clock is wrong`(_ time: Named<JSONObject>) async throws
  {
    test.transport.answerTokens(test.tokens(idToken: time.value))
    #expect(try await test.renew(account).accessToken == "access-2")
    #expect(try await test.secrets(.refreshToken) == ["refresh-2"])
  }

  @Test func `A call reads a store that announces no changes once, and once more in its turn to renew`()
    async throws
  {
    test.store.announceNothing()
    let before = test.store.reads
    #expect(try await test.silent(account).accessToken == "access-1")
    #expect(test.store.reads == before + 1)
    test.transport.answerTokens(test.tokens())
    #expect(try await test.renew(account).accessToken == "access-2")
    #expect(test.store.reads == before + 3)
  }

  @Test func `The request has the parameters and header fields that it should`() async throws {
    test.transport.answerTokens(test.tokens())
    let id = UUID()
    _ = try await test.silent(account) { request in
      request.forceRefresh = true
      request.correlationID = id
      request.extraQueryParameters = ["slice": "test slice"]
    }
    let sent = try #require(test.transport.tokenRequests.last)
    #expect(sent.method == "POST")
    #expect(
      sent.form == [
        "client_id": TestPerson.clientID, "grant_type": "refresh_token", "refresh_token": "refresh-1",
        "scope": "User.Read openid profile offline_access", "client_info": "1",
      ])
    #expect(sent.query == ["slice": "test slice"])
    #expect(sent.url.path == "/\(TestPerson.alice.home)/oauth2/v2.0/token")
    #expect(sent.headers["client-request-id"] == id.uuidString.lowercased())
    #expect(sent.headers["return-client-request-id"] == "true")
    #expect(sent.headers["x-ms-lib-capability"] == "retry-after, h429")
    #expect(sent.headers["x-client-sku"] == "Llavero")
    #expect(sent.headers["x-client-os"] == "Linux")
    #expect(sent.headers["x-anchormailbox"] == "Oid:\(TestPerson.alice.uid)@\(TestPerson.alice.home)")
    #expect(sent.headers["x-client-current-telemetry"] == "4|34,1|")
    #expect(sent.headers["accept"] == "application/json")
    #expect(sent.headers["content-type"] == "application/x-www-form-urlencoded")
  }

  @Test(arguments: [(0.0, nil as Int64?, "4|34,2|"), (4000, nil, "4|34,3|"), (1000, 900, "4|34,4|")])
  func `Requests name their reason`(_ seconds: Double, _ refreshIn: Int64?, _ expected: String) async throws {
    var changes: JSONObject = [:]
    changes["refresh_in"] = refreshIn.map(JSONValue.integer)
    let account = try await test.signIn(changing: changes).account
    test.clock.advance(seconds)
    test.transport.answerTokens(test.tokens(scope: "User.Read Other"))
    _ = try await test.silent(account, seconds == 0 ? ["Other"] : ["User.Read"])
    #expect(test.transport.tokenRequests.last?.headers["x-client-current-telemetry"] == expected)
  }

  private func family(of clientID: String) async throws -> String? {
    try await test.cache.appMetadata(clientID: clientID, environment: "login.windows.net")?.familyID
  }

  /// Signs alice in and lets the time come at which the server wants the token to be renewed.
  private func renewable() async throws -> Account {
    let account = try await test.signIn(changing: ["refresh_in": .integer(1800)]).account
    test.clock.advance(1900)
    return account
  }

  @Test(
    .conformance(25), .fault("proxy page"),
    arguments: [
      ScriptedAnswer.failure(.cannotConnect("down")), .failure(.cannotFindHost("no name")),
      .failure(.timedOut),
      .failure(.untrustedServer("a hotel's portal")), .text("busy", status: 503),
      .json([:], status: 429, headers: ["Retry-After": "30"]), .text("<html>portal</html>", status: 302),
      .text("<html>portal</html>", status: 200), .json(["message": "blocked"], status: 200, headers: [:]),
      .json(["message": "blocked"], status: 403, headers: [:]), .text("", status: 200),
    ])
  func `And serves on when the server cannot be asked`(_ answer: ScriptedAnswer) async throws {
    let account = try await renewable()
    test.transport.answerTokens(answer, answer)
    let result = try await test.silent(account)
    #expect(result.accessToken == "access-1")
    #expect(result.source == .cache)
    #expect(!result.isExtendedLifetime)
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
  }

  @Test(.conformance(25)) func `A token that expires while the server is waited for does not serve`()
    async throws
  {
    test.clock.advance(3500)
    test.transport.script { [clock = test.clock] _ throws(HTTPTransportError) in
      clock.advance(60)
      throw .timedOut
    }
    await expectError(.network) { try await test.silent(account) }
    // Nor does one that was stored by a clock that was ahead.
    test.clock.advance(-7200)
    await expectError(.network) { try await test.silent(account) }
  }

  @Test(.conformance(25), .fault("proxy page")) func `Also when the authority is unreachable`() async throws {
    let account = try await renewable()
    let offline = test.another()
    offline.transport.script { _ throws(HTTPTransportError) in throw .cannotFindHost("no network") }
    #expect(try await offline.silent(account).accessToken == "access-1")
    offline.transport.script { _ in .text("<html>portal</html>", status: 200) }
    #expect(try await offline.silent(account).accessToken == "access-1")
  }

  @Test(.conformance(25)) func `A token in its last minutes serves during an outage`() async throws {
    test.clock.advance(3599)
    test.transport.answerTokens(.failure(.cannotConnect("down")), .failure(.cannotConnect("down")))
    #expect(try await test.silent(account).accessToken == "access-1")
    // Each call waits for half a second, and the token ends while this one does.
    test.transport.answerTokens(.failure(.cannotConnect("down")), .failure(.cannotConnect("down")))
    await expectError(.network) { try await test.silent(account) }
  }

  @Test(
    .conformance(25),
    arguments: [
      ("invalid_grant", IdentityError.Code.interactionRequired), ("invalid_client", .invalidClient),
    ])
  func `A refusal is reported though the token is good still`(
    _ name: String, _ code: IdentityError.Code
  ) async throws {
    let account = try await renewable()
    test.transport.answerTokens(.refusal(name, code: 50173))
    await expectError(code) { try await test.silent(account) }
  }

  @Test(.conformance(25, 33))
  func `A refusal that removes the refresh token is reported by later calls, too`() async throws {
    let account = try await renewable()
    test.transport.answerTokens(.refusal("invalid_grant", "bad_token"))
    for subError in ["bad_token", nil] {
      let error = await expectError(.interactionRequired) { try await test.silent(account) }
      #expect(error?.subError == subError)
    }
    #expect(try await test.secrets(.refreshToken).isEmpty)
    #expect(try await test.secrets(.idToken).count == 1)
  }

  @Test(
    .conformance(26),
    arguments: [
      (true, 4000, "", 503, nil), (false, 4000, "", 503, .serverError),
      // Beyond its extended lifetime.
      (true, 7300, "", 503, .serverError),
      // No outage.
      (true, 4000, "", 400, .unexpectedHTTPResponse), (true, 4000, "", 302, .unexpectedHTTPResponse),
      (true, 4000, "<html>not found</html>", 404, .unexpectedHTTPResponse),
    ] as [(Bool, Double, String, Int, IdentityError.Code?)])
  func `An expired token serves during an outage in its extended lifetime, if that was wanted`(
    _ isEnabled: Bool, _ seconds: Double, _ text: String, _ status: Int, _ code: IdentityError.Code?
  ) async throws {
    let own = test.another { $0.extendedLifetimeEnabled = isEnabled }
    test.clock.advance(seconds)
    own.transport.answerTokens(.text(text, status: status), .text(text, status: status))
    if let code {
      let error = await expectError(code) { try await own.silent(account) }
      #expect(error?.httpStatus == status)
    } else {
      let result = try await own.silent(account)
      #expect(result.accessToken == "access-1")
      #expect(result.isExtendedLifetime)
    }
  }

  @Test(.conformance(27)) func `A new refresh token takes the old one's place`() async throws {
    for turn in 2...4 {
      test.transport.answerTokens(test.tokens("access-\(turn)", refresh: "refresh-\(turn)"))
      #expect(try await test.renew(account).accessToken == "access-\(turn)")
      #expect(test.transport.tokenRequests.last?.form["refresh_token"] == "refresh-\(turn - 1)")
    }
    #expect(try await test.secrets(.refreshToken) == ["refresh-4"])
    #expect(try await test.secrets(.accessToken) == ["access-4"])
  }

  @Test(.conformance(28)) func `Without a new refresh token the old one stays`() async throws {
    test.transport.answerTokens(test.tokens(changing: ["refresh_token": .null]))
    _ = try await test.renew(account)
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
  }

  @Test(.conformance(29)) func `A response without an account is the requested account's`() async throws {
    test.transport.answerTokens(test.tokens(changing: ["id_token": .null, "client_info": .null]))
    let result = try await test.renew(account)
    #expect(result.account.homeAccountID == account.homeAccountID)
    #expect(result.account.username == account.username)
    #expect(result.claims?.username == "alice@contoso.test")
    #expect(try await test.silent(account).accessToken == "access-2")
    try await test.client.signOut(account, SignOutOptions(wipeAccount: true))
    let document = try await test.cache.snapshot().document
    #expect(document.credentials.isEmpty)
    #expect(document.accounts.isEmpty)
  }

  @Test(.conformance(30)) func `A refused refresh token needs a sign-in; the account stays`() async throws {
    test.clock.advance(4000)
    test.transport.answerTokens(.refusal("invalid_grant", code: 700_082))
    let error = await expectError(.interactionRequired) { try await test.silent(account) }
    #expect(error?.oauthError == "invalid_grant")
    #expect(error?.stsErrorCodes == [700_082])
    #expect(error?.advice?.contains("sign in again") == true)
    #expect(error?.oauthErrorDescription == "AADSTS700082: refused Trace ID: 1")
    #expect(error?.correlationID != nil)
    #expect(try await test.client.accounts().count == 1)
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
  }

  @Test(.conformance(31)) func `Many callers at once cause one request`() async throws {
    test.clock.advance(4000)
    let (gate, test) = (Gate(), test)
    test.answerRenewals(test.tokens(), after: gate.wait)
    let before = test.transport.tokenRequests.count
    async let results = atOnce(0..<20) { _ in try await test.silent(account).accessToken }
    await gate.arrival()
    gate.open()
    #expect(try await results == Array(repeating: "access-2", count: 20))
    #expect(test.transport.tokenRequests.count == before + 1)
  }

  @Test(.conformance(31), .fault("two authorities")) func `Authorities do not share requests`() async throws {
    let (gate, transport, test) = (Gate(), test.transport, test)
    test.answerRenewals(test.tokens(), after: gate.wait)
    let before = transport.tokenRequests.count
    // It resolves to the account's own tenant, as `common` does.
    let organizations = Authority.entra("organizations")
    async let first = test.renew(account)
    await gate.arrival()
    async let second = test.silent(account) { ($0.forceRefresh, $0.authority) = (true, organizations) }
    try await eventually { test.log.count(of: "Waiting for the account's turn.") >= 1 }
    gate.open()
    _ = try await (first, second)
    #expect(transport.tokenRequests.count == before + 2)
    #expect(Set(transport.tokenRequests.dropFirst(before).map(\.url)).count == 1)
  }

  @Test(.conformance(32)) func `Another client takes the renewed token unless it is forced`() async throws {
    test.clock.advance(4000)
    let other = test.another()
    let (gate, test) = (Gate(), test)
    test.answerRenewals(test.tokens(), after: gate.wait)
    other.transport.answerTokens(test.tokens("access-3", refresh: "refresh-3"))
    async let first = test.silent(account)
    await gate.arrival()
    async let second = other.silent(account)
    // Turns go by the order in which they are asked for.
    try await eventually { other.log.count(of: "Waiting for the account's turn.") >= 1 }
    async let forced = other.renew(account)
    try await eventually { other.log.count(of: "Waiting for the account's turn.") >= 2 }
    gate.open()
    #expect(try await first.accessToken == "access-2")
    #expect(try await second.accessToken == "access-2")
    #expect(try await forced.accessToken == "access-3")
    #expect(other.transport.tokenRequests.count == 1)
  }

  @Test func `A cancelled caller returns at once, and the server's response is kept`() async throws {
    test.clock.advance(4000)
    let (gate, test) = (Gate(), test)
    test.answerRenewals(test.tokens(), after: gate.wait)
    let caller = Task { try await test.silent(account) }
    await gate.arrival()
    caller.cancel()
    await expectError(.cancelled) { try await caller.value }
    gate.open()
    try await eventually { try await test.secrets(.refreshToken) == ["refresh-2"] }
  }

  @Test(.conformance(33)) func `A refresh token stored in the meantime stays`() async throws {
    test.clock.advance(4000)
    let other = test.another()
    test.answerRenewals(.refusal("invalid_grant", "bad_token")) {
      _ = try? await other.save(TestPerson.alice, refresh: "newer")
    }
    await expectError(.interactionRequired) { try await test.silent(account) }
    #expect(try await test.secrets(.refreshToken) == ["newer"])
  }

  @Test(.conformance(34)) func `The server's claims are passed on; the refresh token stays`() async throws {
    test.clock.advance(4000)
    let claims = #"{"access_token":{"capolids":{"essential":true,"values":["x"]}}}"#
    test.transport.answerTokens(
      .refusal("interaction_required", "basic_action", code: 50076, adding: ["claims": .string(claims)]))
    let error = await expectError(.interactionRequired) { try await test.silent(account) }
    #expect(error?.subError == "basic_action")
    #expect(error?.claims == claims)
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
  }

  @Test(.conformance(36)) func `An account that was deleted goes, others stay`() async throws {
    _ = try await test.signIn(.bob, changing: ["refresh_token": "of bob"])
    test.clock.advance(4000)
    test.transport.answerTokens(.refusal("invalid_grant", "user_account_deleted"))
    await expectError(.interactionRequired) { try await test.silent(account) }
    #expect(try await test.client.accounts().map(\.username) == ["bob@contoso.test"])
    #expect(try await test.secrets(.refreshToken) == ["of bob"])
  }

  @Test(.conformance(36))
  func `What another authority has of an account that was deleted at one stays`() async throws {
    try await test.client.cache.updateAccountMetadata(clientID: "other", of: account.homeAccountID) {
      $0.setSignInState(.signedIn, of: account.homeAccountID)
    }
    let other = test.another("https://login.contoso.test/\(TestPerson.alice.home)") { configuration in
      configuration.knownAuthorities = [configuration.authority]
    }
    var person = TestPerson.alice
    person.host = "login.contoso.test"
    let theirs = try await other.signIn(person, changing: ["refresh_token": "of the other"]).account
    #expect(theirs.homeAccountID == account.homeAccountID)
    test.clock.advance(4000)
    other.transport.answerTokens(.refusal("invalid_grant", "user_account_deleted"))
    await expectError(.interactionRequired) { try await other.silent(theirs) }
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
    let metadata = try await test.cache.accountMetadata(clientID: "other", of: account.homeAccountID)
    #expect(metadata?.signInState(of: account.homeAccountID) == .signedIn)
  }

  @Test(.conformance(38)) func `A client of the same family uses the family's refresh token`() async throws {
    let account = try await test.signIn(changing: ["foci": "1"]).account
    let other = test.another(clientID: Self.otherID)
    other.transport.answerTokens(
      test.tokens("of the other", changing: ["foci": "1"], idToken: ["aud": .string(Self.otherID)]))
    let result = try await other.silent(account)
    #expect(result.accessToken == "of the other")
    #expect(other.transport.tokenRequests.last?.form["refresh_token"] == "refresh-1")
    #expect(try await family(of: Self.otherID) == "1")
    #expect(try await test.secrets(.refreshToken).contains("refresh-2"))
  }

  @Test(.conformance(39)) func `A client that turns out to be no member is not tried again`() async throws {
    let account = try await test.signIn(changing: ["foci": "1"]).account
    let other = test.another(clientID: Self.otherID)
    other.transport.answerTokens(.refusal("invalid_grant", "client_mismatch"))
    for _ in 0..<3 {
      await expectError(.interactionRequired) { try await other.silent(account) }
    }
    #expect(other.transport.tokenRequests.count == 1)
    #expect(try await family(of: Self.otherID) == "")
    #expect(try await test.secrets(.refreshToken).contains("refresh-1"))
  }

  @Test(.conformance(39), arguments: [nil, "consent_required"])
  func `After the client's own token the family's is tried`(_ refusal: String?) async throws {
    let account = try await test.signIn(changing: ["foci": "1"]).account
    // Another member of the family renewed its token.
    try await test.save(
      TestPerson.alice, refresh: "of the family", changing: ["foci": "1"], clientID: "another-member")
    test.clock.advance(4000)
    test.transport.answerTokens(
      .refusal("invalid_grant", "bad_token"),
      refusal.map { ScriptedAnswer.refusal("invalid_grant", $0) } ?? test.tokens())
    if refusal == nil {
      #expect(try await test.silent(account).accessToken == "access-2")
    } else {
      // The error of the client's own token is more specific.
      let error = await expectError(.interactionRequired) { try await test.silent(account) }
      #expect(error?.subError == "bad_token")
    }
    #expect(
      test.transport.tokenRequests.suffix(2).map { $0.form["refresh_token"] } == [
        "refresh-1", "of the family",
      ])
  }

  @Test(.conformance(41), arguments: [true, false])
  func `Another account's tokens are not stored`(_ hasClientInfo: Bool) async throws {
    test.transport.answerTokens(
      test.tokens(
        "of bob", refresh: "of bob", of: .bob, changing: hasClientInfo ? [:] : ["client_info": .null]))
    await expectError(.mismatchedUser) { try await test.renew(account) }
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
    #expect(try await test.secrets(.accessToken) == ["access-1"])
  }

  @Test(.conformance(52, 53))
  func `Claims skip the cache, and their token serves without them, also offline`() async throws {
    let own = TestClient { $0.capabilities = ["CP1"] }
    let account = try await own.signIn().account
    let claims = try ClaimsRequest(json: #"{"access_token":{"nbf":{"essential":true,"value":"1700000000"}}}"#)
    own.transport.answerTokens(test.tokens())
    let result = try await own.silent(account) { $0.claims = claims }
    #expect(result.accessToken == "access-2")
    #expect(
      own.transport.tokenRequests.last?.form["claims"]
        == #"{"access_token":{"nbf":{"essential":true,"value":"1700000000"},"xms_cc":{"values":["CP1"]}}}"#)
    let json = #"{"access_token":{"nbf":{"essential":true,"value":"1700000000"}}}"#
    let kept = try await own.cache.snapshot().document.accessTokens.values
    #expect(kept.map(\.requestedClaims) == [json])
    let requests = own.transport.requests.count
    let plain = try await own.silent(account)
    #expect(plain.accessToken == "access-2" && plain.source == .cache)
    #expect(own.transport.requests.count == requests)
  }

  @Test(.conformance(67)) func `Scopes that were not granted are reported with the result`() async throws {
    test.transport.answerTokens(test.tokens(scope: "Mail.Read openid"))
    let error = await expectError(.serverDeclinedScopes) {
      try await test.silent(account, ["Mail.Read", "Mail.Send", "email"])
    }
    #expect(error?.declinedScopes == ["Mail.Send"])
    #expect(error?.grantedScopes == ["Mail.Read", "openid"])
    #expect(error?.result?.accessToken == "access-2")
    #expect(try await test.silent(account, ["Mail.Read"]).source == .cache)
  }

  @Test(.conformance(67)) func `.default stands for whatever is granted`() async throws {
    test.transport.answerTokens(test.tokens(scope: "https://api.test/read https://api.test/write"))
    _ = try await test.silent(account, ["https://api.test/.default"])
    #expect(try await test.silent(account, ["https://api.test/.default"]).source == .cache)
  }

  @Test(.conformance(71)) func `Tokens that cannot be stored are handed out, with the reason`() async throws {
    test.store.lock(isReadable: true)
    test.transport.answerTokens(test.tokens())
    let result = try await test.renew(account)
    #expect(result.accessToken == "access-2")
    #expect(result.cacheError?.code == .locked)
    #expect(result.account.homeAccountID == account.homeAccountID)
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
  }

  @Test(.conformance(70)) func `A response after the sign-out does not sign the account in`() async throws {
    test.answerRenewals(test.tokens()) { [cache = test.cache, account] in
      // What another process does that does not wait for the lock.
      _ = try? await cache.removeAccount(account.homeAccountID, clientID: TestPerson.clientID)
    }
    await expectError(.interactionRequired) { try await test.renew(account) }
    #expect(try await test.secrets(.refreshToken).isEmpty)
    #expect(try await test.client.accounts().isEmpty)
  }

  @Test(.conformance(70)) func `A token does not serve during an outage in which its account signs out`()
    async throws
  {
    test.clock.advance(3500)
    test.transport.script { [cache = test.cache, account] _ throws(HTTPTransportError) in
      _ = try? await cache.removeAccount(account.homeAccountID, clientID: TestPerson.clientID)
      throw .timedOut
    }
    await expectError(.interactionRequired) { try await test.silent(account) }
  }

  @Test(.conformance(70)) func `A renewal restores nothing after all accounts were removed`() async throws {
    let bob = try await test.signIn(.bob, changing: ["refresh_token": "of bob"]).account
    let other = test.another()
    test.answerRenewals(test.tokens("bobs", of: .bob)) { [account] in
      try? await other.client.signOut(account, SignOutOptions(wipeCacheForAllAccounts: true))
    }
    await expectError(.interactionRequired) { try await test.renew(bob) }
    #expect(try await test.recordCount() == 0)
  }

  @Test func `Tokens, account and authority are stored by one write and no further read`() async throws {
    test.transport.answerTokens(test.tokens())
    let (reads, writes) = (test.store.reads, test.store.writes)
    let result = try await test.renew(account)
    #expect(result.account.homeAccountID == account.homeAccountID)
    #expect(result.account.username == account.username)
    #expect(test.store.writes == writes + 1)
    // The sign-in state and the account's tokens, before the server was asked.
    #expect(test.store.reads == reads + 1)
  }
}
