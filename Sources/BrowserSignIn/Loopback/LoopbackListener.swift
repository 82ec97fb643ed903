import GLibSupport
package import HTTPListener
import Synchronization

/// A task that waits for the answer.
typealias LoopbackCall = BoundedCall<[String: String], LoopbackError>

/// Receives the one redirect that ends a sign-in in the browser (RFC 8252 section 7.3).
///
/// It listens on 127.0.0.1 and, where there is one, on [::1], from its making until ``close()`` or its end. Whatever
/// is not the expected answer, other programs' and other pages' requests among it, is refused and changes nothing.
package final class LoopbackListener: Sendable {
  /// How the authority hands over its answer (OAuth 2.0 Form Post Response Mode; OAuth 2.0 Multiple Response Types).
  package enum Mode: Sendable {
    /// The answer is the body of a POST, so that the code enters neither the browser's history nor a log.
    case formPost
    /// In the URL of a GET. The browser is sent on to a path without the code at once.
    case query
  }

  /// The port that is listened on.
  package let port: UInt16
  /// The redirect URI to ask for: `http://localhost:<port>` and the path, without a path that is only `/`.
  package let redirectURI: String
  private let thread: MainLoopThread
  private let server: LoopbackServer

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - port: 0 for any free port.
  ///   - path: The redirect URI's path; it begins with `/`.
  ///   - mode: How the authority hands over its answer.
  ///   - isExpected: Says whether these parameters answer this sign-in: compares `state`, in constant time. Called
  ///     on another thread; must not block.
  /// - Throws: ``ListeningError``.
  package init(
    port: UInt16 = 0, path: String = "/", mode: Mode,
    isExpected: @escaping @Sendable (_ parameters: [String: String]) -> Bool
  ) throws(ListeningError) {
    try HTTPListener.loadLibrary()
    let sockets = try LoopbackSockets(port: port)
    self.port = sockets.port
    redirectURI = "http://localhost:\(sockets.port)\(path == "/" ? "" : path)"
    let server = LoopbackServer(sockets, path: path, mode: mode, isExpected: isExpected)
    let thread = MainLoopThread(name: "llavero-loopback")
    self.thread = thread
    self.server = server
    thread.invoke { server.start() }
  }

  deinit { close() }

  /// Sends a browser to a page by way of an address of this machine, once, whatever mode the answer has. Other users can
  /// read what a browser is started with; a second request of the address ends the wait.
  ///
  /// - Returns: The address, which goes on when the call has returned.
  package func launchAddress(of page: String) -> String {
    thread.invoke { [server] in server.launch(page) }
    return "http://localhost:\(port)\(server.launchPath)"
  }

  /// Waits for the expected answer, and until the browser has got its page.
  ///
  /// - Returns: The parameters, also those of an error answer.
  /// - Throws: ``LoopbackError``.
  package func response(timeout: Duration) async throws(LoopbackError) -> [String: String] {
    let call = LoopbackCall(
      timeout: timeout, onCancel: .cancelled, onTimeout: .timedOut(refusedAnswers: 0))
    do {
      return try await call.run { call in thread.invoke { [server] in server.add(call) } }
    } catch {
      // One that has come counts, however little time is left.
      if let answer = server.delivered.withLock(\.self) { return answer }
      guard case .timedOut = error else { throw error }
      throw .timedOut(refusedAnswers: server.refusedAnswers.load(ordering: .sequentiallyConsistent))
    }
  }

  /// Closes the port and all connections. Who still waits gets ``LoopbackError/cancelled``.
  package func close() {
    // The work holds the thread, which must not end before.
    thread.invoke { [thread, server] in
      server.close()
      withExtendedLifetime(thread) {}
    }
  }
}
