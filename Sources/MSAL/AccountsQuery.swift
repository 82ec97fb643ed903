import Foundation
import TokenCache

/// Which accounts are wanted, apart from the object that said so.
struct AccountsQuery: Sendable {
  private var identifier: String?
  private var tenantProfileIdentifier: String?
  private var username: String?
  private var signedInOnly = true

  /// All signed-in accounts.
  init() {}

  init(_ parameters: MSALAccountEnumerationParameters) {
    identifier = parameters.identifier
    username = parameters.username
    tenantProfileIdentifier = parameters.tenantProfileIdentifier
    signedInOnly = parameters.returnOnlySignedInAccounts
  }

  func filter(clientID: String) -> AccountFilter {
    AccountFilter(
      clientID: clientID, signedInOnly: signedInOnly, homeAccountID: identifier, username: username)
  }

  /// Whether an account fits. The cache knows no filter for the ids of tenant profiles, external providers may
  /// know none at all.
  func matches(_ account: Account) -> Bool {
    func fits(_ wanted: String?, _ values: [String?]) -> Bool {
      guard let wanted = wanted?.lowercased() else { return true }
      return values.contains { $0?.lowercased() == wanted }
    }
    return fits(identifier, [account.homeAccountID])
      && fits(username, [account.username] + account.tenantProfiles.map(\.username))
      && fits(tenantProfileIdentifier, account.tenantProfiles.map(\.localAccountID))
  }

  /// The question to a provider of external accounts.
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
