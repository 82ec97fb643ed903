import Foundation
import TestSupport

@testable import IdentityClient

struct SilentCacheTests {
  private let test = TestClient()

  /// Signs alice in and forgets what was sent for that.
  private func signedIn(
    _ scopes: [String] = ["User.Read"], changing changes: JSONObject = [:]
  ) async throws -> (account: Account, requests: Int) {
    let account = try await test.signIn(scopes: scopes, changing: changes).account
    return (account, test.transport.requests.count)
  }

  @Test(.conformance(21)) func `A valid access token comes from the cache without a request`() async throws {
    let (account, before) = try await signedIn()
    let result = try await test.silent(account)
    #expect(result.accessToken == "access-1")
    #expect(result.source == .cache)
    #expect(result.account == account)
    #expect(result.idToken != nil)
    #expect(result.claims?.username == "alice@contoso.test")
    #expect(result.tenantProfile?.isHomeTenant == true)
    #expect(result.authorizationHeader == "Bearer access-1")
    #expect(!result.isExtendedLifetime && result.expiresOn == test.clock.now.addingTimeInterval(3600))
    #expect(test.transport.requests.count == before)
  }

  @Test(.conformance(22)) func `A token for more scopes serves, one for fewer does not`() async throws {
    let (account, before) = try await signedIn(["User.Read", "Mail.Read"])
    #expect(try await test.silent(account, ["Mail.Read"]).source == .cache)
    #expect(test.transport.requests.count == before)
    test.transport.answerTokens(test.tokens(scope: "Files.Read"))
    let other = try await test.silent(account, ["Files.Read"])
    #expect(other.accessToken == "access-2")
    #expect(test.transport.tokenRequests.last?.form["scope"] == "Files.Read openid profile offline_access")
  }

  @Test(.conformance(23)) func `Neither case nor order of scopes matters`() async throws {
    let (account, before) = try await signedIn(["User.Read", "Mail.Read"])
    #expect(try await test.silent(account, ["mail.read", "USER.READ"]).source == .cache)
    #expect(test.transport.requests.count == before)
  }

  @Test(arguments: [
    JSONValue.string("https://vault.azure.net/user_impersonation https://vault.azure.net/.default"), .null,
  ])
  func `A token from the cache has every scope that was granted`(_ granted: JSONValue) async throws {
    let all = ["https://vault.azure.net/.default"]
    let account = try await test.signIn(scopes: all, changing: ["scope": granted]).account
    #expect(try await test.silent(account, all).scopes.contains(all[0]))
  }

  @Test(
    .conformance(23), arguments: ["graph.microsoft.com", "dod-graph.microsoft.us", "graph.svc.sovcloud.sg"])
  func `Graph's scopes are found by their short and long names`(_ host: String) async throws {
    let account = try await test.signIn(
      scopes: ["https://\(host)/user.read"], changing: ["scope": "User.Read profile openid email"]
    ).account
    let cached = try await test.silent(account, ["https://\(host)/User.Read"])
    #expect(cached.source == .cache)
    #expect(cached.scopes == ["User.Read", "profile", "openid", "email"])
    #expect(try await test.silent(account, ["User.Read"]).source == .cache)
  }

  @Test(
    .conformance(24, 68), .fault("clock jumps"),
    arguments: [(3299.0, true), (3301, false), (-3600, false), (7200, false)])
  func `A token expires five minutes early, and also when the clock was put back`(
    _ seconds: Double, _ isHit: Bool
  ) async throws {
    let (account, _) = try await signedIn()
    test.clock.advance(seconds)
    test.transport.answerTokens(test.tokens())
    #expect(try await test.silent(account).accessToken == (isHit ? "access-1" : "access-2"))
  }

  @Test(.conformance(68), arguments: [89.0, 3650, 36500])
  func `A token of years serves, of more than ten years for ten`(_ days: Double) async throws {
    let (account, _) = try await signedIn(changing: ["expires_in": .double(days * 86400)])
    #expect(try await test.silent(account).source == .cache)
  }

