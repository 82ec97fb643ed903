/// Which accounts to list. Letters may be upper or lower case.
open class MSALAccountEnumerationParameters: MSALParameters {
  /// The home account id.
  public let identifier: String?
  /// The object id in any tenant.
  public let tenantProfileIdentifier: String?
  /// The name with which the person signs in.
  public let username: String?
  /// Leaves out accounts that are not signed in to this program; true unless set.
  open var returnOnlySignedInAccounts = true

  /// Lists all accounts.
  public override init() {
    identifier = nil
    tenantProfileIdentifier = nil
    username = nil
    super.init()
  }

  /// Lists the account with a home account id.
  public init(identifier accountIdentifier: String) {
    identifier = accountIdentifier
    tenantProfileIdentifier = nil
    username = nil
    super.init()
  }

  /// Lists accounts with a user name and, if one is given, a home account id.
  public init(identifier accountIdentifier: String?, username: String) {
    identifier = accountIdentifier
    tenantProfileIdentifier = nil
    self.username = username
    super.init()
  }

  /// Lists accounts that have an object id in one of their tenants.
  public init(tenantProfileIdentifier: String) {
    identifier = nil
    self.tenantProfileIdentifier = tenantProfileIdentifier
    username = nil
    super.init()
  }
}
