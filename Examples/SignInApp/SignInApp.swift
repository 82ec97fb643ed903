import Foundation
import Llavero

/// Gets a token silently when an account is signed in already, else by a code for any device with a browser.
@main
struct SignInApp {
  static func main() async {
    let environment = ProcessInfo.processInfo.environment
    do {
      let group = try KeychainGroup(environment["LLAVERO_GROUP"] ?? "com.example.office")
      let client = try PublicClient(
        clientID: environment["LLAVERO_CLIENT_ID"] ?? "",
        authority: try environment["LLAVERO_AUTHORITY"].map(Authority.init(_:)) ?? .default,
        cache: TokenCacheAccessor(store: KeyringCacheStore(), group: group), authenticator: nil)
      let result = try await client.token(for: ["User.Read"]) { code in print(code.message) }
      let granted = result.scopes.joined(separator: " ")
      print(printable("Signed in as \(result.account.username ?? "an account"), for \(granted)."))
    } catch {
      print(printable("\(error)"))
      exit(1)
    }
  }

  /// Text from a server or a cache could hold characters that a terminal obeys.
  private static func printable(_ text: String) -> String {
    let unsafe = CharacterSet.controlCharacters.union(.newlines)
    return text.components(separatedBy: unsafe).joined(separator: "\u{FFFD}")
  }
}
