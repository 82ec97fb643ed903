import Foundation
import MSAL

/// Signs in on any device with a browser, or silently when somebody is signed in already.
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

      let result: MSALResult
      if let account = try application.allAccounts().first {
        let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
        result = try await application.acquireTokenSilent(with: parameters)
      } else {
        let parameters = MSALDeviceCodeTokenParameters(scopes: scopes) { code in print(code.message) }
        result = try await application.acquireToken(with: parameters)
      }
      let granted = result.scopes.joined(separator: " ")
      print("Signed in as \(result.account.username ?? "somebody"), for \(granted).")
    } catch let error as NSError {
      print(error.localizedDescription)
      exit(1)
    }
  }
}
