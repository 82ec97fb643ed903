import MSAL

/// Code as it was written for iOS and macOS before Swift 6: nobody thought of `Sendable`.
class ViewController {
  var accessToken = String()
  var lines: [String] = []
  var stored: MSALCompletionBlock?
  let application: MSALPublicClientApplication

  init(application: MSALPublicClientApplication) {
    self.application = application
  }

  func signIn(_ parameters: MSALInteractiveTokenParameters, completion: @escaping (String?) -> Void) {
    var attempts = 0
    application.acquireToken(with: parameters) { (result, error) in
      attempts += 1
      self.accessToken = result?.accessToken ?? ""
      self.lines.append("\(attempts): \(String(describing: error))")
      completion(self.accessToken)
    }
  }

  func refresh(
    _ parameters: MSALSilentTokenParameters, completion: @escaping (MSALResult?, Error?) -> Void
  ) {
    application.acquireTokenSilent(with: parameters, completionBlock: completion)
  }

  func signOut(_ account: MSALAccount, _ parameters: MSALSignoutParameters) {
    application.signout(with: account, signoutParameters: parameters) { (success, error) in
      self.accessToken = ""
    }
    application.getCurrentAccount(with: nil) { (current, previous, error) in
      self.lines.append(current?.username ?? "")
    }
  }
}

/// One of UIKit or AppKit belongs to the main actor.
@MainActor
class MainViewController {
  var text = ""

  func signIn(_ application: MSALPublicClientApplication, _ parameters: MSALInteractiveTokenParameters) {
    application.acquireToken(with: parameters) { (result, error) in
      self.text = result?.accessToken ?? ""
    }
  }

  @available(*, deprecated)
  func signInAsIn2018(_ application: MSALPublicClientApplication) {
    application.acquireToken(forScopes: ["user.read"]) { (result, error) in
      self.text = result?.accessToken ?? ""
    }
  }
}

/// A program's own name for what it uses, so that its tests can have another.
protocol TokenSource {
  func acquireToken(
    with parameters: MSALInteractiveTokenParameters, completionBlock: @escaping MSALCompletionBlock)
  func acquireTokenSilent(
    with parameters: MSALSilentTokenParameters, completionBlock: @escaping MSALCompletionBlock)
}

extension MSALPublicClientApplication: TokenSource {}

final class PresetApplication: MSALPublicClientApplication, @unchecked Sendable {
  override func acquireToken(
    with parameters: MSALInteractiveTokenParameters,
    completionBlock: @escaping (MSALResult?, (any Error)?) -> Void
  ) {
    completionBlock(nil, nil)
  }
}
