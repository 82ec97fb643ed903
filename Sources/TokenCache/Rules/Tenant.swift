/// The tenant that the `realm` of a record names.
public enum Tenant {
  /// The tenant of every personal Microsoft account.
  public static let personalAccounts = "9188040d-6c67-4c5b-b112-36a304b66dad"

  /// The tenant that a realm names for an account.
  ///
  /// MSAL for Python and Go write the tenant segment of the requested authority, so that a token from the account's home
  /// tenant has the realm `common` or `organizations`, and one from AD FS, which has no tenants, `adfs`. What the libraries
  /// write for an account of a B2C policy differs (a domain, the policy, the home tenant), and always means one tenant.
  public static func resolve(realm: String?, homeAccountID: String?) -> String {
    let realm = (realm ?? "").normalized
    switch realm {
    case "common", "organizations": return home(of: homeAccountID) ?? realm
    case "consumers": return personalAccounts
    case "adfs": return ""
    default: return isOfPolicy(homeAccountID) ? home(of: homeAccountID) ?? realm : realm
    }
  }

  /// Whether a realm, or the tenant of an authority, stands for several tenants.
  package static func namesMany(_ realm: String?) -> Bool {
    ["common", "organizations", "consumers"].contains((realm ?? "").normalized)
  }

  /// Whether a home account id is one of B2C: `<object id>-<policy>.<tenant>`.
  private static func isOfPolicy(_ homeAccountID: String?) -> Bool {
    // Nearly no other id has an underscore, and a regular expression takes long.
    guard let id = homeAccountID, id.utf8.contains(UInt8(ascii: "_")) else { return false }
    return withoutPolicy(id) != id.normalized
  }

  /// A normalized home account id without the policy of B2C.
  package static func withoutPolicy(_ homeAccountID: String) -> String {
    homeAccountID.normalized.replacing(/-b2c_1[^.]*\./, with: ".")
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
