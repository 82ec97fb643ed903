import GLibSupport
import SecretService

/// Whether the Secret portal gives this program a key of its own. It is asked for none here.
struct PortalCheck: Check {
  static let name = "secret_portal"

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(SecretPortalError) {
      try await BlockingQueue(label: "llavero.portal").run(
        timeout: .seconds(25), onCancel: .cancelled, onTimeout: .timedOut
      ) { (cancellable) throws(SecretPortalError) in
        try SecretPortal(busAddress: nil, cancellable).checkBackend(cancellable)
      }
    } catch {
      return [.problem(error.description, advice: error.advice)]
    }
    guard RuntimeDirectory(environment: patient.environment).isShared else {
      return [.ok("The Secret portal has a key for this application alone.")]
    }
    return [
      .warning(
        "This program is in no sandbox: the Secret portal gives its key to other programs of yours, too.",
        advice: "Use --key portal in Flatpak or Snap. Other keys: \(KeyChoice.forms).")
    ]
  }
}
