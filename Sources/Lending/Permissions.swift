import Synchronization

/// Which borrowers the person allowed. The person is asked one time for each borrower, about one borrower at a time.
final class Permissions: Sendable {
  /// So many borrowers wait for the person at most.
  private static let longestQueue = 16

  struct State {
    var answers: [Borrower: Task<Bool?, Never>] = [:]
    var last: Task<Bool?, Never>?
    var waiting = 0
  }

  private let ask: Lender.Question
  let state = Mutex(State())

  init(ask: @escaping Lender.Question) {
    self.ask = ask
  }

  /// Waits for the person's word.
  ///
  /// - Returns: `nil` where too many wait already.
  func allows(_ borrower: Borrower, _ scopes: [String]) async -> Bool? {
    let answer: Task<Bool?, Never>? = state.withLock { state in
      if let answer = state.answers[borrower] { return answer }
      guard state.waiting < Self.longestQueue else { return nil }
      state.waiting += 1
      let task = Task { [last = state.last] in
        _ = await last?.value
        // One that has given up meanwhile needs no answer.
        let answer = borrower.isThere ? await ask(borrower, scopes) : nil
        self.state.withLock { state in
          state.waiting -= 1
          // One at a port is another borrower with each connection.
          if answer == nil || borrower.process == nil { state.answers[borrower] = nil }
          // What is known of processes that have ended is of no use, and would become much.
          if state.answers.count > 64 { state.answers = state.answers.filter { $0.key.isThere } }
        }
        return answer
      }
      state.answers[borrower] = task
      state.last = task
      return task
    }
    guard let answer else { return nil }
    return await answer.value ?? false
  }
}
