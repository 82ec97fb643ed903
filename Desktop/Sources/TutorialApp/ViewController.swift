import GTKSupport
import HTTPSupport
import HTTPTypes
import HTTPTypesFoundation
import MSAL
import SoupTransport

/// The app of Microsoft's tutorials for iOS and macOS: signs a user in, calls Microsoft Graph, and signs the user out.
///
/// It is that code on Linux. Only the views differ, and the requests to Graph use the library's transport, which unlike
/// URLSession does not send the token to a redirect's target.
@MainActor
final class ViewController {
  private let environment = ProcessInfo.processInfo.environment
  private let kScopes: [String] = ["User.Read"]

  private var applicationContext: MSALPublicClientApplication?
  private var webViewParameters: MSALWebviewParameters?
  private var currentAccount: MSALAccount?
  private var accounts: [MSALAccount] = []
  private let views: TutorialWindow
  /// The running operation that can be cancelled.
  private var task: Task<Void, Never>?

  init(views: TutorialWindow) {
    self.views = views
  }

  func viewDidLoad() {
    views.callGraphButton.onClick { [weak self] in self?.callGraphAPI() }
    views.signOutButton.onClick { [weak self] in self?.signOut() }
    views.cancelButton.onClick { [weak self] in self?.cancel() }
    views.accountChoice.onSelect { [weak self] in self?.chooseAccount() }
    views.window.onEscape { [weak self] in self?.cancel() }
    views.window.onCloseRequest { [weak self] in
      self?.cancel()
      return true
    }
    views.window.present()
    do {
      try initMSAL()
      loadCurrentAccount()
    } catch {
      finish(text: "Unable to create the application: \((error as NSError).localizedDescription)")
    }
  }

  private func initMSAL() throws {
    let address = environment["LLAVERO_AUTHORITY"] ?? "https://login.microsoftonline.com/common"
    guard let clientId = environment["LLAVERO_CLIENT_ID"], !clientId.isEmpty,
      let authorityURL = URL(string: address)
    else {
      let advice = "Set LLAVERO_CLIENT_ID. LLAVERO_AUTHORITY, if it is set, is a URL."
      throw NSError(domain: "TutorialApp", code: 1, userInfo: [NSLocalizedDescriptionKey: advice])
    }
    let authority = try MSALAADAuthority(url: authorityURL)
    let msalConfiguration = MSALPublicClientApplicationConfig(
      clientId: clientId, redirectUri: nil, authority: authority)
    msalConfiguration.cacheConfig.keychainSharingGroup = environment["LLAVERO_GROUP"] ?? "com.example.office"
    if environment["LLAVERO_AUTHORITY"] != nil {
      // An authority outside of Microsoft's clouds has to be a known one.
      msalConfiguration.knownAuthorities = [authority]
    }
    applicationContext = try MSALPublicClientApplication(configuration: msalConfiguration)
    webViewParameters = MSALWebviewParameters(authPresentationViewController: self)
  }

  private func callGraphAPI() {
    loadCurrentAccount { account in
      guard let currentAccount = account else {
        // No account is signed in: an interactive sign-in is needed.
        self.acquireTokenInteractively()
        return
      }
      self.acquireTokenSilently(currentAccount)
    }
  }

  /// With a completion handler, as in the tutorials.
  private func signOut() {
    guard let applicationContext, let webViewParameters, let account = currentAccount else { return }
    begin("Signing out.")

    let signoutParameters = MSALSignoutParameters(webviewParameters: webViewParameters)
    signoutParameters.signoutFromBrowser = false
    applicationContext.signout(with: account, signoutParameters: signoutParameters) { (success, error) in
      DispatchQueue.main.async {
        if let error {
          self.finish(text: "Couldn't sign out: \((error as NSError).localizedDescription)")
          return
        }
        self.accounts.removeAll { $0.identifier == account.identifier }
        self.updateCurrentAccount(account: self.accounts.first)
        self.finish(text: "Sign out completed successfully.")
      }
    }
  }

  private func cancel() {
    MSALPublicClientApplication.cancelCurrentWebAuthSession()
    task?.cancel()
  }

  private func loadCurrentAccount(completion: (@MainActor @Sendable (MSALAccount?) -> Void)? = nil) {
    guard let applicationContext else { return }
    begin("Reading the keyring.")

    let msalParameters = MSALAccountEnumerationParameters()
    msalParameters.completionBlockQueue = DispatchQueue.main
    applicationContext.accountsFromDevice(for: msalParameters) { (accounts, error) in
      DispatchQueue.main.async {
        if let error {
          self.finish(text: "Couldn't query the current account: \((error as NSError).localizedDescription)")
          return
        }
        self.accounts = accounts ?? []
        // The first of several, until the user chooses another.
        let current = self.currentAccount?.identifier
        let currentAccount = self.accounts.first { $0.identifier == current } ?? self.accounts.first
        self.updateCurrentAccount(account: currentAccount)
        if let completion {
          completion(currentAccount)
        } else if let currentAccount {
          self.finish(text: "Found a signed in account: \(currentAccount.username ?? "without a name").")
        } else {
          self.finish(status: "")
        }
      }
    }
  }

