public import Foundation
import IdentityBroker
import TokenCache

/// An account in the cache.
public final class MSALAccount: NSObject, MSALAccountProtocol, NSCopying, Sendable {
  let account: Account
  private let profiles: [MSALTenantProfile]
  private let accountId: MSALAccountId

  /// Makes an account that is in no cache, for a program's own tests. MSAL for iOS and macOS has nothing like it.
  ///
  /// - Parameters:
  ///   - username: The name with which the person signs in.
  ///   - homeAccountId: What the account is remembered by.
  ///   - environment: The host of the cloud that the account belongs to.
  ///   - tenantProfiles: The account in each tenant that it is known in.
  public convenience init(
    username: String?, homeAccountId: MSALAccountId, environment: String = "login.microsoftonline.com",
    tenantProfiles: [MSALTenantProfile] = []
  ) {
    self.init(
      Account(
        homeAccountID: homeAccountId.identifier, username: username, environment: environment,
        tenantProfiles: tenantProfiles.map(\.profile)))
  }

  init(_ account: Account) {
    self.account = account
    profiles = account.tenantProfiles.map(MSALTenantProfile.init)
    accountId = MSALAccountId(account.homeAccountID)
  }

  /// The name with which the person signs in, mostly like a mail address. It is shown, and may change.
  public var username: String? { account.username }
  /// The home account id, `uid.utid`: what to remember an account by.
  public var identifier: String? { account.homeAccountID }
  /// The host of the cloud that the account belongs to.
  public var environment: String { account.environment }
  /// What the ID token of the account's home tenant says. Numbers and booleans are `NSNumber`.
  public var accountClaims: [String: Any]? { profiles.first(where: \.isHomeTenantProfile)?.claims }
  /// The account in each tenant that it is known in, the home tenant first; in results, too.
  public var tenantProfiles: [MSALTenantProfile]? { profiles }
  /// The home account id in its parts.
  public var homeAccountId: MSALAccountId? { accountId }
  /// Whether the machine's identity broker signs the account in.
  public var isSSOAccount: Bool { account.source == LinuxBroker.source }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is an account with the same home account id.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALAccount)?.accountId == accountId
  }

  /// The hash of the home account id.
  public override var hash: Int { accountId.hash }
}
