/// Why no redirect was received.
package enum LoopbackError: Error, Sendable, Equatable {
  /// No expected answer came in time. `refusedAnswers` of another state came and were refused.
  case timedOut(refusedAnswers: Int)
  /// The address that the browser was started with was asked for a second time.
  case openedTwice
  /// The task was cancelled, or the listener closed.
  case cancelled
}

extension LoopbackError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .timedOut(refusedAnswers: 0):
      "The browser did not come back in time."
    case .timedOut(let count):
      "The browser did not come back in time; \(count) answers of another sign-in were refused."
    case .openedTwice:
      "The sign-in was opened twice: another program may have read its address."
    case .cancelled:
      "Waiting for the browser was cancelled."
    }
  }
}
