import GLibSupport
import Glibc
import HTTPListener
import Synchronization

/// Answers the browser's requests, and hands the one answer that counts to who waits for it.
///
/// `@unchecked Sendable`: after `init`, touched on the listener's thread only.
final class LoopbackServer: @unchecked Sendable {
  private static let limits = HTTPListener.Limits(
    connections: 16, requestTime: .seconds(10), answerTime: .seconds(10),
    maximumBodySize: RedirectRules.maximumBodySize)
  /// How long the query mode waits for the browser to follow its redirect.
  private static let landingTime = Duration.seconds(1)

  private let rules: RedirectRules
  private let sockets: LoopbackSockets
  private var listener: HTTPListener?
  let refusedAnswers = Atomic(0)
  /// The one answer that counts, once it came.
  private var answer: [String: String]?
  /// The same, once the browser has got the page about it. Set on the thread, read anywhere.
  let delivered = Mutex<[String: String]?>(nil)
  /// Where the browser is sent from the address that it is started with, unless it was already.
  private var page: String?
  /// Why no answer counts any more.
  private var failure: LoopbackError?
  private var isClosed = false
  private var landingTimer: ContextTimer?
  private var calls: [LoopbackCall] = []

  init(
    _ sockets: LoopbackSockets, path: String, mode: LoopbackListener.Mode,
    isExpected: @escaping @Sendable ([String: String]) -> Bool
  ) {
    self.sockets = sockets
    rules = RedirectRules(port: sockets.port, path: path, mode: mode, isExpected: isExpected)
  }

  func start() {
    let listener = HTTPListener(sockets.sockets, limits: Self.limits, fields: ListenerAnswer.pageFields) {
      [weak self] in self?.handle($0)
    }
    self.listener = listener
    listener.start()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    listener?.close()
    landingTimer = nil
    for call in calls { call.finish(.failure(.cancelled)) }
    calls = []
  }

  /// Tells a call the answer as soon as the browser has got its page.
  func add(_ call: LoopbackCall) {
    if let delivered = delivered.withLock(\.self) {
      call.finish(.success(delivered))
    } else if failure != nil || isClosed {
      call.finish(.failure(failure ?? .cancelled))
    } else {
      calls.append(call)
    }
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
      guard let answer else { return exchange.reply(.nothingHere) }
      exchange.reply(.end(answer)) { [weak self] in self?.deliver() }
    case .unexpected:
      refusedAnswers.add(1, ordering: .sequentiallyConsistent)
      exchange.reply(
        .refusal(400, "This answer belongs to another sign-in. Start again from the application."))
    case .answer(let parameters):
      guard answer == nil, failure == nil else {
        return exchange.reply(.refusal(410, "This sign-in is over. You can close this window."))
      }
      answer = parameters
      if rules.mode == .formPost {
        exchange.reply(.end(parameters)) { [weak self] in self?.deliver() }
      } else {
        let redirect = ListenerAnswer(
          status: 303, fields: [("Location", rules.landingPath)], contentType: "text/html; charset=utf-8",
          body: [])
        exchange.reply(redirect) { [weak self] in
          self?.landingTimer = ContextTimer(after: Self.landingTime) { [weak self] in self?.deliver() }
        }
      }
    }
  }

  /// Sets where the browser is sent from the launch path, once.
  func launch(_ page: String) { self.page = page }

  /// Where the browser begins.
  var launchPath: String { rules.launchPath }

  /// Redirects the one request that the browser makes. Who makes another may have read the address where the browser was
  /// started with it, and it is not known which of them is the browser.
  private func launch(_ exchange: ListenerExchange) {
    guard let page else {
      exchange.reply(
        .refusal(410, "This sign-in was opened twice, and is over. Start again from the application."))
      failure = .openedTwice
      for call in calls { call.finish(.failure(.openedTwice)) }
      return
    }
    self.page = nil
    exchange.reply(
      ListenerAnswer(
        status: 303, fields: [("Location", page)], contentType: "text/html; charset=utf-8", body: []))
  }

  private func deliver() {
    guard let answer, failure == nil, !isClosed, delivered.withLock({ $0 == nil }) else { return }
    delivered.withLock { $0 = answer }
    landingTimer = nil
    for call in calls { call.finish(.success(answer)) }
  }
}
