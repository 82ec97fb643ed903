public import FoundationEssentials
import GLibSupport
import Glibc

/// Why a call to the Secret Service failed.
///
/// No case holds a secret. A write that ended with ``timedOut``, ``cancelled`` or ``serviceGone`` may have been
/// carried out all the same.
public enum SecretServiceError: LocalizedError, Equatable, Sendable {
  /// There is no D-Bus session bus, or it cannot be reached.
  case noSessionBus
  /// No program on the bus provides the Secret Service, and none can be started.
  case noSecretService
  /// No program provides the Secret Service, and gnome-keyring would hang at its start: `XDG_RUNTIME_DIR` names this directory,
  /// which does not exist.
  case noRuntimeDirectory(String)
  /// The service refuses to encrypt secrets on the bus, and a plain session was not allowed.
  case encryptionRefused
  /// No collection has this name, which is `default` for the default collection.
  case noSuchCollection(String)
  /// KWallet has no wallet for programs, as in the session in which the first one was made.
  case noWallet
  /// KeePassXC exposes no database to programs.
  case noDatabase
  /// The collection or item is locked, and no prompt was allowed.
  case collectionLocked
  /// The collection is unlocked, but these items are not, and no prompt was allowed. By default KeePassXC asks before a
  /// program may read an item.
  case itemsLocked([ObjectPath])
  /// The service requires a prompt for this, and none was allowed.
  case promptRequired
  /// The user dismissed the service's prompt, or the service could not show it.
  case promptDismissed
  /// The service must prompt, and neither it nor this program has a display.
  case noDisplay
  case timedOut
  /// The task was cancelled.
  case cancelled
  /// The service ended or was restarted; object paths that it returned are invalid.
  case serviceGone
  /// The secret is larger than 32 MiB; sizes are in bytes.
  case itemTooLarge(size: Int, limit: Int)
  case noSuchItem
  /// The service returned another D-Bus error.
  case refused(name: String, message: String)
  /// The service's reply violates the Secret Service specification; the text names the method or property.
  case malformedResponse(String)
}

extension SecretServiceError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noSessionBus: "There is no D-Bus session bus."
    case .noSecretService: "No Secret Service (keyring) is running, and none could be started."
    case .noRuntimeDirectory(let directory): "XDG_RUNTIME_DIR names \(directory), which does not exist."
    case .encryptionRefused: "The keyring refuses to encrypt secrets on the bus."
    case .noSuchCollection(let name): "The keyring has no collection named \(name)."
    case .noWallet: "KWallet offers no wallet."
    case .noDatabase: "KeePassXC exposes no database."
    case .collectionLocked: "The keyring is locked."
    case .itemsLocked: "The keyring is unlocked, but asks before a program may read these items."
    case .promptRequired: "The keyring wants to ask the user first."
    case .promptDismissed: "The keyring's prompt was dismissed or could not be shown."
    case .noDisplay: "The keyring cannot ask for its password: there is no display."
    case .timedOut: "The keyring did not answer in time."
    case .cancelled: "The call to the keyring was cancelled."
    case .serviceGone: "The keyring service ended while it was in use."
    case .itemTooLarge(let size, let limit): "A secret of \(size) bytes is too large; the limit is \(limit)."
    case .noSuchItem: "The item is no longer in the keyring."
    case .refused(let name, let message): "The keyring refused: \(message) (\(name))"
    case .malformedResponse(let call): "The keyring's reply to \(call) is invalid."
    }
  }

  public var errorDescription: String? { sentences(description, advice) }

  /// What the user or developer can do about it, if anything.
  public var advice: String? {
    switch self {
    case .noSessionBus:
      "Run in the user's session: XDG_RUNTIME_DIR or DBUS_SESSION_BUS_ADDRESS leads to its bus."
    case .noSecretService:
      "Install and start a keyring: gnome-keyring, KWallet, KeePassXC or oo7."
    case .noRuntimeDirectory:
      "Unset XDG_RUNTIME_DIR, or set it to a directory of your own that exists. Outside of a login, "
        + "\"loginctl enable-linger\" makes one."
    case .encryptionRefused:
      "KWallet needs the package libqca-qt6-plugins (kwalletd5: libqca-qt5-2-plugins). Or use another keyring. "
        + "Allow a plain session only if no other program can read the bus."
    case .noSuchCollection("default"):
      "Log in to the desktop once, or create a login keyring with the keyring's own program."
    case .noWallet:
      "KWallet offers a wallet from its next start on. Make one with its own program, then log out and in."
    case .noDatabase:
      "Open a database in KeePassXC, and expose a group: Database Settings, Secret Service Integration."
    case .noSuchCollection:
      "Use the default collection, or create this one with the keyring's own program."
    case .collectionLocked, .promptRequired:
      "Unlock the keyring, or allow the prompt."
    case .itemsLocked:
      "Allow the prompt, or turn off ConfirmAccessItem in KeePassXC: Settings, Secret Service Integration, Confirm "
        + "when passwords are retrieved by clients."
    case .promptDismissed:
      "Try again and answer the prompt. Without a display, unlock the keyring before the program starts."
    case .noDisplay:
      "Unlock the keyring before the program starts: with the keyring's own program, or at login by PAM."
    case .timedOut:
      "Check whether the keyring shows a prompt or hangs, then try again."
    case .serviceGone:
      "Try again; the keyring may be locked now."
    case .itemTooLarge:
      "Store less in one item."
    case .noSuchItem:
      "Search again."
    case .cancelled, .refused, .malformedResponse:
      nil
    }
  }
}

extension SecretServiceError {
  /// How to get to a session bus. A new bus starts a keyring of its own, which must not run beside another on the same files.
  /// It looks at all processes of the user.
  package static func busAdvice() -> String {
    let login = RuntimeDirectory.ofLogin().flatMap { access($0 + "/bus", F_OK) == 0 ? $0 : nil }
    let environment = processEnvironment()
    if let login, environment["XDG_RUNTIME_DIR"] == nil {
      // The locks of the session are in it, too.
      let unset = environment["DBUS_SESSION_BUS_ADDRESS"] == nil ? "" : "unset DBUS_SESSION_BUS_ADDRESS; "
      return "Use the bus of your session: \(unset)export XDG_RUNTIME_DIR=\(login)"
    }
    let providers = Provider.running(besides: Provider(process: UInt32(getpid())))
    let address = login.map { "unix:path=\($0)/bus" } ?? providers.lazy.compactMap(\.busAddress).first
    if let address, address != environment["DBUS_SESSION_BUS_ADDRESS"] {
      return "Use the bus of your session: export DBUS_SESSION_BUS_ADDRESS=\(shellQuoted(address))"
    }
    if let provider = providers.first {
      return "Use the bus of the session in which \(provider.name) runs (process \(provider.process))."
    }
    return "Run in a desktop session or, if you have none, in a shell with a bus: dbus-run-session -- bash."
  }
}
