// Tutorials unwrap by force.
// swift-format-ignore-file: NeverForceUnwrap

import MSAL

/// A program like today's tutorials for iOS and macOS, written for this test: a view controller without its views.
class CurrentTutorial {
  let kClientID = FakeEntra.clientID
  let kAuthority = "https://login.microsoftonline.com/common"
  let kScopes: [String] = ["https://graph.microsoft.com/user.read"]

  var accessToken = String()
  var applicationContext: MSALPublicClientApplication?
  var webViewParameters: MSALWebviewParameters?
  var currentAccount: MSALAccount?
  var lastMessage: String?
  /// The shown lines.
  let screen = AsyncStream<String>.makeStream()

  func viewDidLoad() {
    do {
      try initMSAL()
    } catch let error {
      updateLogging(text: "Unable to create Application Context \(error)")
    }
    platformViewDidLoadSetup()
  }

  func initMSAL() throws {
    guard let authorityURL = URL(string: kAuthority) else {
      updateLogging(text: "Unable to create authority URL")
      return
    }
    let authority = try MSALAADAuthority(url: authorityURL)
    let msalConfiguration = MSALPublicClientApplicationConfig(
      clientId: kClientID, redirectUri: nil, authority: authority)
    applicationContext = try MSALPublicClientApplication(configuration: msalConfiguration)
    initWebViewParams()
  }

  func initWebViewParams() {
    webViewParameters = MSALWebviewParameters(authPresentationViewController: self)
  }

  func platformViewDidLoadSetup() {
    MSALGlobalConfig.loggerConfig.logLevel = .verbose
    MSALGlobalConfig.loggerConfig.logMaskingLevel = .settingsMaskAllPII
    MSALGlobalConfig.loggerConfig.setLogCallback { (logLevel, message, containsPII) in
      if !containsPII {
        self.lastMessage = message
      }
    }
  }

  typealias AccountCompletion = (MSALAccount?) -> Void

  func loadCurrentAccount(completion: AccountCompletion? = nil) {
    guard let applicationContext = self.applicationContext else { return }

    let msalParameters = MSALParameters()
    msalParameters.completionBlockQueue = DispatchQueue.main

    applicationContext.getCurrentAccount(
      with: msalParameters,
      completionBlock: { (currentAccount, previousAccount, error) in
        if let error = error {
          self.updateLogging(text: "Couldn't query current account with error: \(error)")
          return
        }
        if let currentAccount = currentAccount {
          self.currentAccount = currentAccount
          completion?(self.currentAccount)
          self.updateLogging(text: "Found a signed in account \(String(describing: currentAccount.username))")
          return
        }
        // No account is signed in here any more.
        self.accessToken = ""
        self.currentAccount = nil
        completion?(nil)
        self.updateLogging(text: "Account signed out, was \(previousAccount?.username ?? "none")")
      })
  }

  func callGraphAPI() {
    self.loadCurrentAccount { (account) in
      guard let currentAccount = account else {
        self.acquireTokenInteractively()
        return
      }
      self.acquireTokenSilently(currentAccount)
    }
  }

  func acquireTokenInteractively() {
    guard let applicationContext = self.applicationContext else { return }
    guard let webViewParameters = self.webViewParameters else { return }

    let parameters = MSALInteractiveTokenParameters(scopes: kScopes, webviewParameters: webViewParameters)
    parameters.promptType = .selectAccount

    applicationContext.acquireToken(with: parameters) { (result, error) in
      if let error = error {
        self.updateLogging(text: "Could not acquire token: \(error)")
        return
      }
      guard let result = result else {
        self.updateLogging(text: "Could not acquire token: No result returned")
        return
      }
      self.accessToken = result.accessToken
      self.currentAccount = result.account
      self.updateLogging(text: "Access token acquired")
    }
  }

  func acquireTokenSilently(_ account: MSALAccount!, forceRefresh: Bool = false) {
    guard let applicationContext = self.applicationContext else { return }

    let parameters = MSALSilentTokenParameters(scopes: kScopes, account: account)
    parameters.forceRefresh = forceRefresh

    applicationContext.acquireTokenSilent(with: parameters) { (result, error) in
      if let error = error {
        let nsError = error as NSError

        if nsError.domain == MSALErrorDomain {
          if nsError.code == MSALError.interactionRequired.rawValue {
            self.updateLogging(text: "Interaction required")
            DispatchQueue.main.async {
              self.acquireTokenInteractively()
            }
            return
          }
        }
        self.updateLogging(text: "Could not acquire token silently: \(error)")
        return
      }
      guard let result = result else {
        self.updateLogging(text: "Could not acquire token: No result returned")
        return
      }
      self.accessToken = result.accessToken
      self.updateLogging(text: "Refreshed access token")
    }
  }

  func signOut() {
    guard let applicationContext = self.applicationContext else { return }
    guard let account = self.currentAccount else { return }

    let signoutParameters = MSALSignoutParameters(webviewParameters: self.webViewParameters!)
    signoutParameters.signoutFromBrowser = false

    applicationContext.signout(
      with: account, signoutParameters: signoutParameters,
      completionBlock: { (success, error) in
        if let error = error {
          self.updateLogging(text: "Couldn't sign out account with error: \(error)")
          return
        }
        self.accessToken = ""
        self.currentAccount = nil
        self.updateLogging(text: "Sign out completed successfully: \(success)")
      })
  }

  func refreshDeviceMode() {
    applicationContext?.getDeviceInformation(
      with: nil,
      completionBlock: { (deviceInformation, error) in
        guard let deviceInfo = deviceInformation else {
          self.updateLogging(text: "Device info not returned. Error: \(String(describing: error))")
          return
        }
        let isSharedDevice = deviceInfo.deviceMode == .shared
        self.updateLogging(text: "Received device info. Device is in the \(isSharedDevice) mode.")
      })
  }

  func application(open url: URL, sourceApplication: String?) -> Bool {
    return MSALPublicClientApplication.handleMSALResponse(url, sourceApplication: sourceApplication)
  }

  func scene(openURL url: URL, sourceApplication: String?) {
    MSALPublicClientApplication.handleMSALResponse(url, sourceApplication: sourceApplication)
  }

  func updateLogging(text: String) {
    if Thread.isMainThread {
      self.screen.continuation.yield(text)
    } else {
      DispatchQueue.main.async {
        self.screen.continuation.yield(text)
      }
    }
  }
}
