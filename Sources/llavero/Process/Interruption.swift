import Glibc
import MSALExtensionsStore
import Synchronization

/// SIGINT, SIGTERM and SIGHUP. Signals that the process was started to ignore stay ignored.
enum Interruption {
  private static let isCancelling = Atomic(false)

  /// Blocks these signals in the calling thread and all threads that it starts, so that they stay pending for
  /// ``wait(for:cancelling:)``. Child processes do not inherit that.
  static func block() -> sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    return signals
  }

  /// Makes the next signal cancel the command's task, so that it can clean up.
  static func beginCancelling() { isCancelling.store(true, ordering: .sequentiallyConsistent) }

  /// Lets signals have their default effect until ``beginCancelling()``. Then the first cancels the task, and the second ends
  /// the process, as the first does while the task waits for an answer.
  static func wait(for signals: sigset_t, cancelling task: Task<Never, Never>) -> Never {
    var signals = signals
    var number: Int32 = 0
    unsafe sigwait(&signals, &number)
    while !isCancelling.load(ordering: .sequentiallyConsistent) {
      PeerLock.removeAllFiles()
      if isLost(number) { _exit(128 + number) }
      raise(number)
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      unsafe sigwait(&signals, &number)
    }
    if !Terminal.isAsking {
      task.cancel()
      // timeout(1) sends its signal twice, to the process and to its group.
      let first = ContinuousClock.now
      repeat { unsafe sigwait(&signals, &number) } while .now - first < .milliseconds(300)
    }
    Terminal.restoreEcho()
    PeerLock.removeAllFiles()
    _exit(128 + number)
  }
}
