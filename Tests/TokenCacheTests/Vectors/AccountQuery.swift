@testable import TokenCache

/// Which account records to find, with the matching rules of MSAL for iOS and macOS.
///
/// A field that is `nil` matches everything.
struct AccountQuery: Sendable, Hashable {
  var accountType: AccountType?
  var homeAccountID: String?
  /// Compared with its case, unlike ``environmentAliases``.
  var environment: String?
  /// Hosts of one cloud, any of which the record may have; empty for all.
  var environmentAliases: [String] = []
  var realm: String?
  var username: String?

  /// - Parameter accountType: The kind of account, `nil` for any.
  init(_ accountType: AccountType? = .msSTS) {
    self.accountType = accountType
  }

  /// The account part of the keys that match, where it is known.
  var account: String? {
    guard let homeAccountID, let environment else { return nil }
    return CacheKey.account(homeAccountID: homeAccountID, environment: environment)
  }

  /// The service part of the keys that match, where it is known.
  var service: String? { realm?.normalized }

  /// The generic part of the keys that match, where it is known.
  var generic: String? { username?.normalized }

  /// The keychain's item type of the records that match.
  var itemType: Int? { accountType?.itemType }

  /// Whether the query names a single record.
  var isExactMatch: Bool { homeAccountID != nil && environment != nil && realm != nil }

  /// Whether a record is among those asked for.
  func matches(_ record: AccountRecord) -> Bool {
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
