public import Foundation
import TokenCache

/// A home account id and its parts.
public final class MSALAccountId: NSObject, NSCopying, Sendable {
  /// The whole id, `uid.utid`.
  public let identifier: String
  /// The object id of the account in its home tenant.
  public let objectId: String?
  /// The home tenant.
  public let tenantId: String?

  init(_ homeAccountID: String) {
    identifier = homeAccountID
    tenantId = Tenant.home(of: homeAccountID)
    objectId = tenantId.flatMap { _ in
      homeAccountID.lastIndex(of: ".").map { String(homeAccountID[..<$0]) }
    }
  }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALAccountId)?.identifier.lowercased() == identifier.lowercased()
  }

  public override var hash: Int { identifier.lowercased().hashValue }
}
