import GLibSupport
import SecretService

/// The bus on which a keyring can be reached.
struct SessionBusCheck: Check {
  static let name = "session_bus"

  func examine(_ patient: Patient) async -> [Finding] {
    let queue = BlockingQueue(label: "llavero.doctor")
    do throws(SecretServiceError) {
      try await queue.run(timeout: .seconds(10), onCancel: .cancelled, onTimeout: .timedOut) {
        (cancellable) throws(SecretServiceError) in
        guard (try? BusConnection(address: nil, cancellable)) != nil else { throw .noSessionBus }
      }
      return [.ok("There is a session bus.")]
    } catch .noSessionBus {
      let address = patient.environment["DBUS_SESSION_BUS_ADDRESS"]
      let reason =
        address.map { "DBUS_SESSION_BUS_ADDRESS leads nowhere: \($0)." }
        ?? "DBUS_SESSION_BUS_ADDRESS is not set."
      return [
        .problem(
          "There is no D-Bus session bus. \(reason)",
          advice: "Run in a desktop session, or in a shell that has a bus: dbus-run-session -- bash. "
            + Failure.Message.setupAdvice)
      ]
    } catch {
      return [.problem(error)]
    }
  }
}
