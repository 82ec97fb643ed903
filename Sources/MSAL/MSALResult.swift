public import Foundation
import IdentityClient
import TokenCache

/// A token with its account.
public final class MSALResult: MSALObject, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.

  let result: AuthenticationResult
  /// The account of the token.
  public let account: MSALAccount
  /// The account in the tenant that issued the token.
  public let tenantProfile: MSALTenantProfile
  /// The authority that issued the token.
  public let authority: MSALAuthority

  /// Makes a result, for a program's own tests. The arguments are its properties. Without a tenant profile it is for the
  /// account's home tenant, without an authority it is from `https://login.microsoftonline.com/common`. MSAL for iOS and macOS
  /// has no counterpart.
  public convenience init(
    accessToken: String, account: MSALAccount, scopes: [String] = [], expiresOn: Date? = nil,
    idToken: String? = nil, tenantProfile: MSALTenantProfile? = nil, authority: MSALAuthority? = nil,
    correlationId: UUID = UUID(), extendedLifeTimeToken: Bool = false
  ) {
    self.init(
      AuthenticationResult(
        accessToken: accessToken, expiresOn: expiresOn, scopes: scopes, idToken: idToken,
        claims: idToken.flatMap(IDTokenClaims.init(token:)), account: account.account,
        tenantProfile: tenantProfile?.profile ?? account.account.tenantProfiles.first(where: \.isHomeTenant),
        authority: authority?.authority ?? .default, correlationID: correlationId,
        isExtendedLifetime: extendedLifeTimeToken, source: .network))
  }

  /// A result without a token, for tests.
  public override convenience init() {
    self.init(
      accessToken: "",
      account: MSALAccount(Account(homeAccountID: "", username: nil, environment: "", tenantProfiles: [])))
  }

  init(_ result: AuthenticationResult) {
    self.result = result
    account = MSALAccount(result.account)
    tenantProfile = MSALTenantProfile(result.tenantProfile ?? TenantProfile(of: result))
    authority = MSALAuthority.make(result.authority)
  }

  /// The access token; empty if the server returned none. With ``MSALAuthenticationSchemePop`` it is a signed request that
  /// holds the token.
  public var accessToken: String { result.accessToken }
  /// When the access token expires.
  public var expiresOn: Date? { result.expiresOn }
  /// Whether the token has expired and is used only because the token service is down.
  public var extendedLifeTimeToken: Bool { result.isExtendedLifetime }
  /// The encoded ID token.
  public var idToken: String? { result.idToken }
  /// The scopes of the token as the server granted them.
  public var scopes: [String] { result.scopes }
  /// The id under which the server's logs know the request.
  public var correlationId: UUID { result.correlationID }
  /// The value of an `Authorization` header field; empty without an access token.
  public var authorizationHeader: String {
    accessToken.isEmpty ? "" : "\(authenticationScheme) \(accessToken)"
  }
  /// How the token is used: `Bearer`, or `Pop` if ``MSALAuthenticationSchemePop`` was requested.
  public var authenticationScheme: String {
    result.tokenType == PopScheme.tokenType ? PopScheme.tokenType : "Bearer"
  }

  /// Why the tokens could not be stored; `nil` if they were. They are valid, but the next run of the program needs a new
  /// sign-in. MSAL for iOS and macOS has no counterpart.
  public var cacheError: NSError? { result.cacheError.map { NSError($0) } }
}

extension TenantProfile {
  /// The tenant profile from the result itself, for tenants that are not in the cache.
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

/// Receives a token, or the error.
public typealias MSALCompletionBlock = @Sendable (MSALResult?, (any Error)?) -> Void
/// Receives accounts, or the error.
public typealias MSALAccountsCompletionBlock = @Sendable ([MSALAccount]?, (any Error)?) -> Void
/// Receives the current and the previous account, or the error.
public typealias MSALCurrentAccountCompletionBlock =
  @Sendable (MSALAccount?, MSALAccount?, (any Error)?) -> Void
/// Receives whether an account was signed out, and the error.
public typealias MSALSignoutCompletionBlock = @Sendable (Bool, (any Error)?) -> Void
/// Receives information on the device.
public typealias MSALDeviceInformationCompletionBlock =
  @Sendable (MSALDeviceInformation?, (any Error)?) -> Void
/// Receives the device's registration, or the error.
public typealias MSALWPJMetaDataCompletionBlock = @Sendable (MSALWPJMetaData?, (any Error)?) -> Void
/// Receives a token of the device, or the error.
public typealias MSALDeviceTokenResultCompletionBlock =
  @Sendable (MSALDeviceTokenResult?, (any Error)?) -> Void
