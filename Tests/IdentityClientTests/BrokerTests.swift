import Foundation
import TestSupport

@testable import IdentityClient

/// The broker in the sign-in: when it is asked, where its tokens go, and what is asked when it fails.
@Suite(.timeLimit(.minutes(20)))
struct BrokerTests {
  private let broker = ScriptedBroker()

  private func client(
    _ policy: BrokerPolicy = .automatic, _ authority: String? = nil, kind: Authority.Kind? = nil,
    store: ScriptedStore = ScriptedStore(), clock: TestClock = TestClock()
  ) -> TestClient {
    TestClient(authority, kind: kind, store: store, clock: clock, broker: broker) {
      $0.brokerPolicy = policy
    }
  }

  /// A client at which Alice has signed in in the browser.
  private func signedIn(_ policy: BrokerPolicy = .automatic) async throws -> (TestClient, Account) {
    broker.set(asksPerson: false)
    let test = client(.off)
    let account = try await test.signIn().account
    return (client(policy, store: test.store, clock: test.clock), account)
  }

  /// The same when her token has expired.
  private func expired(_ policy: BrokerPolicy = .automatic) async throws -> (TestClient, Account) {
    let (test, account) = try await signedIn(policy)
    test.clock.advance(3600)
    return (test, account)
  }

  private static let guest = "33333333-3333-3333-3333-333333333333"

