import Foundation
import TokenCache

/// A query for accounts: a copy of the parameters that can be sent to other threads.
struct AccountsQuery: Sendable {
  /// The part that the cache filters by.
  private(set) var filter = AccountFilter()
  private(set) var tenantProfileIdentifier: String?

  /// All signed-in accounts.
  init() {}

  init(_ parameters: MSALAccountEnumerationParameters) {
    // A blank value filters nothing, as in MSAL for iOS and macOS.
    filter = AccountFilter(
      signedInOnly: parameters.returnOnlySignedInAccounts, homeAccountID: parameters.identifier.nonBlank,
      username: parameters.username.nonBlank)
    tenantProfileIdentifier = parameters.tenantProfileIdentifier.nonBlank
  }

  /// Whether an account matches. The cache has no filter for the ids of tenant profiles, external providers may have
  /// none at all.
  func matches(_ account: Account) -> Bool {
    guard filter.matches(account) else { return false }
    guard let wanted = tenantProfileIdentifier?.normalized else { return true }
    return account.tenantProfiles.contains { $0.localAccountID?.normalized == wanted }
  }
}
