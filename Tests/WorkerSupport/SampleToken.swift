import FoundationEssentials
import GLibSupport
package import TokenCache

/// A token response whose parts all follow from its name, so that a reader knows what to expect.
package struct SampleToken: Sendable {
  package static let environment = "login.microsoftonline.com"
  package static let clientID = "00001111-aaaa-2222-bbbb-3333cccc4444"
  private static let tenantID = "99998888-7777-4666-8555-444433332222"

  /// Letters, digits and `-`.
  package let name: String
  /// The number of the account.
  package let account: Int
  /// The scope granted; of its own for each name unless another is given.
  package let scope: String

  package init(_ name: String, account: Int, scope: String? = nil) {
    (self.name, self.account) = (name, account)
    self.scope = scope ?? "api://sample/\(name)"
  }

  package var userID: String { "00000000-0000-4000-8000-\(String(1_000_000_000_00 + account))" }
  package var homeAccountID: String { "\(userID).\(Self.tenantID)" }
  package var username: String { "person\(account)@contoso.example" }
  package var accessToken: String { Self.secret("access", name) }
  package var refreshToken: String { Self.secret("refresh", name) }

  /// The secret of a name: half of one does not pass for a whole one.
  package static func secret(_ kind: String, _ name: String) -> String {
    "\(kind).\(name).\(sha256Hex("\(kind) \(name)"))"
  }

  /// The name in an access token's secret; `nil` when that is not exactly as it was made.
  package static func name(ofAccessToken secret: String) -> String? {
    let parts = secret.split(separator: ".")
    guard parts.count == 3, Self.secret("access", String(parts[1])) == secret else { return nil }
    return String(parts[1])
  }

  package var response: TokenResponse {
    let claims: JSONObject = [
      "oid": .string(userID), "tid": .string(Self.tenantID), "sub": .string("subject-\(account)"),
      "preferred_username": .string(username), "name": .string("Person \(account)"),
    ]
    let clientInfo: JSONObject = ["uid": .string(userID), "utid": .string(Self.tenantID)]
    return TokenResponse(fields: [
      "access_token": .string(accessToken), "refresh_token": .string(refreshToken),
      "id_token": .string("e30.\(claims.base64URL).signature"),
      "client_info": .string(clientInfo.base64URL), "token_type": "Bearer", "expires_in": "3600",
      "scope": .string(scope),
    ])
  }

  package var request: TokenRequest {
    TokenRequest(environment: Self.environment, clientID: Self.clientID)
  }

  package var lookup: TokenLookup {
    TokenLookup(
      homeAccountID: homeAccountID, environment: Self.environment, clientID: Self.clientID, scopes: [scope])
  }
}

extension JSONObject {
  /// The object as a part of a JSON Web Token.
  package var base64URL: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return ((try? encoder.encode(self)) ?? Data()).base64URL
  }
}

extension TokenCacheAccessor {
  package func save(_ token: SampleToken) async throws(CacheError) {
    try await save(token.response, for: token.request)
  }

  /// Whether exactly this token is found.
  package func finds(_ token: SampleToken) async throws(CacheError) -> Bool {
    try await accessToken(for: token.lookup)?.token.secret == token.accessToken
  }
}
