import Synchronization

/// Work that several callers want at the same time and that is done once for all of them.
///
/// A caller that is cancelled goes on at once. Work that nobody waits for any more is cancelled; what must not end then,
/// because a server may have acted on it already, has a task of its own in it.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, IdentityError>

  private struct Work {
    /// That of the caller who began it.
    let id: Int
    let task: Task<Void, Never>
    var waiting: [Int: CheckedContinuation<Outcome, Never>]
  }

  private struct State {
    /// What others may join.
    var works: [Key: Work] = [:]
    /// How many have not ended, those that nobody waits for included.
    var count = 0
    /// Callers that were cancelled before they began to wait.
    var abandoned: Set<Int> = []
    var nextID = 0
    /// Who waits for the end of all work.
    var idlers: [CheckedContinuation<Void, Never>] = []

    /// Takes a caller out, and the work with the last.
    mutating func abandon(
      _ key: Key, _ id: Int
    ) -> (waiting: CheckedContinuation<Outcome, Never>?, useless: Task<Void, Never>?) {
      guard let continuation = works[key]?.waiting.removeValue(forKey: id) else {
        abandoned.insert(id)
        return (nil, nil)
      }
      let isLast = works[key]?.waiting.isEmpty ?? false
      return (continuation, isLast ? works.removeValue(forKey: key)?.task : nil)
    }
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
        let isAbandoned = state.withLock { state in
          guard !state.abandoned.contains(id) else { return true }
          if state.works[key] == nil {
            state.count += 1
            let task = Task { self.finish(key, id, await Outcome.catching(work)) }
            state.works[key] = Work(id: id, task: task, waiting: [id: continuation])
          } else {
            state.works[key]?.waiting[id] = continuation
          }
          return false
        }
        if isAbandoned { continuation.resume(returning: .failure(.cancelled)) }
      }
    } onCancel: {
      let (continuation, task) = state.withLock { $0.abandon(key, id) }
      continuation?.resume(returning: .failure(.cancelled))
      task?.cancel()
    }
    state.withLock { _ = $0.abandoned.remove(id) }
    return try outcome.get()
  }

  private func finish(_ key: Key, _ id: Int, _ outcome: Outcome) {
    let (waiting, idlers) = state.withLock { state in
      let isJoined = state.works[key]?.id == id
      let waiting = isJoined ? state.works.removeValue(forKey: key)?.waiting : nil
      state.count -= 1
      guard state.count == 0 else { return (waiting, [] as [CheckedContinuation<Void, Never>]) }
      defer { state.idlers = [] }
      return (waiting, state.idlers)
    }
    for continuation in (waiting ?? [:]).values { continuation.resume(returning: outcome) }
    for continuation in idlers { continuation.resume() }
  }

  /// Waits until no work is under way, also when the task is cancelled.
  func finish() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.count > 0 { state.idlers.append(continuation) }
        return state.count == 0
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
