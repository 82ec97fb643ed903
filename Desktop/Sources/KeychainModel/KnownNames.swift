import Configuration

/// Names of apps and APIs: those of the person's own clients, and Microsoft's, whose client IDs and addresses are the same for
/// everyone.
enum KnownNames {
  /// The name of an app of Microsoft's; `nil` where it is not a known one.
  static func app(_ clientID: String) -> String? { apps[clientID.lowercased()] }

  /// The name that the person gave an app, else the known one.
  static func app(_ clientID: String?, own names: [String: String]) -> String? {
    clientID.flatMap { names[$0.lowercased()].map { printable($0) } ?? app($0) }
  }

  /// What tokens of some scopes are for: an API by its name, else by its address.
  ///
  /// Scopes without an address are those of Microsoft Graph
  /// (https://learn.microsoft.com/entra/identity-platform/scopes-oidc).
  static func api(of scopes: [String]) -> String {
    guard let address = scopes.lazy.compactMap(address).first else { return "Microsoft Graph" }
    let name = address.split(separator: "/").first { !$0.hasSuffix(":") }.map(String.init) ?? address
    return apis[name.lowercased()] ?? (address.hasPrefix("https://") ? name : address)
  }

  /// A scope without the address of its API.
  static func permission(_ scope: String) -> String {
    guard let address = address(scope) else { return scope }
    return String(scope.dropFirst(address.count).drop { $0 == "/" })
  }

  /// The address of a scope's API: everything before the last slash.
  private static func address(_ scope: String) -> String? {
    scope.lastIndex(of: "/").map { slash in
      let address = scope[..<slash]
      // The address of some ends with a slash, which is then there twice.
      return String(address.hasSuffix("/") ? address.dropLast() : address)
    }
  }

  /// By client ID, with the source of each.
  private static let apps = [
    // https://learn.microsoft.com/troubleshoot/entra/entra-id/governance/verify-first-party-apps-sign-in
    "04b07795-8ddb-461a-bbee-02f9e1bf7b46": "Azure CLI",
    "1950a258-227b-4e31-a9cf-717495945fc2": "Azure PowerShell",
    "29d9ed98-a469-4536-ade2-f981bc1d605e": "Microsoft Authentication Broker",
    "d3590ed6-52b3-4102-aeff-aad2292ab01c": "Microsoft Office",
    "1fec8e78-bce4-4aaf-ab1b-5451cc387264": "Microsoft Teams",
    "ab9b8c07-8f02-4f72-87fa-80105867a763": "OneDrive",
    // extensions/microsoft-authentication/src/common/scopeData.ts of https://github.com/microsoft/vscode
    "aebc6443-996d-45c2-90f0-388ff96faa56": "Visual Studio Code",
    // src/shared/Microsoft.AzureRepos/AzureDevOpsConstants.cs of https://github.com/git-ecosystem/git-credential-manager,
    // which signs in to Azure DevOps with it, too
    "872cd9fa-d31f-45e0-9eab-6e460a02d1f1": "Visual Studio",
    // The tests of the same
    "d735b71b-9eee-4a4f-ad23-421660877ba6": "Git Credential Manager",
    // What Connect-MgGraph of https://github.com/microsoftgraph/msgraph-sdk-powershell says that it connects with
    "14d82eec-204b-4c2f-b7e8-296a70dab67e": "Microsoft Graph Command Line Tools",
  ]

  /// By host, or by ID where the scopes name that; the IDs are in the same table of Microsoft's and in the same constants.
  private static let apis = [
    "graph.microsoft.com": "Microsoft Graph", "00000003-0000-0000-c000-000000000000": "Microsoft Graph",
    "management.azure.com": "Azure Resource Manager",
    "management.core.windows.net": "Azure Resource Manager",
    "797f4846-ba00-4fd7-ba43-dac1f8f63013": "Azure Resource Manager",
    "vault.azure.net": "Azure Key Vault", "storage.azure.com": "Azure Storage",
    "database.windows.net": "Azure SQL Database",
    "outlook.office.com": "Outlook", "outlook.office365.com": "Outlook",
    "app.vssps.visualstudio.com": "Azure DevOps", "499b84ac-1321-427f-aa17-267ca6975798": "Azure DevOps",
  ]
}
