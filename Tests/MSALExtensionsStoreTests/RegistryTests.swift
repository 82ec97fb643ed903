import MSALExtensionsStore
import TestSupport

struct RegistryTests {
  @Test(arguments: [("", "/proc/nonexistent/.azure"), ("/proc/nonexistent/a", "/proc/nonexistent/a")])
  func `AZURE_CONFIG_DIR is Azure CLI's directory unless it is empty`(value: String, directory: String) {
    let registry = PeerRegistry(environment: ["HOME": "/proc/nonexistent", "AZURE_CONFIG_DIR": value])
    #expect(registry["azure-cli"]?.file == directory + "/msal_token_cache.json")
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
