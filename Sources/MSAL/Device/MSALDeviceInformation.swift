public import Foundation

/// What is known of the device: on Linux, that it is an ordinary one, and what the identity broker's tokens say of it.
public final class MSALDeviceInformation: NSObject, Sendable {
  /// Always `.default`: no device is shared.
  public var deviceMode: MSALDeviceMode { .default }
  /// Always `.none`.
  public var configuredPreferredAuthMethod: MSALPreferredAuthMethod { .none }
  /// Always false.
  public var hasAADSSOExtension: Bool { false }
  /// Always `.notEnabled`.
  public var platformSSOStatus: MSALPlatformSSOStatus { .notEnabled }
  /// The device's id and tenant, where a token of the identity broker says them, under
  /// ``MSAL_PRIMARY_REGISTRATION_DEVICE_ID`` and ``MSAL_PRIMARY_REGISTRATION_TENANT_ID``. Nobody on Linux tells the rest.
  public var extraDeviceInformation: [AnyHashable: Any] { information }

  private let information: [String: String]

  /// Makes what the library hands out, for a program's own tests.
  public override init() { information = [:] }

  init(deviceID: String?, tenantID: String?) {
    var information: [String: String] = [:]
    if let deviceID {
      information[MSAL_PRIMARY_REGISTRATION_DEVICE_ID] = deviceID
      information[MSAL_PRIMARY_REGISTRATION_TENANT_ID] = tenantID
    }
    self.information = information
  }
}
