import HTTPListener

/// A task that waits for the answer.
///
/// `@unchecked Sendable`: touched on the listener's thread only.
final class LoopbackWaiter: @unchecked Sendable {
  typealias Outcome = Result<[String: String], LoopbackError>

  private var outcome: Outcome?
  private var timer: ListenerTimer?
  private var completion: ((Outcome) -> Void)?

  /// Begins to wait. `completion` is called once.
  func start(
    timeout: Duration, timedOut: @escaping () -> LoopbackError, completion: @escaping (Outcome) -> Void
  ) {
    if let outcome { return completion(outcome) }
    self.completion = completion
    timer = ListenerTimer(after: timeout) { [weak self] in self?.finish(.failure(timedOut())) }
  }

  /// Ends the waiting; only the first outcome counts.
  func finish(_ outcome: Outcome) {
    guard self.outcome == nil else { return }
    self.outcome = outcome
    timer = nil
    completion?(outcome)
    completion = nil
  }
}
