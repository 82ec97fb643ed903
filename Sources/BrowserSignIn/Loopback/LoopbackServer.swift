import GLibSupport
import HTTPListener

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
  private var refusedAnswers = 0
  /// The one answer that counts, once it came.
  private var answer: [String: String]?
  /// Whether the browser has got the page about it.
  private var isDelivered = false
  private var isClosed = false
  private var landingTimer: ListenerTimer?
  private var waiters: [LoopbackWaiter] = []

  init(
    _ sockets: LoopbackSockets, path: String, mode: LoopbackListener.Mode,
    isExpected: @escaping @Sendable ([String: String]) -> Bool
  ) {
    self.sockets = sockets
    rules = RedirectRules(port: sockets.port, path: path, mode: mode, isExpected: isExpected)
  }

  func start() {
    let listener = HTTPListener(sockets.sockets, limits: Self.limits, fields: LoopbackAnswer.fields) {
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
    for waiter in waiters { waiter.finish(.failure(.cancelled)) }
    waiters = []
  }

  func add(
    _ waiter: LoopbackWaiter, timeout: Duration, completion: @escaping (LoopbackWaiter.Outcome) -> Void
  ) {
    if let answer, isDelivered { return completion(.success(answer)) }
    if isClosed { return completion(.failure(.cancelled)) }
    waiters.append(waiter)
    waiter.start(timeout: timeout) { [weak self] in
      .timedOut(refusedAnswers: self?.refusedAnswers ?? 0)
    } completion: { [weak self] outcome in
      self?.waiters.removeAll { $0 === waiter }
      completion(outcome)
    }
  }

  private func handle(_ exchange: ListenerExchange) {
    switch rules.verdict(exchange.request) {
    case .refused(let refusal):
      exchange.reply(refusal.listenerAnswer)
    case .landing:
      guard let answer else {
        return exchange.reply(LoopbackAnswer.refusal(404, "There is nothing here.").listenerAnswer)
      }
      exchange.reply(LoopbackAnswer.end(answer).listenerAnswer) { [weak self] in self?.deliver() }
    case .unexpected:
      refusedAnswers += 1
      let text = "This answer belongs to another sign-in. Start again from the application."
      exchange.reply(LoopbackAnswer.refusal(400, text).listenerAnswer)
    case .answer(let parameters):
      guard answer == nil else { return exchange.reply(LoopbackAnswer.alreadyUsed.listenerAnswer) }
      answer = parameters
      if rules.mode == .formPost {
        exchange.reply(LoopbackAnswer.end(parameters).listenerAnswer) { [weak self] in self?.deliver() }
      } else {
        let redirect = LoopbackAnswer(status: 303, fields: [("Location", rules.landingPath)], page: "")
        exchange.reply(redirect.listenerAnswer) { [weak self] in
          self?.landingTimer = ListenerTimer(after: Self.landingTime) { [weak self] in self?.deliver() }
        }
      }
    }
  }

  private func deliver() {
    guard let answer, !isDelivered, !isClosed else { return }
    isDelivered = true
    landingTimer = nil
    for waiter in waiters { waiter.finish(.success(answer)) }
  }
}
