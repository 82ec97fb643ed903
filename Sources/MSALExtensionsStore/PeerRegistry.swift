public import FoundationEssentials

/// The known token caches of programs on Linux, one entry each.
///
/// Several caches of the programs' documentation may be one entry here: everything that MSAL.NET's extension keeps
/// under Microsoft's developer id is one item, whatever the programs call it.
public struct PeerRegistry: Sendable {
  /// The caches, in the order in which they are listed.
  public let caches: [PeerCache]
  /// Files with plaintext secrets of other programs that are no caches of MSAL's: they are reported, and cannot be moved.
  public let secretFiles: [PeerCache]

  /// - Parameter environment: Names the user's directories: `HOME`, `XDG_DATA_HOME`, `AZURE_CONFIG_DIR`.
  public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    let home = environment["HOME"] ?? "/"
    let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/share"
    let azure = environment["AZURE_CONFIG_DIR"].flatMap { $0.isEmpty ? nil : $0 } ?? home + "/.azure"
    let identity = home + "/.IdentityService"
    let credentialManager = "GitCredentialManager.MSAL"
    caches =
      Self.azureCLI(in: azure) + Self.azureIdentityPython(in: identity) + [
        // @azure/identity-cache-persistence: one item for every name.
        .item(
          "azure-identity-node", "Azure SDK for JavaScript",
          Self.files(in: identity).map { identity + "/" + $0 },
          PeerCache.genericSchema, ["service": Self.developerID, "account": "MSALCache"],
          label: "\(Self.developerID)/MSALCache", .json, signalContents: "{}"),
        // azure-identity for Java. Its lock file has no name of its own.
        .item(
          "azure-identity-java", "Azure SDK for Java", Self.defaultFiles.map { identity + "/" + $0 },
          "msal.cache",
          ["MsalClientID": Self.developerID], label: "MSALCache.nocae", .base64,
          lockFiles: [identity + "/.lockfile"]),
      ] + Self.dotNet(data: data + "/.IdentityService", local: home + "/.local/.IdentityService")
      // Git Credential Manager's tokens of applications.
      + Self.withPlaintext(
        .item(
          "git-credential-manager-apps", "Git Credential Manager, for service principals",
          [home + "/.gcm/msal/app.cache"], "app.cache",
          ["MsalClientID": credentialManager, credentialManager: "1.0.0.0"], label: "AppCache", .base64))
      + Self.azureauth(data: data + "/.IdentityService", plain: home + "/.azureauth")
    secretFiles = Self.secretFiles(azure: azure, kubernetes: home + "/.kube/cache")
  }

  /// The cache with a name.
  public subscript(name: String) -> PeerCache? { caches.first { $0.name == name } }

  private static let developerID = "Microsoft.Developer.IdentityService"

  /// The signal files of the Azure SDKs' default cache: without and with Continuous Access Evaluation.
  private static let defaultFiles = ["msal.cache.nocae", "msal.cache.cae"]

  /// The signal files of the Azure SDKs: those of the default cache, and those of other names that exist.
  private static func files(in directory: String) -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    let others = all.filter { $0.hasSuffix(".nocae") || $0.hasSuffix(".cae") }
    return defaultFiles + others.filter { !defaultFiles.contains($0) }.sorted()
  }

  /// Azure CLI 2.x: a plaintext file; with `core.encrypt_token_cache` the item of the sample of msal-extensions, in which
  /// service principals are kept too; and in a later version, which is not released, an item of its own for the tokens
  /// (https://github.com/Azure/azure-cli/pull/33849). Without a keyring these write the file.
  private static func azureCLI(in directory: String) -> [PeerCache] {
    let cache = directory + "/msal_token_cache"
    return [
      PeerCache(
        name: "azure-cli", users: "Azure CLI", place: .file(cache + ".json"), encoding: .json,
        lockFiles: [cache + ".json.lockfile"],
        afterRemoval:
          "Azure CLI asks for a new \"az login\", and then writes the file again."),
      .item(
        "azure-cli-keyring", "a later Azure CLI, which is not released", [cache + ".sig"],
        "Microsoft Azure CLI", ["type": "Token cache"], label: "", .json),
      .item(
        "azure-cli-encrypted",
        "Azure CLI with core.encrypt_token_cache, programs after the sample of msal-extensions",
        [cache + ".bin"], "my_schema_name", ["my_attr1": "foo", "my_attr2": "bar"], label: "", .json,
        lockFiles: [cache + ".bin.lockfile", directory + "/service_principal_entries.bin.lockfile"]),
    ]
  }

  /// Azure CLI's service principals; its tokens before version 2.30, which nothing uses any more; and the tokens of kubelogin, in
  /// the form of Azure's before it had a persistent cache, and of int128's where it is not told to use the keyring.
  private static func secretFiles(azure: String, kubernetes: String) -> [PeerCache] {
    func file(_ name: String, _ users: String, _ path: String, _ afterRemoval: String) -> PeerCache {
      PeerCache(
        name: name, users: users, place: .file(path), encoding: .json, lockFiles: [],
        afterRemoval: afterRemoval)
    }
    func files(_ program: String, _ users: String, _ isTokens: (String) -> Bool) -> [PeerCache] {
      let directory = kubernetes + "/" + program
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      return names.filter(isTokens).sorted().map {
        file("\(program):\($0)", users, directory + "/" + $0, "\(users) asks for a new sign-in then.")
      }
    }
    return [
      file(
        "azure-cli-service-principals", "Azure CLI", azure + "/service_principal_entries.json",
        "Azure CLI asks for a new \"az login --service-principal\" then."),
      file(
        "azure-cli-adal", "Azure CLI before 2.30", azure + "/accessTokens.json",
        "Azure CLI since 2.30 does not use them."),
    ]
      // The record of an account has no secret.
      + files("kubelogin", "kubelogin (Azure)") { $0.hasSuffix(".json") && $0 != "auth.json" }
      + files("oidc-login", "kubelogin (int128)") { !$0.hasSuffix(".lock") }
  }

  /// azure-identity for Python: an item for each name; `msal.cache` is the default.
  private static func azureIdentityPython(in directory: String) -> [PeerCache] {
    files(in: directory).flatMap { file in
      let name =
        switch file {
        case "msal.cache.nocae": "azure-identity-python"
        case "msal.cache.cae": "azure-identity-python-cae"
        default: "azure-identity-python:\(file)"
        }
      return withPlaintext(
        .item(
          name, "Azure SDK for Python", [directory + "/" + file], file, ["MsalClientID": developerID],
          label: "MSALCache", .json))
    }
  }

  /// MSAL.NET's extension under Microsoft's developer id: one item, with the files of each program and each name.
  private static func dotNet(data: String, local: String) -> [PeerCache] {
    let own = files(in: data)
    let shared = local + "/msal.cache"
    let item = PeerCache.item(
      "azure-identity-dotnet",
      "Azure SDK for .NET, Git Credential Manager, Azure Artifacts credential provider, Azure PowerShell",
      own.map { data + "/" + $0 } + [shared], "msal.cache",
      ["MsalClientID": developerID, developerID: "1.0.0.0"],
      label: "MSALCache", .base64)
    let files = own.map { file in
      let name =
        switch file {
        case "msal.cache.nocae": "azure-identity-dotnet-file"
        case "msal.cache.cae": "azure-powershell-file"
        default: "azure-identity-dotnet-file:\(file)"
        }
      return plaintext(of: item, name, data + "/" + file)
    }
    return [item] + files + [plaintext(of: item, "git-credential-manager-file", shared)]
  }

  /// azureauth: one item, with a file for each tenant; without a keyring a plaintext file for each.
  private static func azureauth(data: String, plain: String) -> [PeerCache] {
    func files(in directory: String, _ suffix: String) -> [String] {
      let all = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      return all.filter { $0.hasPrefix("msal_") && $0.hasSuffix(suffix) }.sorted()
    }
    let item = PeerCache.item(
      "azureauth", "azureauth", files(in: data, ".cache").map { data + "/" + $0 },
      "com.microsoft.identity.tokencache",
      // The typo is azureauth's.
      ["Version": "1", "ProductGroup": "Microsoft Develoepr Tools"], label: "MSAL token cache", .base64)
    let plaintext = files(in: plain, "_cache.json").map { file in
      PeerCache(
        name: "azureauth-file:\(file.dropFirst("msal_".count).dropLast("_cache.json".count))",
        users: "azureauth", place: .file(plain + "/" + file), encoding: .json,
        lockFiles: [plain + "/" + file + ".lockfile"],
        afterRemoval: "azureauth asks for a new sign-in when no cached token serves.")
    }
    return [item] + plaintext
  }

  /// An item, and the plaintext that its users write into the signal file when the keyring is not available.
  private static func withPlaintext(_ item: PeerCache) -> [PeerCache] {
    [item] + item.signals.map { plaintext(of: item, item.name + "-file", $0.path) }
  }

  private static func plaintext(of item: PeerCache, _ name: String, _ path: String) -> PeerCache {
    PeerCache(
      name: name, users: item.users, place: .file(path), encoding: .json, signals: item.signals,
      lockFiles: item.lockFiles,
      afterRemoval: "The programs go on with what they have in the keyring; without one they ask for a new "
        + "sign-in and write the file again.")
  }
}
