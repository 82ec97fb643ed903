import Glibc
import Synchronization

/// Ctrl-C, a request to end, or the end of the terminal. Signals that the process was started to ignore stay ignored.
enum Interruption {
  private static let isCancelling = Atomic(false)

  /// Blocks these signals in the calling thread and all that it starts, so that they wait until they are taken.
  /// Programs that the process starts do not inherit that.
  static func block() -> sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    return signals
  }

  /// Makes the first interruption from now on cancel the command's task, so that it can clean up.
  static func beginCancelling() { isCancelling.store(true, ordering: .sequentiallyConsistent) }

  /// Lets interruptions act as they do by themselves, until they are to cancel the task. The second then ends the process,
  /// and so does the first where the task waits for an answer.
  static func wait(for signals: sigset_t, cancelling task: Task<Never, Never>) -> Never {
    var signals = signals
    var number: Int32 = 0
    unsafe sigwait(&signals, &number)
    while !isCancelling.load(ordering: .sequentiallyConsistent) {
      raise(number)
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      unsafe sigwait(&signals, &number)
    }
    if !Terminal.isAsking {
      task.cancel()
      unsafe sigwait(&signals, &number)
    }
    Terminal.showTyping()
    _exit(128 + number)
  }
}
