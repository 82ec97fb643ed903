import Dispatch
import Synchronization

/// Runs blocking calls one after the other on a thread of its own, for callers that must not block.
///
/// An actor with a queue as its executor does not do: a closure inside `withTaskCancellationHandler` that does
/// not capture the actor runs on the cooperative pool, which is as wide as the machine.
package final class BlockingQueue: Sendable {
  private let queue: DispatchQueue

  package init(label: String) {
    queue = DispatchQueue(label: label)
  }

  /// Runs `work` on the queue's thread and returns its result.
  ///
  /// When the task is cancelled or `timeout` passes, the caller goes on at once, the `Cancellable` given to
  /// `work` is cancelled, and the late result is dropped. Work that had not begun by then never begins.
  package func run<T: Sendable, E: Error>(
    timeout: Duration,
    onCancel cancelled: E,
    onTimeout timedOut: E,
    _ work: @escaping @Sendable (Cancellable) throws(E) -> T
  ) async throws(E) -> T {
    let cancellable = Cancellable(timeout: timeout)
    let job = Job<T, E>()

    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler {
      job.finish(.failure(timedOut))
      cancellable.cancel()
    }
    timer.schedule(deadline: .now() + .milliseconds(Int(cancellable.remainingMilliseconds)))
    timer.resume()
    defer { timer.cancel() }

    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard job.suspend(continuation) else { return }
        queue.async {
          guard !job.isFinished else { return }
          job.finish(Result { () throws(E) in try work(cancellable) })
        }
      }
    } onCancel: {
      job.finish(.failure(cancelled))
      cancellable.cancel()
    }
    return try job.result.get()
  }
}

/// One call of `run`: whoever finishes it first decides its result.
///
/// The result is handed over under the mutex and not by the continuation: the thread sanitizer does not see how one
/// that was resumed early hands over something.
private final class Job<T: Sendable, E: Error>: Sendable {
  private enum State {
    case fresh
    case suspended(CheckedContinuation<Void, Never>)
    case finished(Result<T, E>)
  }

  private let state = Mutex(State.fresh)

  var isFinished: Bool {
    state.withLock { if case .finished = $0 { true } else { false } }
  }

  /// What the caller gets. It reads this after the continuation was resumed.
  var result: Result<T, E> {
    state.withLock { state in
      guard case .finished(let result) = state else { preconditionFailure("resumed before the end") }
      return result
    }
  }

  /// Keeps the continuation, or resumes it if the job is over already, and then returns false.
  func suspend(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    let isOver = state.withLock { state in
      if case .finished = state { return true }
      state = .suspended(continuation)
      return false
    }
    if isOver { continuation.resume() }
    return !isOver
  }

  func finish(_ result: Result<T, E>) {
    let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
      switch state {
      case .fresh:
        state = .finished(result)
        return nil
      case .suspended(let continuation):
        state = .finished(result)
        return continuation
      case .finished:
        return nil
      }
    }
    waiting?.resume()
  }
}
