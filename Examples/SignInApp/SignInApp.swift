import Foundation
import MSAL

/// Signs in on any device with a browser, or silently when an account is signed in already.
@main
struct SignInApp {
  static func main() async {
    let environment = ProcessInfo.processInfo.environment
    let scopes = ["User.Read"]
    do {
      let configuration = MSALPublicClientApplicationConfig(clientId: environment["LLAVERO_CLIENT_ID"] ?? "")
      configuration.cacheConfig.keychainSharingGroup = environment["LLAVERO_GROUP"] ?? "com.example.office"
      if let url = environment["LLAVERO_AUTHORITY"].flatMap(URL.init(string:)) {
        configuration.authority = try MSALAADAuthority(url: url)
        // An authority outside of Microsoft's clouds is trusted only when it is named.
        configuration.knownAuthorities = [configuration.authority]
      }
      let application = try MSALPublicClientApplication(configuration: configuration)

      var silent: MSALResult?
      if let account = try application.allAccounts().first {
        let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
        do {
          silent = try await application.acquireTokenSilent(with: parameters)
        } catch let error as NSError where error.isInteractionRequired {}
      }
      let result: MSALResult
      if let silent {
        result = silent
      } else {
        let parameters = MSALDeviceCodeTokenParameters(scopes: scopes) { code in
          print(printable(code.message))
        }
        result = try await application.acquireToken(with: parameters)
      }
      let granted = result.scopes.joined(separator: " ")
      print(printable("Signed in as \(result.account.username ?? "an account"), for \(granted)."))
    } catch let error as NSError {
      print(printable(error.localizedDescription))
      exit(1)
    }
  }

  /// Text from a server or a cache could hold characters that a terminal obeys.
  private static func printable(_ text: String) -> String {
    let unsafe = CharacterSet.controlCharacters.union(.newlines)
    return text.components(separatedBy: unsafe).joined(separator: "\u{FFFD}")
  }
}

extension NSError {
  fileprivate var isInteractionRequired: Bool {
    domain == MSALErrorDomain && code == MSALError.interactionRequired.rawValue
  }
}
