import Foundation
import MSAL

/// Signs in on any device with a browser, or silently when somebody is signed in already.
@main
struct SignInApp {
  static func main() async {
    let environment = ProcessInfo.processInfo.environment
    let scopes = ["User.Read"]
    do {
      let authority = try MSALAADAuthority(
        url: URL(string: environment["LLAVERO_AUTHORITY"] ?? "https://login.microsoftonline.com/common")
          ?? URL(fileURLWithPath: "/"))
      let configuration = MSALPublicClientApplicationConfig(
        clientId: environment["LLAVERO_CLIENT_ID"] ?? "", redirectUri: nil, authority: authority)
      // Only an authority outside of Microsoft's clouds has to be named as known.
      configuration.knownAuthorities = [authority]
      configuration.cacheConfig.keychainSharingGroup = "com.example.office"
      let application = try MSALPublicClientApplication(configuration: configuration)

      let result: MSALResult
      if let account = try application.allAccounts().first {
        let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
        result = try await application.acquireTokenSilent(with: parameters)
      } else {
        let parameters = MSALDeviceCodeTokenParameters(scopes: scopes) { code in print(code.message) }
        result = try await application.acquireToken(with: parameters)
      }
      let scopes = result.scopes.joined(separator: " ")
      print("Signed in as \(result.account.username ?? "somebody"), for \(scopes).")
    } catch let error as NSError {
      print(error.localizedDescription)
      exit(1)
    }
  }
}
