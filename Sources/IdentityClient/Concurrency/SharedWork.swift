import GLibSupport
import Synchronization

/// Work that runs once for all concurrent callers.
///
/// A cancelled caller returns at once. Work without waiting callers is cancelled. What must not be, because a server
/// may have acted on it already, runs in a task of its own.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Job = @Sendable () async throws(IdentityError) -> Value
  private typealias Call = BoundedCall<Value, IdentityError>

  private struct Work {
    /// The newest caller's work, which runs again for callers that join after a cancellation.
    var job: Job
    var task: Task<Void, Never>
    var waiting: [ObjectIdentifier: Call] = [:]
    var isCancelled = false
  }

  private struct State {
    /// Unfinished work, which callers may join even if no other caller waits.
    var works: [Key: Work] = [:]
    /// The callers of ``finish()``.
    var idlers: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Joins the running work for `key`, or starts it.
  func run(_ key: Key, _ job: @escaping Job) async throws(IdentityError) -> Value {
    // This wait needs no timeout: the work itself has one.
    let call = Call(timeout: .seconds(1 << 30), onCancel: .cancelled, onTimeout: .cancelled)
    return try await call.run(abandon: { [self] in abandon(key, call) }) { call in
      state.withLock { state in
        // A later cancellation finds the entry.
        guard !call.isFinished else { return }
        if state.works[key] == nil { state.works[key] = Work(job: job, task: begin(key, job)) }
        state.works[key]?.job = job
        state.works[key]?.waiting[ObjectIdentifier(call)] = call
      }
    }
  }

  /// Removes a caller, and cancels the work with the last.
  private func abandon(_ key: Key, _ call: Call) {
    state.withLock { state in
      guard state.works[key]?.waiting.removeValue(forKey: ObjectIdentifier(call)) != nil,
        state.works[key]?.waiting.isEmpty == true
      else { return }
      state.works[key]?.isCancelled = true
      state.works[key]?.task.cancel()
    }
  }

  private func begin(_ key: Key, _ job: @escaping Job) -> Task<Void, Never> {
    Task { self.finish(key, await Result.catching(job)) }
  }

  private func finish(_ key: Key, _ outcome: Result<Value, IdentityError>) {
    let (waiting, idlers) = state.withLock { state in
      if var work = state.works[key], work.isCancelled, !work.waiting.isEmpty,
        case .failure(let error) = outcome, error.code == .cancelled
      {
        work.isCancelled = false
        work.task = begin(key, work.job)
        state.works[key] = work
        return ([:], []) as ([ObjectIdentifier: Call], [CheckedContinuation<Void, Never>])
      }
      let waiting = state.works.removeValue(forKey: key)?.waiting ?? [:]
      guard state.works.isEmpty else { return (waiting, []) }
      defer { state.idlers = [] }
      return (waiting, state.idlers)
    }
    for call in waiting.values { call.finish(outcome) }
    for continuation in idlers { continuation.resume() }
  }

  var isBusy: Bool { state.withLock { !$0.works.isEmpty } }

  /// Waits until no work is running, even if the task is cancelled.
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
