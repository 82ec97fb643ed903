import Dispatch
import GLibSupport
import Glibc
import Synchronization
import Testing

private enum QueueError: Error, Equatable {
  case cancelled, timedOut, failed
}

extension BlockingQueue {
  fileprivate func run<T: Sendable>(
    timeout: Duration = .seconds(600), _ work: @escaping @Sendable (Cancellable) throws(QueueError) -> T
  ) async throws(QueueError) -> T {
    try await run(timeout: timeout, onCancel: .cancelled, onTimeout: .timedOut, work)
  }
}

/// Something that threads can wait for.
private final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  func open() { semaphore.signal() }
  func pass() { semaphore.wait() }
}

@Suite(.timeLimit(.minutes(20)))
struct BlockingQueueTests {
  @Test func `Work returns its result or its error`() async throws {
    let queue = BlockingQueue(label: "test")
    #expect(try await queue.run { (_) throws(QueueError) in 42 } == 42)
    await #expect(throws: QueueError.failed) {
      try await queue.run { (_) throws(QueueError) -> Int in throw .failed }
    }
  }

  @Test func `A deadline that has passed is not put off by another call's`() async {
    let (stuck, gate) = (BlockingQueue(label: "test"), Gate())
    defer { gate.open() }
    await withCheckedContinuation { hasBegun in
      Task {
        try? await stuck.run { (_) throws(QueueError) in
          hasBegun.resume()
          gate.pass()
        }
      }
    }
    let others = Task {
      let queue = BlockingQueue(label: "others")
      while !Task.isCancelled {
        try? await queue.run(timeout: .seconds(86_400)) { (_) throws(QueueError) in }
      }
    }
    for _ in 0..<200 {
      await #expect(throws: QueueError.timedOut) {
        try await stuck.run(timeout: .milliseconds(5)) { (_) throws(QueueError) in }
      }
    }
    others.cancel()
  }

  @Test func `Calls that wait for others leave threads to those that are waited for`() async throws {
    let gate = Gate()
    try await withThrowingTaskGroup { group in
      // More than Dispatch has threads.
      for _ in 0..<300 {
        let queue = BlockingQueue(label: "test", waitsForOthers: true)
        group.addTask { try await queue.run { (_) throws(QueueError) in gate.pass() } }
      }
      defer { for _ in 0..<300 { gate.open() } }
      for _ in 0..<10 {
        let answer = try await BlockingQueue(label: "test").run(timeout: .seconds(60)) {
          (_) throws(QueueError) in 42
        }
        #expect(answer == 42)
      }
    }
  }

  @Test func `While calls block the cooperative pool is free`() async throws {
    let gate = Gate()
    try await withThrowingTaskGroup { group in
      // More than the pool has threads on any usual machine.
      for _ in 0..<64 {
        let queue = BlockingQueue(label: "test")
        group.addTask { try await queue.run { (_) throws(QueueError) in gate.pass() } }
      }
      // These can only run if some thread of the pool is free.
      for _ in 0..<10 { await Task.yield() }
      await Task.detached { for _ in 0..<64 { gate.open() } }.value
      try await group.waitForAll()
    }
  }

  @Test func `A cancelled task resumes although its work is stuck`() async {
    let queue = BlockingQueue(label: "test")
    let gate = Gate()
    let isRunning = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await queue.run { (_) throws(QueueError) in
        isRunning.continuation.yield()
        gate.pass()
      }
    }
    for await _ in isRunning.stream { break }
    task.cancel()
    await #expect(throws: QueueError.cancelled) { try await task.value }
    gate.open()
  }

  @Test func `A task that was cancelled before never runs its work`() async {
    let queue = BlockingQueue(label: "test")
    let hasRun = Atomic(false)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await queue.run { (_) throws(QueueError) in hasRun.store(true, ordering: .relaxed) }
    }
    await #expect(throws: QueueError.cancelled) { try await task.value }
    try? await queue.run { (_) throws(QueueError) in }
    let ran = hasRun.load(ordering: .relaxed)
    #expect(!ran)
  }

  @Test func `Each of several deadlines counts, whatever their order`() async throws {
    let gate = Gate()
    let long = Task { try await BlockingQueue(label: "test").run { (_) throws(QueueError) in gate.pass() } }
    // The timer is set for another time when the second group begins.
    for timeouts in [[80, 20, 50, 20], [20, 0]] {
      await withTaskGroup(of: Void.self) { group in
        for timeout in timeouts {
          group.addTask {
            await #expect(throws: QueueError.timedOut) {
              try await BlockingQueue(label: "test").run(timeout: .milliseconds(timeout)) {
                (_) throws(QueueError) in gate.pass()
              }
            }
          }
        }
      }
    }
    for _ in 0..<7 { gate.open() }
    try await long.value
  }

  @Test func `At the deadline the caller resumes and the work is cancelled`() async {
    let queue = BlockingQueue(label: "test")
    let cancelled = AsyncStream.makeStream(of: Void.self)
    let hasBegun = Atomic(false)
    // On a busy machine the deadline passes before the work begins, which then never does.
    while !hasBegun.load(ordering: .relaxed) {
      await #expect(throws: QueueError.timedOut) {
        try await queue.run(timeout: .milliseconds(20)) { (cancellable) throws(QueueError) in
          hasBegun.store(true, ordering: .relaxed)
          while !cancellable.isCancelled { usleep(1000) }
          cancelled.continuation.yield()
        }
      }
    }
    for await _ in cancelled.stream { break }
  }

  @Test func `Work that waited past its deadline is skipped`() async throws {
    let queue = BlockingQueue(label: "test")
    let gate = Gate()
    let hasRun = Atomic(false)
    let stuck = Task { try await queue.run { (_) throws(QueueError) in gate.pass() } }
    while true {
      // The stuck work may not have begun yet; once it has, this one never runs.
      do {
        try await queue.run(timeout: .milliseconds(20)) { (_) throws(QueueError) in }
      } catch {
        break
      }
    }
    await #expect(throws: QueueError.timedOut) {
      try await queue.run(timeout: .milliseconds(20)) { (_) throws(QueueError) in
        hasRun.store(true, ordering: .relaxed)
      }
    }
    gate.open()
    try await stuck.value
    try await queue.run { (_) throws(QueueError) in }
    let ran = hasRun.load(ordering: .relaxed)
    #expect(!ran)
  }

  @Test func `However a call ends, it ends once`() async {
    let queue = BlockingQueue(label: "test")
    // A continuation that is resumed twice, or never, ends the process or the time limit.
    await withTaskGroup { group in
      for number in 0..<2000 {
        group.addTask {
          let task = Task {
            try await queue.run(timeout: .microseconds(number)) { (_) throws(QueueError) in number }
          }
          if number % 3 == 0 { task.cancel() }
          let result = await task.result
          if case .success(let value) = result { #expect(value == number) }
        }
      }
    }
  }
}

