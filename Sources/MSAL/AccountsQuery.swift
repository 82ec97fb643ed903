import Foundation
import TokenCache

/// A query for accounts: a copy of the parameters that can be sent to other threads.
struct AccountsQuery: Sendable {
  private var identifier: String?
  private var tenantProfileIdentifier: String?
  private var username: String?
  private var signedInOnly = true

  /// All signed-in accounts.
  init() {}

  init(_ parameters: MSALAccountEnumerationParameters) {
    // A blank value filters nothing, as in MSAL for iOS and macOS.
    identifier = parameters.identifier.nonBlank
    username = parameters.username.nonBlank
    tenantProfileIdentifier = parameters.tenantProfileIdentifier.nonBlank
    signedInOnly = parameters.returnOnlySignedInAccounts
  }

  func filter(clientID: String) -> AccountFilter {
    AccountFilter(
      clientID: clientID, signedInOnly: signedInOnly, homeAccountID: identifier, username: username)
  }

  /// Whether an account matches. The cache has no filter for the ids of tenant profiles, external providers may have
  /// none at all.
  func matches(_ account: Account) -> Bool {
    func contains(_ wanted: String?, _ values: [String?]) -> Bool {
      guard let wanted = wanted?.lowercased() else { return true }
      return values.contains { $0?.lowercased() == wanted }
    }
    return contains(identifier, [account.homeAccountID])
      && contains(username, [account.username] + account.tenantProfiles.map(\.username))
      && contains(tenantProfileIdentifier, account.tenantProfiles.map(\.localAccountID))
  }

  /// The query for a provider of external accounts.
  var parameters: MSALAccountEnumerationParameters {
    let parameters =
      if let tenantProfileIdentifier {
        MSALAccountEnumerationParameters(tenantProfileIdentifier: tenantProfileIdentifier)
      } else if let username {
        MSALAccountEnumerationParameters(identifier: identifier, username: username)
      } else if let identifier {
        MSALAccountEnumerationParameters(identifier: identifier)
      } else {
        MSALAccountEnumerationParameters()
      }
    parameters.returnOnlySignedInAccounts = signedInOnly
    return parameters
  }
}
