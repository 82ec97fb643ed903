import Foundation
@testable import MSAL
import TestSupport

extension ApplicationTests {
  /// Complete sign-ins of an application.
  struct SignInTests {
    private let entra = FakeEntra()
    private let application: MSALPublicClientApplication

    init() throws { application = try .test(entra) }

    @Test func `A result names the token's account`() async throws {
      let start = Date()
      let result = try await application.signIn()
      #expect(result.accessToken == "made-up-access-token")
      #expect(result.authorizationHeader == "Bearer made-up-access-token")
      #expect(result.authenticationScheme == "Bearer")
      #expect((start + 3599...Date() + 3600).contains(try #require(result.expiresOn)))
      #expect(result.scopes.contains("user.read"))
      #expect(!result.extendedLifeTimeToken && result.cacheError == nil)
      #expect(result.authority is MSALAADAuthority)
      #expect(result.account.username == "alice@contoso.test")
      #expect(result.account.identifier == TestPerson.alice.homeAccountID)
      #expect(result.account.homeAccountId?.objectId == TestPerson.alice.uid)
      #expect(result.account.homeAccountId?.tenantId == TestPerson.alice.home)
      #expect(result.account.accountClaims?["name"] as? String == "A Name")
      #expect(result.account.accountClaims?["exp"] as? Int != nil)
      #expect(result.tenantProfile.isHomeTenantProfile)
      #expect(result.tenantProfile.tenantId == TestPerson.alice.home)
      #expect(result.tenantProfile.identifier == TestPerson.alice.uid)
      #expect(!"\(result)".contains("made-up") && !"\(result.account)".contains("alice"))
    }

    @Test func `A signed-in account gets tokens without another sign-in`() async throws {
      let result = try await application.signIn()
      let account = try #require(try application.allAccounts().first)
      #expect(account == result.account && account.hash == result.account.hash)
      #expect(try application.account(forIdentifier: account.identifier!.uppercased()) == account)
      #expect(try application.account(forUsername: "Alice@contoso.test") == account)
      let byProfile = MSALAccountEnumerationParameters(
        tenantProfileIdentifier: TestPerson.alice.uid)
      #expect(try application.accounts(for: byProfile) == [account])
      // White space around a value does not count.
      #expect(try application.account(forIdentifier: "\(account.identifier!)\n") == account)
      #expect(try application.account(forUsername: " alice@contoso.test") == account)
      // A blank value filters nothing, and names no account.
      #expect(try application.accounts(for: MSALAccountEnumerationParameters(identifier: " ")) == [account])
      for blank in ["", " "] {
        #expect(throws: NSError.self) { try application.account(forIdentifier: blank) }
        #expect(throws: NSError.self) { try application.account(forUsername: blank) }
      }
      #expect(try await application.accountsFromDevice(for: MSALAccountEnumerationParameters()) == [account])

      entra.goOffline()
      let silent = try await application.silent(account)
      #expect(silent.accessToken == result.accessToken)
    }

    /// What is no failure there: `nil` without an error.
    @available(*, deprecated)
    @Test(.fault("no account")) func `An account that is not found has another domain than a failure`()
      async throws
    {
      let searches: [() throws -> Any] = [
        { try application.account(forIdentifier: "uid.utid") },
        { try application.account(forIdentifier: "") },
        { try application.account(forUsername: "bob@contoso.test") },
        { try application.account(forUsername: " ") },
        { try application.user(forIdentifier: "uid.utid") },
        { try application.account(forHomeAccountId: "uid.utid") },
        { try MSALClaimsRequest().removeClaim(withName: "nickname", target: .idToken) },
      ]
      for search in searches {
        let error = try await failure { try search() }
        #expect(error.domain == "Foundation._GenericObjCError" && error.code == 0)
      }
      let error = try await failure { try application.account(forIdentifier: "uid.utid") }
      #expect(
        error.localizedDescription
          == "No account with that identifier is signed in to this application. Sign in interactively.")
    }

