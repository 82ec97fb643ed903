import Dispatch
import TestSupport

@testable import SecretService

@Suite(.timeLimit(.minutes(10)))
struct AdvanceConnectionTests {
  private func algorithms(
    _ connection: SecretServiceConnection, _ cancellable: Cancellable = Cancellable(timeout: .seconds(120))
  ) async -> Result<String, SecretServiceError> {
    await blocking {
      Result { () throws(SecretServiceError) in try connection.sessionAlgorithms(cancellable) }
    }
  }

  @Test func `A call takes the session that was opened in advance`() async throws {
    let service = try FakeService()
    let connection = SecretServiceConnection(
      busAddress: service.keyring.busAddress, allowsPlainSession: true)
    connection.connectInAdvance()
    try await eventually { service.calls.count == 2 }
    for _ in 0..<2 { #expect(await algorithms(connection) == .success("plain")) }
    // An encrypted session is asked for first.
    #expect(service.calls == ["OpenSession", "OpenSession"])
  }

  @Test func `An error of the connection in advance is thrown once, and the next call connects again`()
    async throws
  {
    let service = try FakeService()
    let connection = SecretServiceConnection(busAddress: service.keyring.busAddress)
    connection.connectInAdvance()
    try await eventually { service.calls.count == 2 }
    #expect(await algorithms(connection) == .failure(.encryptionRefused))
    #expect(service.calls.count == 2)
    #expect(await algorithms(connection) == .failure(.encryptionRefused))
    #expect(service.calls.count == 4)
  }

  @Test(arguments: [true, false])
  func `A call waits for the session no longer than its own timeout, or until it is cancelled`(
    isOpenedInAdvance: Bool
  ) async throws {
    let service = try FakeService(["OpenSession": .silence])
    let connection = SecretServiceConnection(busAddress: service.keyring.busAddress)
    let first = Cancellable(timeout: .seconds(600))
    defer { first.cancel() }
    if isOpenedInAdvance {
      connection.connectInAdvance(timeout: .seconds(600))
    } else {
      DispatchQueue(label: "llavero.test").async {
        _ = try? connection.sessionAlgorithms(first)
      }
    }
    try await eventually { service.calls.contains("OpenSession") }
    // On threads of their own: what is awaited is that the calls themselves end.
    let cancellable = Cancellable(timeout: .seconds(600))
    async let late = algorithms(connection, Cancellable(timeout: .milliseconds(200)))
    async let cancelled = algorithms(connection, cancellable)
    #expect(await late == .failure(.timedOut))
    cancellable.cancel()
    #expect(await cancelled == .failure(.cancelled))
    // Some versions of gnome-keyring abort when they are asked for two sessions at once.
    #expect(service.calls == ["OpenSession"])
  }

  @Test func `A session that ends before its first call is opened again`() async throws {
    let keyring = try PrivateKeyring()
    let connection = SecretServiceConnection(busAddress: keyring.busAddress)
    connection.connectInAdvance()
    try await eventually { connection.openSession != nil }
    try keyring.restartDaemon()
    let found = try await blocking { () throws(SecretServiceError) in
      try connection.retryingOnce(connection.search([:], in: nil, Cancellable(timeout: .seconds(120))))
    }
    #expect(found.unlocked.isEmpty)
  }
}