  @Test(.conformance(23)) func `Scopes may be separated by tabs`() async throws {
    let result = try await test.signIn(
      scopes: ["User.Read", "Mail.Read"], changing: ["scope": "User.Read\tMail.Read"])
    let cached = try await test.silent(result.account, ["Mail.Read"])
    #expect(cached.source == .cache)
    for result in [result, cached] { #expect(result.scopes == ["User.Read", "Mail.Read"]) }
  }

  @Test(.conformance(24)) func `The buffer can be set`() async throws {
    let own = test.another { $0.tokenExpirationBuffer = 10 }
    let (account, _) = try await signedIn()
    test.clock.advance(3500)
    #expect(try await own.silent(account).accessToken == "access-1")
  }

  @Test(.conformance(43)) func `Tokens are found by the requested and the issuing tenant`() async throws {
    let (account, before) = try await signedIn()
    let home = test.another("https://login.microsoftonline.com/\(TestPerson.alice.home)")
    #expect(try await home.silent(account).source == .cache)
    #expect(home.transport.requests.isEmpty)
    for tenant in ["organizations", "consumers", "COMMON"] {
      let authority = Authority.entra(tenant)
      #expect(try await test.silent(account) { $0.authority = authority }.source == .cache)
    }
    #expect(test.transport.requests.count == before)
  }

  @Test(.conformance(43)) func `A tenant named by its domain is remembered by its id`() async throws {
    let domain = TestClient("https://login.microsoftonline.com/contoso.test")
    domain.transport.setMetadata([
      "issuer": .string("https://login.microsoftonline.com/\(TestPerson.alice.home)/v2.0")
    ])
    let account = try await domain.signIn().account
    let before = domain.transport.requests.count
    #expect(try await domain.silent(account).source == .cache)
    #expect(domain.transport.requests.count == before)
  }

  @Test(.conformance(45), arguments: ["login.windows.net", "sts.windows.net", "login.microsoft.com"])
  func `A token from another host of the same cloud is found`(_ host: String) async throws {
    let (account, _) = try await signedIn()
    let keys = try await test.cache.snapshot().document.accessTokens.values.compactMap(\.environment)
    #expect(keys == ["login.windows.net"])
    let other = test.another("https://\(host)/common")
    #expect(try await other.silent(account).source == .cache)
    #expect(other.transport.requests.isEmpty)
  }

  @Test(.conformance(45)) func `Another cloud's token does not serve, nor its refresh token`() async throws {
    let (account, _) = try await signedIn()
    let other = test.another("https://login.microsoftonline.us/common")
    await expectError(.interactionRequired) { try await other.silent(account) }
    #expect(other.transport.tokenRequests.isEmpty)
  }

  @Test(.conformance(42)) func `A guest tenant gets its own tokens by the same refresh token`() async throws {
    let (account, _) = try await signedIn()
    let guest = "33333333-3333-3333-3333-333333333333"
    var person = TestPerson.alice
    person.tenant = guest
    test.transport.answerTokens(test.tokens("guest", of: person, idToken: ["oid": "guest-oid"]))
    let authority = Authority.entra(guest)
    let result = try await test.silent(account) { $0.authority = authority }
    #expect(result.accessToken == "guest")
    #expect(test.transport.tokenRequests.last?.form["refresh_token"] == "refresh-1")
    #expect(result.tenantProfile?.tenantID == guest)
    #expect(result.tenantProfile?.localAccountID == "guest-oid")
    #expect(result.account.tenantProfiles.map(\.tenantID) == [TestPerson.alice.home, guest])
    #expect(try await test.client.accounts().count == 1)
    #expect(try await test.silent(account).accessToken == "access-1")
    #expect(try await test.silent(account) { $0.authority = authority }.accessToken == "guest")
  }

  @Test(.conformance(44)) func `A personal account has its own tenant's tokens`() async throws {
    let account = try await test.signIn(.carol).account
    #expect(account.homeAccountID.hasSuffix(Tenant.personalAccounts))
    #expect(try await test.silent(account).source == .cache)
    test.clock.advance(4000)
    test.transport.answerTokens(.refusal("invalid_grant", code: 50020))
    let authority = Authority.entra("organizations")
    await expectError(.interactionRequired) { try await test.silent(account) { $0.authority = authority } }
    #expect(test.transport.tokenRequests.last?.url.path.hasPrefix("/organizations/") == true)
  }

  @Test(.conformance(40)) func `Only the requested account's tokens are served`() async throws {
    let alice = try await signedIn().account
    let bob = try await test.signIn(.bob, changing: ["access_token": "of bob"]).account
    #expect(try await test.client.accounts().map(\.username) == ["alice@contoso.test", "bob@contoso.test"])
    #expect(try await test.silent(alice).accessToken == "access-1")
    #expect(try await test.silent(bob).accessToken == "of bob")
    let carol = TestClient()
    let unknown = try await carol.signIn(.carol).account
    let error = await expectError(.interactionRequired) { try await test.silent(unknown) }
    #expect(error?.message.contains("No token matching arguments") == true)
    let odd = Account(
      homeAccountID: "uid.", username: nil, environment: "login.windows.net", tenantProfiles: [])
    await expectError(.interactionRequired) { try await test.silent(odd) }
    #expect(odd.anchorMailbox == nil)
  }
}
