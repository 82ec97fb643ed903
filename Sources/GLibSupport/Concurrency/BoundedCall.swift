import Dispatch
import Synchronization

/// A call whose caller goes on at its deadline or when its task is cancelled, whatever the one who carries it out
/// does meanwhile.
///
/// Whoever finishes it first decides its result. That is handed over under the mutex and not by the continuation: the
/// thread sanitizer does not see how one that was resumed early hands over something.
package final class BoundedCall<T: Sendable, E: Error>: Sendable {
  private enum State {
    case fresh
    case suspended(CheckedContinuation<Void, Never>)
    case finished(Result<T, E>)
  }

  /// The work is to give up when this is cancelled.
  package let cancellable: Cancellable
  private let cancelled: E
  private let timedOut: E
  private let state = Mutex(State.fresh)

  /// - Parameters:
  ///   - timeout: How long the caller waits at most.
  ///   - cancelled: What the caller gets when its task is cancelled.
  ///   - timedOut: What it gets at the deadline.
  package init(timeout: Duration, onCancel cancelled: E, onTimeout timedOut: E) {
    cancellable = Cancellable(timeout: timeout)
    self.cancelled = cancelled
    self.timedOut = timedOut
  }

  package var isFinished: Bool {
    state.withLock { if case .finished = $0 { true } else { false } }
  }

  /// Calls `start`, unless the call is over already, and waits for ``finish(_:)``. To be called once.
  ///
  /// - Parameters:
  ///   - abandon: Ends work that nobody waits for any more, from any thread; cancels ``cancellable`` unless told
  ///     otherwise.
  ///   - start: Begins the work.
  /// - Returns: What the work gave.
  /// - Throws: The work's error, or that of the deadline or the cancellation.
  package func run(
    abandon: (@Sendable () -> Void)? = nil, _ start: (BoundedCall) -> Void
  ) async throws(E) -> T {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler { [self] in giveUp(timedOut, abandon) }
    timer.schedule(deadline: .now() + .milliseconds(Int(cancellable.remainingMilliseconds)))
    timer.resume()
    defer { timer.cancel() }

    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if suspend(continuation) { start(self) }
      }
    } onCancel: {
      giveUp(cancelled, abandon)
    }
    return try result.get()
  }

  /// Ends the call with this result, unless it has one.
  package func finish(_ result: Result<T, E>) {
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

  private func giveUp(_ error: E, _ abandon: (@Sendable () -> Void)?) {
    finish(.failure(error))
    if let abandon { abandon() } else { cancellable.cancel() }
  }

  /// What the caller gets. It reads this after the continuation was resumed.
  private var result: Result<T, E> {
    state.withLock { state in
      guard case .finished(let result) = state else { preconditionFailure("resumed before the end") }
      return result
    }
  }

  /// Keeps the continuation, or resumes it if the call is over already, and then returns false.
  private func suspend(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    let isOver = state.withLock { state in
      if case .finished = state { return true }
      state = .suspended(continuation)
      return false
    }
    if isOver { continuation.resume() }
    return !isOver
  }
}
