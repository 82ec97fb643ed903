public import FoundationEssentials
public import TokenCache

/// A token and its account.
public struct AuthenticationResult: Sendable {
  /// Where the token came from.
  public enum Source: Sendable, Hashable {
    case cache
    case network
    /// A broker, such as the identity broker.
    case broker
  }

  /// The access token; empty where the server gave none. With a ``PopScheme`` it is a signed HTTP request that holds the
  /// token, made for this result.
  public internal(set) var accessToken: String
  public internal(set) var tokenType: String
  public let expiresOn: Date?
  /// What the token is for, in the server's words.
  public let scopes: [String]
  public let idToken: String?
  /// What the ID token says.
  public let claims: IDTokenClaims?
  public let account: Account
  /// The account in the tenant that issued the token.
  public let tenantProfile: TenantProfile?
  /// The authority that issued the token.
  public let authority: Authority
  public let correlationID: UUID
  /// Whether the token has expired and serves only because the token service is down.
  public let isExtendedLifetime: Bool
  /// Why the tokens could not be stored. They are good all the same; without them in the cache the account
  /// has to sign in again.
  public let cacheError: CacheError?
  public let source: Source

  package init(
    accessToken: String, tokenType: String = "Bearer", expiresOn: Date?, scopes: [String], idToken: String?,
    claims: IDTokenClaims?, account: Account, tenantProfile: TenantProfile?, authority: Authority,
    correlationID: UUID, isExtendedLifetime: Bool = false, cacheError: CacheError? = nil, source: Source
  ) {
    self.accessToken = accessToken
    self.tokenType = tokenType
    self.expiresOn = expiresOn
    self.scopes = scopes
    self.idToken = idToken
    self.claims = claims
    self.account = account
    self.tenantProfile = tenantProfile
    self.authority = authority
    self.correlationID = correlationID
    self.isExtendedLifetime = isExtendedLifetime
    self.cacheError = cacheError
    self.source = source
  }

  /// The value of an `Authorization` header field; empty without an access token.
  public var authorizationHeader: String { accessToken.isEmpty ? "" : "\(tokenType) \(accessToken)" }
}

extension AuthenticationResult: CustomStringConvertible, CustomReflectable {
  /// What the token is for and where it came from; never the token.
  public var description: String {
    "AuthenticationResult(\(scopes.joined(separator: " ")), from the \(source))"
  }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
