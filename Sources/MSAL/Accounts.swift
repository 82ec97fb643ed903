public import Foundation
import IdentityBroker
import TokenCache

/// The properties of an account, in any cache.
///
/// Objective-C has a class and a protocol of one name, `MSALAccount`; Swift calls the protocol this.
public protocol MSALAccountProtocol: NSObjectProtocol {
  /// The user name for the sign-in, mostly like a mail address. It is for display, and may change.
  var username: String? { get }
  /// The home account id, `uid.utid`, which identifies the account.
  var identifier: String? { get }
  /// The host of the cloud that the account belongs to.
  var environment: String { get }
  /// The claims of the ID token for the account's home tenant.
  var accountClaims: [String: Any]? { get }
  /// The account's profile in each known tenant, the home tenant first.
  var tenantProfiles: [MSALTenantProfile]? { get }
  /// The home account id in its parts.
  var homeAccountId: MSALAccountId? { get }
  /// Whether the account comes from the system's single sign-on.
  var isSSOAccount: Bool { get }
}

/// An account in the cache.
public final class MSALAccount: MSALObject, MSALAccountProtocol, NSCopying, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.
  let account: Account

  /// Makes an account that is in no cache, for a program's own tests. The arguments are its properties. MSAL for iOS and macOS
  /// has no counterpart.
  public convenience init(
    username: String?, homeAccountId: MSALAccountId, environment: String = "login.microsoftonline.com",
    tenantProfiles: [MSALTenantProfile] = []
  ) {
    self.init(
      Account(
        homeAccountID: homeAccountId.identifier, username: username, environment: environment,
        tenantProfiles: tenantProfiles.map(\.profile)))
  }

  init(_ account: Account) { self.account = account }

  /// The user name for the sign-in, mostly like a mail address. It is for display, and may change.
  public var username: String? { account.username }
  /// The home account id, `uid.utid`, which identifies the account.
  public var identifier: String? { account.homeAccountID }
  /// The host of the cloud that the account belongs to.
  public var environment: String { account.environment }
  /// The claims of the ID token for the account's home tenant. Numbers and booleans are `NSNumber`.
  public var accountClaims: [String: Any]? { tenantProfiles?.first(where: \.isHomeTenantProfile)?.claims }
  /// The account's profile in each known tenant, the home tenant first; in results, too.
  public var tenantProfiles: [MSALTenantProfile]? { account.tenantProfiles.map(MSALTenantProfile.init) }
  /// The home account id in its parts.
  public var homeAccountId: MSALAccountId? { MSALAccountId(account.homeAccountID) }
  /// Whether the machine's identity broker signs the account in.
  public var isSSOAccount: Bool { account.source == LinuxBroker.source }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is an account with the same home account id.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALAccount)?.homeAccountId == homeAccountId
  }

  /// The hash of the home account id.
  public override var hash: Int { MSALAccountId(account.homeAccountID).hash }
}

/// A home account id and its parts.
public final class MSALAccountId: MSALObject, NSCopying, @unchecked Sendable {
  /// The whole id, `uid.utid`.
  public let identifier: String
  /// The object id of the account in its home tenant.
  public let objectId: String?
  /// The home tenant.
  public let tenantId: String?

  /// Makes an id from its text. One that is not of the form `uid.utid` has no parts.
  public convenience init(identifier: String) { self.init(identifier) }

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

/// An account's profile in one tenant.
public final class MSALTenantProfile: MSALObject, NSCopying, @unchecked Sendable {
  let profile: TenantProfile

  /// Makes a profile that is in no cache, for a program's own tests. The arguments are its properties. Claims that JSON cannot
  /// express are left out. MSAL for iOS and macOS has no counterpart.
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

  init(_ profile: TenantProfile) { self.profile = profile }

  /// The object id of the account in this tenant.
  public var identifier: String? { profile.localAccountID }
  /// The host of the tenant's cloud.
  public var environment: String? { profile.environment }
  /// The tenant's id.
  public var tenantId: String? { profile.tenantID }
  /// Whether the account belongs to this tenant, and is not a guest there.
  public var isHomeTenantProfile: Bool { profile.isHomeTenant }
  /// The claims of the ID token for this tenant, if this program has one. Numbers and booleans are `NSNumber`.
  public var claims: [String: Any]? {
    profile.claims.flatMap { JSONValue.object($0.claims).object as? [String: Any] }
  }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is a profile with the same values.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALTenantProfile)?.profile == profile
  }

  /// The hash of all values.
  public override var hash: Int { profile.hashValue }
}

/// Which accounts to list. Letters may be upper or lower case.
open class MSALAccountEnumerationParameters: MSALParameters {
  /// The home account id.
  public let identifier: String?
  /// The object id in any tenant.
  public let tenantProfileIdentifier: String?
  /// The user name for the sign-in.
  public let username: String?
  /// Leaves out accounts that are not signed in to this program; true unless set.
  open var returnOnlySignedInAccounts = true

  /// Lists all accounts.
  public override init() {
    identifier = nil
    tenantProfileIdentifier = nil
    username = nil
  }

  /// Lists the account with a home account id.
  public init(identifier accountIdentifier: String) {
    identifier = accountIdentifier
    tenantProfileIdentifier = nil
    username = nil
  }

  /// Lists accounts with a user name and, if one is given, a home account id.
  public init(identifier accountIdentifier: String?, username: String) {
    identifier = accountIdentifier
    tenantProfileIdentifier = nil
    self.username = username
  }

  /// Lists accounts that have an object id in one of their tenants.
  public init(tenantProfileIdentifier: String) {
    identifier = nil
    self.tenantProfileIdentifier = tenantProfileIdentifier
    username = nil
  }

  init(_ query: AccountsQuery) {
    identifier = query.filter.homeAccountID
    tenantProfileIdentifier = query.tenantProfileIdentifier
    username = query.filter.username
    returnOnlySignedInAccounts = query.filter.signedInOnly
  }
}
