import Foundation
import TestSupport

@testable import TokenCache

/// The list of accounts.
struct AccountTests {
  private let test = TestCache()

  @Test func `Accounts are listed by user name without regard to case`() async throws {
    let carol = TestPerson(uid: "carol", home: "tenant", username: "Carol@contoso.example")
    for person in [carol, .bob, .alice] { try await test.save(TestResponse(person: person)) }
    #expect(
      try await test.accounts().map(\.username) == [TestPerson.alice, .bob, carol].map(\.username))
  }

  @Test func `The home tenant comes first and guest tenants are profiles`() async throws {
    for tenant in ["zz-guest", nil, "00-guest"] { try await test.save(TestResponse(tenant: tenant)) }
    let accounts = try await test.accounts()
    #expect(accounts.map(\.homeAccountID) == [TestPerson.alice.homeAccountID])
    let profiles = try #require(accounts.first).tenantProfiles
    #expect(profiles.map(\.tenantID) == [TestPerson.alice.home, "00-guest", "zz-guest"])
    #expect(profiles.map(\.isHomeTenant) == [true, false, false])
    #expect(
      profiles.map(\.localAccountID) == [TestPerson.alice.uid, "guest in 00-guest", "guest in zz-guest"])
    #expect(profiles.map { $0.claims?.tenantID } == [TestPerson.alice.home, "00-guest", "zz-guest"])
  }

  @Test func `Of several records for one tenant the one that names it counts first`() async throws {
    let host = "login.microsoftonline.com"
    func idToken(_ name: String, realm: String) -> SampleRecord {
      let claims: JSONObject = ["name": .string(name)]
      return .idToken("e30.\(claims.base64URL).", key: name, client: "c", host: host, realm: realm)
    }
    try await test.load([
      .account(
        key: "a", host: host, realm: "common",
        ["username": "old", "name": "Old", "local_account_id": "old", "account_source": "old"]),
      .account(key: "b", host: host, realm: "t", ["username": "new", "name": "New"]),
      .account(
        key: "c", host: "login.microsoftonline.us", realm: "common",
        ["local_account_id": "older", "account_source": "older"]),
      idToken("first", realm: "common"), idToken("last", realm: "t"),
    ])
    let account = try #require(try await test.accounts(client: "c", signedInOnly: false).first)
    let profile = try #require(account.tenantProfiles.first)
    #expect([profile.username, profile.name, profile.localAccountID] == ["new", "New", "old"])
    #expect([profile.environment, account.source] == ["login.windows.net", "old"])
    #expect(profile.claims?.name == "first")
    let lookup = TokenLookup(homeAccountID: "u.t", environment: host, clientID: "c")
    #expect(try await test.cache.idToken(for: lookup)?.claims?.name == "first")
  }

  @Test func `Claims are those of the requesting client's ID token`() async throws {
    try await test.save(TestResponse(family: "1"))
    let profile = try await test.accounts(client: TestCache.otherClient).first?.tenantProfiles.first
    #expect(profile?.username == TestPerson.alice.username)
    #expect(profile?.claims == nil)
    #expect(try await test.accounts().first?.tenantProfiles.first?.claims?.objectID == TestPerson.alice.uid)
  }

  @Test func `A user known only as a guest is listed`() async throws {
    try await test.save(TestResponse(tenant: "guest-tenant"))
    let account = try #require(try await test.accounts().first)
    #expect(account.homeAccountID == TestPerson.alice.homeAccountID)
    #expect(account.username == TestPerson.alice.username)
    #expect(account.tenantProfiles.map(\.isHomeTenant) == [false])
  }

  @Test func `An account of an unknown type is listed`() async throws {
    try await test.load(
      #"{"Account": {"a": {"home_account_id": "u.t", "environment": "e", "authority_type": "Novel"}}}"#)
    #expect(try await test.accounts(signedInOnly: false).map(\.homeAccountID) == ["u.t"])
  }

  @Test func `Accounts are found by ID and by user name without regard to case`() async throws {
    for person in [TestPerson.alice, .bob] { try await test.save(TestResponse(person: person)) }
    func ids(_ filter: AccountFilter) async throws -> [String] {
      try await test.cache.accounts(filter).map(\.homeAccountID)
    }
    let alice = TestPerson.alice
    #expect(
      try await ids(AccountFilter(homeAccountID: alice.homeAccountID.uppercased())) == [alice.homeAccountID])
    #expect(try await ids(AccountFilter(username: alice.username.uppercased())) == [alice.homeAccountID])
    let guest = TestPerson(uid: alice.uid, home: alice.home, username: "guest@contoso.example")
    try await test.save(
      TestResponse(person: guest, tenant: "guest"), environment: "login.microsoftonline.us")
    #expect(try await ids(AccountFilter(username: guest.username)) == [alice.homeAccountID])
    let account = try await test.accounts().first
    #expect([account?.username, account?.environment] == [alice.username, "login.windows.net"])
    #expect(try await ids(AccountFilter(homeAccountID: "unknown")).isEmpty)
    #expect(try await ids(AccountFilter(username: "unknown")).isEmpty)
  }

  @Test func `An account is signed in to the client that has its refresh token`() async throws {
    try await test.load(mixedCache(refreshClient: TestCache.client))
    #expect(try await test.accounts().count == 1)
    try await test.cache.save(
      AppMetadata(clientID: TestCache.otherClient, environment: "login.windows.net", familyID: ""))
    #expect(try await test.accounts(client: TestCache.otherClient).isEmpty)
    #expect(try await test.accounts(client: TestCache.otherClient, signedInOnly: false).count == 1)
  }

  @Test func `An account is signed in to every member of its family`() async throws {
    try await test.load(mixedCache(refreshClient: TestCache.client, family: "1"))
    #expect(try await test.accounts(client: "unknown").count == 1)
    try await test.cache.save(AppMetadata(clientID: "loner", environment: "login.windows.net", familyID: ""))
    #expect(try await test.accounts(client: "loner").isEmpty)
  }

  @Test func `An account that signed out of a client is not listed for it`() async throws {
    try await test.save(TestResponse(family: "1"))
    let id = TestPerson.alice.homeAccountID
    try await test.cache.updateAccountMetadata(clientID: TestCache.client, of: id) {
      $0.setSignInState(.signedOut, of: id)
    }
    #expect(try await test.accounts().isEmpty)
    #expect(try await test.accounts(signedInOnly: false).count == 1)
    #expect(try await test.accounts(client: TestCache.otherClient).count == 1)
    try await test.save()
    #expect(try await test.accounts().count == 1)
  }

  @Test func `An account that signed in is listed without refresh token`() async throws {
    try await test.save(TestResponse(refreshToken: nil))
    #expect(try await test.accounts().count == 1)
    #expect(try await test.accounts(client: TestCache.otherClient).isEmpty)
  }

  @Test func `A resolved authority is remembered until the sign-out`() async throws {
    let (common, id) = ("https://login.microsoftonline.com/common", TestPerson.alice.homeAccountID)
    try await test.cache.updateAccountMetadata(clientID: TestCache.client, of: id) {
      $0.setResolvedAuthority("https://login.microsoftonline.com/tenant", for: common, homeAccountID: id)
    }
    func resolved() async throws -> String? {
      try await test.cache.accountMetadata(clientID: TestCache.client.uppercased(), of: id)?
        .resolvedAuthority(for: common, homeAccountID: id.uppercased())
    }
    #expect(try await resolved() == "https://login.microsoftonline.com/tenant")
    try await test.cache.removeAccount(id, clientID: TestCache.client)
    #expect(try await resolved() == nil)
  }

  private func mixedCache(refreshClient: String, family: String? = nil) -> [SampleRecord] {
    let (id, host) = (TestPerson.alice.homeAccountID, "login.microsoftonline.com")
    let familyID = family.map(JSONValue.string) ?? .null
    return [
      .account(id, key: "a", host: host, realm: "common", ["username": "alice"]),
      .refreshToken("rt", of: id, client: refreshClient, host: host, ["family_id": familyID]),
    ]
  }
}
