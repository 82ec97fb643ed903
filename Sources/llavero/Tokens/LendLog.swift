import FoundationEssentials
import GLibSupport
import Lending
import Synchronization

/// The lender's log on standard error. If it is not read, such as on a terminal that Ctrl-S has stopped, the lender goes on
/// and drops lines. It also drops lines of requests that are refused repeatedly.
final class LendLog: Sendable {
  /// The limit of lines that wait to be written.
  private static let maximumWaiting = 256
  /// The limit of lines per minute for refusals of one kind.
  private static let maximumRefusals = 20

  private struct State {
    var waiting = 0
    var dropped = 0
    var minute = 0.0
    var refusals: [String: Int] = [:]
  }

  private let queue = BlockingQueue(label: "llavero.log")
  private let state = Mutex(State())

  func report(_ event: LendingEvent) {
    if isLogged(event.error, at: event.date) { return add(Self.line(event)) }
    state.withLock { $0.dropped += 1 }
  }

  /// Writes what the borrower is not told.
  func warn(_ text: String) { if isLogged(text, at: Date()) { add(printable("warning: " + text)) } }

  /// Counts a line, and returns whether it is written: not where too many wait, or there are too many refusals of its kind.
  private func isLogged(_ kind: String?, at date: Date) -> Bool {
    let minute = (date.timeIntervalSinceReferenceDate / 60).rounded(.down)
    return state.withLock { state in
      if state.minute != minute { (state.minute, state.refusals) = (minute, [:]) }
      let count = (state.refusals[kind ?? ""] ?? 0) + 1
      state.refusals[kind ?? ""] = count
      return (kind == nil || count <= Self.maximumRefusals) && state.waiting < Self.maximumWaiting
    }
  }

  /// Writes a line after those that wait.
  func add(_ line: String) {
    state.withLock { $0.waiting += 1 }
    queue.add { [self] in
      writeDropped()
      Terminal.error(line)
      state.withLock { $0.waiting -= 1 }
    }
  }

  /// Waits until all lines are written, within the limit.
  func finish(within limit: Duration = .seconds(1)) async {
    let late = CancellationError()
    // In a task of its own: the loan may end because this one was cancelled.
    _ = await Task { [self] in
      try? await queue.run(timeout: limit, onCancel: late, onTimeout: late) {
        [self] (_) throws(CancellationError) in writeDropped()
      }
    }.value
  }

  private func writeDropped() {
    let dropped = state.withLock { state in
      defer { state.dropped = 0 }
      return state.dropped
    }
    if dropped > 0 { Terminal.error("\(dropped) more requests, which are not listed.") }
  }

  private static func line(_ event: LendingEvent) -> String {
    let request = [event.path ?? "another path", event.scopes.joined(separator: " ")].filter { !$0.isEmpty }
    let outcome = ["\(event.status)", event.error].compactMap(\.self).joined(separator: " ")
    let reason = event.reason.map { ": \($0)" } ?? ""
    return printable(
      "\(event.date.formatted(.iso8601)) \(request.joined(separator: " ")): \(outcome), "
        + "\(event.borrower.name)\(reason)")
  }
}
