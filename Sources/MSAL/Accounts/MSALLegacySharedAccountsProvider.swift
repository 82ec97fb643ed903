public import Foundation

/// The accounts that Microsoft's applications for iOS share with each other. Linux has none of them: the provider
/// lists nothing and changes nothing.
open class MSALLegacySharedAccountsProvider: NSObject, MSALExternalAccountProviding {
  open var sharedAccountMode = MSALLegacySharedAccountMode.readOnly

  public init(
    sharedKeychainAccessGroup sharedGroup: String, serviceIdentifier: String, applicationIdentifier: String
  ) {}

  open func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {}

  open func remove(
    _ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?
  ) throws {}

  open func accounts(
    with parameters: MSALAccountEnumerationParameters
  ) throws -> [any MSALAccountProtocol] { [] }
}
