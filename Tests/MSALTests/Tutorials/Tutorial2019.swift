// Tutorials unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import MSAL

/// The common steps of the older tutorials. The tests call them through this protocol, without the warnings for the
/// deprecated names.
protocol TutorialSteps: AnyObject {
  /// The shown lines.
  var screen: (stream: AsyncStream<String>, continuation: AsyncStream<String>.Continuation) { get }
  var applicationContext: MSALPublicClientApplication? { get set }
  func initMSAL() throws
  func acquireTokenInteractively()
  func acquireTokenSilently()
  func signOut()
}

/// A program like the tutorials of 2019 (MSAL 0.5 to 1.1), written for this test.
class Tutorial2019: TutorialSteps {
  let kScopes: [String] = ["https://graph.microsoft.com/user.read"]
  var accessToken = String()
  var applicationContext: MSALPublicClientApplication?
  var webViewParamaters: MSALWebviewParameters?
  let screen = AsyncStream<String>.makeStream()

  @available(*, deprecated)
  func initMSAL() throws {
    guard let authorityURL = URL(string: "https://login.microsoftonline.com/common") else { return }
    let authority = try MSALAuthority(url: authorityURL)
    let config = MSALPublicClientApplicationConfig(
      clientId: FakeEntra.clientID, redirectUri: nil, authority: authority)
    self.applicationContext = try MSALPublicClientApplication(configuration: config)
    // On iOS, and on macOS.
    self.webViewParamaters = MSALWebviewParameters(parentViewController: self)
    self.webViewParamaters = MSALWebviewParameters()
    self.webViewParamaters?.webviewType = .wkWebView
    MSALGlobalConfig.defaultWebviewType = .authenticationSession
    MSALGlobalConfig.loggerConfig.piiEnabled = false
  }

  func currentAccount() -> MSALAccount? {
    guard let applicationContext = self.applicationContext else { return nil }

    do {
      let cachedAccounts = try applicationContext.allAccounts()
      if !cachedAccounts.isEmpty {
        return cachedAccounts.first
      }
    } catch let error as NSError {
      self.updateLogging(text: "Didn't find any accounts in cache: \(error)")
    }
    return nil
  }

  func acquireTokenInteractively() {
    guard let applicationContext = self.applicationContext else { return }

    let parameters = MSALInteractiveTokenParameters(
      scopes: kScopes, webviewParameters: self.webViewParamaters!)
    applicationContext.acquireToken(with: parameters) { (result, error) in
      if let error = error {
        self.updateLogging(text: "Could not acquire token: \(error)")
        return
      }
      guard let result = result else { return }
      self.accessToken = result.accessToken
      self.updateLogging(text: "Access token acquired")
    }
  }

  func acquireTokenSilently() {
    acquireTokenSilently(currentAccount())
  }

  func acquireTokenSilently(_ account: MSALAccount!) {
    guard let applicationContext = self.applicationContext, account != nil else { return }

    let parameters = MSALSilentTokenParameters(scopes: kScopes, account: account)
    applicationContext.acquireTokenSilent(with: parameters) { (result, error) in
      if let error = error {
        let nsError = error as NSError
        if nsError.domain == MSALErrorDomain, nsError.code == MSALError.interactionRequired.rawValue {
          self.updateLogging(text: "Interaction required")
          return
        }
        self.updateLogging(text: "Could not acquire token silently: \(error)")
        return
      }
      self.updateLogging(text: "Refreshed access token")
    }
  }

  func signOut() {
    guard let applicationContext = self.applicationContext else { return }
    guard let account = self.currentAccount() else { return }

    do {
      // Removes the tokens for this application, and does not sign out of the browser.
      try applicationContext.remove(account)
      self.updateLogging(text: "Signed out")
    } catch let error as NSError {
      self.updateLogging(text: "Received error signing account out: \(error)")
    }
  }

  @available(*, deprecated)
  func spellingsOfVersion1() throws {
    let application = try MSALPublicClientApplication(
      clientId: FakeEntra.clientID, authority: try MSALAuthority(url: URL(string: "https://a.example/b")!))
    application.validateAuthority = false
    application.webviewType = .wkWebView
    application.customWebview = nil
    _ = MSALInteractiveTokenParameters(scopes: kScopes)
    application.allAccountsFilteredByAuthority { (accounts, error) in }
    application.acquireToken(forScopes: []) { (result, error) in
      _ = result?.tenantId
      _ = result?.uniqueId
    }
    application.acquireToken(
      forScopes: [], loginHint: "", promptType: .login, extraQueryParameters: nil,
      completionBlock: { (result, error) in })
    application.acquireToken(
      forScopes: [], extraScopesToConsent: nil, account: nil, promptType: .consent,
      extraQueryParameters: nil, claimsRequest: nil, authority: nil, correlationId: nil,
      completionBlock: { (result, error) in })
  }

  func updateLogging(text: String) {
    DispatchQueue.main.async {
      self.screen.continuation.yield(text)
    }
  }
}
