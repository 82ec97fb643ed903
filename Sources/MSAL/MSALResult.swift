public import Foundation
import IdentityClient
import TokenCache

/// A token, and whose it is.
public final class MSALResult: NSObject, Sendable {
  let result: AuthenticationResult
  /// Whose token it is.
  public let account: MSALAccount
  /// The account in the tenant that issued the token.
  public let tenantProfile: MSALTenantProfile
  /// Who issued the token.
  public let authority: MSALAuthority

  /// Makes a result that no server gave, for a program's own tests. MSAL for iOS and macOS has nothing like it.
  ///
  /// - Parameters:
  ///   - accessToken: The access token.
  ///   - account: Whose token it is.
  ///   - scopes: What the token is for.
  ///   - expiresOn: When the access token ends.
  ///   - idToken: The ID token as a server would send it.
  ///   - tenantProfile: The account in the tenant that issued the token; `nil` is the account's home tenant.
  ///   - authority: Who issued the token; `nil` is `https://login.microsoftonline.com/common`.
  ///   - correlationId: The id of the request.
  ///   - extendedLifeTimeToken: Whether the token has expired and serves only because the token service is down.
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
  /// The value of an `Authorization` header field; empty without an access token.
  public var authorizationHeader: String {
    accessToken.isEmpty ? "" : "\(authenticationScheme) \(accessToken)"
  }
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

/// Takes a token, or the error.
public typealias MSALCompletionBlock = @Sendable (MSALResult?, (any Error)?) -> Void
/// Takes accounts, or why they cannot be listed.
public typealias MSALAccountsCompletionBlock = @Sendable ([MSALAccount]?, (any Error)?) -> Void
/// Takes the account that is signed in, the one that was signed in before, or the error.
public typealias MSALCurrentAccountCompletionBlock =
  @Sendable (MSALAccount?, MSALAccount?, (any Error)?) -> Void
/// Takes whether an account was signed out, and why it was not.
public typealias MSALSignoutCompletionBlock = @Sendable (Bool, (any Error)?) -> Void
/// Takes what is known of the device.
public typealias MSALDeviceInformationCompletionBlock =
  @Sendable (MSALDeviceInformation?, (any Error)?) -> Void
/// Takes what is known of the device's registration, or why nothing is.
public typealias MSALWPJMetaDataCompletionBlock = @Sendable (MSALWPJMetaData?, (any Error)?) -> Void
/// Takes a token of the device, or the error.
public typealias MSALDeviceTokenResultCompletionBlock =
  @Sendable (MSALDeviceTokenResult?, (any Error)?) -> Void
