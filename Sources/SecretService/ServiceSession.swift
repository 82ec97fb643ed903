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
  /// What the service has made a prompt for that was not shown, by the paths: it keeps each as long as this connection.
  let unshown = Mutex<Set<Set<String>>>([])
  private let hasFailed = Atomic(false)
  private let changes = Mutex<(burst: ContinuousClock.Instant, last: ContinuousClock.Instant)?>(nil)

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
    let result = Result { () throws(SecretServiceError) in
      let session: EncryptedSession
      do throws(SecretServiceError) {
        session = try encryptedSession(opening: cancellable)
      } catch .refused {
        // KWallet refuses about one of 256 keys, those that begin with a zero. The next try makes a new key.
        session = try encryptedSession(opening: cancellable)
      }
      // libsecret requests a plain session if an encrypted one is not supported. No secret has been sent yet.
      guard allowsPlain || session.algorithms != "plain" else { throw .encryptionRefused }
      return session
    }
    encrypted.withLock { $0 = result }
    isKnown.signal()
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
      throw noting(failure)
    }
  }

  func callBus(
    _ method: String, _ arguments: [Variant], reply: String, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Variant? {
    do {
      return try bus.ask(method, arguments, reply: reply, cancellable)
    } catch {
      throw noting(SecretServiceError(error, calling: method, on: .service, cancellable))
    }
  }

  /// Reads a property of the service or of one of its objects.
  func property<T>(
    _ name: String, of target: CallTarget, _ value: (Variant) -> T?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> T {
    let reply = try call(
      "Get", of: ServiceInterface.properties, on: target, [.string(target.interface), .string(name)],
      reply: "(v)", cancellable)
    guard let value = reply[0].unwrapped.flatMap(value) else { throw .malformedAnswer(name) }
    return value
  }

  /// Remembers an error after which the next call needs a new session.
  func noting(_ error: SecretServiceError) -> SecretServiceError {
    if error == .serviceGone || error == Self.undecodable { hasFailed.store(true, ordering: .relaxed) }
    return error
  }

  /// Changes an item, when its turn has come.
  ///
  /// KeePassXC saves its file 150 ms after a change, and crashes on another change while it writes. So changes come in
  /// bursts that end before that, with time to save in between; a database takes a second to open by default, and as long
  /// to be saved. That time begins with the end of a change, which may have waited for a prompt.
  func change<T>(_ body: () throws(SecretServiceError) -> T) throws(SecretServiceError) -> T {
    let start = awaitTurnToChange()
    defer {
      if isKeePassXC.load(ordering: .relaxed) {
        changes.withLock { $0 = (burst: $0?.burst ?? start, last: .now) }
      }
    }
    return try body()
  }

  /// - Returns: When the change may begin: now.
  private func awaitTurnToChange() -> ContinuousClock.Instant {
    let (burst, pause) = (Duration.milliseconds(100), Duration.milliseconds(1500))
    return changes.withLock { changes in
      let now = ContinuousClock.now
      guard let (began, last) = changes else { return now }
      if now - last < pause {
        guard now - began > burst else { return now }
        g_usleep(UInt((last + pause - now) / .microseconds(1)) + 1)
      }
      let start = ContinuousClock.now
      changes = (burst: start, last: start)
      return start
    }
  }

  /// Throws unless the service itself replies. gnome-keyring takes its objects off the bus, one by one, before
  /// it ends; until then GDBus reports for it that they do not exist, although they were not deleted.
  private func checkService(_ cancellable: Cancellable) throws(SecretServiceError) {
    _ = try property("Collections", of: .service, { $0 }, cancellable)
  }

  /// The session's key does not decrypt a secret. Another session's may: KWallet and libsecret differ over leading
  /// zeros in the key exchange, so that about one of 256 sessions between them has two keys.
  static let undecodable = SecretServiceError.malformedAnswer("GetSecrets")

  /// The unique name of the running service, which the bus starts if it can.
  private static func findOwner(
    _ bus: BusConnection, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> String {
    // The variable is libsecret's.
    let name = getenv("SECRET_SERVICE_BUS_NAME").map { String(cString: $0) } ?? "org.freedesktop.secrets"
    func owner() throws(GLibError) -> String? {
      try bus.ask("GetNameOwner", [.string(name)], reply: "(s)", cancellable)?.string
    }
    do throws(GLibError) {
      if let owner = try? owner() { return owner }
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
      return try bus.withContext { () throws(GLibError) in try EncryptedSession(bus, owner, cancellable) }
    } catch {
      throw SecretServiceError(error, calling: "OpenSession", on: .service, cancellable)
    }
  }
}

/// libsecret's object, whose session encrypts secrets on the bus. It keeps the connection alive until it has stopped
/// listening.
///
/// `@unchecked Sendable`: the object is only read once its session is open.
final class EncryptedSession: @unchecked Sendable {
  private let pointer: UnsafeMutablePointer<CLibsecret.SecretService>
  private let bus: BusConnection

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
    self.bus = bus
    pointer = object.assumingMemoryBound(to: CLibsecret.SecretService.self)
    // libsecret's calls have no timeout of their own.
    try cancellable.enforcingDeadline { () throws(GLibError) in
      _ = try withGError { g_initable_init(OpaquePointer(object), cancellable.pointer, $0) }
      let isOpen = try withGError { secret_service_ensure_session_sync(pointer, cancellable.pointer, $0) }
      if isOpen == 0 { throw .unexplained }
    }
  }

  deinit { g_object_unref(pointer) }

  /// The algorithms of the session; `plain` when the service refused an encrypted one.
  var algorithms: String {
    secret_service_get_session_algorithms(pointer).map { String(cString: $0) } ?? ""
  }

  var path: String {
    let path = secret_service_get_session_dbus_path(pointer)
    return path.map { String(cString: $0) } ?? ServiceInterface.noPath
  }

  /// The secret as it is sent in this session, of type `(oayays)`.
  func encode(_ secret: SecretBytes) -> Variant {
    Variant(taking: secret_service_encode_dbus_secret(pointer, secret.value))
  }

  /// `nil` for what the session's key does not decrypt.
  func decode(_ secret: Variant) -> SecretBytes? {
    secret_service_decode_dbus_secret(pointer, secret.pointer).map(SecretBytes.init(taking:))
  }
}
