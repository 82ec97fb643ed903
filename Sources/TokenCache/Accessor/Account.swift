/// An account in the cache, with all tenants that know it.
///
/// For example:
///
/// ```swift
/// for account in try await client.accounts() {
///   print(account.username ?? account.homeAccountID)
/// }
/// ```
public struct Account: Sendable, Hashable {
  /// `uid.utid`: the object id in the home tenant, and that tenant.
  public let homeAccountID: String
  /// The user name in the home tenant, else in the first tenant that has one.
  public let username: String?
  /// The host in the cache of the cloud that the account belongs to.
  public let environment: String
  /// The home tenant first, the others in the order of their ids.
  public let tenantProfiles: [TenantProfile]
  /// The source of the account's tokens if it is not the server, for example `broker`. MSAL for Python also writes the
  /// sign-in method here.
  public let source: String?

  /// Makes an account, as a token broker or a test does. The cache gets none by it.
  public init(
    homeAccountID: String, username: String?, environment: String, tenantProfiles: [TenantProfile],
    source: String? = nil
  ) {
    self.source = source
    self.homeAccountID = homeAccountID
    self.username = username
    self.environment = environment
    self.tenantProfiles = tenantProfiles
  }
}

/// An account as one tenant knows it.
public struct TenantProfile: Sendable, Hashable {
  public let tenantID: String
  /// The object id in this tenant.
  public let localAccountID: String?
  public let username: String?
  public let name: String?
  public let environment: String
  public let isHomeTenant: Bool
  /// The claims of the client's ID token, if it has one.
  public let claims: IDTokenClaims?

  /// Makes a profile, as a token broker or a test does.
  public init(
    tenantID: String, localAccountID: String?, username: String?, name: String?, environment: String,
    isHomeTenant: Bool, claims: IDTokenClaims?
  ) {
    self.tenantID = tenantID
    self.localAccountID = localAccountID
    self.username = username
    self.name = name
    self.environment = environment
    self.isHomeTenant = isHomeTenant
    self.claims = claims
  }
}

extension [TenantProfile] {
  /// In the order of an account's profiles: the home tenant's, then the others by their tenants.
  package var homeFirst: [TenantProfile] {
    filter(\.isHomeTenant) + filter { !$0.isHomeTenant }.sorted { $0.tenantID < $1.tenantID }
  }
}

/// Which accounts to list.
///
/// For example:
///
/// ```swift
/// let alice = try await cache.accounts(
///   AccountFilter(clientID: clientID, username: "alice@contoso.com"))
/// ```
public struct AccountFilter: Sendable, Hashable {
  /// The client whose accounts to list; `nil` lists the accounts of all clients.
  public var clientID: String?
  /// Leaves out accounts that are not signed in to the client.
  public var signedInOnly: Bool
  public var homeAccountID: String?
  public var username: String?

  public init(
    clientID: String? = nil, signedInOnly: Bool = true, homeAccountID: String? = nil,
    username: String? = nil
  ) {
    self.clientID = clientID
    self.signedInOnly = signedInOnly
    self.homeAccountID = homeAccountID
    self.username = username
  }

  /// Whether an account has the ID and user name of the filter, signed in or not.
  package func matches(_ account: Account) -> Bool {
    if let homeAccountID, !homeAccountID.matches(account.homeAccountID) { return false }
    guard let username else { return true }
    return username.matches(account.username)
      || account.tenantProfiles.contains { username.matches($0.username) }
  }
}
