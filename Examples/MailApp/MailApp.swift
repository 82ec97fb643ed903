import FoundationEssentials
import KeyringStore
import TokenCache

/// Puts a sign-in into the cache of a keychain group, where ``CalendarApp`` finds it.
@main
struct MailApp {
  static func main() async throws {
    let cache = TokenCacheAccessor(store: KeyringStore(), group: try KeychainGroup("com.example.office"))
    let context = TokenContext(
      environment: "login.microsoftonline.com", clientID: "33333333-4444-4555-8666-777777777777")
    let records = try await cache.save(try TokenResponse(json: answer), for: context)
    print("MailApp saved the tokens of \(records.account?.username ?? "nobody").")
  }

  /// What a token endpoint answers to a sign-in; made up, since signing in is not part of the cache.
  static var answer: Data {
    let claims = """
      {"oid": "55555555-6666-4777-8888-999999999999", "tid": "66666666-7777-4888-8999-aaaaaaaaaaaa",\
       "preferred_username": "dora@contoso.example", "name": "Dora Example"}
      """
    let clientInfo = """
      {"uid": "55555555-6666-4777-8888-999999999999", "utid": "66666666-7777-4888-8999-aaaaaaaaaaaa"}
      """
    return Data(
      """
      {"token_type": "Bearer", "scope": "Calendars.Read Mail.Read openid profile", "expires_in": 3600,
       "access_token": "made-up-access-token", "refresh_token": "made-up-refresh-token",
       "id_token": "\(base64URL("{}")).\(base64URL(claims)).", "client_info": "\(base64URL(clientInfo))"}
      """.utf8)
  }

  static func base64URL(_ text: String) -> String {
    String(
      Data(text.utf8).base64EncodedString().compactMap { character -> Character? in
        switch character {
        case "+": "-"
        case "/": "_"
        case "=": nil
        default: character
        }
      })
  }
}
