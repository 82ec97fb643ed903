import FoundationEssentials
import KeyringStore
import TokenCache

/// Uses the sign-in that ``MailApp`` put into the cache of their keychain group.
@main
struct CalendarApp {
  static func main() async throws {
    let cache = TokenCacheAccessor(store: KeyringStore(), group: try KeychainGroup("com.example.office"))
    let clientID = "33333333-4444-4555-8666-777777777777"
    guard let account = try await cache.accounts(AccountFilter(clientID: clientID)).first else {
      print("CalendarApp: nobody is signed in.")
      return
    }
    print("CalendarApp found \(account.username ?? account.homeAccountID).")
    let request = TokenRequest(
      homeAccountID: account.homeAccountID, environment: account.environment, clientID: clientID,
      scopes: ["Calendars.Read"])
    guard let found = try await cache.accessToken(for: request), found.condition == .valid,
      let expiresOn = found.token.expiresOn
    else {
      print("CalendarApp has no token for the calendar and would have to renew it.")
      return
    }
    let minutes = Int(expiresOn.timeIntervalSinceNow / 60)
    print("CalendarApp has a token for \(found.token.target), good for \(minutes) minutes.")
  }
}
