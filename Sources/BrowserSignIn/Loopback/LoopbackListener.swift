package import GLibSupport
import Glibc
import HTTPListener
package import IdentityClient
import Synchronization

/// A task that waits for the browser's response.
typealias LoopbackCall = BoundedCall<[String: String], IdentityError>

/// Receives the one redirect that ends a sign-in in the browser (RFC 8252 section 7.3).
///
/// It listens on 127.0.0.1 and, where there is one, on [::1], from its making until ``close()`` or its end. Whatever
/// is not the expected response, other programs' and other pages' requests among it, is refused and changes nothing.
///
/// `@unchecked Sendable`: after `init`, the variables are touched on the listener's thread only.
package final class LoopbackListener: @unchecked Sendable {
  private static let limits = HTTPListener.Limits(
    connections: 16, requestTime: .seconds(10), answerTime: .seconds(10),
    maximumBodySize: RedirectRules.maximumBodySize)
  /// How long the query mode waits for the browser to follow its redirect.
  private static let landingTime = Duration.seconds(1)

  package let port: UInt16
  private let rules: RedirectRules
  private let listener: HTTPListener
  /// How many responses of another sign-in were refused.
  private let refused = Atomic(0)
  /// The one response that counts, once it came.
  private var parameters: [String: String]?
  /// How the wait ended, with the response once the browser has got the page about it, and the calls that wait until then.
  private let wait = Mutex((outcome: Result<[String: String], IdentityError>?.none, calls: [LoopbackCall]()))
  /// Where the browser is sent from the launch path, once; `nil` when it was.
  private let page = Mutex<String?>(nil)

  /// Starts to listen, on any free port for 0. The path is the redirect URI's, and begins with `/`; the mode is how the authority
  /// sends its response. After a query the browser is sent on to a path without the code. `isExpected` says whether the
  /// parameters belong to this sign-in: it compares `state`, in constant time. It is called on another thread, and must not
  /// block.
  package init(
    port: UInt16, path: String, mode: ResponseMode,
    isExpected: @escaping @Sendable (_ parameters: [String: String]) -> Bool
  ) throws(GLibError) {
    try HTTPListener.loadLibrary()
    let sockets = try LoopbackSockets(port: port)
    self.port = sockets.port
    rules = RedirectRules(port: sockets.port, path: path, mode: mode, isExpected: isExpected)
    listener = HTTPListener(
      sockets.sockets, limits: Self.limits, fields: ListenerResponse.pageFields, thread: "llavero-loopback")
    listener.start { [weak self] exchange in self?.handle(exchange) }
  }

  deinit { listener.close() }

  /// Sends a browser to a page by way of an address of this machine, once, whatever mode the response has. Other users
  /// can read what a browser is started with; a second request of the address ends the wait.
  package func launchAddress(of page: String) -> String {
    self.page.withLock { $0 = page }
    return "http://localhost:\(port)\(rules.launchPath)"
  }

  /// Waits for the expected response, which may be an error's, and until the browser has got its page.
  ///
  /// - Throws: `timedOut`, `invalidState` where the page was opened twice, `cancelled` also where the listener is closed.
  package func response(timeout: Duration) async throws(IdentityError) -> [String: String] {
    let call = LoopbackCall(timeout: timeout, onCancel: .signInCancelled, onTimeout: .signInTimedOut())
    do throws(IdentityError) {
      return try await call.run { call in
        wait.withLock { wait in
          if let outcome = wait.outcome { call.finish(outcome) } else { wait.calls.append(call) }
        }
      }
    } catch {
      // One that has come counts, however little time is left.
      if case .success(let parameters) = wait.withLock(\.outcome) { return parameters }
      guard error.code == .timedOut else { throw error }
      throw .signInTimedOut(refused: refused.load(ordering: .sequentiallyConsistent))
    }
  }

  /// Closes the port and all connections. Calls that still wait are cancelled.
  package func close() {
    listener.run { [self] in
      listener.close()
      end(.failure(.signInCancelled))
    }
  }

  /// Ends the wait; only the first outcome counts, after which no call waits.
  private func end(_ result: Result<[String: String], IdentityError>) {
    let calls = wait.withLock { wait in
      wait.outcome = wait.outcome ?? result
      defer { wait.calls = [] }
      return wait.calls
    }
    for call in calls { call.finish(result) }
  }

  private func handle(_ exchange: ListenerExchange) {
    if case .user(let user) = exchange.user, user != geteuid(), user != 0 {
      // It spends nothing and ends nothing, or any user could end the sign-in.
      return exchange.reply(page: .refusal(403, .otherUser))
    }
    switch rules.verdict(exchange.request) {
    case .refused(let refusal): exchange.reply(page: refusal)
    case .launch: launch(exchange)
    case .landing:
      guard let parameters else { return exchange.reply(page: .nothingHere) }
      exchange.reply(page: .end(parameters)) { [weak self] in self?.end(.success(parameters)) }
    case .unexpected:
      refused.add(1, ordering: .sequentiallyConsistent)
      exchange.reply(page: .refusal(400, .otherSignIn))
    case .answer(let parameters):
      guard self.parameters == nil, wait.withLock({ $0.outcome == nil }) else {
        return exchange.reply(page: .refusal(410, .ended))
      }
      self.parameters = parameters
      if rules.mode == .formPost {
        exchange.reply(page: .end(parameters)) { [weak self] in self?.end(.success(parameters)) }
      } else {
        exchange.reply(.redirect(to: rules.landingPath)) { [weak self] in
          self?.listener.setTimer(Self.landingTime) { [weak self] in self?.end(.success(parameters)) }
        }
      }
    }
  }

  /// Redirects the one request that the browser makes. The sender of another one may have read the address where the
  /// browser was started with it, and it is not known which of them is the browser.
  private func launch(_ exchange: ListenerExchange) {
    let page = page.withLock { page in
      defer { page = nil }
      return page
    }
    guard let page else {
      exchange.reply(page: .refusal(410, .openedTwice))
      return end(.failure(.openedTwice))
    }
    exchange.reply(.redirect(to: page))
  }
}

extension ListenerExchange {
  fileprivate func reply(page: Page, sent: (() -> Void)? = nil) {
    reply(ListenerResponse(page, for: request), sent: sent)
  }
}

extension IdentityError {
  fileprivate static let openedTwice = IdentityError(
    .invalidState, "The sign-in was opened twice: another program may have read its address.",
    advice: "Sign in again. If it happens again, check which programs of other users run here.")

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
