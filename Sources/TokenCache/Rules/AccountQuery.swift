/// Which account records to find, with the matching rules of MSAL for iOS and macOS.
///
/// A field that is `nil` matches everything.
public struct AccountQuery: Sendable, Hashable {
  public var accountType: AccountType?
  public var homeAccountID: String?
  /// Compared with its case, unlike ``environmentAliases``.
  public var environment: String?
  /// Hosts of one cloud, any of which the record may have; empty for all.
  public var environmentAliases: [String] = []
  public var realm: String?
  public var username: String?

  /// - Parameter accountType: The kind of account, `nil` for any.
  public init(_ accountType: AccountType? = .msSTS) {
    self.accountType = accountType
  }

  /// The account part of the keys that match, where it is known.
  public var account: String? {
    guard let homeAccountID, let environment else { return nil }
    return CacheKey.account(homeAccountID: homeAccountID, environment: environment)
  }

  /// The service part of the keys that match, where it is known.
  public var service: String? { realm?.normalized }

  /// The generic part of the keys that match, where it is known.
  public var generic: String? { username?.normalized }

  /// The keychain's item type of the records that match.
  public var itemType: Int? { accountType?.itemType }

  /// Whether the query names a single record.
  public var isExactMatch: Bool { homeAccountID != nil && environment != nil && realm != nil }

  /// Whether a record is among those asked for.
  public func matches(_ record: AccountRecord) -> Bool {
    let key = record.key
    guard
      (account ?? key.account) == key.account, (service ?? key.service) == key.service,
      (generic ?? key.generic) == key.generic, (itemType ?? key.itemType) == key.itemType
    else { return false }
    if isExactMatch { return true }
    return homeAccountID.matches(record.homeAccountID)
      && (environment ?? record.environment) == record.environment
      && (environmentAliases.isEmpty || environmentAliases.contains { $0.matches(record.environment) })
  }
}
