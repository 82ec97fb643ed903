extension MSALResult {
  /// ``account``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "account")
  public var user: MSALAccount { account }
  /// The object id of the account in the tenant that issued the token.
  @available(*, deprecated, message: "Use tenantProfile.identifier.")
  public var uniqueId: String? { tenantProfile.identifier }
  /// The tenant that issued the token.
  @available(*, deprecated, message: "Use tenantProfile.tenantId.")
  public var tenantId: String? { tenantProfile.tenantId }
}
