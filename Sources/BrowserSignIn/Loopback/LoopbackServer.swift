import GLibSupport
import Glibc
import HTTPListener
import IdentityClient
import Synchronization

/// Responds to the browser's requests, and reports the one response of the authority that counts.
///
/// `@unchecked Sendable`: after `init`, touched on the listener's thread only.
final class LoopbackServer: @unchecked Sendable {
  private static let limits = HTTPListener.Limits(
    connections: 16, requestTime: .seconds(10), answerTime: .seconds(10),
    maximumBodySize: RedirectRules.maximumBodySize)
  /// How long the query mode waits for the browser to follow its redirect.
  private static let landingTime = Duration.seconds(1)

  let rules: RedirectRules
  private let sockets: LoopbackSockets
  private var listener: HTTPListener?
  /// How many responses of another sign-in were refused.
  let refused = Atomic(0)
  /// The one response that counts, once it came.
  private var parameters: [String: String]?
  /// How the wait ended: with the response once the browser has got the page about it. Set on the thread, read anywhere.
  let outcome = Mutex<Result<[String: String], IdentityError>?>(nil)
  /// Where the browser is sent from the launch path, once; `nil` when it was.
  var page: String?
  private var landingTimer: ContextTimer?
  private var calls: [LoopbackCall] = []

  init(
    _ sockets: LoopbackSockets, path: String, mode: ResponseMode,
    isExpected: @escaping @Sendable ([String: String]) -> Bool
  ) {
    self.sockets = sockets
    rules = RedirectRules(port: sockets.port, path: path, mode: mode, isExpected: isExpected)
  }

  func start() {
    let listener = HTTPListener(sockets.sockets, limits: Self.limits, fields: ListenerResponse.pageFields) {
      [weak self] in self?.handle($0)
    }
    self.listener = listener
    listener.start()
  }

  func close() {
    listener?.close()
    end(.failure(.signInCancelled))
  }

  /// Has a call end with the outcome.
  func add(_ call: LoopbackCall) {
    if let outcome = outcome.withLock(\.self) { call.finish(outcome) } else { calls.append(call) }
  }

  /// Ends the wait; only the first outcome counts.
  private func end(_ result: Result<[String: String], IdentityError>) {
    let isFirst = outcome.withLock { outcome in
      guard outcome == nil else { return false }
      outcome = result
      return true
    }
    guard isFirst else { return }
    landingTimer = nil
    for call in calls { call.finish(result) }
    calls = []
  }

  private func handle(_ exchange: ListenerExchange) {
    if case .user(let user) = exchange.user, user != geteuid(), user != 0 {
      // It spends nothing and ends nothing, or any user could end the sign-in.
      return exchange.reply(.refusal(403, "Another user of this machine started this sign-in."))
    }
    switch rules.verdict(exchange.request) {
    case .refused(let refusal): exchange.reply(refusal)
    case .launch: launch(exchange)
    case .landing:
      guard let parameters else { return exchange.reply(.nothingHere) }
      exchange.reply(.end(parameters)) { [weak self] in self?.end(.success(parameters)) }
    case .unexpected:
      refused.add(1, ordering: .sequentiallyConsistent)
      exchange.reply(
        .refusal(400, "This response belongs to another sign-in. Start again from the application."))
    case .answer(let parameters):
      guard self.parameters == nil, outcome.withLock({ $0 == nil }) else {
        return exchange.reply(.refusal(410, "This sign-in has ended. You can close this window."))
      }
      self.parameters = parameters
      if rules.mode == .formPost {
        exchange.reply(.end(parameters)) { [weak self] in self?.end(.success(parameters)) }
      } else {
        exchange.reply(.redirect(to: rules.landingPath)) { [weak self] in
          self?.landingTimer = ContextTimer(after: Self.landingTime) { [weak self] in
            self?.end(.success(parameters))
          }
        }
      }
    }
  }

  /// Redirects the one request that the browser makes. The sender of another one may have read the address where the
  /// browser was started with it, and it is not known which of them is the browser.
  private func launch(_ exchange: ListenerExchange) {
    guard let page else {
      exchange.reply(
        .refusal(410, "This sign-in was opened twice, and has ended. Start again from the application."))
      return end(.failure(.openedTwice))
    }
    self.page = nil
    exchange.reply(.redirect(to: page))
  }
}

extension IdentityError {
  fileprivate static let openedTwice = IdentityError(
    .invalidState, "The sign-in was opened twice: another program may have read its address.",
    advice: "Sign in again. If it happens again, check which programs of other users run here.")
}
