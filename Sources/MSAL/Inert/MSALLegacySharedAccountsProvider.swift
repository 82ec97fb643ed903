public import Foundation
import Synchronization

/// Has no effect: Linux has none of the accounts that Microsoft's applications for iOS share with each other. The provider
/// lists nothing and changes nothing.
///
/// `@unchecked Sendable`: it is open, as on Apple's systems; what it keeps is in a mutex.
open class MSALLegacySharedAccountsProvider: NSObject, MSALExternalAccountProviding, @unchecked Sendable {
  private let mode = Mutex(MSALLegacySharedAccountMode.readOnly)

  /// Has no effect. It keeps what it is set to.
  open var sharedAccountMode: MSALLegacySharedAccountMode {
    get { mode.withLock { $0 } }
    set { mode.withLock { $0 = newValue } }
  }

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
