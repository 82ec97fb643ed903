struct Waiter: Sendable {
  let endpoint: LabEndpoint
  let count: Int
  let continuation: CheckedContinuation<[LabLogEntry], Never>
}

extension LabState {
  func requests(to endpoint: LabEndpoint) -> [LabLogEntry] { log.filter { $0.endpoint == endpoint } }

  mutating func wait(_ waiter: Waiter) {
    waiters.append(waiter)
    resumeWaiters()
  }

  mutating func stop() {
    isStopped = true
    resumeWaiters()
  }

  /// Resumes callers whose requests have arrived, or all when the lab has stopped.
  mutating func resumeWaiters() {
    var waiting: [Waiter] = []
    for waiter in waiters {
      let entries = requests(to: waiter.endpoint)
      if isStopped || entries.count >= waiter.count {
        waiter.continuation.resume(returning: entries)
      } else {
        waiting.append(waiter)
      }
    }
    waiters = waiting
  }
}
