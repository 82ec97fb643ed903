import Dispatch
import GLibSupport
import IdentityClient
import Synchronization

/// Waits for asynchronous work in a synchronous method.
///
/// The waiting thread may be one of the cooperative pool's, on which the work does not run.
func blocking<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) throws -> T {
  let result = Mutex<Result<T, any Error>?>(nil)
  let isFinished = DispatchSemaphore(value: 0)
  Task(executorPreference: QueueExecutor()) {
    let outcome = await Result.catching(work)
    result.withLock { $0 = outcome }
    isFinished.signal()
  }
  while true {
    if let result = result.withLock({ $0 }) { return try result.get() }
    isFinished.wait()
  }
}