  @Test(arguments: [BrokerPolicy.automatic, .required], [Self.guest, "fabrikam.example"])
  func `A broker's token of another tenant is refused`(_ policy: BrokerPolicy, _ tenant: String) async throws
  {
    let (test, account) = try await signedIn(policy)
    // As Himmelblau does, which ignores the authority.
    answer(test)
    test.transport.setMetadata(["issuer": .string("https://login.microsoftonline.com/\(Self.guest)/v2.0")])
    let authority = Authority.entra(tenant)
    func silent() async throws(IdentityError) -> AuthenticationResult {
      try await test.silent(account) { $0.authority = authority }
    }
    if policy == .required {
      // Where only the broker may be asked, no discovery says whose domain it is.
      if tenant == Self.guest {
        await expectError(.brokerFailed) { try await silent() }
      } else {
        _ = try await silent()
      }
    } else {
      var person = TestPerson.alice
      person.tenant = Self.guest
      test.transport.answerTokens(test.tokens("guest", of: person, idToken: ["oid": "guest-oid"]))
      #expect(try await silent().tenantProfile?.tenantID == Self.guest)
    }
    let metadata = try await test.cache.accountMetadata(
      clientID: TestPerson.clientID, of: account.homeAccountID)
    let known = metadata?.resolvedAuthority(for: authority.address, homeAccountID: account.homeAccountID)
    // What a server answered is remembered, and nothing on the word of a broker alone.
    #expect(
      known == (policy == .automatic && tenant != Self.guest ? Authority.entra(Self.guest).address : nil))
  }

  @Test(arguments: [
    "https://login.microsoftonline.com/\(TestPerson.alice.home)",
    "https://login.microsoftonline.us/\(Self.guest)",
  ])
  func `A tenant that is named by its id is no other, whatever the cache says`(_ known: String) async throws {
    let (test, account) = try await signedIn(.off)
    let authority = Authority.entra(Self.guest)
    try await test.cache.updateAccountMetadata(clientID: TestPerson.clientID, of: account.homeAccountID) {
      $0.setResolvedAuthority(
        known, for: authority.address, homeAccountID: account.homeAccountID)
    }
    test.transport.answerTokens(.refusal("invalid_grant"))
    await expectError(.interactionRequired) { try await test.silent(account) { $0.authority = authority } }
    #expect(
      test.transport.tokenRequests.last?.url.absoluteString.hasPrefix(authority.address + "/") == true)
  }

  @Test func `A forced renewal takes no token again that the client has a refresh token for`() async throws {
    let (test, account) = try await signedIn()
    answer(test, "access-1")
    test.transport.answerTokens(test.tokens("own-2"))
    #expect(try await test.renew(account).accessToken == "own-2")
    // Where that brings none, the broker's token serves.
    test.transport.answerTokens(.refusal("invalid_grant"))
    answer(test, "own-2")
    #expect(try await test.renew(account).accessToken == "own-2")
    let count = test.transport.tokenRequests.count
    let result = try await test.silent(account) {
      ($0.forceRefresh, $0.refreshesWithoutBroker) = (true, false)
    }
    #expect(result.accessToken == "own-2")
    #expect(test.transport.tokenRequests.count == count)
    let (required, same) = try await signedIn(.required)
    answer(required, "access-1")
    #expect(try await required.renew(same).accessToken == "access-1")
  }

  /// Has the broker give tokens of a person.
  private func answer(
    _ test: TestClient, _ access: String = "brokered-1", of person: TestPerson = .alice,
    scopes: String = "User.Read openid profile", hasIDToken: Bool = true
  ) {
    broker.answer { [clock = test.clock] _ in
      person.brokerToken(at: clock.now, access: access, scopes: scopes, hasIDToken: hasIDToken)
    }
  }

  /// Has the broker fail.
  private func refuse(
    _ code: IdentityError.Code, change: @escaping @Sendable (inout IdentityError) -> Void = { _ in }
  ) {
    broker.answer { _ throws(IdentityError) in
      var error = IdentityError(code, "No.")
      change(&error)
      throw error
    }
  }

  @Test(arguments: [BrokerPolicy.automatic, .required])
  func `A token of the cache is not asked for anywhere`(policy: BrokerPolicy) async throws {
    let (test, account) = try await signedIn(policy)
    #expect(try await test.silent(account).source == .cache)
    #expect(broker.questions == 0)
    #expect(test.transport.requests.isEmpty)
  }

  @Test(arguments: [1e30, .infinity, .nan])
  func `An end of a broker's token that no date has counts as not given`(end: Double) async throws {
    let (test, account) = try await expired()
    broker.answer { [clock = test.clock] _ in
      var token = TestPerson.alice.brokerToken(at: clock.now)
      token.expiresOn = Date(timeIntervalSince1970: end)
      return token
    }
    #expect(try await test.silent(account).expiresOn == test.clock.now.addingTimeInterval(3600))
  }

  @Test(arguments: [BrokerPolicy.automatic, .required])
  func `The broker is asked next, and its token is kept as its own`(policy: BrokerPolicy) async throws {
    let (test, account) = try await expired(policy)
    answer(test)
    let result = try await test.silent(account)
    #expect((result.accessToken, result.source) == ("brokered-1", .broker))
    #expect(try await test.silent(account).source == .cache)
    #expect(broker.requests.count == 1)
    #expect(broker.requests[0].authority.tenant == TestPerson.alice.home)
    #expect(broker.requests[0].scopes == ["User.Read"])
    #expect(test.transport.requests.isEmpty)
    let document = try await test.cache.snapshot().document
    #expect(document.accessTokens.values.map(\.source) == ["broker"])
    #expect(document.idTokens.values.map(\.source) == ["broker"])
    #expect(document.accounts.values.map(\.source) == ["broker"])
    // The client's own, and no more.
    #expect(try await test.secrets(.refreshToken) == ["refresh-1"])
  }

  @Test(
    .fault("bad answer"),
    arguments: [
      IdentityError.Code.brokerFailed, .noBroker, .interactionRequired, .network, .authorizationFailed,
    ], [BrokerPolicy.automatic, .required])
  func `When it gives nothing the client's own refresh token serves, unless the broker is required`(
    code: IdentityError.Code, policy: BrokerPolicy
  ) async throws {
    let (test, account) = try await expired(policy)
    broker.fail(code)
    if policy == .required {
      await expectError(code) { try await test.silent(account) }
      #expect(test.transport.requests.isEmpty)
      return
    }
    test.transport.answerTokens(test.tokens("own-2"))
    #expect(try await test.silent(account).accessToken == "own-2")
    // What the broker's token left is gone with it.
    #expect(try await test.cache.snapshot().document.accessTokens.values.map(\.source) == [nil])
  }

  @Test func `A sign-in that the required broker cannot do says so`() async throws {
    let test = client(.required)
    let error = await expectError(.network) {
      try await test.client.acquireToken(DeviceCodeRequest(scopes: ["User.Read"]) { _ in })
    }
    #expect(error?.message == "The request cannot be sent: Only the broker may be asked, and no server.")
    #expect(test.transport.requests.isEmpty)
  }

  @Test func `Nor does it where the request says so, unless there is no broker at all`() async throws {
    let (test, account) = try await expired()
    broker.fail(.brokerFailed)
    await expectError(.brokerFailed) { try await test.silent(account) { $0.refreshesWithoutBroker = false } }
    broker.fail(.noBroker)
    test.transport.answerTokens(test.tokens("own-2"))
    #expect(try await test.silent(account) { $0.refreshesWithoutBroker = false }.accessToken == "own-2")
  }

  @Test func `A token in its last minutes serves when the broker fails`() async throws {
    let (test, account) = try await signedIn(.required)
    test.clock.advance(3400)
    let codes = [IdentityError.Code.brokerFailed, .network, .noBroker]
    for code in codes {
      broker.fail(code)
      #expect(try await test.silent(account).source == .cache, "\(code)")
    }
    // And one in its extended lifetime, if that was wanted.
    test.clock.advance(600)
    let extended = TestClient(store: test.store, clock: test.clock, broker: broker) {
      ($0.brokerPolicy, $0.extendedLifetimeEnabled) = (.required, true)
    }
    for code in codes {
      broker.fail(code)
      #expect(try await extended.silent(account).isExtendedLifetime, "\(code)")
    }
  }

  @Test func `A token in its last minutes serves when no server can be asked`() async throws {
    let withoutBroker = client(.off)
    let account = try await withoutBroker.signIn(changing: ["refresh_token": .null]).account
    let test = client(.automatic, store: withoutBroker.store, clock: withoutBroker.clock)
    test.clock.advance(3400)
    for code in [IdentityError.Code.brokerFailed, .network, .noBroker] {
      broker.fail(code)
      #expect(try await test.silent(account).source == .cache, "\(code)")
    }
    #expect(try await withoutBroker.silent(account).source == .cache)
    broker.fail(.interactionRequired)
    await expectError(.interactionRequired) { try await test.silent(account) }
    await expectError(.interactionRequired) { try await withoutBroker.renew(account) }
    // Of an expired one the error says what the broker said.
    test.clock.advance(300)
    for (code, expected, advice) in [
      (.brokerFailed, .interactionRequired, "The broker."), (.network, .network, nil),
      (.noBroker, .interactionRequired, "Sign in interactively."),
    ] as [(IdentityError.Code, IdentityError.Code, String?)] {
      broker.fail(code)
      let error = await expectError(expected) { try await test.silent(account) }
      #expect(error?.advice == advice)
    }
  }

  @Test func `What another process stores while the broker is asked serves`() async throws {
    let (test, account) = try await expired()
    broker.answer { _ throws(IdentityError) in
      _ = try? await test.save(.alice, refresh: "newer")
      throw IdentityError(.brokerFailed, "No.")
    }
    test.transport.answerTokens(test.tokens("own-2"))
    #expect(try await test.silent(account).accessToken == "own-2")
    #expect(test.transport.tokenRequests.last?.form["refresh_token"] == "newer")
  }

  @Test func `No broker is asked for B2C, AD FS, CIAM, other providers or when it is off`() async throws {
    refuse(.unexpected)
    let cases: [(String?, Authority.Kind?, BrokerPolicy)] = [
      ("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/policy", nil, .automatic),
      ("https://adfs.contoso.test/adfs", nil, .automatic), ("https://contoso.ciamlogin.com", nil, .automatic),
      ("https://id.example/issuer", .oidc, .automatic), (nil, nil, .off),
    ]
    for (authority, kind, policy) in cases {
      let test = client(policy, authority, kind: kind)
      #expect(try test.client.broker(for: test.client.configuration.authority) == nil)
      if policy == .off { #expect(try await !test.client.isBrokerAvailable()) }
      if policy == .automatic {
        let required = client(.required, authority, kind: kind)
        let account = TestPerson.alice.brokerAccount
        let error = await expectError(.noBroker) { try await required.silent(account) }
        #expect(error?.message.hasPrefix("The broker has no such tokens of ") == true)
      }
    }
    #expect(broker.questions == 0)
  }

  @Test(.fault("killed asking")) func `Many callers at once cause one call to the broker`() async throws {
    let (test, account) = try await expired()
    broker.answer { [clock = test.clock] _ in
      await Task.yield()
      return TestPerson.alice.brokerToken(at: clock.now)
    }
    let tokens = try await atOnce(0..<20) { _ in try await test.silent(account).accessToken }
    #expect(tokens == Array(repeating: "brokered-1", count: 20))
    #expect(broker.requests.count == 1)
  }

  @Test(.fault("given up")) func `A broker call ends with its last caller, without a server`() async throws {
    let (test, account) = try await expired()
    let (held, holder) = AsyncStream<Void>.makeStream()
    broker.answer { [clock = test.clock] _ throws(IdentityError) in
      for await _ in held {}
      if Task.isCancelled { throw .cancelled }
      return TestPerson.alice.brokerToken(at: clock.now)
    }
    let callers = (0..<2).map { _ in Task { try await test.silent(account) } }
    try await eventually { !broker.requests.isEmpty }
    let end = Task { await test.client.finishRenewals() }
    for _ in 0..<100 { await Task.yield() }
    for caller in callers {
      caller.cancel()
      await expectError(.cancelled) { try await caller.value }
    }
    // Returns, although the broker was not told to answer.
    await end.value
    #expect(!test.client.isRenewing)
    #expect(test.transport.requests.isEmpty)
    holder.finish()
    #expect(try await test.silent(account).accessToken == "brokered-1")
  }

  @Test(.fault("given up")) func `A caller after all others were cancelled gets a token`() async throws {
    let (test, account) = try await expired()
    let (held, holder) = AsyncStream<Void>.makeStream()
    let (ended, ender) = AsyncStream<Void>.makeStream()
    let clock = test.clock
    broker.answer { [weak broker] _ throws(IdentityError) in
      guard broker?.requests.count == 1 else { return TestPerson.alice.brokerToken(at: clock.now) }
      for await _ in held {}
      // Does not end at once when it is cancelled.
      await Task.detached { for await _ in ended {} }.value
      throw .cancelled
    }
    let first = Task { try await test.silent(account) }
    try await eventually { !broker.requests.isEmpty }
    first.cancel()
    await expectError(.cancelled) { try await first.value }
    let second = Task { try await test.silent(account) }
    for _ in 0..<100 { await Task.yield() }
    holder.finish()
    ender.finish()
    #expect(try await second.value.accessToken == "brokered-1")
  }

  @Test(.fault("given up")) func `One who goes does not take the answer from the others`() async throws {
    let (test, account) = try await expired()
    let gate = Gate()
    broker.answer { [clock = test.clock] _ in
      await gate.wait()
      return TestPerson.alice.brokerToken(at: clock.now)
    }
    let callers = (0..<2).map { _ in Task { try await test.silent(account) } }
    await gate.arrival()
    callers[0].cancel()
    await expectError(.cancelled) { try await callers[0].value }
    gate.open()
    #expect(try await callers[1].value.accessToken == "brokered-1")
  }

  private func claims() throws -> ClaimsRequest {
    try ClaimsRequest(json: #"{"access_token":{"nbf":{"essential":true,"value":"1800000000"}}}"#)
  }

  @Test func `A claims challenge asks for another token, and says which one does not do`() async throws {
    let (test, account) = try await signedIn(.required)
    answer(test, "brokered-2")
    let claims = try claims()
    #expect(try await test.silent(account) { $0.claims = claims }.accessToken == "brokered-2")
    #expect(broker.requests[0].tokenToReplace == "access-1")
    #expect(try broker.requests[0].claims == claims.json())
    let tokens = try await test.cache.snapshot().document.accessTokens.values
    #expect(tokens.map(\.requestedClaims) == [try claims.json()])
  }

  @Test(.fault("wrong token")) func `And the same token again is a no`() async throws {
    let claims = try claims()
    for policy in [BrokerPolicy.automatic, .required] {
      let (test, account) = try await signedIn(policy)
      answer(test, "access-1")
      if policy == .automatic {
        test.transport.answerTokens(test.tokens("own-2"))
        #expect(try await test.silent(account) { $0.claims = claims }.accessToken == "own-2")
      } else {
        await expectError(.interactionRequired) { try await test.silent(account) { $0.claims = claims } }
      }
    }
  }

  @Test(.fault("wrong token")) func `Nor does a token do that an earlier challenge brought`() async throws {
    for next in [#"{"access_token":{"nbf":{"essential":true,"value":"1800000060"}}}"#, try claims().json()] {
      let (test, account) = try await signedIn(.required)
      let (first, second) = (try claims(), try ClaimsRequest(json: next))
      answer(test, "brokered-2")
      _ = try await test.silent(account) { $0.claims = first }
      test.clock.advance(60)
      await expectError(.interactionRequired) { try await test.silent(account) { $0.claims = second } }
      #expect(broker.requests.last?.tokenToReplace == "brokered-2")
      answer(test, "brokered-3")
      #expect(try await test.silent(account) { $0.claims = second }.accessToken == "brokered-3")
    }
  }

  @Test func `An account of the broker only is listed, and gets a token without a sign-in`() async throws {
    let test = client()
    broker.set(accounts: [TestPerson.alice.brokerAccount])
    answer(test)
    let accounts = try await test.client.accountsFromDevice()
    #expect(accounts.map(\.source) == ["broker"])
    #expect(try await test.client.accounts().isEmpty)
    let result = try await test.silent(try #require(accounts.first))
    #expect(result.account.homeAccountID == TestPerson.alice.homeAccountID)
    #expect(try await test.client.accounts().map(\.source) == ["broker"])
    #expect(try await test.secrets(.refreshToken).isEmpty)
    #expect(test.transport.requests.isEmpty)
  }

  @Test(.fault("not signed in")) func `Accounts of both are one list by home account id`() async throws {
    let (test, _) = try await signedIn()
    broker.set(accounts: [TestPerson.bob.brokerAccount, TestPerson.alice.brokerAccount])
    let accounts = try await test.client.accountsFromDevice()
    #expect(accounts.map(\.username) == [TestPerson.alice.username, TestPerson.bob.username])
    #expect(accounts.map(\.source) == ["broker", "broker"])
    let bobs = AccountFilter(username: "BOB@contoso.test")
    #expect(try await test.client.accountsFromDevice(bobs).map(\.username) == [TestPerson.bob.username])
    let snapshot = try await test.cache.snapshot()
    #expect(try await test.client.deviceAccounts(in: snapshot).brokerFailure == nil)
    broker.fail(.noBroker)
    #expect(try await test.client.deviceAccounts(in: snapshot).brokerFailure == nil)
    broker.fail(.brokerFailed)
    #expect(try await test.client.accountsFromDevice().map(\.username) == [TestPerson.alice.username])
    let found = try await test.client.deviceAccounts(in: snapshot)
    #expect(found.accounts.map(\.username) == [TestPerson.alice.username])
    #expect(found.brokerFailure?.code == .brokerFailed)
  }

  @Test(arguments: [
    ("https://login.microsoftonline.us/common", "login.windows.net", false),
    ("https://login.microsoftonline.com/common", "login.contoso.test", true),
    ("https://login.contoso.test/common", "login.windows.net", true),
  ])
  func `An account of another cloud is not listed`(
    _ authority: String, _ environment: String, _ isListed: Bool
  ) async throws {
    let test = client(.automatic, authority)
    broker.set(accounts: [
      Account(homeAccountID: "u.t", username: nil, environment: environment, tenantProfiles: [])
    ])
    #expect(try await test.client.accountsFromDevice().isEmpty == !isListed)
  }

  @Test(
    .fault("signed out"),
    arguments: [
      SignOutOptions(), SignOutOptions(wipeAccount: true), SignOutOptions(wipeCacheForAllAccounts: true),
    ].abbreviated)
  func `An account that signed out returns only by a sign-in`(options: Named<SignOutOptions>) async throws {
    let options = options.value
    let (test, account) = try await signedIn()
    broker.set(accounts: [TestPerson.alice.brokerAccount])
    answer(test)
    try await test.client.signOut(account, options)
    #expect(try await test.client.accountsFromDevice().isEmpty)
    await expectError(.interactionRequired) { try await test.silent(account) }
    #expect(broker.requests.isEmpty)
    broker.set(asksPerson: true)
    _ = try await test.acquire(account: account)
    // And the session alone does not sign them in.
    #expect(broker.interactive.map(\.prompt) == [.login])
    #expect(try await test.client.accountsFromDevice().count == 1)
  }

  @Test(.fault("signed out"))
  func `An account that signed out returns by a sign-in whose response has no ID token`() async throws {
    let (test, account) = try await signedIn()
    broker.set(accounts: [TestPerson.alice.brokerAccount])
    answer(test, hasIDToken: false)
    try await test.client.signOut(account)
    broker.set(asksPerson: true)
    _ = try await test.acquire(account: account)
    #expect(try await test.client.accountsFromDevice().count == 1)
    #expect(try await test.silent(account).source == .broker)
  }

  @Test(
    .fault("signed out"),
    arguments: [SignOutOptions(wipeAccount: true), SignOutOptions(wipeCacheForAllAccounts: true)].abbreviated)
  func `A wipe brings back no account that signed out anywhere`(options: Named<SignOutOptions>) async throws {
    let options = options.value
    let (test, alice) = try await signedIn()
    let bob = TestPerson.bob.brokerAccount
    broker.set(accounts: [bob, alice])
    let other = "0e000000-0000-4000-8000-000000000001"
    for client in [TestPerson.clientID, other] {
      try await test.cache.removeAccount(bob.homeAccountID, clientID: client)
    }
    try await test.cache.removeAccount(alice.homeAccountID, clientID: other)
    try await test.client.signOut(alice, options)
    #expect(try await test.client.accountsFromDevice().isEmpty)
    for id in [alice.homeAccountID, bob.homeAccountID] {
      let metadata = try await test.cache.accountMetadata(clientID: other, of: id)
      #expect(metadata?.signInState(of: id) == .signedOut)
    }
    #expect(try await test.cache.snapshot().document.credentials.isEmpty)
  }

  @Test(.fault("part unreadable"))
  func `An account that may have signed out is not listed because the broker has it`() async throws {
    let store = ScriptedStore.damaged
    let alice = try await client(.off, store: store).signIn().account
    let test = client(store: store)
    let (bob, unreadable) = (
      TestPerson.bob.brokerAccount,
      Account(
        homeAccountID: "some.body", username: nil, environment: "login.microsoftonline.com",
        tenantProfiles: [])
    )
    broker.set(accounts: [bob, unreadable])
    let listed = try await test.client.accountsFromDevice().map(\.homeAccountID)
    #expect(Set(listed) == [alice.homeAccountID, bob.homeAccountID])
    #expect(try await test.client.accountsFromDevice(AccountFilter(signedInOnly: false)).count == 3)
  }

  @Test(.fault("signed out")) func `A wipe of all accounts brings none of them back`() async throws {
    let (test, alice) = try await signedIn()
    broker.set(accounts: [TestPerson.bob.brokerAccount])
    answer(test, of: .bob)
    _ = try await test.silent(TestPerson.bob.brokerAccount)
    #expect(try await test.client.accountsFromDevice().count == 2)
    try await test.client.signOut(alice, SignOutOptions(wipeCacheForAllAccounts: true))
    #expect(try await test.client.accountsFromDevice().isEmpty)
  }

  @Test(.fault("signed out"), arguments: [BrokerPolicy.required, .automatic], [true, false])
  func `Nor when they sign out while the broker is asked`(
    policy: BrokerPolicy, hasIDToken: Bool
  ) async throws {
    let (test, account) = try await expired(policy)
    let before = test.transport.tokenRequests.count
    broker.answer { [cache = test.cache, clock = test.clock] _ in
      // The lock is held by the call, so behind its back.
      _ = try? await cache.removeAccount(account.homeAccountID, clientID: TestPerson.clientID)
      return TestPerson.alice.brokerToken(at: clock.now, hasIDToken: hasIDToken)
    }
    await expectError(.interactionRequired) { try await test.silent(account) }
    #expect(try await test.secrets(.accessToken).isEmpty)
    #expect(test.transport.tokenRequests.count == before)
  }

  @Test(.fault("signed out")) func `Nor when they sign out while a call waits for its turn`() async throws {
    let test = client()
    let person = TestPerson(uid: "signs-out-before-the-turn")
    let account = person.brokerAccount
    answer(test, of: person, hasIDToken: false)
    let holder = try OtherProcessTests.Holder(account, test)
    let silent = Task { try await test.silent(account) }
    try await eventually { test.log.count(of: "Waiting for the account's turn.") >= 1 }
    try await test.cache.removeAccount(account.homeAccountID, clientID: TestPerson.clientID)
    holder.letGo()
    await expectError(.interactionRequired) { try await silent.value }
    #expect(broker.requests.isEmpty)
  }

  @Test(.fault("signed out")) func `Nor does their last token serve when the broker fails`() async throws {
    let withoutBroker = client(.off)
    let account = try await withoutBroker.signIn(changing: ["refresh_token": .null]).account
    let test = client(store: withoutBroker.store, clock: withoutBroker.clock)
    test.clock.advance(3400)
    broker.answer { [cache = test.cache] _ throws(IdentityError) in
      _ = try? await cache.removeAccount(account.homeAccountID, clientID: TestPerson.clientID)
      throw IdentityError(.network, "No.")
    }
    await expectError(.interactionRequired) { try await test.silent(account) }
  }

  @Test(.fault("signed out")) func `Nor does their last token that the broker gives again`() async throws {
    let (test, account) = try await signedIn()
    answer(test, "access-1")
    test.answerRenewals(.refusal("invalid_grant")) { [cache = test.cache] in
      _ = try? await cache.removeAccount(account.homeAccountID, clientID: TestPerson.clientID)
    }
    await expectError(.interactionRequired) { try await test.renew(account) }
  }

  @Test(.fault("wrong token")) func `Another account's token is not stored`() async throws {
    let (test, account) = try await expired(.required)
    let count = try await test.recordCount()
    var nameless = TestPerson.bob.brokerToken(at: test.clock.now)
    nameless.account = nil
    let bare = Account(
      homeAccountID: account.homeAccountID, username: nil, environment: account.environment,
      tenantProfiles: [])
    for token in [TestPerson.bob.brokerToken(at: test.clock.now), nameless] {
      broker.answer { _ in token }
      for account in [account, bare] {
        await expectError(.mismatchedUser) { try await test.silent(account) }
      }
    }
    #expect(try await test.recordCount() == count)
    broker.answer { [clock = test.clock] _ in
      var own = TestPerson.alice.brokerToken(at: clock.now)
      own.account = nil
      return own
    }
    #expect(try await test.silent(bare).source == .broker)
  }

  @Test(.fault("odd ID token")) func `A token with another client's ID token is not stored`() async throws {
    let (test, account) = try await expired(.required)
    let count = try await test.recordCount()
    for claims in [["aud": "another"], ["aud": .null], ["azp": "another"]] as [JSONObject] {
      broker.answer { [clock = test.clock] _ in
        var token = TestPerson.alice.brokerToken(at: clock.now)
        token.idToken = TestPerson.alice.idToken(at: clock.now, changing: claims)
        return token
      }
      await expectError(.brokerFailed) { try await test.silent(account) }
    }
    #expect(try await test.recordCount() == count)
  }

  @Test(.fault("without broker")) func `Requests that need the broker share no result`() async throws {
    let (test, account) = try await expired()
    let gate = Gate()
    broker.answer { _ throws(IdentityError) in
      await gate.wait()
      throw IdentityError(.brokerFailed, "The broker.")
    }
    test.transport.answerTokens(test.tokens("own-2"))
    let strict = Task { try await test.silent(account) { $0.refreshesWithoutBroker = false } }
    await gate.arrival()
    async let lenient = test.silent(account)
    try await eventually { test.log.count(of: "Waiting for the account's turn.") >= 1 }
    gate.open()
    await expectError(.brokerFailed) { try await strict.value }
    #expect(try await lenient.accessToken == "own-2")
  }

  @Test func `An account that the server deleted goes from the cache`() async throws {
    let (test, account) = try await expired(.required)
    refuse(.interactionRequired) { ($0.oauthError, $0.subError) = ("invalid_grant", "user_account_deleted") }
    await #expect(throws: IdentityError.self) { try await test.silent(account) }
    #expect(try await test.client.accounts().isEmpty)
  }

  @Test func `A token without an ID token is returned, not stored`() async throws {
    let test = client()
    answer(test, hasIDToken: false)
    let result = try await test.silent(TestPerson.alice.brokerAccount)
    #expect(result.accessToken == "brokered-1")
    #expect(result.account.username == TestPerson.alice.username)
    #expect(try await test.recordCount() == 0)
  }

  @Test func `A borrower with a persistent store leaves the account's turn to its lender`() async throws {
    broker.set(borrowsTokens: true)
    let test = client(.required)
    let person = TestPerson(uid: "borrows-during-the-turn")
    answer(test, of: person, hasIDToken: false)
    let holder = try OtherProcessTests.Holder(person.brokerAccount, test)
    let silent = Task { try await test.silent(person.brokerAccount) }
    let wait = "Waiting for the account's turn."
    try await eventually { !broker.requests.isEmpty || test.log.count(of: wait) > 0 }
    #expect(test.log.count(of: wait) == 0)
    holder.letGo()
    #expect(try await silent.value.accessToken == "brokered-1")
  }

  @Test(.fault("no keyring")) func `Where the broker is required no cache is needed`() async throws {
    let store = ScriptedStore.locked
    let test = client(.required, store: store)
    broker.set(accounts: [TestPerson.alice.brokerAccount])
    answer(test)
    let account = try #require(await test.client.accountsFromDevice().first)
    let result = try await test.silent(account)
    #expect(result.accessToken == "brokered-1")
    #expect(result.cacheError != nil)
    let automatic = client(store: store)
    await expectError(.cache) { try await automatic.silent(account) }
  }

  @Test func `That a client belongs to a family is not forgotten over a token of the broker`() async throws {
    broker.set(asksPerson: false)
    let first = client(.off)
    let account = try await first.signIn(changing: ["foci": "1"]).account
    let test = client(store: first.store, clock: first.clock)
    test.clock.advance(3600)
    answer(test)
    #expect(try await test.silent(account).source == .broker)
    #expect(try await test.cache.snapshot().document.appMetadata.values.map(\.familyID) == ["1"])
  }

  @Test(.fault("odd ID token")) func `Neither token nor name reaches the log`() async throws {
    let (test, account) = try await expired()
    answer(test)
    _ = try await test.silent(account)
    refuse(.brokerFailed) { $0.message = "The identity broker failed: alice@contoso.test." }
    test.transport.answerTokens(test.tokens("own-2"))
    _ = try await test.renew(account)
    test.clock.advance(3400)
    let required = client(.required, store: test.store, clock: test.clock)
    #expect(try await required.silent(account).accessToken == "own-2")
    refuse(.interactionRequired) { $0.oauthError = "alice@contoso.test" }
    await expectError(.interactionRequired) { try await required.silent(account) }
    #expect(!required.log.text.isEmpty && !required.log.text.contains("alice@contoso.test"))
    #expect(!test.log.text.isEmpty)
    for secret in ["brokered-1", "own-2", "alice@contoso.test"] { #expect(!test.log.text.contains(secret)) }
  }

  @Test(arguments: [BrokerPolicy.automatic, .required])
  func `A broker that asks people goes before the browser`(policy: BrokerPolicy) async throws {
    let test = client(policy)
    answer(test)
    var request = InteractiveRequest(
      scopes: ["User.Read"], loginHint: "alice@contoso.test", prompt: .selectAccount)
    request.domainHint = "contoso.test"
    let result = try await test.client.acquireToken(request)
    #expect(result.source == .broker)
    #expect(result.account.username == TestPerson.alice.username)
    #expect(test.browser.pages.isEmpty && test.transport.requests.isEmpty)
    #expect(broker.interactive.count == 1)
    #expect(broker.interactive[0].loginHint == "alice@contoso.test")
    #expect(broker.interactive[0].prompt == .selectAccount)
    #expect(!broker.interactive[0].isForced && broker.interactive[0].minimumValidity == 0)
    #expect(broker.interactive[0].extraQueryParameters == ["domain_hint": "contoso.test"])
    #expect(try await test.client.accounts().count == 1)
    let id = result.account.homeAccountID
    let metadata = try await test.cache.accountMetadata(clientID: TestPerson.clientID, of: id)
    #expect(
      metadata?.resolvedAuthority(for: Authority.default.address, homeAccountID: id)
        == Authority.entra(TestPerson.alice.home).address)
  }

  @Test func `One that does not is asked where it is required alone`() async throws {
    broker.set(asksPerson: false)
    let test = client()
    answer(test)
    #expect(try await test.signIn().source == .network)
    let required = client(.required)
    #expect(try await required.acquire().source == .broker)
    // Neither does the broker know how to make an account, or what to consent to besides.
    broker.set(asksPerson: true)
    var request = InteractiveRequest(scopes: ["User.Read"], prompt: .create)
    #expect(try await test.signIn(request: request).source == .network)
    request.prompt = .promptIfNecessary
    request.extraScopesToConsent = ["Mail.Read"]
    #expect(try await test.signIn(request: request).source == .network)
  }

  @Test(
    .fault("bad answer"),
    arguments: [IdentityError.Code.brokerFailed, .network, .authorizationFailed, .interactionRequired])
  func `When it fails the browser is opened, once`(code: IdentityError.Code) async throws {
    let test = client()
    refuse(code)
    #expect(try await test.signIn().source == .network)
    #expect(test.browser.pages.count == 1)
    #expect(broker.interactive.count == 1)
    let required = client(.required)
    await expectError(code) { try await required.acquire() }
    #expect(required.browser.pages.isEmpty && required.transport.requests.isEmpty)
  }

  @Test(arguments: [IdentityError.Code.userCanceled, .cancelled])
  func `When the person gives up nothing else is asked`(code: IdentityError.Code) async throws {
    let test = client()
    refuse(code)
    await expectError(code) { try await test.acquire() }
    #expect(test.browser.pages.isEmpty)
  }

  @Test(.fault("wrong token")) func `A different account is an error, or else a new one`() async throws {
    let test = client()
    answer(test, of: .bob)
    let alice = TestPerson.alice.brokerAccount
    await expectError(.mismatchedUser) { try await test.acquire(account: alice) }
    #expect(try await test.recordCount() == 0)
    let result = try await test.acquire()
    #expect(result.account.homeAccountID == TestPerson.bob.homeAccountID)
  }

  @Test func `What the broker did not grant is told, with what it did`() async throws {
    let test = client()
    answer(test, scopes: "Mail.Read")
    let error = await expectError(.serverDeclinedScopes) {
      try await test.acquire(["Mail.Read", "Files.Read"])
    }
    #expect(error?.declinedScopes == ["Files.Read"])
    #expect(error?.result?.accessToken == "brokered-1")
  }
}
