public import FoundationEssentials
import GLibSupport

/// Why the Secret portal returned no secret. No case holds one.
public enum SecretPortalError: LocalizedError, Equatable, Sendable {
  /// There is no D-Bus session bus, or it cannot be reached.
  case noSessionBus
  /// No program on the bus provides portals, and none could be started.
  case noPortal
  /// The desktop has portals, but no backend for secrets.
  case noBackend
  /// The user, or the desktop, denied the request.
  case denied
  /// The backend failed without a reason, as it does with a locked keyring.
  case failed
  /// The portal could not identify the application, or allows it no secret.
  case notAllowed(message: String)
  case timedOut
  /// The task was cancelled.
  case cancelled
  /// The portal, or the bus, ended before it replied.
  case portalGone
  /// The secret has fewer bytes than a key needs; 0 if it is empty.
  case tooShort(size: Int, minimum: Int)
  /// The secret has more bytes than any key needs.
  case tooLong(limit: Int)
  /// The portal returned another D-Bus error.
  case refused(name: String, message: String)
  /// The portal's reply violates the XDG Desktop Portal documentation; the text names the method.
  case malformedResponse(String)
}

extension SecretPortalError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noSessionBus: "There is no D-Bus session bus, and so no Secret portal."
    case .noPortal: "There is no portal on the session bus (org.freedesktop.portal.Desktop)."
    case .noBackend: "The desktop's portal has no backend for secrets."
    case .denied: "The Secret portal denied the request."
    case .failed: "The Secret portal could not get this application's secret; it gave no reason."
    case .notAllowed(let message): "The Secret portal does not allow this program a secret: \(message)"
    case .timedOut: "The Secret portal did not answer in time."
    case .cancelled: "The call to the Secret portal was cancelled."
    case .portalGone: "The Secret portal ended during the call."
    case .tooShort(let size, let minimum):
      "The Secret portal returned a secret of \(size) bytes; a key needs at least \(minimum)."
    case .tooLong(let limit): "The Secret portal returned a secret of more than \(limit) bytes."
    case .refused(let name, let message): "The Secret portal refused: \(message) (\(name))"
    case .malformedResponse(let call): "The Secret portal's reply to \(call) is invalid."
    }
  }

  public var errorDescription: String? { sentences(description, advice) }

  /// What the user or developer can do about it, if anything.
  public var advice: String? {
    switch self {
    case .noSessionBus:
      "Run inside a desktop session; a sandbox must allow access to the session bus (Flatpak does)."
    case .noPortal: "Install xdg-desktop-portal, or choose another key."
    case .noBackend:
      "Install a keyring that is a backend of the portal, such as gnome-keyring, and log in again; or choose another key."
    case .denied: "Try again and allow it, or choose another key."
    case .failed:
      "Unlock the keyring (log in to the desktop, or open the keyring's program), then try again. "
        + "\"journalctl --user -u xdg-desktop-portal\" may say more."
    case .notAllowed: "The portal identifies the program by its sandbox; check that the sandbox is intact."
    case .timedOut: "Check whether the desktop shows a prompt, then try again."
    case .portalGone: "Try again."
    case .tooShort, .tooLong, .malformedResponse:
      "Update the desktop's portal and its backend, or choose another key."
    case .cancelled, .refused: nil
    }
  }
}
