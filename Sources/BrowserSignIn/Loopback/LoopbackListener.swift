import GLibSupport
package import HTTPListener
package import IdentityClient
import Synchronization

/// A task that waits for the browser's response.
typealias LoopbackCall = BoundedCall<[String: String], IdentityError>

/// Receives the one redirect that ends a sign-in in the browser (RFC 8252 section 7.3).
///
/// It listens on 127.0.0.1 and, where there is one, on [::1], from its making until ``close()`` or its end. Whatever
/// is not the expected response, other programs' and other pages' requests among it, is refused and changes nothing.
package final class LoopbackListener: Sendable {
  /// The port that is listened on.
  package let port: UInt16
  private let thread: MainLoopThread
  private let server: LoopbackServer

  /// Starts to listen, on any free port for 0. The path is the redirect URI's, and begins with `/`; the mode is how the authority
  /// sends its response. After a query the browser is sent on to a path without the code. `isExpected` says whether the
  /// parameters belong to this sign-in: it compares `state`, in constant time. It is called on another thread, and must not
  /// block.
  package init(
    port: UInt16 = 0, path: String = "/", mode: ResponseMode,
    isExpected: @escaping @Sendable (_ parameters: [String: String]) -> Bool
  ) throws(ListeningError) {
    try HTTPListener.loadLibrary()
    let sockets = try LoopbackSockets(port: port)
    self.port = sockets.port
    let server = LoopbackServer(sockets, path: path, mode: mode, isExpected: isExpected)
    let thread = MainLoopThread(name: "llavero-loopback")
    self.thread = thread
    self.server = server
    thread.invoke { server.start() }
  }

  deinit { close() }

  /// Sends a browser to a page by way of an address of this machine, once, whatever mode the response has. Other users
  /// can read what a browser is started with; a second request of the address ends the wait. It goes on when the call has
  /// returned.
  package func launchAddress(of page: String) -> String {
    thread.invoke { [server] in server.page = page }
    return "http://localhost:\(port)\(server.rules.launchPath)"
  }

  /// Waits for the expected response, which may be an error's, and until the browser has got its page.
  ///
  /// - Throws: `timedOut`, `invalidState` where the page was opened twice, `cancelled` also where the listener is closed.
  package func response(timeout: Duration) async throws(IdentityError) -> [String: String] {
    let call = LoopbackCall(timeout: timeout, onCancel: .signInCancelled, onTimeout: .signInTimedOut())
    do throws(IdentityError) {
      return try await call.run { call in thread.invoke { [server] in server.add(call) } }
    } catch {
      // One that has come counts, however little time is left.
      if case .success(let parameters) = server.outcome.withLock(\.self) { return parameters }
      guard error.code == .timedOut else { throw error }
      throw .signInTimedOut(refused: server.refused.load(ordering: .sequentiallyConsistent))
    }
  }

  /// Closes the port and all connections. Calls that still wait are cancelled.
  package func close() {
    // The work holds the thread, which must not end before.
    thread.invoke { [thread, server] in
      server.close()
      withExtendedLifetime(thread) {}
    }
  }
}

extension IdentityError {
  static let signInCancelled = IdentityError(.cancelled, "The sign-in was cancelled.")

  /// Says how many responses with another state were refused.
  static func signInTimedOut(refused: Int = 0) -> IdentityError {
    IdentityError(
      .timedOut,
      "The browser did not come back in time"
        + (refused == 0 ? "." : "; \(refused) responses of another sign-in were refused."),
      advice: "If the browser showed an error, see whether the application's redirect URI is registered: "
        + "http://localhost under \"Mobile and desktop applications\".")
  }
}
