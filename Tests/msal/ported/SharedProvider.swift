// Builds without warnings in Swift 5.
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
