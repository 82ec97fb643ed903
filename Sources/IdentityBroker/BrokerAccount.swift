import IdentityClient
import TokenCache

/// An account as a broker lists it.
struct BrokerAccount {
  /// The whole object, which the broker wants back.
  let fields: JSONObject
  let homeAccountID: String

  /// `nil` for an object that does not say whose account it is.
  init?(_ fields: JSONObject) {
    func text(_ name: String) -> String? { fields[name]?.stringValue.nonBlank }
    let composed = text("localAccountId").flatMap { local in text("realm").map { "\(local).\($0)" } }
    let info = text("clientInfo").flatMap(ClientInfo.init(raw:))
    guard let id = text("homeAccountId") ?? info?.homeAccountID ?? composed else { return nil }
    self.fields = fields
    homeAccountID = id.lowercased()
  }

  private func text(_ name: String) -> String? { fields[name]?.stringValue.nonBlank }

  var username: String? { text("username") }
  var realm: String? { text("realm")?.lowercased() }

  /// Himmelblau knows the name that is shown and no other, and sends no client info.
  var isHimmelblaus: Bool {
    guard let name = text("name") else { return false }
    return text("familyName") == nil && text("clientInfo") == nil && text("givenName") == name
  }

  private var profile: TenantProfile? {
    guard let tenant = realm ?? Tenant.home(of: homeAccountID) else { return nil }
    return TenantProfile(
      tenantID: tenant, localAccountID: text("localAccountId"), username: username, name: text("name"),
      environment: environment, isHomeTenant: tenant == Tenant.home(of: homeAccountID), claims: nil)
  }

  private var environment: String { (text("environment") ?? "login.windows.net").lowercased() }
}

extension BrokerAccount {
  /// The accounts that a list names, each once, with the tenants under which it is listed.
  static func accounts(in list: [BrokerAccount]) -> [Account] {
    var order: [String] = []
    var entries: [String: [BrokerAccount]] = [:]
    for entry in list {
      if entries[entry.homeAccountID] == nil { order.append(entry.homeAccountID) }
      entries[entry.homeAccountID, default: []].append(entry)
    }
    return order.compactMap { entries[$0] }.compactMap { entries in
      guard let first = entries.first else { return nil }
      var profiles: [TenantProfile] = []
      for profile in entries.compactMap(\.profile)
      where !profiles.contains(where: { $0.tenantID == profile.tenantID }) {
        profiles.append(profile)
      }
      profiles.sort { ($0.isHomeTenant ? 0 : 1, $0.tenantID) < ($1.isHomeTenant ? 0 : 1, $1.tenantID) }
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