    @Test func `Request parameters reach the server`() async throws {
      let application = try MSALPublicClientApplication.test(entra) {
        $0.clientApplicationCapabilities = ["CP1"]
        $0.sliceConfig = MSALSliceConfig(slice: "test", dc: nil)
        $0.nestedAuthBrokerClientId = "host"
        $0.nestedAuthBrokerRedirectUri = "msauth.com.example.host://auth"
      }
      let parameters = MSALInteractiveTokenParameters.userRead()
      parameters.promptType = .login
      parameters.preferredAuthMethod = .QRPIN
      parameters.loginHint = "alice@contoso.test"
      parameters.domainHint = "contoso.example"
      parameters.extraScopesToConsent = ["mail.read"]
      parameters.extraQueryParameters = ["extra": "1"]
      parameters.correlationId = UUID(uuidString: "22222222-2222-4333-8444-555555555555")
      parameters.claimsRequest = try MSALClaimsRequest(
        jsonString: #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#)
      parameters.authority = try MSALAADAuthority(
        url: URL(string: "https://login.microsoftonline.com/organizations")!)
      let result = try await application.acquireToken(with: parameters)
      #expect(result.correlationId == parameters.correlationId)

      let url = try #require(entra.browser.pages.first)
      #expect(url.path == "/organizations/oauth2/v2.0/authorize")
      #expect(url.parameter("prompt") == "login" && url.parameter("login_hint") == "alice@contoso.test")
      #expect(
        url.parameter("domain_hint") == "contoso.example" && url.parameter("extra") == "1"
          && url.parameter("slice") == "test")
      #expect(url.parameter("scope")?.contains("mail.read") == true)
      #expect(url.parameter("pc") == "18" && url.parameter("brk_client_id") == "host")
      #expect(url.parameter("brk_redirect_uri") == "msauth.com.example.host://auth")
      #expect(entra.server.tokenRequests.first?.form["brk_client_id"] == "host")
      #expect(
        url.parameter("claims")?.contains("nbf") == true && url.parameter("claims")?.contains("CP1") == true)
    }

    @Test func `A private window is requested`() throws {
      let webview = MSALWebviewParameters()
      webview.prefersEphemeralWebBrowserSession = true
      let parameters = MSALInteractiveTokenParameters(scopes: ["user.read"], webviewParameters: webview)
      #expect(try InteractiveRequest(parameters).prefersEphemeralSession)
      webview.prefersEphemeralWebBrowserSession = false
      let own = MSALInteractiveTokenParameters(scopes: ["user.read"], webviewParameters: webview)
      #expect(try !InteractiveRequest(own).prefersEphemeralSession)
    }

    @Test(.conformance(12)) func `A sign-in that the user declines is userCanceled`() async throws {
      entra.closePages()
      #expect(try await code { try await application.signIn() } == MSALError.userCanceled.rawValue)
    }

    @Test func `A refused silent request is interactionRequired, and an error about an account names it`()
      async throws
    {
      let account = try await application.signIn().account
      entra.refuse("invalid_grant")
      let error = try await failure { try await application.silent(account, forceRefresh: true) }
      #expect(error.code == MSALError.interactionRequired.rawValue)
      #expect(error.userInfo[MSALOAuthErrorKey] as? String == "invalid_grant")
      #expect(error.userInfo[MSALSTSErrorCodesKey] as? [Int] == [50076])
      #expect(error.userInfo[MSALHomeAccountIdKey] as? String == account.identifier)
      #expect(error.userInfo[MSALDisplayableUserIdKey] as? String == "alice@contoso.test")
      let byId = #expect(throws: NSError.self) { try application.account(forIdentifier: "some.body") }
      #expect(byId?.userInfo[MSALHomeAccountIdKey] as? String == "some.body")
      let byName = #expect(throws: NSError.self) {
        try application.account(forUsername: "bob@contoso.test")
      }
      #expect(byName?.userInfo[MSALDisplayableUserIdKey] as? String == "bob@contoso.test")
    }

    @Test(.conformance(67)) func `Declined scopes are reported with the granted ones`() async throws {
      entra.serve(.alice, granting: "user.read openid profile")
      let parameters = MSALInteractiveTokenParameters(
        scopes: ["user.read", "mail.read"], webviewParameters: MSALWebviewParameters())
      let error = try await failure { try await application.acquireToken(with: parameters) }
      #expect(error.code == MSALError.serverDeclinedScopes.rawValue)
      #expect(error.userInfo[MSALDeclinedScopesKey] as? [String] == ["mail.read"])
      let granted = try #require(error.userInfo[MSALGrantedScopesKey] as? [String])
      #expect(granted == ["user.read"])
      let result = try #require(error.userInfo[MSALInvalidResultKey] as? MSALResult)
      #expect(result.accessToken == "made-up-access-token")
      #expect(try await application.silent(result.account, granted).accessToken == result.accessToken)
    }

    @Test func `A device code is shown and redeemed`() async throws {
      let shown = Mutex<[String]>([])
      let parameters = MSALDeviceCodeTokenParameters(scopes: ["user.read"]) { code in
        shown.withLock { $0 += [code.userCode, code.message, code.verificationURI.absoluteString] }
      }
      let result = try await application.acquireToken(with: parameters)
      #expect(result.account.username == "alice@contoso.test")
      #expect(
        shown.withLock { $0 } == [
          "ABCD-EFGH", "Open the page and enter the code.", "https://microsoft.com/devicelogin",
        ])
    }

    @Test(.conformance(41)) func `Another account than that of a device code's parameters is refused`()
      async throws
    {
      let alice = try await application.signIn().account
      entra.serve(.bob)
      let parameters = MSALDeviceCodeTokenParameters(scopes: ["user.read"]) { _ in }
      parameters.account = alice
      let error = try await failure { try await application.acquireToken(with: parameters) }
      #expect(error.internalCode == MSALInternalError.internalErrorMismatchedUser.rawValue)
      #expect(try application.allAccounts() == [alice])
    }

    @Test func `Cancelling the task ends the sign-in`() async throws {
      entra.browser.idle()
      let task = Task { try await application.signIn() }
      _ = try await entra.browser.nextPage()
      task.cancel()
      #expect(try await code { try await task.value } == MSALError.userCanceled.rawValue)
    }

    @Test func `A signed-out user has to sign in again`() async throws {
      let account = try await application.signIn().account
      try application.remove(account)
      #expect(try application.allAccounts().isEmpty)
      #expect(
        try await code { try await application.silent(account) } == MSALError.interactionRequired.rawValue)
    }

    @Test(.conformance(69)) func `The browser is signed out on request`() async throws {
      let provider = ExternalAccounts()
      let application = try MSALPublicClientApplication.test(entra) {
        $0.cacheConfig.addExternalAccountProvider(provider)
      }
      let account = try await application.signIn().account
      let parameters = MSALSignoutParameters(webviewParameters: MSALWebviewParameters())
      parameters.signoutFromBrowser = true
      #expect(try await application.signout(with: account, signoutParameters: parameters))
      #expect(entra.browser.pages.count == 2)
      #expect(try #require(entra.browser.pages.last).path.hasSuffix("/logout"))

      entra.closePages()
      #expect(
        try await code { try await application.signout(with: account, signoutParameters: parameters) }
          == MSALError.userCanceled.rawValue)
      // The other libraries hear of the removal all the same.
      #expect(provider.events.withLock { $0 }.count { $0 == "remove alice@contoso.test" } == 2)
    }

    @Test(.conformance(40)) func `With two accounts there is no current account`() async throws {
      #expect(try await application.currentAccount(with: nil) == (nil, nil))
      let alice = try await application.signIn().account
      #expect(try await application.currentAccount(with: nil) == (alice, nil))
      entra.serve(.bob)
      let bob = try await application.signIn().account
      let error = try await failure { try await application.currentAccount(with: nil) }
      #expect(error.internalCode == -42102)
      try application.remove(alice)
      let (current, previous) = try await application.currentAccount(with: nil)
      #expect(current == bob && previous == alice)
      // The cache still has the account, and so what is known of it.
      #expect(previous?.tenantProfiles?.isEmpty == false)
      #expect(try await application.currentAccount(with: nil) == (bob, bob))
    }

    @Test(.conformance(71)) func `A failed save is reported with the result`() async throws {
      let application = try MSALPublicClientApplication.test(entra, store: ScriptedStore.locked)
      let result = try await application.signIn()
      #expect(result.accessToken == "made-up-access-token")
      #expect(result.cacheError?.domain == NSOSStatusErrorDomain)
      #expect(result.cacheError?.code == -25308)
      let error = try await failure { try application.allAccounts() }
      #expect(error.domain == NSOSStatusErrorDomain && error.code == -25308)
    }

    @Test func `Unreadable accounts are reported, not counted as none or as the only one`() async throws {
      let application = try MSALPublicClientApplication.test(entra, store: ScriptedStore.damaged)
      func expectDamage<T>(_ work: () async throws -> T) async throws {
        let error = try await failure { try await work() }
        #expect(error.domain == NSOSStatusErrorDomain && error.code == -26275)
      }
      try await expectDamage { try application.allAccounts() }
      try await expectDamage { try application.account(forUsername: "alice@contoso.test") }
      try await expectDamage {
        try await application.accountsFromDevice(for: MSALAccountEnumerationParameters())
      }
      try await expectDamage { try await application.currentAccount(with: nil) }
      _ = try await application.signIn()
      #expect(try application.allAccounts().count == 1)
      try await expectDamage { try await application.currentAccount(with: nil) }
    }

    private func code<T>(_ work: () async throws -> T) async throws -> Int? {
      let error = try await failure(of: work)
      return error.domain == MSALErrorDomain ? error.code : nil
    }
  }
}
