// Swift 6 refuses: of 'Sendable'-conforming class 'Accounts' is mutable
// Swift 5 builds it without warnings.
import MSAL

final class Accounts: NSObject, MSALExternalAccountProviding {
  var names: [String] = []

  func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {
    names.append(account.username ?? "")
  }
  func remove(
    _ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?
  ) throws {}
  func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol] { [] }
}
