import Dispatch
package import GLibSupport
import Synchronization

/// Blocking calls to the Secret Service, one D-Bus method each where the protocol allows.
///
/// The stores use this and not ``SecretServiceClient``, which does each call as one of its own: what they do is many
/// calls on one thread, within one deadline, while a lock is held.
///
/// Safe to use from any thread, but not from Swift's cooperative pool, where blocking is forbidden. Connects
/// when it is first needed. When the service has gone the call fails with `.serviceGone`, and the next one
/// connects to whoever offers the service then.
package final class SecretServiceConnection: Sendable {
  private let busAddress: String?
  private let allowsPlainSession: Bool
  private let current = Mutex<ServiceSession?>(nil)
  /// Held while connecting: a service must not be asked for two sessions at once; some versions of
  /// gnome-keyring abort then. Not the mutex, which is for moments: the thread sanitizer does not see how the
  /// kernel hands a contended one on.
  private let connecting = DispatchSemaphore(value: 1)

  /// - Parameters:
  ///   - busAddress: The D-Bus address of the bus; nil is the session bus.
  ///   - allowsPlainSession: Whether secrets may go over the bus in clear where the service refuses to encrypt them.
  package init(busAddress: String? = nil, allowsPlainSession: Bool = false) {
    self.busAddress = busAddress
    self.allowsPlainSession = allowsPlainSession
  }

  /// The algorithms of the session with the service.
  package func sessionAlgorithms(_ cancellable: Cancellable) throws(SecretServiceError) -> String {
    try withSession(cancellable) { (session) throws(SecretServiceError) in session.algorithms }
  }

  /// Runs `body` again, once, if the service goes away while it runs. `body` must begin with a search for what
  /// it works on: object paths do not outlive the service.
  package func retryingOnce<T>(
    _ body: () throws(SecretServiceError) -> T
  ) throws(SecretServiceError) -> T {
    do {
      return try body()
    } catch .serviceGone {
      return try body()
    }
  }

  /// Runs `body` with the open session, and forgets the session when the service turns out to be gone.
  ///
  /// If another run of the service named `path`, `body` does not run.
  func withSession<T>(
    of path: ObjectPath? = nil, _ cancellable: Cancellable,
    _ body: (ServiceSession) throws(SecretServiceError) -> T
  ) throws(SecretServiceError) -> T {
    let session = try openSession(cancellable)
    if let path, path.owner != session.owner { throw .serviceGone }
    do {
      return try body(session)
    } catch {
      if error == .serviceGone || error == ServiceSession.undecodable { forget(session) }
      throw error
    }
  }

  /// The session with the service, if there is one.
  var openedSession: ServiceSession? { current.withLock { $0 } }

  private func openSession(_ cancellable: Cancellable) throws(SecretServiceError) -> ServiceSession {
    if let session = openedSession { return session }
    connecting.wait()
    defer { connecting.signal() }
    // Somebody else may have connected meanwhile.
    if let session = openedSession { return session }
    let opened = try ServiceSession(
      busAddress: busAddress, allowsPlain: allowsPlainSession, cancellable)
    current.withLock { $0 = opened }
    return opened
  }

  private func forget(_ session: ServiceSession) {
    current.withLock { if $0 === session { $0 = nil } }
  }
}
