public import Foundation

/// Has no effect: Linux has none of the accounts that Microsoft's applications for iOS share with each other. The provider
/// lists nothing and changes nothing.
open class MSALLegacySharedAccountsProvider: NSObject, MSALExternalAccountProviding {
  /// Has no effect. It keeps what it is set to.
  open var sharedAccountMode = MSALLegacySharedAccountMode.readOnly

  /// Has no effect: the values are not used.
  public init(
    sharedKeychainAccessGroup sharedGroup: String, serviceIdentifier: String, applicationIdentifier: String
  ) {}

  /// Has no effect.
  open func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {}

  /// Has no effect.
  open func remove(
    _ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?
  ) throws {}

  /// Has no effect: no accounts.
  open func accounts(
    with parameters: MSALAccountEnumerationParameters
  ) throws -> [any MSALAccountProtocol] { [] }
}
