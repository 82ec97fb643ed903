import Foundation
@testable import MSAL
import MSALExtensionsStore
import SecretService
import TestSupport

/// Other libraries' caches are removed only on request.
@Suite(.timeLimit(.minutes(20)))
struct PeerWipeTests {
  private static let cache = #"{"AccessToken":{"k":{"secret":"s"}}}"#

  @Test(.fault("wipe fails"))
  func `Caches in files and in the keyring are removed, and none is created`() async throws {
    let directory = try TemporaryDirectory()
    let keyring = try PrivateKeyring()
    let azure = try directory.directory(".azure") + "/msal_token_cache.json"
    let damaged = try directory.directory(".azureauth") + "/msal_tenant_cache.json"
    try Data(Self.cache.utf8).write(to: URL(fileURLWithPath: azure))
    try Data("{{".utf8).write(to: URL(fileURLWithPath: damaged))
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    let attributes = [
      "xdg:schema": "msal.cache.nocae", "MsalClientID": "Microsoft.Developer.IdentityService",
    ]
    for schema in ["msal.cache.nocae", "another.schema"] {
      _ = try await client.create(
        label: "Theirs", attributes: attributes.merging(["xdg:schema": schema]) { $1 },
        secret: SecretBytes(copying: Array(Self.cache.utf8)), in: client.collection().path)
    }
    let peers = PeerCaches(
      registry: PeerRegistry(environment: ["HOME": directory.path]),
      service: SecretServiceConnection(busAddress: keyring.busAddress))
    try await peers.wipe()
    #expect(!FileManager.default.fileExists(atPath: azure))
    #expect(!FileManager.default.fileExists(atPath: damaged))
    #expect(try await client.search(attributes).unlocked.isEmpty)
    #expect(try await client.search(["xdg:schema": "another.schema"]).unlocked.count == 1)
    #expect(!FileManager.default.fileExists(atPath: directory.path + "/.gcm"))
  }

  @Test(.fault("wipe fails"))
  func `A cache that cannot be removed is an error, and the others are removed`() async throws {
    let directory = try TemporaryDirectory()
    // It is removed after the caches in the keyring, which is unavailable.
    let last = try directory.directory(".azureauth") + "/msal_tenant_cache.json"
    try Data(Self.cache.utf8).write(to: URL(fileURLWithPath: last))
    let peers = PeerCaches(
      registry: PeerRegistry(environment: ["HOME": directory.path]),
      service: SecretServiceConnection(busAddress: "unix:path=/proc/nonexistent"))
    await expectCacheError(.unavailable) { try await peers.wipe() }
    #expect(!FileManager.default.fileExists(atPath: last))
  }

  @Test func `Only a permitted wipe of everything removes them`() {
    let parameters = MSALSignoutParameters(webviewParameters: MSALWebviewParameters())
    #expect(PeerCaches(parameters) == nil)
    parameters.wipePeerCaches = true
    #expect(PeerCaches(parameters) == nil)
    parameters.wipeCacheForAllAccounts = true
    #expect(PeerCaches(parameters) != nil)
    parameters.wipePeerCaches = false
    #expect(PeerCaches(parameters) == nil)
  }

  @Test func `The removed locations are listed`() {
    let places = MSALWipeCacheForAllAccountsConfig.additionalPartnerLocations()
    #expect(places["azure-cli"]?["path"] is String)
    #expect(places["azure-identity-python"]?["xdg:schema"] as? String == "msal.cache.nocae")
  }
}
