public import Foundation

/// What is known of the device: on Linux, that it is an ordinary one.
public final class MSALDeviceInformation: NSObject, Sendable {
  /// Always `.default`: no device is shared.
  public var deviceMode: MSALDeviceMode { .default }
  /// Always `.none`.
  public var configuredPreferredAuthMethod: MSALPreferredAuthMethod { .none }
  /// Always false.
  public var hasAADSSOExtension: Bool { false }
  /// Always `.notEnabled`.
  public var platformSSOStatus: MSALPlatformSSOStatus { .notEnabled }
  /// Always empty.
  public var extraDeviceInformation: [AnyHashable: Any] { [:] }

  /// Makes what the library hands out, for a program's own tests.
  public override init() {}
}
