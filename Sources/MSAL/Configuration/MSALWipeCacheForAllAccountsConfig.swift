public import Foundation

/// Where else a wipe of all accounts looks on macOS. On Linux, nowhere.
public final class MSALWipeCacheForAllAccountsConfig: NSObject, Sendable {
  /// Always empty.
  public static func additionalPartnerLocations() -> [String: [AnyHashable: Any]] { [:] }

  override private init() {}
}
