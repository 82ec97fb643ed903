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

    let result = await withTaskCancellationHandler {
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
    return try result.get()
  }
}

/// One call of `run`: whoever finishes it first decides its result.
private final class Job<T: Sendable, E: Error>: Sendable {
  private enum State {
    case fresh
    case suspended(CheckedContinuation<Result<T, E>, Never>)
    case finishedEarly(Result<T, E>)
    case finished
  }

  private let state = Mutex(State.fresh)

  var isFinished: Bool {
    state.withLock { state in
      switch state {
      case .fresh, .suspended: false
      case .finishedEarly, .finished: true
      }
    }
  }

  /// Keeps the continuation, or resumes it if the job is over already, and then returns false.
  func suspend(_ continuation: CheckedContinuation<Result<T, E>, Never>) -> Bool {
    let early: Result<T, E>? = state.withLock { state in
      if case .finishedEarly(let result) = state {
        state = .finished
        return result
      }
      state = .suspended(continuation)
      return nil
    }
    guard let early else { return true }
    continuation.resume(returning: early)
    return false
  }

  func finish(_ result: Result<T, E>) {
    let waiting: CheckedContinuation<Result<T, E>, Never>? = state.withLock { state in
      switch state {
      case .fresh:
        state = .finishedEarly(result)
        return nil
      case .suspended(let continuation):
        state = .finished
        return continuation
      case .finishedEarly, .finished:
        return nil
      }
    }
    waiting?.resume(returning: result)
  }
}
