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

  /// Makes an id from its text.
  ///
  /// - Parameter identifier: The whole id. One that is not of the form `uid.utid` has no parts.
  public convenience init(identifier: String) {
    self.init(identifier)
  }

  /// An empty id, for tests.
  public override convenience init() { self.init("") }

  init(_ homeAccountID: String) {
    identifier = homeAccountID
    tenantId = Tenant.home(of: homeAccountID)
    objectId = tenantId.flatMap { _ in
      homeAccountID.lastIndex(of: ".").map { String(homeAccountID[..<$0]) }
    }
  }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is the same id; letters may be upper or lower case.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALAccountId)?.identifier.lowercased() == identifier.lowercased()
  }

  /// The hash of the id in lower case.
  public override var hash: Int { identifier.lowercased().hashValue }
}
