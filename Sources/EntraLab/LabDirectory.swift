package struct LabDirectory: Codable, Sendable {
  package var tenants: [LabTenant]
  package var users: [LabUser]
  package var apps: [LabApp]

  package func tenant(_ idOrDomain: String) -> LabTenant? {
    let name = idOrDomain.lowercased()
    return tenants.first { $0.id.lowercased() == name || $0.domains.contains { $0.lowercased() == name } }
  }

  /// A user by name or by user name (UPN).
  package func user(_ name: String) -> LabUser? {
    let name = name.lowercased()
    return users.first { $0.name.lowercased() == name || $0.userPrincipalName.lowercased() == name }
  }

  package func app(_ clientID: String) -> LabApp? {
    apps.first { $0.clientID.lowercased() == clientID.lowercased() }
  }
}

package struct LabTenant: Codable, Sendable {
  package static let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"

  package var id: String
  package var domains: [String]
}

package struct LabUser: Codable, Sendable {
  package var name: String
  package var displayName: String
  package var userPrincipalName: String
  package var homeTenant: String
  /// The object id in the home tenant, which is also the `uid` of the home account.
  package var objectID: String
  /// The object ids by tenant in which the user is a guest.
  package var guestObjectIDs: [String: String] = [:]

  package var homeAccountID: String { objectID + "." + homeTenant }
  package var isPersonal: Bool { homeTenant == LabTenant.consumers }

  package func objectID(in tenant: String) -> String? {
    tenant == homeTenant ? objectID : guestObjectIDs[tenant]
  }
}

package struct LabApp: Codable, Sendable {
  package var name: String
  package var clientID: String
  /// "1" for a member of the family of client ids (FOCI).
  package var familyID: String?
  package var redirectURIs: [String]
  /// The only tenant whose authority this app may use.
  package var onlyTenant: String?

  package init(name: String, clientID: String, familyID: String? = nil, onlyTenant: String? = nil) {
    self.name = name
    self.clientID = clientID
    self.familyID = familyID
    redirectURIs = [
      "http://localhost", "http://127.0.0.1", "msal\(clientID)://auth", "msauth.org.example.lab://auth",
      "https://login.microsoftonline.com/common/oauth2/nativeclient",
    ]
    self.onlyTenant = onlyTenant
  }

  /// Whether `uri` is registered. The port of a loopback URI is ignored, its path is not (RFC 8252 section 7.3).
  func accepts(redirectURI uri: String) -> Bool {
    redirectURIs.contains { $0 == uri || isLoopback($0) && withoutPort($0) == withoutPort(uri) }
  }
}

private func isLoopback(_ uri: String) -> Bool {
  guard let uri = withoutPort(uri) else { return false }
  return uri.hasPrefix("http://localhost/") || uri.hasPrefix("http://127.0.0.1/")
}

/// The URI without its port, and with "/" for an empty path; nil if it is not an http URI.
private func withoutPort(_ uri: String) -> String? {
  let parts = uri.split(separator: "/", omittingEmptySubsequences: false)
  guard parts.count >= 3, parts[0] == "http:", parts[1].isEmpty else { return nil }
  let authority = parts[2].split(separator: ":", omittingEmptySubsequences: false)
  guard authority.count <= 2, authority.count < 2 || UInt16(authority[1]) != nil else { return nil }
  return "http://" + authority[0] + "/" + parts.dropFirst(3).joined(separator: "/")
}

extension LabDirectory {
  package static let contoso = "22222222-2222-2222-2222-222222222222"
  package static let fabrikam = "33333333-3333-3333-3333-333333333333"

  /// Alice of Contoso, a guest at Fabrikam; Bob of Contoso; Carol, with a personal account. One plain app,
  /// two of one family, and one of Contoso alone.
  package static let standard = LabDirectory(
    tenants: [
      LabTenant(id: contoso, domains: ["contoso.test", "contoso.onmicrosoft.com"]),
      LabTenant(id: fabrikam, domains: ["fabrikam.test", "fabrikam.onmicrosoft.com"]),
      LabTenant(id: LabTenant.consumers, domains: ["consumers"]),
    ],
    users: [
      LabUser(
        name: "alice", displayName: "Alice Álvarez", userPrincipalName: "alice@contoso.test",
        homeTenant: contoso, objectID: "a11ce000-0000-4000-8000-000000000001",
        guestObjectIDs: [fabrikam: "a11ce000-0000-4000-8000-0000000000fa"]),
      LabUser(
        name: "bob", displayName: "Bob Brown", userPrincipalName: "bob@contoso.test", homeTenant: contoso,
        objectID: "b0b00000-0000-4000-8000-000000000002"),
      LabUser(
        name: "carol", displayName: "Carol Clark", userPrincipalName: "carol@outlook.test",
        homeTenant: LabTenant.consumers, objectID: "00000000-0000-0000-ca20-100000000003"),
    ],
    apps: [
      LabApp(name: "plain", clientID: "c0000000-0000-4000-8000-000000000001"),
      LabApp(name: "family-mail", clientID: "c0000000-0000-4000-8000-0000000000f1", familyID: "1"),
      LabApp(name: "family-calendar", clientID: "c0000000-0000-4000-8000-0000000000f2", familyID: "1"),
      LabApp(name: "single-tenant", clientID: "c0000000-0000-4000-8000-000000000051", onlyTenant: contoso),
    ])
}
