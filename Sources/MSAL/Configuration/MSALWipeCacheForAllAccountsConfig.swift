public import Foundation
import MSALExtensionsStore

/// Where else a wipe of all accounts looks, if ``MSALSignoutParameters/wipePeerCaches`` is set.
public final class MSALWipeCacheForAllAccountsConfig: NSObject, Sendable {
  /// The caches of other MSAL libraries that are known on Linux, by the names that `llavero sources` has for them: of a
  /// keyring item its attributes, of a file its `path`.
  public static func additionalPartnerLocations() -> [String: [AnyHashable: Any]] {
    var locations: [String: [AnyHashable: Any]] = [:]
    for peer in PeerRegistry().caches {
      switch peer.place {
      case .item(_, let attributes): locations[peer.name] = attributes
      case .file(let path): locations[peer.name] = ["path": path]
      }
    }
    return locations
  }

  /// An object without use: all there is belongs to the class.
  public override init() {}
}
