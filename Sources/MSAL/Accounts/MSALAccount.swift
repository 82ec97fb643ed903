public import Foundation
import TokenCache

/// An account in the cache.
public final class MSALAccount: NSObject, MSALAccountProtocol, NSCopying, Sendable {
  let account: Account
  private let profiles: [MSALTenantProfile]
  private let accountId: MSALAccountId

  init(_ account: Account) {
    self.account = account
    profiles = account.tenantProfiles.map(MSALTenantProfile.init)
    accountId = MSALAccountId(account.homeAccountID)
  }

  public var username: String? { account.username }
  public var identifier: String? { account.homeAccountID }
  public var environment: String { account.environment }
  public var accountClaims: [String: Any]? { profiles.first(where: \.isHomeTenantProfile)?.claims }
  public var tenantProfiles: [MSALTenantProfile]? { profiles }
  public var homeAccountId: MSALAccountId? { accountId }
  /// Always false: Linux has no single sign-on that this library takes part in.
  public var isSSOAccount: Bool { false }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is an account with the same home account id.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALAccount)?.accountId == accountId
  }

  public override var hash: Int { accountId.hash }
}
