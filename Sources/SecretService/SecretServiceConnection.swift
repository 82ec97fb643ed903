import Dispatch
package import GLibSupport
import Synchronization

/// What the service asks the user for, in a window of its own.
package enum PromptReason: Sendable {
  /// The password of the collection with this label.
  case collection(String)
  /// Whether this program may read items.
  case items
  /// A password for a new default collection.
  case newCollection
}

/// Blocking calls to the Secret Service, one D-Bus method each where the protocol allows.
///
/// The stores use this and not ``SecretServiceClient``, each of whose calls runs on its own: a store makes many calls on
/// one thread, within one deadline, while it holds a lock.
///
/// Safe to use from any thread, but not from Swift's cooperative pool, where blocking is forbidden. Connects
/// when it is first needed. When the service is gone the call fails with `.serviceGone`, and the next one
/// connects to the service that runs then.
package final class SecretServiceConnection: Sendable {
  private let busAddress: String?
  private let allowsPlainSession: Bool
  /// The session, or why ``connectInAdvance(timeout:if:)`` failed, for the call that needs the session.
  private let current = Mutex<Result<ServiceSession, SecretServiceError>?>(nil)
  /// Held while connecting: a service must not be asked for two sessions at once; some versions of
  /// gnome-keyring abort then. Not the mutex, which is held for moments only: the thread sanitizer does not see how
  /// the kernel passes on a contended one.
  private let connecting = DispatchSemaphore(value: 1)

  private static let promptObserver = Mutex<(@Sendable (PromptReason) -> Void)?>(nil)

  /// Has `observer` called before a connection of this process waits for the user's answer.
  package static func observePrompts(_ observer: @escaping @Sendable (PromptReason) -> Void) {
    promptObserver.withLock { $0 = observer }
  }

  static func announcePrompt(_ reason: PromptReason) { promptObserver.withLock { $0 }?(reason) }

  /// - Parameters:
  ///   - busAddress: The D-Bus address of the bus; nil is the session bus.
  ///   - allowsPlainSession: Whether secrets may cross the bus as plaintext if the service refuses to encrypt them.
  package init(busAddress: String? = nil, allowsPlainSession: Bool = false) {
    self.busAddress = busAddress
    self.allowsPlainSession = allowsPlainSession
  }

  /// Connects on a thread of its own, for calls that will need the connection soon. They wait for it, and the first throws its
  /// error; of those that run while the encrypted session is opened, only those that carry secrets wait for that. Nothing
  /// prompts.
  ///
  /// - Parameters:
  ///   - timeout: How long that may take.
  ///   - isNeeded: Whether to connect at all. It runs on that thread, and calls wait for it.
  package func connectInAdvance(
    timeout: Duration = .seconds(25), if isNeeded: @escaping @Sendable () -> Bool = { true }
  ) {
    // Here, so that no call connects first.
    connecting.wait()
    DispatchQueue(label: "llavero.secret-service.connect").async { [self] in
      let cancellable = Cancellable(timeout: timeout)
      guard isNeeded() else {
        connecting.signal()
        return
      }
      let session = Result { () throws(SecretServiceError) in
        try ServiceSession(busAddress: busAddress, cancellable)
      }
      current.withLock { $0 = session }
      connecting.signal()
      try? session.get().open(allowsPlain: allowsPlainSession, cancellable)
    }
  }

  package func sessionAlgorithms(_ cancellable: Cancellable) throws(SecretServiceError) -> String {
    try session(cancellable).encryptedSession(cancellable).algorithms
  }

  /// Makes a call again, once, if the service ends while it runs. It must begin with a search for what it works on: object paths
  /// do not outlive the service.
  package func retryingOnce<T>(
    _ call: @autoclosure () throws(SecretServiceError) -> T
  ) throws(SecretServiceError) -> T {
    do {
      return try call()
    } catch .serviceGone {
      return try call()
    }
  }

  /// The open session, or a new one.
  ///
  /// - Throws: `.serviceGone` if another run of the service returned `path`.
  func session(
    of path: ObjectPath? = nil, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ServiceSession {
    let session = if let openSession { openSession } else { try connect(cancellable) }
    _ = try session.openedSession
    if let path, path.owner != session.owner { throw .serviceGone }
    return session
  }

  /// The open session, `nil` if there is no usable one.
  var openSession: ServiceSession? {
    current.withLock { current in
      guard case .success(let session)? = current else { return nil }
      if session.isUsable { return session }
      current = nil
      return nil
    }
  }

  private func connect(_ cancellable: Cancellable) throws(SecretServiceError) -> ServiceSession {
    try cancellable.take(connecting)
    defer { connecting.signal() }
    // Another thread may have connected meanwhile.
    if let session = openSession { return session }
    if case .failure(let error)? = current.withLock({ $0.take() }) { throw error }
    let opened = try ServiceSession(busAddress: busAddress, cancellable)
    opened.open(allowsPlain: allowsPlainSession, cancellable)
    _ = try opened.openedSession
    current.withLock { $0 = .success(opened) }
    return opened
  }
}
