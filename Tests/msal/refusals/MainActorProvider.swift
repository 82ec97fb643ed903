// Swift 6 refuses: crosses into main actor-isolated code
import MSAL

@MainActor
final class Accounts: NSObject, MSALExternalAccountProviding {
  func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {}
  func remove(
    _ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?
  ) throws {}
  func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol] { [] }
}
