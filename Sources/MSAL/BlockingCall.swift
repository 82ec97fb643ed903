import Dispatch
import GLibSupport
import IdentityClient
import Synchronization

/// Waits for asynchronous work in a synchronous method.
///
/// The waiting thread may be one of the cooperative pool's, on which the work does not run.
func blocking<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) throws -> T {
  let outcome = Outcome<T>()
  Task(executorPreference: QueueExecutor()) { outcome.finish(await Result.catching(work)) }
  return try outcome.wait()
}

private final class Outcome<T: Sendable>: Sendable {
  private let result = Mutex<Result<T, any Error>?>(nil)
  private let isFinished = DispatchSemaphore(value: 0)

  func finish(_ result: Result<T, any Error>) {
    self.result.withLock { $0 = result }
    isFinished.signal()
  }

  func wait() throws -> T {
    while true {
      if let result = result.withLock({ $0 }) { return try result.get() }
      isFinished.wait()
    }
  }
}
