import Dispatch
import TestSupport

@testable import SecretService

@Suite(.timeLimit(.minutes(10)))
struct AdvanceConnectionTests {
  private func algorithms(
    _ connection: SecretServiceConnection
  ) async -> Result<String, SecretServiceError> {
    let queue = BlockingQueue(label: "llavero.test")
    do throws(SecretServiceError) {
      return .success(
        try await queue.run(timeout: .seconds(120), onCancel: .cancelled, onTimeout: .timedOut) {
          (cancellable) throws(SecretServiceError) in try connection.sessionAlgorithms(cancellable)
        })
    } catch {
      return .failure(error)
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
    let isOver = Atomic(false)
    defer { first.cancel() }
    if isOpenedInAdvance {
      connection.connectInAdvance(timeout: .seconds(600))
    } else {
      DispatchQueue(label: "llavero.test").async {
        _ = try? connection.sessionAlgorithms(first)
        isOver.store(true, ordering: .relaxed)
      }
    }
    try await eventually { service.calls.contains("OpenSession") }
    // On threads of their own: what is awaited is that the calls themselves end.
    let (late, cancelled) = (Cancellable(timeout: .milliseconds(50)), Cancellable(timeout: .seconds(600)))
    let results = AsyncStream<SecretServiceError?> { results in
      for cancellable in [late, cancelled] {
        DispatchQueue(label: "llavero.test").async {
          do throws(SecretServiceError) {
            _ = try connection.sessionAlgorithms(cancellable)
            results.yield(nil)
          } catch {
            results.yield(error)
          }
        }
      }
    }
    var ends = results.makeAsyncIterator()
    #expect(await ends.next() == .timedOut)
    cancelled.cancel()
    #expect(await ends.next() == .cancelled)
    let hasEnded = isOver.load(ordering: .relaxed)
    #expect(!hasEnded)
  }

  @Test func `A session that ends before its first call is opened again`() async throws {
    let keyring = try PrivateKeyring()
    let connection = SecretServiceConnection(busAddress: keyring.busAddress)
    connection.connectInAdvance()
    try await eventually { connection.openSession != nil }
    try keyring.restartDaemon()
    let queue = BlockingQueue(label: "llavero.test")
    let found = try await queue.run(
      timeout: .seconds(120), onCancel: SecretServiceError.cancelled, onTimeout: .timedOut
    ) { (cancellable) throws(SecretServiceError) in
      try connection.retryingOnce { () throws(SecretServiceError) in
        try connection.search([:], in: nil, cancellable)
      }
    }
    #expect(found.unlocked.isEmpty)
  }
}
