import Synchronization

/// Work that several callers want at the same time and that is done once for all of them.
///
/// A caller that is cancelled goes on at once. The work itself is never cancelled: a server may have acted on
/// it already, and what it answered must be kept.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, IdentityError>

  private struct State {
    var waiting: [Key: [Int: CheckedContinuation<Outcome, Never>]] = [:]
    /// Callers that were cancelled before they began to wait.
    var abandoned: Set<Int> = []
    var nextID = 0
    /// Who waits for the end of all work.
    var idlers: [CheckedContinuation<Void, Never>] = []

    mutating func join(
      _ key: Key, as id: Int, _ continuation: CheckedContinuation<Outcome, Never>
    ) -> Joining {
      guard !abandoned.contains(id) else { return .abandoned }
      let isFirst = waiting[key] == nil
      waiting[key, default: [:]][id] = continuation
      return isFirst ? .begun : .joined
    }

    /// Takes a caller out; the key stays as long as the work goes on.
    mutating func abandon(_ key: Key, _ id: Int) -> CheckedContinuation<Outcome, Never>? {
      if let continuation = waiting[key]?.removeValue(forKey: id) { return continuation }
      abandoned.insert(id)
      return nil
    }
  }

  private enum Joining {
    case begun
    case joined
    case abandoned
  }

  private let state = Mutex(State())

  /// Joins the work that is under way for `key`, or begins it.
  func run(
    _ key: Key, _ work: @escaping @Sendable () async throws(IdentityError) -> Value
  ) async throws(IdentityError) -> Value {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let outcome: Outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        switch state.withLock({ $0.join(key, as: id, continuation) }) {
        case .abandoned: continuation.resume(returning: .failure(.cancelled))
        case .joined: break
        case .begun: Task { self.finish(key, await Outcome.catching(work)) }
        }
      }
    } onCancel: {
      let continuation = state.withLock { $0.abandon(key, id) }
      continuation?.resume(returning: .failure(.cancelled))
    }
    state.withLock { _ = $0.abandoned.remove(id) }
    return try outcome.get()
  }

  private func finish(_ key: Key, _ outcome: Outcome) {
    let (waiting, idlers) = state.withLock { state in
      let waiting = state.waiting.removeValue(forKey: key) ?? [:]
      guard state.waiting.isEmpty else { return (waiting, [] as [CheckedContinuation<Void, Never>]) }
      defer { state.idlers = [] }
      return (waiting, state.idlers)
    }
    for continuation in waiting.values { continuation.resume(returning: outcome) }
    for continuation in idlers { continuation.resume() }
  }

  /// Waits until no work is under way, also when the task is cancelled.
  func finish() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if !state.waiting.isEmpty { state.idlers.append(continuation) }
        return state.waiting.isEmpty
      }
      if isIdle { continuation.resume() }
    }
  }
}

extension Result where Failure == IdentityError, Success: Sendable {
  static func catching(
    _ work: @Sendable () async throws(IdentityError) -> Success
  ) async -> Result<Success, IdentityError> {
    do {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}
