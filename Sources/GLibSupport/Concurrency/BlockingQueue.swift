import Dispatch

/// Runs blocking calls one after the other on a thread of its own, for callers that must not block.
///
/// An actor with a queue as its executor does not do: a closure inside `withTaskCancellationHandler` that does
/// not capture the actor runs on the cooperative pool, which is as wide as the machine.
package final class BlockingQueue: Sendable {
  private let queue: DispatchQueue

  package init(label: String) {
    queue = DispatchQueue(label: label)
  }

  /// Has `work` run on the queue's thread, for a caller that does not wait for it.
  package func add(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

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
    try await BoundedCall(timeout: timeout, onCancel: cancelled, onTimeout: timedOut).run { call in
      queue.async {
        guard !call.isFinished else { return }
        call.finish(Result { () throws(E) in try work(call.cancellable) })
      }
    }
  }
}
