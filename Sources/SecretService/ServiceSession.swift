import CLibsecret
import Dispatch
import GLibSupport
import Glibc
import Synchronization

/// A bus connection of its own, the run of the service found there, and libsecret's encrypted session with it.
///
/// All calls go to the service's unique name: after a restart, none reaches the new service by accident. Calls without a
/// secret do not need the encrypted session, and may run while another thread opens it.
final class ServiceSession: Sendable {
  /// The service's unique name on the bus.
  let owner: String
  let bus: BusConnection
  /// The encrypted session, or why it could not be opened; `nil` before that is known.
  private let encrypted = Mutex<Result<EncryptedSession, SecretServiceError>?>(nil)
  /// Signalled when it is known, by every thread that was waiting for the next one.
  private let isKnown = DispatchSemaphore(value: 0)
  /// Whether the service has shown an item without ``ServiceInterface/contentType``, which every item of oo7 has.
  let keepsChanges = Atomic(false)
  /// Whether the service is KeePassXC, recognized by a prompt for a change or the attributes of an item.
  let isKeePassXC = Atomic(false)
  /// The paths of objects whose prompt the service has made and this process has not shown: it keeps each as long as
  /// this connection.
  let unusedPrompts = Mutex<Set<Set<String>>>([])
  private let hasFailed = Atomic(false)

  /// Connects to the bus and finds the service. Call ``open(allowsPlain:_:)`` next.
  init(busAddress: String?, _ cancellable: Cancellable) throws(SecretServiceError) {
    do {
      bus = try BusConnection(address: busAddress, cancellable)
    } catch {
      throw SecretServiceError(finding: error, orElse: .noSessionBus, cancellable)
    }
    owner = try Self.findOwner(bus, cancellable)
    // Its class is initialized while no other thread uses this connection.
    _ = connectedServiceType
  }

  /// Opens the encrypted session, a plain one only where that is allowed.
  func open(allowsPlain: Bool, _ cancellable: Cancellable) {
    let result = Result<EncryptedSession, SecretServiceError>(
      calling: try newSession(allowsPlain: allowsPlain, cancellable))
    encrypted.withLock { $0 = result }
    isKnown.signal()
  }

