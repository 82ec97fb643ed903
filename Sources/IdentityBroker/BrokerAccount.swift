import IdentityClient
import TokenCache

/// An account as a broker lists it.
struct BrokerAccount {
  /// The whole object, which the broker wants back.
  let fields: JSONObject
  let homeAccountID: String

  /// `nil` for an object that does not say whose account it is.
  init?(_ fields: JSONObject) {
    let composed = fields.text("localAccountId").flatMap { local in
      fields.text("realm").map { "\(local).\($0)" }
    }
    let info = fields.text("clientInfo").flatMap(ClientInfo.init(raw:))
    guard let id = fields.text("homeAccountId") ?? info?.homeAccountID ?? composed else { return nil }
    self.fields = fields
    homeAccountID = id.lowercased()
  }

  var username: String? { fields.text("username") }
  var realm: String? { fields.text("realm")?.lowercased() }

  /// Himmelblau knows the name that is shown and no other, and sends no client info.
  var isHimmelblaus: Bool {
    guard let name = fields.text("name") else { return false }
    return fields.text("familyName") == nil && fields.text("clientInfo") == nil
      && fields.text("givenName") == name
  }

  private var profile: TenantProfile? {
    guard let tenant = realm ?? Tenant.home(of: homeAccountID) else { return nil }
    return TenantProfile(
      tenantID: tenant, localAccountID: fields.text("localAccountId"), username: username,
      name: fields.text("name"), environment: environment,
      isHomeTenant: tenant == Tenant.home(of: homeAccountID), claims: nil)
  }

  private var environment: String { (fields.text("environment") ?? "login.windows.net").lowercased() }
}

extension BrokerAccount {
  /// The accounts that a list names, each once, with the tenants under which it is listed.
  static func accounts(in list: [BrokerAccount]) -> [Account] {
    let entries = Dictionary(grouping: list, by: \.homeAccountID)
    var listed: Set<String> = []
    return list.filter { listed.insert($0.homeAccountID).inserted }.map { first in
      var tenants: Set<String> = []
      let profiles = (entries[first.homeAccountID] ?? []).compactMap(\.profile)
        .filter { tenants.insert($0.tenantID).inserted }.homeFirst
      return Account(
        homeAccountID: first.homeAccountID,
        username: profiles.lazy.compactMap(\.username).first ?? first.username,
        environment: first.environment, tenantProfiles: profiles, source: LinuxBroker.source)
    }
  }

  /// The entry that stands for an account: for the tenant asked for, else for its home.
  static func entry(for account: Account, tenant: String?, in list: [BrokerAccount]) -> BrokerAccount? {
    entry(in: list.filter { $0.homeAccountID == account.homeAccountID.lowercased() }, tenant)
  }

  /// The entry that goes by a user name.
  static func entry(named username: String, tenant: String?, in list: [BrokerAccount]) -> BrokerAccount? {
    entry(in: list.filter { $0.username?.lowercased() == username.lowercased() }, tenant)
  }

  private static func entry(in entries: [BrokerAccount], _ tenant: String?) -> BrokerAccount? {
    entries.first { $0.realm != nil && $0.realm == tenant?.lowercased() }
      ?? entries.first { $0.realm != nil && $0.realm == Tenant.home(of: $0.homeAccountID) } ?? entries.first
  }
}
