import TokenCache

/// An account, as MSAL before 0.1.4 called it.
@available(*, deprecated, renamed: "MSALAccount")
public typealias MSALUser = MSALAccount

extension MSALAccount {
  /// ``username``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "username")
  public var displayableId: String? { username }
  /// The person's name in the home tenant.
  @available(*, deprecated, message: "Use accountClaims?[\"name\"].")
  public var name: String? { account.tenantProfiles.first(where: \.isHomeTenant)?.name }
  /// The object id of the account in its home tenant.
  @available(*, deprecated, message: "Use homeAccountId?.objectId.")
  public var uid: String? { homeAccountId?.objectId }
  /// The home tenant.
  @available(*, deprecated, message: "Use homeAccountId?.tenantId.")
  public var utid: String? { homeAccountId?.tenantId }
  /// ``identifier``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "identifier")
  public var userIdentifier: String? { identifier }
}
