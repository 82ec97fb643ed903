/// The tenant that the `realm` of a record names.
public enum Tenant {
  /// The tenant of every personal Microsoft account.
  public static let personalAccounts = "9188040d-6c67-4c5b-b112-36a304b66dad"

  /// The tenant that a realm names for an account.
  ///
  /// MSAL for Python and Go write the tenant segment of the requested authority, so that a token from the account's home
  /// tenant has the realm `common` or `organizations`.
  public static func resolve(realm: String?, homeAccountID: String?) -> String {
    let realm = (realm ?? "").normalized
    switch realm {
    case "common", "organizations": return home(of: homeAccountID) ?? realm
    case "consumers": return personalAccounts
    default: return realm
    }
  }

  /// The home tenant in a home account id (`uid.utid`); `nil` if it has none, as the user principal names and subjects of
  /// AD FS.
  public static func home(of homeAccountID: String?) -> String? {
    guard let id = homeAccountID?.normalized, !id.utf8.contains(UInt8(ascii: "@")),
      let dot = id.utf8.lastIndex(of: UInt8(ascii: ".")), case let tenant = id[id.utf8.index(after: dot)...],
      !tenant.isEmpty
    else { return nil }
    return String(tenant)
  }
}

extension Credential {
  package var tenant: String { Tenant.resolve(realm: realm, homeAccountID: homeAccountID) }
}

extension AccountRecord {
  var tenant: String { Tenant.resolve(realm: realm, homeAccountID: homeAccountID) }
}
