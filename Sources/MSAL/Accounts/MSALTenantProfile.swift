public import Foundation
import TokenCache

/// An account as one tenant knows it.
public final class MSALTenantProfile: NSObject, NSCopying, Sendable {
  let profile: TenantProfile

  /// Makes a profile that is in no cache, for a program's own tests. MSAL for iOS and macOS has nothing like it.
  ///
  /// - Parameters:
  ///   - identifier: The object id of the account in this tenant.
  ///   - tenantId: The tenant.
  ///   - environment: The host of the tenant's cloud.
  ///   - isHomeTenantProfile: Whether the account belongs to this tenant.
  ///   - claims: What an ID token for this tenant would say. What JSON cannot express is left out.
  public convenience init(
    identifier: String?, tenantId: String, environment: String = "login.microsoftonline.com",
    isHomeTenantProfile: Bool = true, claims: [String: Any]? = nil
  ) {
    let claims = claims.map { IDTokenClaims(claims: $0.compactMapValues(JSONValue.init)) }
    self.init(
      TenantProfile(
        tenantID: tenantId, localAccountID: identifier, username: claims?.username, name: claims?.name,
        environment: environment, isHomeTenant: isHomeTenantProfile, claims: claims))
  }

  /// A profile of no tenant, for tests.
  public override convenience init() { self.init(identifier: nil, tenantId: "") }

  init(_ profile: TenantProfile) {
    self.profile = profile
  }

  /// The object id of the account in this tenant.
  public var identifier: String? { profile.localAccountID }
  /// The host of the tenant's cloud.
  public var environment: String? { profile.environment }
  /// The tenant's id.
  public var tenantId: String? { profile.tenantID }
  /// Whether the account belongs to this tenant, and is not a guest there.
  public var isHomeTenantProfile: Bool { profile.isHomeTenant }
  /// What the ID token for this tenant says, if this program has one. Numbers and booleans are `NSNumber`.
  public var claims: [String: Any]? { profile.claims?.claims.mapValues(\.object) }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is a profile with the same values.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALTenantProfile)?.profile == profile
  }

  /// The hash of all values.
  public override var hash: Int { profile.hashValue }
}
