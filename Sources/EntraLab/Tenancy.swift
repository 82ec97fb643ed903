/// The accounts that an authority accepts.
enum Tenancy: Sendable {
  case anyAccount
  case workAccount
  case one(LabTenant)
}

extension LabState {
  func tenancy(of authority: LabAuthority) throws(LabError) -> Tenancy {
    switch authority.tenant {
    case "common": return .anyAccount
    case "organizations": return .workAccount
    default:
      guard let tenant = directory.tenant(authority.tenant) else {
        throw LabError("invalid_tenant", 90002, "Tenant '\(authority.tenant)' not found.")
      }
      return .one(tenant)
    }
  }

  /// The tenant that issues the user's tokens: the authority's, else the user's own.
  func tenant(of user: LabUser, at authority: LabAuthority) throws(LabError) -> String {
    switch try tenancy(of: authority) {
    case .anyAccount: return user.homeTenant
    case .workAccount where !user.isPersonal: return user.homeTenant
    case .one(let tenant) where user.objectID(in: tenant.id) != nil: return tenant.id
    case .workAccount, .one:
      throw .grant(
        50020, "User account '\(user.userPrincipalName)' does not exist in tenant '\(authority.tenant)'.")
    }
  }

  /// The app with that client id, if it may use the authority.
  func app(_ clientID: String?, at authority: LabAuthority) throws(LabError) -> LabApp {
    guard let clientID else { throw .missing("client_id") }
    let tenancy = try tenancy(of: authority)
    guard let app = directory.app(clientID) else { throw .unknownApp(clientID) }
    guard let only = app.onlyTenant else { return app }
    switch tenancy {
    case .one(let tenant) where tenant.id == only: return app
    case .one: throw .unknownApp(clientID)
    case .anyAccount, .workAccount:
      throw .invalidRequest(
        50194, "Application '\(clientID)' is not configured as a multi-tenant application."
      )
    }
  }
}
