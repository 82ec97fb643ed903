import Foundation
import TestSupport

@testable import IdentityClient

struct SignOutTests {
  private let test = TestClient()
  private let otherID = "22222222-aaaa-bbbb-cccc-000000000002"

  @Test(.conformance(69)) func `The browser's session ends at the authority's page`() async throws {
    let account = try await test.signIn(idToken: ["login_hint": "hint-of-alice"]).account
    let pages = test.browser.pages.count
    test.browser.person { query in ["state": query["state"] ?? ""] }
    var options = SignOutOptions(fromBrowser: true)
    options.extraQueryParameters = ["dc": "one"]
    try await test.client.signOut(account, options)
    #expect(test.browser.pages.count == pages + 1)
    #expect(test.browser.pages.last?.path == "/common/oauth2/v2.0/logout")
    #expect(test.browser.modes.last == .query)
    let query = test.browser.lastQuery
    #expect(query["post_logout_redirect_uri"] == "http://localhost:37469")
    #expect(query["logout_hint"] == "hint-of-alice")
    #expect(query["client_id"] == nil)
    #expect(query["dc"] == "one")
    #expect((query["state"] ?? "").utf8.count == 43)
    #expect(try await test.client.accounts().isEmpty)
  }

  @Test func `A hint that the application gives stays where the ID token has none`() async throws {
    let account = try await test.signIn().account
    test.browser.person { query in ["state": query["state"] ?? ""] }
    var options = SignOutOptions(fromBrowser: true)
    options.extraQueryParameters = ["logout_hint": "of the application"]
    try await test.client.signOut(account, options)
    #expect(test.browser.lastQuery["logout_hint"] == "of the application")
  }

  @Test func `Another provider's page is told the client, without which it does not redirect`() async throws {
    let test = TestClient("https://id.example/issuer", kind: .oidc)
    test.browser.person { query in ["state": query["state"] ?? ""] }
    try await test.client.signOut(TestPerson.alice.brokerAccount, SignOutOptions(fromBrowser: true))
    #expect(test.browser.lastQuery["client_id"] == TestPerson.clientID)
  }

  @Test(.conformance(69), arguments: [IdentityError.Code.timedOut, .cancelled, .userCanceled])
  func `The cache is empty even if the browser fails`(_ code: IdentityError.Code) async throws {
    let account = try await test.signIn().account
    test.browser.person { _ throws(IdentityError) in throw IdentityError(code, "") }
    await expectError(code) { try await test.client.signOut(account, SignOutOptions(fromBrowser: true)) }
    #expect(try await test.cache.snapshot().document.credentials.isEmpty)
    #expect(try await test.client.accounts().isEmpty)
  }

  @Test(.conformance(69)) func `A response with another state is refused`() async throws {
    let account = try await test.signIn().account
    test.browser.person { _ in ["state": "other"] }
    await expectError(.invalidState) {
      try await test.client.signOut(account, SignOutOptions(fromBrowser: true))
    }
  }

  @Test(.conformance(70)) func `One account is removed, the other stays; a renewal says why`() async throws {
    let alice = try await test.signIn().account
    let bob = try await test.signIn(.bob, changing: ["refresh_token": "of bob", "access_token": "bob"])
      .account
    try await test.client.remove(alice)
    #expect(test.browser.pages.count == 2)
    #expect(try await test.client.accounts() == [bob])
    #expect(try await test.silent(bob).accessToken == "bob")
    let error = await expectError(.interactionRequired) { try await test.silent(alice) }
    #expect(error?.message == "Account is signed out, user interaction is required.")
    #expect(error?.advice == "Sign in interactively.")
    #expect(try await test.secrets(.refreshToken) == ["of bob"])
    #expect(try await test.cache.snapshot().document.accounts.count == 2)
  }

  @Test(.conformance(70), arguments: [false, true])
  func `What another client has of the account stays, unless all of it shall go`(_ wipes: Bool) async throws {
    let alice = try await test.signIn(changing: ["foci": "1"]).account
    let other = test.another(clientID: otherID)
    try await other.signIn(
      changing: ["refresh_token": "of the other", "foci": "1"], idToken: ["aud": .string(otherID)])
    try await test.client.signOut(alice, SignOutOptions(wipeAccount: wipes))
    #expect(try await test.client.accounts().isEmpty)
    #expect(try await other.client.accounts().count == (wipes ? 0 : 1))
    #expect(try await test.secrets(.refreshToken) == (wipes ? [] : ["of the other", "of the other"]))
    #expect(try await test.cache.snapshot().document.accounts.count == (wipes ? 0 : 1))
  }

  @Test func `A wipe by one client signs the account in to no other client again`() async throws {
    let alice = try await test.signIn(changing: ["foci": "1"]).account
    let other = test.another(clientID: otherID)
    try await other.signIn(
      changing: ["refresh_token": "of the other", "foci": "1"], idToken: ["aud": .string(otherID)])
    try await other.client.remove(alice)
    try await test.client.signOut(alice, SignOutOptions(wipeAccount: true))
    try await test.signIn(changing: ["foci": "1"])
    #expect(try await other.client.accounts().isEmpty)
    await expectError(.interactionRequired) { try await other.silent(alice) }
  }

  @Test func `Everything goes when that is asked for`() async throws {
    let alice = try await test.signIn().account
    try await test.signIn(.bob)
    try await test.client.signOut(alice, SignOutOptions(wipeCacheForAllAccounts: true))
    #expect(try await test.recordCount() == 0)
  }

  @Test(.conformance(71)) func `An unwritable cache is reported, and no browser opened`() async throws {
    let alice = try await test.signIn().account
    let pages = test.browser.pages.count
    test.store.lock(isReadable: true)
    let error = await expectError(.cache) {
      try await test.client.signOut(alice, SignOutOptions(fromBrowser: true))
    }
    #expect(error?.cacheError?.code == .locked)
    #expect(test.browser.pages.count == pages)
  }

  @Test func `An account that was signed out can be signed in again`() async throws {
    let alice = try await test.signIn().account
    try await test.client.remove(alice)
    try await test.signIn { $0.account = alice }
    #expect(try await test.silent(alice).source == .cache)
  }
}
