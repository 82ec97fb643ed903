import Dispatch
import GLibSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct BusConnectionTests {
  @Test(.fault("bus ends asking")) func `Listening ends with the bus`() async throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    let cancellable = Cancellable(timeout: .seconds(600))
    let connection = try BusConnection(address: keyring.busAddress, cancellable)
    async let listening: Void = withCheckedContinuation { continuation in
      DispatchQueue(label: "test.listening").async {
        connection.listen(until: { false }, cancellable)
        continuation.resume()
      }
    }
    keyring.shutdown()
    await listening
    #expect(connection.isClosed && !cancellable.isPastDeadline)
  }
}
