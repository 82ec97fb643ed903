/// Why the Secret portal gave this application no secret. No case holds one.
public enum SecretPortalError: Error, Equatable, Sendable {
  /// There is no D-Bus session bus, or it cannot be reached.
  case noSessionBus
  /// Nobody on the bus offers portals, and none could be started.
  case noPortal
  /// There are portals, and none for secrets: the desktop has no backend for them.
  case noBackend
  /// The person, or the desktop for them, said no.
  case denied
  /// The backend failed. It does not say why; a locked keyring looks so.
  case failed
  /// The portal could not tell which application asks, or lets it have no secret.
  case notAllowed(message: String)
  case timedOut
  /// The task was cancelled.
  case cancelled
  /// The portal ended, or the bus did, before it had answered.
  case portalGone
  /// The secret has fewer bytes than a key needs; none at all is 0.
  case tooShort(size: Int, minimum: Int)
  /// The secret has more bytes than any key needs.
  case tooLong(limit: Int)
  /// The portal answered with another D-Bus error.
  case refused(name: String, message: String)
  /// The portal's answer is not what the XDG Desktop Portal documentation says; the text names what was asked.
  case malformedAnswer(String)
}

extension SecretPortalError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noSessionBus: "There is no D-Bus session bus, and so no Secret portal."
    case .noPortal: "There is no portal on the session bus (org.freedesktop.portal.Desktop)."
    case .noBackend: "The desktop's portal has no backend for secrets."
    case .denied: "The Secret portal's question was answered with no."
    case .failed: "The Secret portal could not get this application's secret; it does not say why."
    case .notAllowed(let message): "The Secret portal lets this program have no secret: \(message)"
    case .timedOut: "The Secret portal did not answer in time."
    case .cancelled: "The call to the Secret portal was cancelled."
    case .portalGone: "The Secret portal ended while it was asked."
    case .tooShort(let size, let minimum):
      "The Secret portal gave a secret of \(size) bytes; a key needs \(minimum) at least."
    case .tooLong(let limit): "The Secret portal gave a secret of more than \(limit) bytes."
    case .refused(let name, let message): "The Secret portal refused: \(message) (\(name))"
    case .malformedAnswer(let call): "The Secret portal gave an answer to \(call) that makes no sense."
    }
  }

  /// What the user or developer can do about it, where there is something to do.
  public var advice: String? {
    switch self {
    case .noSessionBus:
      "Run inside a desktop session; a sandbox has to let the program at the session bus (Flatpak does)."
    case .noPortal: "Install xdg-desktop-portal, or choose another key."
    case .noBackend:
      "Install a keyring that is a backend of the portal, such as gnome-keyring, and log in anew; or choose another key."
    case .denied: "Try again and say yes, or choose another key."
    case .failed:
      "Unlock the keyring (log in to the desktop, or open the keyring's program), then try again. "
        + "\"journalctl --user -u xdg-desktop-portal\" may say more."
    case .notAllowed: "The portal goes by the sandbox's own description of it; see that the sandbox is sound."
    case .timedOut: "See whether the desktop is waiting for an answer, then try again."
    case .portalGone: "Try again."
    case .tooShort, .tooLong, .malformedAnswer:
      "Update the desktop's portal and its backend, or choose another key."
    case .cancelled, .refused: nil
    }
  }
}
