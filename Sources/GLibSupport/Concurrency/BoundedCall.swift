import Dispatch
import Synchronization

/// A call whose caller resumes at the deadline or when its task is cancelled, even if the work still runs.
///
/// The first result counts. It is passed under the mutex and not by the continuation: the thread sanitizer does not
/// see what a continuation that was resumed early passes on.
package final class BoundedCall<T: Sendable, E: Error>: Sendable {
  private enum State {
    case fresh
    case suspended(CheckedContinuation<Void, Never>)
    case finished(Result<T, E>)
  }

  /// Cancelled when the caller no longer waits: the work should stop then.
  package let cancellable: Cancellable
  private let cancelled: E
  private let timedOut: E
  private let state = Mutex(State.fresh)

  package init(timeout: Duration, onCancel cancelled: E, onTimeout timedOut: E) {
    cancellable = Cancellable(timeout: timeout)
    self.cancelled = cancelled
    self.timedOut = timedOut
  }

  package var isFinished: Bool { state.withLock { if case .finished = $0 { true } else { false } } }

  /// Calls `start`, unless the call has finished already, and waits for ``finish(_:)``. Call it once. `abandon` stops work whose
  /// caller no longer waits, from any thread (default: cancels ``cancellable``).
  package func run(
    abandon: (@Sendable () -> Void)? = nil, _ start: (BoundedCall) -> Void
  ) async throws(E) -> T {
    let deadline = Deadlines.add(cancellable.deadline) { [self] in giveUp(timedOut, abandon) }
    defer { Deadlines.remove(deadline) }

    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isWaiting = state.withLock { state in
          if case .finished = state { return false }
          state = .suspended(continuation)
          return true
        }
        if isWaiting { start(self) } else { continuation.resume() }
      }
    } onCancel: {
      giveUp(cancelled, abandon)
    }
    guard case .finished(let result) = state.withLock({ $0 }) else {
      preconditionFailure("resumed before the end")
    }
    return try result.get()
  }

  /// Finishes the call with this result, unless it has one.
  package func finish(_ result: Result<T, E>) {
    let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
      let before = state
      if case .finished = before { return nil }
      state = .finished(result)
      return if case .suspended(let continuation) = before { continuation } else { nil }
    }
    waiting?.resume()
  }

  private func giveUp(_ error: E, _ abandon: (@Sendable () -> Void)?) {
    finish(.failure(error))
    if let abandon { abandon() } else { cancellable.cancel() }
  }
}

/// Runs blocking calls one after the other on a thread of its own, for callers that must not block.
///
/// An actor with a queue as its executor does not work: a closure inside `withTaskCancellationHandler` that does
/// not capture the actor runs on the cooperative pool, which has one thread per processor.
package final class BlockingQueue: Sendable {
  private let queue: DispatchQueue

  /// - Parameters:
  ///   - label: For debuggers.
  ///   - waitsForOthers: Whether the calls wait for other holders of a lock. Dispatch has 255 threads for all queues of one
  ///     quality of service; those that wait must not take them from those that are waited for.
  package init(label: String, waitsForOthers: Bool = false) {
    queue = DispatchQueue(label: label, qos: waitsForOthers ? .utility : .unspecified)
  }

  /// Runs `work` on the queue's thread without waiting for it.
  package func add(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Runs `work` on the queue's thread and returns its result.
  ///
  /// When the task is cancelled or `timeout` passes, the caller resumes at once, the `Cancellable` given to
  /// `work` is cancelled, and the late result is dropped. Work that had not begun by then never begins.
  package func run<T: Sendable, E: Error>(
    timeout: Duration,
    onCancel cancelled: E,
    onTimeout timedOut: E,
    _ work: @escaping @Sendable (Cancellable) throws(E) -> T
  ) async throws(E) -> T {
    try await BoundedCall(timeout: timeout, onCancel: cancelled, onTimeout: timedOut).run { call in
      queue.async {
        guard !call.isFinished else { return }
        call.finish(Result { () throws(E) in try work(call.cancellable) })
      }
    }
  }
}