  /// With a completion handler, which MSAL calls on the main queue.
  private func acquireTokenInteractively() {
    guard let applicationContext, let webViewParameters else { return }
    begin("Sign in in the browser. Cancel ends the wait.", canBeCancelled: true)

    let parameters = MSALInteractiveTokenParameters(scopes: kScopes, webviewParameters: webViewParameters)
    parameters.promptType = .selectAccount
    applicationContext.acquireToken(with: parameters) { (result, error) in
      DispatchQueue.main.async {
        guard let result else {
          let reason = (error as NSError?)?.localizedDescription ?? "no result"
          self.finish(text: "Could not acquire a token: \(reason)")
          return
        }
        self.updateLogging(text: "Access token acquired.")
        self.accounts.removeAll { $0.identifier == result.account.identifier }
        self.accounts.append(result.account)
        self.updateCurrentAccount(account: result.account)
        self.getContentWithToken(result)
      }
    }
  }

  /// With an async call, which a task can cancel.
  private func acquireTokenSilently(_ account: MSALAccount) {
    guard let applicationContext else { return }
    begin("Waiting for a token. Cancel ends the wait.", canBeCancelled: true)

    task = Task {
      do {
        let parameters = MSALSilentTokenParameters(scopes: kScopes, account: account)
        let result = try await applicationContext.acquireTokenSilent(with: parameters)
        updateLogging(text: "Access token acquired silently.")
        getContentWithToken(result)
      } catch let error as NSError
        where error.domain == MSALErrorDomain && error.code == MSALError.interactionRequired.rawValue
      {
        updateLogging(text: "Interaction required.")
        acquireTokenInteractively()
      } catch {
        finish(text: "Could not acquire a token silently: \((error as NSError).localizedDescription)")
      }
    }
  }

  private func getContentWithToken(_ result: MSALResult) {
    begin("Waiting for Microsoft Graph. Cancel ends the wait.", canBeCancelled: true)
    task = Task {
      do {
        let endpoint = environment["LLAVERO_GRAPH_URL"] ?? "https://graph.microsoft.com/v1.0"
        guard let url = URL(string: endpoint)?.appending(path: "me") else {
          finish(text: "Invalid LLAVERO_GRAPH_URL: expected a URL.")
          return
        }
        var request = HTTPRequest(method: .get, url: url)
        request.headerFields[.authorization] = result.authorizationHeader
        let transport = try SoupHTTPTransport(environment: environment)
        let response = try await transport.send(HTTPTransportRequest(request))
        let status = response.head.status
        let object = try? JSONSerialization.jsonObject(with: response.body)
        guard status.kind == .successful, let object else {
          let error = (object as? [String: Any])?["error"] as? [String: Any]
          let reason = error?["message"] as? String ?? status.reasonPhrase
          finish(text: "Microsoft Graph responded with status \(status.code): \(reason)")
          return
        }
        let pretty = try JSONSerialization.data(
          withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        updateLogging(text: "Result from Graph: \(String(decoding: pretty, as: UTF8.self))")
        finish(status: "Microsoft Graph responded with status \(status.code).")
      } catch {
        finish(text: "Couldn't get Graph's response: \((error as NSError).localizedDescription)")
      }
    }
  }

  /// Shows the running operation, and disables the other ones meanwhile.
  private func begin(_ status: String, canBeCancelled: Bool = false) {
    views.statusLabel.text = status
    views.spinner.isSpinning = true
    views.callGraphButton.isSensitive = false
    views.signOutButton.isSensitive = false
    views.accountChoice.isSensitive = false
    views.cancelButton.isSensitive = canBeCancelled
    if canBeCancelled { views.cancelButton.focus() }
  }

  /// Shows the outcome.
  private func finish(status: String) {
    views.statusLabel.text = status
    views.spinner.isSpinning = false
    views.callGraphButton.isSensitive = applicationContext != nil
    views.signOutButton.isSensitive = currentAccount != nil
    views.accountChoice.isSensitive = true
    views.cancelButton.isSensitive = false
    views.callGraphButton.focus()
  }

  private func finish(text: String) {
    finish(status: text)
    updateLogging(text: text)
  }

  private func updateCurrentAccount(account: MSALAccount?) {
    currentAccount = account
    views.usernameLabel.text =
      account.map { "Signed in as \(name(of: $0))" } ?? "No account is signed in"
    views.accountChoice.items = accounts.map(name)
    views.accountChoice.selected = account.map(name)
    views.accountChoice.isVisible = accounts.count > 1
  }

  private func chooseAccount() {
    let chosen = accounts.first { name(of: $0) == views.accountChoice.selected }
    if let chosen, chosen.identifier != currentAccount?.identifier { updateCurrentAccount(account: chosen) }
    finish(status: "")
  }

  private func name(of account: MSALAccount) -> String {
    account.username ?? "an unnamed account"
  }

  /// Appends to the log, from any thread.
  private nonisolated func updateLogging(text: String) {
    if Thread.isMainThread {
      MainActor.assumeIsolated { views.loggingText.append(text + "\n") }
    } else {
      DispatchQueue.main.async { self.views.loggingText.append(text + "\n") }
    }
  }
}
