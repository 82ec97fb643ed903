import CGLib
import Dispatch
import GLibSupport

/// Names of the Secret Service API's D-Bus interfaces and the service's path.
enum ServiceInterface {
  static let service = "org.freedesktop.Secret.Service"
  static let collection = "org.freedesktop.Secret.Collection"
  static let item = "org.freedesktop.Secret.Item"
  static let prompt = "org.freedesktop.Secret.Prompt"
  static let properties = "org.freedesktop.DBus.Properties"
  static let servicePath = "/org/freedesktop/secrets"
  /// The path that means "none": no prompt, no object.
  static let noPath = "/"
  /// An attribute of each item in oo7.
  static let contentType = "xdg:content-type"
  /// An attribute of each item in KeePassXC.
  static let entry = "Uuid"
}

/// The object that a method is called on, or is about, which decides what the error "unknown object" means.
enum CallTarget {
  case service
  /// With the name for errors (default: the last element of its path).
  case collection(ObjectPath, name: String? = nil)
  case item(ObjectPath)
  case prompt(String)

  /// The interface that has the object's methods and properties.
  var interface: String {
    switch self {
    case .service: ServiceInterface.service
    case .collection: ServiceInterface.collection
    case .item: ServiceInterface.item
    case .prompt: ServiceInterface.prompt
    }
  }

  var path: String {
    switch self {
    case .service: ServiceInterface.servicePath
    case .collection(let object, _), .item(let object): object.path
    case .prompt(let path): path
    }
  }

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
      // GDBus: the reply does not have the expected type.
      self = .malformedResponse(method)
    } else {
      self = .refused(name: "\(error.domain) \(error.code)", message: error.message)
    }
  }

  /// The error of a call that connects to the bus, or finds or starts a program on it; `absent` unless it has another reason.
  init(finding error: GLibError, orElse absent: SecretServiceError, _ cancellable: Cancellable) {
    let failure = Self(error, calling: "GetNameOwner", on: .service, cancellable)
    self = error == .outOfDescriptors || [.timedOut, .cancelled].contains(failure) ? failure : absent
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
      // KWallet: the session's key does not decrypt the secret; see ServiceSession.undecodable.
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
        case .collection(let collection, let name): .noSuchCollection(name ?? collection.lastElement)
        case .prompt: .promptDismissed
        // It is not on the bus yet, or no longer.
        case .service: .serviceGone
        }
    // oo7 uses it for any error; of a prompt: the user cannot be asked, or declined.
    case "org.freedesktop.zbus.Error" where target.isPrompt:
      self = .promptDismissed
    default:
      self = .refused(name: name, message: message)
    }
  }
}

extension Cancellable {
  /// Takes a semaphore that several threads take, one after the other. Not by ``wait(for:)``: its signal at the end of one call
  /// might wake up another.
  func take(_ semaphore: DispatchSemaphore) throws(SecretServiceError) {
    while semaphore.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
      if isPastDeadline { throw .timedOut }
      if isCancelled { throw .cancelled }
    }
  }
}
