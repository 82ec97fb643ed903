import Glibc
import SecretService
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct AbsentServiceTests {
  @Test(.fault("no bus")) func `Without a session bus the error says so`() async {
    await #expect(processExitsWith: .success) {
      for name in ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"] {
        unsetenv(name)
      }
      await #expect(throws: SecretServiceError.noSessionBus) { try await SecretServiceClient().collections() }
    }
  }

  @Test(arguments: [
    "unix:path=/proc/nonexistent/bus", "nonsense", "tcp:host=localhost,port=\(ReservedPort.refusing.number)",
  ])
  func `A bus address that leads nowhere is no session bus`(address: String) async {
    let client = SecretServiceClient(busAddress: address)
    await #expect(throws: SecretServiceError.noSessionBus) { try await client.collections() }
  }

  @Test func `A bus without a keyring has no Secret Service`() async throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    await #expect(throws: SecretServiceError.noSecretService) { try await client.collections() }
    try keyring.startDaemon()
    #expect(try await client.collection().label == "Login")
  }

  @Test(.fault("crashed"))
  func `A keyring that has crashed is started again by the bus, and has what was saved`() async throws {
    let keyring = try PrivateKeyring(isActivatable: true)
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    _ = try await client.create(["test": "crash"])
    keyring.killDaemon()
    #expect(try await client.collection().label == "Login")
    #expect(try await client.search(["test": "crash"]).unlocked.count == 1)
  }

  @Test func `A collection that does not exist is named in the error`() async throws {
    let client = SecretServiceClient(busAddress: try PrivateKeyring.shared.get().busAddress)
    await #expect(throws: SecretServiceError.noSuchCollection("Nobody's")) {
      try await client.collection(named: "Nobody's")
    }
    #expect(try await client.collection(named: "login") == client.collection())
    #expect(try await client.collection(named: "Login") == client.collection())
    #expect(try await client.collections().contains(client.collection()))
  }

  @Test func `A keyring without a login collection has no default collection`() async throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    try keyring.startDaemon(unlocked: false)
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    await #expect(throws: SecretServiceError.noSuchCollection("default")) { try await client.collection() }
  }
}
