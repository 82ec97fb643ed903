public import Foundation
import TokenCache

/// An account as one tenant knows it.
public final class MSALTenantProfile: NSObject, NSCopying, Sendable {
  let profile: TenantProfile

  init(_ profile: TenantProfile) {
    self.profile = profile
  }

  /// The object id of the account in this tenant.
  public var identifier: String? { profile.localAccountID }
  /// The host of the tenant's cloud.
  public var environment: String? { profile.environment }
  public var tenantId: String? { profile.tenantID }
  /// Whether the account belongs to this tenant, and is not a guest there.
  public var isHomeTenantProfile: Bool { profile.isHomeTenant }
  /// What the ID token for this tenant says, if this program has one. Numbers and booleans are `NSNumber`.
  public var claims: [String: Any]? { profile.claims?.claims.mapValues(\.object) }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALTenantProfile)?.profile == profile
  }

  public override var hash: Int { profile.hashValue }
}
