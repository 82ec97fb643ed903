import SecretService
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct MisbehavingServiceTests {
  private let fixture: KeyringWithItem

  init() async throws { fixture = try await KeyringWithItem() }

  @Test func `After a restart of the service the client connects again and finds its data`() async throws {
    try fixture.keyring.restartDaemon()
    await #expect(throws: SecretServiceError.serviceGone) {
      try await fixture.client.secrets(of: [fixture.item])
    }
    let collection = try await fixture.client.collection()
    let found = try await fixture.client.search(fixture.attributes, in: collection.path)
    let item = try #require(found.unlocked.first)
    #expect(try await fixture.client.bytes(of: item) == [7])
  }

  @Test func `The first call after a restart succeeds if it needs no path`() async throws {
    try fixture.keyring.restartDaemon()
    #expect(try await fixture.client.collection().label == "Login")
  }

  @Test(.fault("killed")) func `A path from before a restart reaches nothing afterwards`() async throws {
    try fixture.keyring.restartDaemon()
    let collection = try await fixture.client.collection()
    // The same D-Bus path, which might be another item now.
    for _ in 0..<2 {
      await #expect(throws: SecretServiceError.serviceGone) { try await fixture.client.delete(fixture.item) }
    }
    #expect(try await fixture.client.search(fixture.attributes, in: collection.path).unlocked.count == 1)
  }

  @Test func `A service that ended and does not come back is absent`() async throws {
    fixture.keyring.killDaemon()
    await #expect(throws: SecretServiceError.noSecretService) { try await fixture.client.collections() }
  }

  @Test func `A bus that ended is no session bus`() async throws {
    fixture.keyring.killBus()
    await #expect(throws: SecretServiceError.noSessionBus) { try await fixture.client.collections() }
  }

  @Test(.fault("stopped"))
  func `A stopped service times out and is of use again when it goes on`() async throws {
    fixture.keyring.stopDaemon()
    // Connected; only what cannot succeed is given so little time.
    await #expect(throws: SecretServiceError.timedOut) {
      try await fixture.client.perform(timeout: .milliseconds(300)) {
        (connection, cancellable) throws(SecretServiceError) in
        try connection.secrets(of: [fixture.item], cancellable)
      }
    }
    let other = SecretServiceClient(busAddress: fixture.keyring.busAddress, timeout: .milliseconds(300))
    await #expect(throws: SecretServiceError.timedOut) { try await other.collections() }
    fixture.keyring.continueDaemon()
    #expect(try await fixture.client.collection().label == "Login")
    #expect(try await fixture.client.secrets(of: [fixture.item]).count == 1)
  }

  @Test(.fault("killed in call"))
  func `A service that dies while a call waits for it is gone`() async throws {
    fixture.keyring.stopDaemon()
    let call = Task { try await fixture.client.secrets(of: [fixture.item]) }
    // Whether the call was sent already or not, the answer is the same.
    await Task.yield()
    fixture.keyring.killDaemon()
    await #expect(throws: SecretServiceError.serviceGone) { try await call.value }
  }

  @Test func `A cancelled task goes on at once`() async throws {
    fixture.keyring.stopDaemon()
    let call = Task { try await fixture.client.secrets(of: [fixture.item]) }
    await Task.yield()
    call.cancel()
    await #expect(throws: SecretServiceError.cancelled) { try await call.value }
    fixture.keyring.continueDaemon()
    #expect(try await fixture.client.secrets(of: [fixture.item]).count == 1)
  }
}
