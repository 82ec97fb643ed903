import Dispatch

/// Runs a task on a queue of its own, not on the cooperative pool, which has only as many threads as the machine has processors:
/// for a task that one of these may wait for.
package final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "llavero.task")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in
      // The queue runs each job once, as the executor has promised.
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
