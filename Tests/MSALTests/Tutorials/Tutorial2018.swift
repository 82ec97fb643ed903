// Tutorials unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import MSAL

/// A program like the tutorials of 2018 (MSAL 0.1 to 0.3), written for this test.
class Tutorial2018: TutorialSteps {
  let kScopes: [String] = ["https://graph.microsoft.com/user.read"]
  var accessToken = String()
  var applicationContext: MSALPublicClientApplication?
  let screen = AsyncStream<String>.makeStream()

  @available(*, deprecated)
  func initMSAL() throws {
    let authorityURL = URL(string: "https://login.microsoftonline.com/common")!
    let authority = try MSALAuthority(url: authorityURL)
    self.applicationContext = try MSALPublicClientApplication(
      clientId: FakeEntra.clientID, authority: authority)
    MSALLogger.shared().level = .verbose
    MSALLogger.shared().piiLoggingEnabled = false
    MSALLogger.shared().setCallback { (level, message, containsPII) in }
  }

  @available(*, deprecated)
  func acquireTokenInteractively() {
    applicationContext?.acquireToken(forScopes: kScopes) { (result, error) in
      if let error = error {
        self.updateText(text: "Could not acquire token: \(error)")
        return
      }
      self.accessToken = (result?.accessToken)!
      self.updateText(text: "Access token acquired")
    }
  }

  func currentAccount() -> MSALAccount? {
    guard let applicationContext = self.applicationContext else { return nil }
    do {
      let cachedAccounts = try applicationContext.allAccounts()
      if !cachedAccounts.isEmpty { return cachedAccounts.first }
    } catch let error {
      self.updateText(text: "Didn't find any accounts in cache: \(error)")
    }
    return nil
  }

  @available(*, deprecated)
  func acquireTokenSilently() {
    guard let applicationContext = self.applicationContext else { return }
    // Possibly no account is signed in.
    applicationContext.acquireTokenSilent(forScopes: kScopes, account: currentAccount()) { (result, error) in
      if let error = error {
        let nsError = error as NSError
        if nsError.domain == MSALErrorDomain, nsError.code == MSALErrorCode.interactionRequired.rawValue {
          self.updateText(text: "Interaction required")
        } else {
          self.updateText(text: "Could not acquire token silently: \(error)")
        }
        return
      }
      guard let result = result else { return }
      self.accessToken = result.accessToken
      self.updateText(text: "Refreshed access token")
    }
  }

  @available(*, deprecated)
  func signOut() {
    do {
      try self.applicationContext!.remove(self.applicationContext!.users().first)
      self.updateText(text: "Signed out")
    } catch let error {
      self.updateText(text: "Received error signing user out: \(error)")
    }
  }

  @available(*, deprecated)
  func otherSpellings() throws {
    let kAuthority = "https://login.microsoftonline.com/common"
    let application = try MSALPublicClientApplication(clientId: FakeEntra.clientID, authority: kAuthority)
    _ = try MSALPublicClientApplication(
      clientId: FakeEntra.clientID, keychainGroup: "com.example.group", authority: nil, redirectUri: nil)
    let identifier: String? = "uid.utid"
    let user: MSALUser = try application.user(forIdentifier: identifier)
    _ = try application.account(forHomeAccountId: "uid.utid")
    if try application.accounts().isEmpty { return }
    let parts: [String] = [
      user.displayableId, user.name, kAuthority + user.utid, user.uid, user.userIdentifier().lowercased(),
    ]
    updateText(text: parts.joined(separator: " "))
    MSALLogger.init().setCallback { (_, _, _) in }
    application.acquireToken(forScopes: kScopes, loginHint: "") { (result, error) in
      let ids: [String] = [result!.user.uid, result!.uniqueId, result!.tenantId]
      let codes: [MSALErrorCode] = [
        .userNotFound, .noAccessTokenInResponse, .badTokenResponse, .userRequired,
      ]
      if codes.map(\.rawValue).contains((error! as NSError).code) { self.updateText(text: "\(ids)") }
    }
    application.acquireToken(
      forScopes: kScopes, user: user, uiBehavior: .MSALForceLogin, extraQueryParameters: nil,
      authority: kAuthority, correlationId: nil, completionBlock: { (result, error) in })
    application.acquireToken(
      forScopes: kScopes, account: user, uiBehavior: .MSALUIBehaviorDefault, extraQueryParameters: nil
    ) { (result, error) in }
    application.acquireToken(
      forScopes: kScopes, extraScopesToConsent: nil, loginHint: nil, uiBehavior: MSALUIBehavior(rawValue: 3)!,
      extraQueryParameters: nil, claims: nil, authority: nil, correlationId: nil
    ) { (result, error) in }
    application.acquireTokenSilent(forScopes: kScopes, user: user) { (result, error) in }
    application.acquireTokenSilent(forScopes: kScopes, user: try application.users().first) { _, _ in }
    application.acquireTokenSilent(
      forScopes: kScopes, account: try application.allAccounts().first, authority: nil
    ) { (result, error) in }
    application.acquireTokenSilent(
      forScopes: kScopes, account: user, authority: nil, forceRefresh: true, correlationId: nil
    ) { (result, error) in }
    application.acquireTokenSilent(
      forScopes: kScopes, account: user, authority: nil, claims: "{}", forceRefresh: true, correlationId: nil
    ) { (result, error) in }
  }

  @available(*, deprecated)
  func application(open url: URL) -> Bool {
    MSALPublicClientApplication.handleMSALResponse(url)
    return MSALPublicClientApplication.handleMSALResponse(url)
  }

  func updateText(text: String) {
    DispatchQueue.main.async {
      self.screen.continuation.yield(text)
    }
  }
}
