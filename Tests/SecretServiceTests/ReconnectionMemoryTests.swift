import SecretService
import TestSupport

/// Memory after many connections, each test in a process of its own.
@Suite(.timeLimit(.minutes(20)))
struct ReconnectionMemoryTests {
  @Test func `Attempts that find no service leave nothing behind`() async {
    await #expect(processExitsWith: .success) {
      let keyring = try PrivateKeyring(startingDaemon: false)
      let connection = SecretServiceConnection(busAddress: keyring.busAddress)
      let growth = try growth(of: 300) {
        #expect(throws: SecretServiceError.noSecretService) {
          try connection.sessionAlgorithms(Cancellable(timeout: .seconds(600)))
        }
      }
      #expect(growth < 3 << 19 || !memoryIsMeasurable)
    }
  }

  @Test func `Sessions that ended leave nothing behind`() async {
    await #expect(processExitsWith: .success) {
      let keyring = try PrivateKeyring()
      let growth = try growth(of: 300) {
        let connection = SecretServiceConnection(busAddress: keyring.busAddress)
        do {
          _ = try connection.sessionAlgorithms(Cancellable(timeout: .seconds(600)))
        } catch {
          // gnome-keyring 42.1 ends itself once in some ten thousand sessions.
          keyring.killDaemon()
          try keyring.startDaemon()
        }
      }
      #expect(growth < 3 << 19 || !memoryIsMeasurable)
    }
  }

  @Test func `The connection to a service that dies is closed`() async {
    await #expect(processExitsWith: .success) {
      let keyring = try PrivateKeyring(startingDaemon: false)
      let connection = SecretServiceConnection(busAddress: keyring.busAddress)
      func round() throws {
        try keyring.startDaemon()
        _ = try connection.sessionAlgorithms(Cancellable(timeout: .seconds(600)))
        keyring.killDaemon()
        while (try? connection.collections(Cancellable(timeout: .seconds(600)))) != nil {}
      }
      try round()
      let before = try openFiles()
      for _ in 0..<10 { try round() }
      #expect(try openFiles() < before + 5)
    }
  }
}

private func openFiles() throws -> Int {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

/// By how many bytes the process's resident memory grows in so many rounds, after as many to settle. Its open
/// files must not grow in number.
private func growth(of rounds: Int, _ round: () throws -> Void) throws -> Int {
  for _ in 0..<rounds { try round() }
  let before = (resident: residentMemory(), files: try openFiles())
  for _ in 0..<rounds { try round() }
  #expect(try openFiles() < before.files + 50)
  return residentMemory() - before.resident
}
