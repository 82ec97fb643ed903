/// Which token to find.
public struct TokenLookup: Sendable, Hashable {
  /// `nil` for tokens of an application.
  public var homeAccountID: String?
  /// Any host of the cloud.
  public var environment: String
  public var clientID: String
  /// The tenant; `nil`, `common` and `organizations` mean the account's home tenant.
  public var realm: String?
  /// Scopes that the token must all have.
  public var scopes: ScopeSet
  public var scheme: AuthenticationScheme
  /// The `claims` that the token must have been asked with, to the letter; `nil` finds those asked without.
  public var requestedClaims: String?
  public var applicationIdentifier: String?

  public init(
    homeAccountID: String?, environment: String, clientID: String, realm: String? = nil,
    scopes: [String] = [], scheme: AuthenticationScheme = .bearer, requestedClaims: String? = nil,
    applicationIdentifier: String? = nil
  ) {
    self.homeAccountID = homeAccountID
    self.environment = environment
    self.clientID = clientID
    self.realm = realm
    self.scopes = ScopeSet(scopes)
    self.scheme = scheme
    self.requestedClaims = requestedClaims
    self.applicationIdentifier = applicationIdentifier
  }

  var tenant: String { Tenant.resolve(realm: realm ?? "common", homeAccountID: homeAccountID) }
}

extension TokenLookup {
  /// Two fields tell most requests of one program apart, so that the others are left out.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(homeAccountID)
    hasher.combine(scopes)
  }
}
