import Synchronization

/// Work that several callers want at the same time and that runs one time for all of them.
///
/// A caller that is cancelled goes on at once. Work without waiting callers is cancelled; what must not end then,
/// because a server may have acted on it already, has a task of its own in it.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, IdentityError>

  private typealias Job = @Sendable () async throws(IdentityError) -> Value

  private struct Work {
    /// The newest caller's, to be done again for those who came after it was cancelled.
    var job: Job
    var task: Task<Void, Never>
    var waiting: [Int: CheckedContinuation<Outcome, Never>]
    var isCancelled = false
  }

  private struct State {
    /// Work that has not ended; callers may join it, also when it has no waiting caller.
    var works: [Key: Work] = [:]
    var nextID = 0
    /// Who waits for the end of all work.
    var idlers: [CheckedContinuation<Void, Never>] = []

    /// Takes a caller out, and cancels the work with the last.
    mutating func abandon(_ key: Key, _ id: Int) -> CheckedContinuation<Outcome, Never>? {
      guard let continuation = works[key]?.waiting.removeValue(forKey: id) else { return nil }
      if works[key]?.waiting.isEmpty == true {
        works[key]?.isCancelled = true
        works[key]?.task.cancel()
      }
      return continuation
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
        let isCancelled = state.withLock { state in
          // A later cancellation finds the continuation.
          guard !Task.isCancelled else { return true }
          if state.works[key] == nil {
            state.works[key] = Work(job: work, task: begin(key, work), waiting: [id: continuation])
          } else {
            state.works[key]?.job = work
            state.works[key]?.waiting[id] = continuation
          }
          return false
        }
        if isCancelled { continuation.resume(returning: .failure(.cancelled)) }
      }
    } onCancel: {
      let continuation = state.withLock { $0.abandon(key, id) }
      continuation?.resume(returning: .failure(.cancelled))
    }
    return try outcome.get()
  }

  private func begin(_ key: Key, _ job: @escaping Job) -> Task<Void, Never> {
    Task { self.finish(key, await Outcome.catching(job)) }
  }

  private func finish(_ key: Key, _ outcome: Outcome) {
    let (waiting, idlers) = state.withLock { state in
      if var work = state.works[key], work.isCancelled, !work.waiting.isEmpty,
        case .failure(let error) = outcome, error.code == .cancelled
      {
        work.isCancelled = false
        work.task = begin(key, work.job)
        state.works[key] = work
        return ([:], []) as ([Int: CheckedContinuation<Outcome, Never>], [CheckedContinuation<Void, Never>])
      }
      let waiting = state.works.removeValue(forKey: key)?.waiting ?? [:]
      guard state.works.isEmpty else { return (waiting, []) }
      defer { state.idlers = [] }
      return (waiting, state.idlers)
    }
    for continuation in waiting.values { continuation.resume(returning: outcome) }
    for continuation in idlers { continuation.resume() }
  }

  /// Whether work is under way.
  var isBusy: Bool { state.withLock { !$0.works.isEmpty } }

  /// Waits until no work is under way, also when the task is cancelled.
  func finish() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if !state.works.isEmpty { state.idlers.append(continuation) }
        return state.works.isEmpty
      }
      if isIdle { continuation.resume() }
    }
  }
}

extension Result where Success: Sendable {
  package static func catching(_ work: @Sendable () async throws(Failure) -> Success) async -> Result {
    do {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}
