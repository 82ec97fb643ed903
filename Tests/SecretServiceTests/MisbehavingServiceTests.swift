import SecretService
import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct MisbehavingServiceTests {
  private let fixture: KeyringWithItem

  init() async throws { fixture = try await KeyringWithItem() }

  @Test func `The first call after a restart succeeds if it needs no path`() async throws {
    try fixture.keyring.restartDaemon()
    #expect(try await fixture.client.collection().label == "Login")
    try fixture.keyring.restartDaemon()
    #expect(try await fixture.client.search(fixture.attributes).unlocked.count == 1)
  }

  @Test(.fault("killed")) func `A path from before a restart is invalid afterwards`() async throws {
    try fixture.keyring.restartDaemon()
    await expectFailure(.serviceGone) { try await fixture.client.secrets(of: [fixture.item]) }
    let collection = try await fixture.client.collection()
    // The same D-Bus path, which might be another item now.
    for _ in 0..<2 {
      await expectFailure(.serviceGone) { try await fixture.client.delete(fixture.item) }
    }
    let found = try await fixture.client.search(fixture.attributes, in: collection.path)
    #expect(try await fixture.client.secrets(of: found.unlocked).values.map(\.count) == [1])
  }

  @Test func `A service that ended and is not restarted is absent`() async throws {
    fixture.keyring.killDaemon()
    await expectFailure(.noSecretService) { try await fixture.client.collections() }
  }

  @Test func `Without the bus the error is noSessionBus`() async throws {
    fixture.keyring.killBus()
    await expectFailure(.noSessionBus) { try await fixture.client.collections() }
  }

  @Test(.fault("stopped"))
  func `A stopped service times out and works again when it continues`() async throws {
    fixture.keyring.stopDaemon()
    // Connected; only what cannot succeed is given so little time.
    await expectFailure(.timedOut) {
      try await fixture.client.perform(timeout: .milliseconds(300)) {
        (connection, cancellable) throws(SecretServiceError) in
        try connection.secrets(of: [fixture.item], cancellable)
      }
    }
    let other = SecretServiceClient(busAddress: fixture.keyring.busAddress, timeout: .milliseconds(300))
    await expectFailure(.timedOut) { try await other.collections() }
    fixture.keyring.continueDaemon()
    #expect(try await fixture.client.collection().label == "Login")
    #expect(try await fixture.client.secrets(of: [fixture.item]).count == 1)
  }

  @Test(.fault("killed in call"))
  func `A service that dies during a call is reported as gone`() async throws {
    fixture.keyring.stopDaemon()
    let call = Task { try await fixture.client.secrets(of: [fixture.item]) }
    // Whether the call was sent already or not, the answer is the same.
    await Task.yield()
    fixture.keyring.killDaemon()
    await expectFailure(.serviceGone) { try await call.value }
  }
}

@Suite(.timeLimit(.minutes(20)))
struct AbsentServiceTests {
  @Test(.fault("no bus")) func `Without a session bus the error is noSessionBus`() async {
    await #expect(processExitsWith: .success) {
      for name in ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"] {
        unsetenv(name)
      }
      await expectFailure(.noSessionBus) { try await SecretServiceClient().collections() }
    }
  }

  @Test(arguments: [
    "unix:path=/proc/nonexistent/bus", "nonsense", "tcp:host=localhost,port=\(ReservedPort.refusing.number)",
  ])
  func `A bus address without a bus has no session bus`(address: String) async {
    let client = SecretServiceClient(busAddress: address)
    await expectFailure(.noSessionBus) { try await client.collections() }
  }

  @Test func `A bus without a keyring has no Secret Service`() async throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    await expectFailure(.noSecretService) { try await client.collections() }
    try keyring.startDaemon()
    #expect(try await client.collection().label == "Login")
  }

  @Test(.fault("crashed"))
  func `The bus restarts a crashed keyring, which still has its items`() async throws {
    let keyring = try PrivateKeyring(isActivatable: true)
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    _ = try await client.create(["test": "crash"])
    keyring.killDaemon()
    #expect(try await client.collection().label == "Login")
    #expect(try await client.search(["test": "crash"]).unlocked.count == 1)
  }

  @Test func `A collection that does not exist is named in the error`() async throws {
    let client = SecretServiceClient(busAddress: try PrivateKeyring.shared.get().busAddress)
    // That of gnome-keyring's session, which is kept in memory, has an empty label.
    for name in ["Missing", ""] {
      await expectFailure(.noSuchCollection(name)) { try await client.collection(named: name) }
    }
    #expect(try await client.collection(named: "default") == client.collection())
    #expect(try await client.collection(named: "login") == client.collection())
    #expect(try await client.collection(named: "Login") == client.collection())
    #expect(try await client.collections().contains(client.collection()))
  }

  @Test func `A keyring without a login collection has no default collection`() async throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    try keyring.startDaemon(unlocked: false)
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    await expectFailure(.noSuchCollection("default")) { try await client.collection() }
  }
}
