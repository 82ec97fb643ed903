import Synchronization

/// Which borrowers the user allowed. The user is asked once for each borrower, about one borrower at a time.
final class Permissions: Sendable {
  /// The most borrowers that wait for the user.
  private static let longestQueue = 16

  struct State {
    var decisions: [Borrower: Task<Bool?, Never>] = [:]
    var last: Task<Bool?, Never>?
    var waiting = 0
  }

  private let ask: Lender.PermissionHandler
  let state = Mutex(State())

  init(ask: @escaping Lender.PermissionHandler) {
    self.ask = ask
  }

  /// Waits for the user's decision; `nil` when too many borrowers wait already.
  func allows(_ borrower: Borrower, _ scopes: [String]) async -> Bool? {
    let decision: Task<Bool?, Never>? = state.withLock { state in
      if let decision = state.decisions[borrower] { return decision }
      guard state.waiting < Self.longestQueue else { return nil }
      state.waiting += 1
      let task = Task { [last = state.last] in
        _ = await last?.value
        // A borrower that has ended meanwhile needs no decision.
        let decision = borrower.isRunning ? await ask(borrower, scopes) : nil
        self.state.withLock { state in
          state.waiting -= 1
          // One at a port is another borrower with each connection.
          if decision == nil || borrower.process == nil { state.decisions[borrower] = nil }
          // Decisions on processes that have ended would accumulate.
          if state.decisions.count > 64 { state.decisions = state.decisions.filter { $0.key.isRunning } }
        }
        return decision
      }
      state.decisions[borrower] = task
      state.last = task
      return task
    }
    guard let decision else { return nil }
    return await decision.value ?? false
  }
}
