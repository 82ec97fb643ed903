import CGLib
import GLibSupport

/// What a method call was made on, which decides what an unknown object means.
enum CallTarget {
  case service
  case collection(name: String)
  case item
  case prompt

  fileprivate var isPrompt: Bool { if case .prompt = self { true } else { false } }
}

extension SecretServiceError {
  init(_ error: GLibError, calling method: String, on target: CallTarget, _ cancellable: Cancellable) {
    if error.isIO(G_IO_ERROR_CANCELLED) {
      self = cancellable.isPastDeadline ? .timedOut : .cancelled
    } else if error.isIO(G_IO_ERROR_TIMED_OUT) {
      self = .timedOut
    } else if error.isIO(G_IO_ERROR_CLOSED) || error.isIO(G_IO_ERROR_BROKEN_PIPE) {
      self = .serviceGone
    } else if let name = error.dbusName {
      self.init(dbusName: name, message: error.message, on: target)
    } else if error.isIO(G_IO_ERROR_INVALID_ARGUMENT) {
      // GDBus: the reply is not of the type that was asked for.
      self = .malformedAnswer(method)
    } else {
      self = .refused(name: "\(error.domain) \(error.code)", message: error.message)
    }
  }

  private init(dbusName name: String, message: String, on target: CallTarget) {
    switch name {
    case "org.freedesktop.Secret.Error.IsLocked":
      self = .collectionLocked
    case "org.freedesktop.Secret.Error.NoSession",
      "org.freedesktop.DBus.Error.ServiceUnknown",
      "org.freedesktop.DBus.Error.NameHasNoOwner",
      "org.freedesktop.DBus.Error.NoReply",
      "org.freedesktop.DBus.Error.Disconnected",
      // KWallet's word for a session whose key does not open the secret; see ServiceSession.undecodable.
      "org.qtproject.QtDBus.Error.InvalidObjectPath":
      self = .serviceGone
    case "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut":
      self = .timedOut
    case "org.freedesktop.Secret.Error.NoSuchObject",
      "org.freedesktop.DBus.Error.UnknownMethod",
      "org.freedesktop.DBus.Error.UnknownObject",
      "org.freedesktop.DBus.Error.UnknownInterface":
      self =
        switch target {
        case .item: .noSuchItem
        case .collection(let collection): .noSuchCollection(collection)
        case .prompt: .promptDismissed
        // It is not on the bus yet, or no more.
        case .service: .serviceGone
        }
    // oo7's word for anything, here for a person who cannot be asked or does not want to be.
    case "org.freedesktop.zbus.Error" where target.isPrompt:
      self = .promptDismissed
    default:
      self = .refused(name: name, message: message)
    }
  }
}
