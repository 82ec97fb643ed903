import TokenCache

/// An account, as MSAL before 0.1.4 called it.
@available(*, deprecated, renamed: "MSALAccount")
public typealias MSALUser = MSALAccount

extension MSALAccount {
  @available(*, deprecated, renamed: "username")
  public var displayableId: String? { username }
  /// The person's name in the home tenant.
  @available(*, deprecated, message: "Use accountClaims?[\"name\"].")
  public var name: String? { account.tenantProfiles.first(where: \.isHomeTenant)?.name }
  @available(*, deprecated, message: "Use homeAccountId?.objectId.")
  public var uid: String? { homeAccountId?.objectId }
  @available(*, deprecated, message: "Use homeAccountId?.tenantId.")
  public var utid: String? { homeAccountId?.tenantId }
  @available(*, deprecated, renamed: "identifier")
  public var userIdentifier: String? { identifier }
}
