import MSALExtensionsStore
import TestSupport

struct RegistryTests {
  @Test(
    arguments: [
      ([:], "/proc/nonexistent/.azure", "/proc/nonexistent/.local/share"),
      (
        ["AZURE_CONFIG_DIR": "", "XDG_DATA_HOME": "data"], "/proc/nonexistent/.azure",
        "/proc/nonexistent/.local/share"
      ),
      (
        ["AZURE_CONFIG_DIR": "/proc/nonexistent/a", "XDG_DATA_HOME": "/proc/nonexistent/d"],
        "/proc/nonexistent/a", "/proc/nonexistent/d"
      ),
    ] as [([String: String], String, String)])
  func `The environment names the directories of the caches`(
    environment: [String: String], azure: String, data: String
  ) {
    let registry = PeerRegistry(environment: environment.merging(["HOME": "/proc/nonexistent"]) { $1 })
    #expect(registry["azure-cli"]?.file == azure + "/msal_token_cache.json")
    #expect(
      registry["azure-identity-dotnet"]?.signals.first?.path == data + "/.IdentityService/msal.cache.nocae")
  }

  @Test func `Each file of azureauth with a tenant's name is a cache, beside its item`() throws {
    let home = try TemporaryDirectory()
    for name in ["msal_b_cache.json", "msal_a_cache.json", "msal_a.log", "other_cache.json"] {
      try home.file(".azureauth/" + name)
    }
    let registry = PeerRegistry(environment: ["HOME": home.path])
    #expect(
      registry.caches.map(\.name).filter { $0.hasPrefix("azureauth") } == [
        "azureauth", "azureauth-file:a", "azureauth-file:b",
      ])
    #expect(registry["azureauth"]?.encoding.isBase64 == true)
  }
}
