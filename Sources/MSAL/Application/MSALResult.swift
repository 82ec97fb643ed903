public import Foundation
import IdentityClient
import TokenCache

/// A token, and whose it is.
public final class MSALResult: NSObject, Sendable {
  let result: AuthenticationResult
  public let account: MSALAccount
  /// The account in the tenant that issued the token.
  public let tenantProfile: MSALTenantProfile
  /// Who issued the token.
  public let authority: MSALAuthority

  init(_ result: AuthenticationResult) {
    self.result = result
    account = MSALAccount(result.account)
    tenantProfile = MSALTenantProfile(result.tenantProfile ?? TenantProfile(of: result))
    authority = MSALAuthority.make(result.authority)
  }

  /// The access token; empty where the server gave none. With ``MSALAuthenticationSchemePop`` it is a signed request that
  /// holds the token.
  public var accessToken: String { result.accessToken }
  /// When the access token ends.
  public var expiresOn: Date? { result.expiresOn }
  /// Whether the token has expired and serves only because the token service is down.
  public var extendedLifeTimeToken: Bool { result.isExtendedLifetime }
  /// The ID token as the server sent it.
  public var idToken: String? { result.idToken }
  /// What the token is for, in the server's words.
  public var scopes: [String] { result.scopes }
  /// The id under which the server's logs know the request.
  public var correlationId: UUID { result.correlationID }
  /// The value of an `Authorization` header field.
  public var authorizationHeader: String { "\(authenticationScheme) \(accessToken)" }
  /// How the token is used: `Bearer`, or `Pop` where ``MSALAuthenticationSchemePop`` was asked for.
  public var authenticationScheme: String {
    result.tokenType == PopScheme.tokenType ? PopScheme.tokenType : "Bearer"
  }

  /// Why the tokens could not be stored, `nil` if they were. They are good all the same, but when the program
  /// runs the next time, the person has to sign in again. MSAL for iOS and macOS does not tell.
  public var cacheError: NSError? { result.cacheError.map { NSError($0) } }
}

extension TenantProfile {
  /// What a result says of the tenant, where the cache knows nothing.
  fileprivate init(of result: AuthenticationResult) {
    let home = result.account.tenantProfiles.first(where: \.isHomeTenant)
    let tenant =
      result.claims?.tenantID ?? home?.tenantID ?? Tenant.home(of: result.account.homeAccountID) ?? ""
    self.init(
      tenantID: tenant, localAccountID: result.claims?.objectID ?? result.claims?.subject,
      username: result.claims?.username ?? result.account.username, name: result.claims?.name,
      environment: result.account.environment,
      isHomeTenant: tenant.lowercased() == Tenant.home(of: result.account.homeAccountID),
      claims: result.claims)
  }
}