@Suite(.timeLimit(.minutes(20)))
struct CancellableTests {
  @Test func `Waiting ends with a signal, a cancellation or the deadline`() {
    let signalled = DispatchSemaphore(value: 0)
    signalled.signal()
    #expect(Cancellable(timeout: .seconds(600)).wait(for: signalled))

    let cancelled = Cancellable(timeout: .seconds(600))
    DispatchQueue.global().async { cancelled.cancel() }
    #expect(!cancelled.wait(for: DispatchSemaphore(value: 0)))
    #expect(cancelled.isCancelled)
    #expect(!cancelled.wait(for: DispatchSemaphore(value: 0)))

    let late = Cancellable(timeout: .milliseconds(10))
    #expect(!late.wait(for: DispatchSemaphore(value: 0)))
    #expect(late.isPastDeadline)
  }

  @Test func `The deadline cancels what takes no timeout`() {
    let cancellable = Cancellable(timeout: .milliseconds(10))
    let endDeadline = cancellable.enforceDeadline()
    defer { endDeadline() }
    while !cancellable.isCancelled { sched_yield() }
    #expect(cancellable.isPastDeadline)
  }

  @Test func `The time left is at least one millisecond`() {
    #expect(Cancellable(timeout: .seconds(-5)).remainingMilliseconds == 1)
    #expect(Cancellable(timeout: .seconds(1 << 40)).remainingMilliseconds == Int32.max - 1)
    #expect((1_000_000...2_500_000).contains(Cancellable(timeout: .seconds(2500)).remainingMilliseconds))
  }
}
