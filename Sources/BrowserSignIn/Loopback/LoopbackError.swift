/// Why no redirect was received.
package enum LoopbackError: Error, Sendable, Equatable {
  /// Another program listens on this port of the loopback interface.
  case portInUse(UInt16)
  /// The port cannot be listened on for another reason.
  case cannotListen(port: UInt16, String)
  /// No expected answer came in time. `refusedAnswers` of another state came and were refused.
  case timedOut(refusedAnswers: Int)
  /// The task was cancelled, or the listener closed.
  case cancelled
}

extension LoopbackError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .portInUse(let port):
      "Port \(port) of the loopback interface is in use by another program."
    case .cannotListen(let port, let reason):
      "Port \(port) of the loopback interface cannot be listened on: \(reason)."
    case .timedOut(refusedAnswers: 0):
      "The browser did not come back in time."
    case .timedOut(let count):
      "The browser did not come back in time; \(count) answers of another sign-in were refused."
    case .cancelled:
      "Waiting for the browser was cancelled."
    }
  }
}
