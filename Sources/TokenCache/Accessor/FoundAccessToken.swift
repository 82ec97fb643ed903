/// An access token that was found, and how good it still is.
public struct FoundAccessToken: Sendable {
  public enum Condition: Sendable, Hashable {
    case valid
    /// The token is good, but the server asked for a renewal by now.
    case needsRefresh
    /// The token is to be used only while the token service is down.
    case extendedLifetime
    case expired
  }

  /// What was found; shared, so that handing it out copies nothing.
  final class Record: Sendable {
    let token: AccessToken
    let grantedScopes: [String]
    let lifetime: TokenLifetime
    let idToken: IDToken?
    let account: Account?
    let tokenType: String
    let tenant: String
    let tenantProfile: TenantProfile?

    init(_ token: AccessToken, idToken: IDToken?, account: Account?) {
      self.token = token
      self.idToken = idToken
      self.account = account
      grantedScopes = token.target.split(separator: " ").map(String.init)
      lifetime = token.credential.lifetime
      tokenType = token.tokenType
      let tenant = Tenant.resolve(realm: token.realm, homeAccountID: token.homeAccountID)
      self.tenant = tenant
      tenantProfile = account?.tenantProfiles.first { $0.tenantID == tenant }
    }
  }

  let record: Record
  public let condition: Condition

  public var token: AccessToken { record.token }
  /// `nil` for tokens of an application.
  public var idToken: IDToken? { record.idToken }
  public var account: Account? { record.account }
  /// The scopes in the server's words.
  package var grantedScopes: [String] { record.grantedScopes }
  package var lifetime: TokenLifetime { record.lifetime }
  package var tokenType: String { record.tokenType }
  /// The tenant that issued the token.
  package var tenant: String { record.tenant }
  /// The account in that tenant.
  package var tenantProfile: TenantProfile? { record.tenantProfile }
}
