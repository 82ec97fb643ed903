import Dispatch
import Glibc
import GLibSupport
import Testing

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
    cancellable.enforcingDeadline {
      while !cancellable.isCancelled { sched_yield() }
    }
    #expect(cancellable.isPastDeadline)
  }

  @Test func `The time left is at least one millisecond`() {
    #expect(Cancellable(timeout: .seconds(-5)).remainingMilliseconds == 1)
    #expect(Cancellable(timeout: .seconds(1 << 40)).remainingMilliseconds == Int32.max - 1)
    #expect((1_000_000...2_500_000).contains(Cancellable(timeout: .seconds(2500)).remainingMilliseconds))
  }
}