  private func newSession(
    allowsPlain: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> EncryptedSession {
    let session: EncryptedSession
    do throws(SecretServiceError) {
      session = try encryptedSession(opening: cancellable)
    } catch .refused {
      do throws(SecretServiceError) {
        // KWallet refuses about one of 256 keys, those that begin with a zero. The next try makes a new key.
        session = try encryptedSession(opening: cancellable)
      } catch .refused(Self.invalidArguments, _) {
        // KWallet lacks its plugin for encryption. libsecret requests a plain session after another error alone.
        guard allowsPlain else { throw .encryptionRefused }
        session = try plainSession(opening: cancellable)
      }
    }
    // libsecret requests a plain session if an encrypted one is not supported. No secret has been sent yet.
    guard allowsPlain || session.algorithms != EncryptedSession.plain else { throw .encryptionRefused }
    return session
  }

  /// The encrypted session. Waits until it is open, and throws as ``openedSession``.
  func encryptedSession(_ cancellable: Cancellable) throws(SecretServiceError) -> EncryptedSession {
    if let session = try openedSession { return session }
    try cancellable.take(isKnown)
    isKnown.signal()
    return try encryptedSession(cancellable)
  }

  /// The encrypted session; `nil` while it is opened.
  ///
  /// - Throws: Why it could not be opened. The next call needs a new connection then.
  var openedSession: EncryptedSession? {
    get throws(SecretServiceError) {
      let result = encrypted.withLock { $0 }
      if case .failure = result { hasFailed.store(true, ordering: .relaxed) }
      return try result?.get()
    }
  }

  /// Whether the service still runs, as far as is known, and shares the session's key.
  var isUsable: Bool { !hasFailed.load(ordering: .relaxed) }

  /// Calls a method of the service, or of one of its objects, and waits for the reply, which must be of type `reply`.
  func call(
    _ method: String, of interface: String? = nil, on object: CallTarget = .service,
    about target: CallTarget? = nil, _ arguments: [Variant], reply: String, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> [Variant] {
    do {
      return try bus.call(
        owner, object.path, interface ?? object.interface, method, arguments, reply: reply, cancellable)
    } catch {
      let failure = SecretServiceError(error, calling: method, on: target ?? object, cancellable)
      switch failure {
      case .noSuchItem:
        // KeePassXC takes the items of a database that is locked off the bus.
        if case .item(let item) = target ?? object,
          (try? property("Locked", of: .collection(item.collection), \.boolean, cancellable)) == true
        {
          throw SecretServiceError.collectionLocked
        }
        try checkService(cancellable)
      case .noSuchCollection, .promptDismissed: try checkService(cancellable)
      default: break
      }
      throw recorded(failure)
    }
  }

  func callBus(
    _ method: String, _ arguments: [Variant], reply: String, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Variant? {
    do {
      return try bus.ask(method, arguments, reply: reply, cancellable)
    } catch {
      throw recorded(SecretServiceError(error, calling: method, on: .service, cancellable))
    }
  }

  /// Reads a property of the service or of one of its objects.
  func property<T>(
    _ name: String, of target: CallTarget, _ value: (Variant) -> T?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> T {
    let reply = try call(
      "Get", of: ServiceInterface.properties, on: target, [.string(target.interface), .string(name)],
      reply: "(v)", cancellable)
    guard let value = reply[0].unwrapped.flatMap(value) else { throw .malformedResponse(name) }
    return value
  }

  /// Returns the error, after recording whether the next call needs a new session.
  func recorded(_ error: SecretServiceError) -> SecretServiceError {
    if error == .serviceGone || error == Self.undecodable { hasFailed.store(true, ordering: .relaxed) }
    return error
  }

  /// Waits for the turn to change an item: see ``ChangePace``. The returned closure ends it.
  func beginChange() -> () -> Void {
    let pace = ChangePace()
    let start = pace.begin(isKeePassXC: isKeePassXC.load(ordering: .relaxed))
    return { [self] in if isKeePassXC.load(ordering: .relaxed) { pace.end(start) } }
  }

  /// Whether the service's program also has one of these names on the bus. A sandbox may hide names.
  func owns(_ names: [String], _ cancellable: Cancellable) -> Bool {
    names.contains { owner(of: $0, cancellable) == owner }
  }

  func owner(of name: String, _ cancellable: Cancellable) -> String? {
    // Not callBus, for which a name without an owner is the end of the service.
    try? bus.ask("GetNameOwner", [.string(name)], reply: "(s)", cancellable)?.string
  }

  /// Throws unless the service itself replies. gnome-keyring takes its objects off the bus, one by one, before
  /// it ends; until then GDBus reports for it that they do not exist, although they were not deleted.
  private func checkService(_ cancellable: Cancellable) throws(SecretServiceError) {
    _ = try property("Collections", of: .service, { $0 }, cancellable)
  }

  /// The session's key does not decrypt a secret. Another session's may: KWallet and libsecret differ over leading
  /// zeros in the key exchange, so that about one of 256 sessions between them has two keys.
  static let undecodable = SecretServiceError.malformedResponse("GetSecrets")

  static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"

  /// The unique name of the running service, which the bus starts if it can.
  private static func findOwner(
    _ bus: BusConnection, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> String {
    // The variable is libsecret's.
    let name = getenv("SECRET_SERVICE_BUS_NAME").map { String(cString: $0) } ?? "org.freedesktop.secrets"
    func owner() throws(GLibError) -> String? {
      try bus.ask("GetNameOwner", [.string(name)], reply: "(s)", cancellable)?.string
    }
    if let owner = try? owner() { return owner }
    if let directory = RuntimeDirectory.missing() { throw .noRuntimeDirectory(directory) }
    do throws(GLibError) {
      _ = try bus.ask("StartServiceByName", [.string(name), .uint32(0)], reply: "(u)", cancellable)
      if let owner = try owner() { return owner }
      throw GLibError.unexplained
    } catch {
      throw SecretServiceError(finding: error, orElse: .noSecretService, cancellable)
    }
  }

  private func encryptedSession(
    opening cancellable: Cancellable
  ) throws(SecretServiceError) -> EncryptedSession {
    do {
      bus.pushContext()
      defer { bus.popContext() }
      return try EncryptedSession(bus, owner, cancellable)
    } catch {
      throw SecretServiceError(error, calling: "OpenSession", on: .service, cancellable)
    }
  }

  private func plainSession(opening cancellable: Cancellable) throws(SecretServiceError) -> EncryptedSession {
    let reply = try call(
      "OpenSession", [.string(EncryptedSession.plain), .variant(.string(""))], reply: "(vo)", cancellable)
    guard let path = reply[1].string else { throw .malformedResponse("OpenSession") }
    return EncryptedSession(plainAt: path)
  }
}

/// A session in which secrets cross the bus, encrypted unless its algorithms are ``plain``: libsecret's, or a plain one of our
/// own. libsecret's object keeps the connection alive until it has stopped listening.
///
/// `@unchecked Sendable`: the object is only read once its session is open.
final class EncryptedSession: @unchecked Sendable {
  /// The algorithms of a session that does not encrypt.
  static let plain = "plain"

  private let service: (pointer: UnsafeMutablePointer<CLibsecret.SecretService>, bus: BusConnection)?
  /// The session's path on the bus.
  let path: String

  /// A plain session that was opened.
  fileprivate init(plainAt path: String) { (service, self.path) = (nil, path) }

  fileprivate init(
    _ bus: BusConnection, _ owner: String, _ cancellable: Cancellable
  ) throws(GLibError) {
    let flags =
      FLAG_G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES.rawValue
      | FLAG_G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS.rawValue
      | FLAG_G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START.rawValue
    let object = newObject(
      connectedServiceType,
      [
        ("g-connection", .object(gpointer(bus.pointer), type: g_dbus_connection_get_type())),
        ("g-name", .string(owner)),
        ("g-object-path", .string(ServiceInterface.servicePath)),
        ("g-interface-name", .string(ServiceInterface.service)),
        ("g-flags", .flags(flags, type: g_dbus_proxy_flags_get_type())),
        ("flags", .flags(0, type: secret_service_flags_get_type())),
      ])
    guard let object else { throw .unexplained }
    let pointer = object.assumingMemoryBound(to: CLibsecret.SecretService.self)
    service = (pointer, bus)
    // libsecret's calls have no timeout of their own.
    let endDeadline = cancellable.enforceDeadline()
    defer { endDeadline() }
    _ = try withGError { g_initable_init(OpaquePointer(object), cancellable.pointer, $0) }
    let isOpen = try withGError { secret_service_ensure_session_sync(pointer, cancellable.pointer, $0) }
    if isOpen == 0 { throw .unexplained }
    path =
      secret_service_get_session_dbus_path(pointer).map { String(cString: $0) } ?? ServiceInterface.noPath
  }

  deinit { if let service { g_object_unref(service.pointer) } }

  /// The algorithms of the session; ``plain`` when the service refused an encrypted one.
  var algorithms: String {
    guard let service else { return Self.plain }
    return secret_service_get_session_algorithms(service.pointer).map { String(cString: $0) } ?? ""
  }

  /// The secret as it is sent in this session, of type `(oayays)`.
  func encode(_ secret: SecretBytes) -> Variant {
    if let service {
      return Variant(taking: secret_service_encode_dbus_secret(service.pointer, secret.value))
    }
    let bytes = secret.withUnsafeBytes { Variant.bytes($0) }
    return .tuple([
      .objectPath(path), .bytes(UnsafeRawBufferPointer(start: nil, count: 0)), bytes,
      .string(secret.contentType),
    ])
  }

  /// `nil` for what the session's key does not decrypt.
  func decode(_ secret: Variant) -> SecretBytes? {
    if let service {
      return secret_service_decode_dbus_secret(service.pointer, secret.pointer).map(SecretBytes.init(taking:))
    }
    let members = secret.children
    return members[2].withBytes { SecretBytes(copying: $0, contentType: members[3].string ?? "") }
  }
}
