import Dispatch
import FoundationEssentials
import GLibSupport
import Glibc
import IdentityClient
import Synchronization

/// Receives the one address that ends a sign-in at a scheme of the application's own, from the process that the desktop
/// started with it.
///
/// Whatever is not the expected response is refused and changes nothing, as with ``LoopbackListener``.
final class RedirectListener: Sendable {
  private static let maximumConnections = 16

  private let mailbox: RedirectMailbox
  /// Listens until the waiting sign-in has closed it, so that no connection stays in its queue.
  private let socket: Mutex<Int32?>
  private let answer: @Sendable (URL) -> [String: String]?
  private let queue = DispatchQueue(label: "llavero.redirect")

  /// Starts to listen, in the directory where the processes of this user meet. `isExpected` says whether the parameters answer
  /// this sign-in. It is called on another thread, and must not block.
  init(
    directory: String, redirectURI: URL, state: String,
    isExpected: @escaping @Sendable ([String: String]) -> Bool
  ) throws(PrivateFileError) {
    let directory = try PrivateDirectory.made(at: directory)
    mailbox = RedirectMailbox(directory, scheme: redirectURI.scheme ?? "", state: state)
    socket = Mutex(try mailbox.open())
    answer = { address in address.answer(to: redirectURI).flatMap { isExpected($0) ? $0 : nil } }
  }

  deinit { closeSocket() }

  private func closeSocket() {
    if let socket = socket.withLock({ $0.take() }) { Glibc.close(socket) }
  }

  /// Waits for the expected response, which may be an error's, once, and closes the socket.
  func response(timeout: Duration) async throws(IdentityError) -> [String: String] {
    let call = LoopbackCall(timeout: timeout, onCancel: .signInCancelled, onTimeout: .signInTimedOut())
    defer { close() }
    return try await call.run(abandon: { [self] in close() }) { call in
      queue.async { [self] in serve(call) }
    }
  }

  /// Takes the socket away and ends the waiting.
  func close() {
    try? mailbox.directory.remove(mailbox.name)
    socket.withLock { socket in
      if let socket { _ = shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  private func serve(_ call: LoopbackCall) {
    guard let socket = socket.withLock(\.self) else { return }
    var connections: [Int32] = []
    var hasDescriptors = true
    defer {
      closeSocket()
      for connection in connections { Glibc.close(connection) }
    }
    while true {
      // A connection that cannot be taken for want of descriptors stays in the queue: it is tried again in a while, not
      // all the time. A negative number is passed over by poll.
      var events = ([hasDescriptors ? socket : -1] + connections).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      let timeout: Int32 = hasDescriptors ? -1 : 100
      hasDescriptors = true
      if poll(&events, nfds_t(events.count), timeout) < 0 && errno != EINTR { return }
      if events[0].revents & Int16(POLLHUP) != 0 { return }
      for connection in events[1...] where connection.revents != 0 {
        connections.removeAll { $0 == connection.fd }
        serve(connection.fd, call)
        Glibc.close(connection.fd)
      }
      guard events[0].revents != 0 else { continue }
      let connection = accept(socket, nil, nil)
      guard connection >= 0 else {
        hasDescriptors = ![EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno)
        continue
      }
      guard SocketPeer(connection)?.isOwn == true else {
        Glibc.close(connection)
        continue
      }
      _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
      connections.append(connection)
      // A silent connection does not block the others.
      if connections.count > Self.maximumConnections { Glibc.close(connections.removeFirst()) }
    }
  }

  /// Looks at what a process has sent, and answers with one byte whether it was taken.
  private func serve(_ connection: Int32, _ call: LoopbackCall) {
    var bytes = [UInt8](repeating: 0, count: RedirectMailbox.limit + 1)
    let count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    guard (1...RedirectMailbox.limit).contains(count) else { return }
    let address = String(validating: bytes[..<count], as: UTF8.self).flatMap { URL(string: $0) }
    wipe(&bytes)
    let answer = call.isFinished ? nil : address.flatMap(answer)
    _ = send(connection, [answer == nil ? 0 : 1], 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    if let answer { call.finish(.success(answer)) }
  }
}
