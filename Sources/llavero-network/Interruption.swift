import Glibc
import ToolSupport

/// Ctrl-C, a request to end, or the end of the terminal. Signals that the process was started to ignore stay ignored.
enum Interruption {
  /// Blocks these signals in the calling thread and all that it starts, so that they wait until they are taken.
  /// Programs that the process starts do not inherit that.
  static func block() -> sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    return signals
  }

  /// Cancels a task at the first interruption, so that it can clean up, and ends the process at the second, or at once
  /// where the task waits for an answer.
  static func wait(for signals: sigset_t, cancelling task: Task<Never, Never>) -> Never {
    var signals = signals
    var number: Int32 = 0
    unsafe sigwait(&signals, &number)
    if !Terminal.isAsking {
      task.cancel()
      unsafe sigwait(&signals, &number)
    }
    Terminal.showTyping()
    _exit(128 + number)
  }
}
