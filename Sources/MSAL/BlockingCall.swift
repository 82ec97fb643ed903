import Dispatch
import IdentityClient
import Synchronization

/// Waits for asynchronous work in a synchronous method.
///
/// The work runs on its own queue, not on the cooperative pool: the waiting thread may be one of the pool's, which has only
/// as many as the machine has processors.
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

private final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "llavero.msal.blocking")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in
      // The queue runs each job once, as the executor has promised.
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
