import GLibSupport
import Glibc
import MSALExtensionsStore
import Synchronization

/// SIGINT, SIGTERM and SIGHUP. Signals that the process was started to ignore stay ignored.
enum Interruption {
  private static let isCancelling = Atomic(false)
  /// The process that signals go to: 0 for none, negative while it is being started.
  private static let command = Atomic<pid_t>(0)

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

  /// Starts a command in the foreground, which signals go to until ``endPassing()``.
  static func passing(
    to start: @autoclosure () throws(GLibError) -> ChildProcess
  ) throws(GLibError) -> ChildProcess {
    command.store(-1, ordering: .sequentiallyConsistent)
    do {
      let process = try start()
      command.store(process.id, ordering: .sequentiallyConsistent)
      return process
    } catch {
      endPassing()
      throw error
    }
  }

  static func endPassing() { command.store(0, ordering: .sequentiallyConsistent) }

  /// The next signal that is not for the command.
  private static func next(of signals: sigset_t) -> Int32 {
    var signals = signals
    while true {
      var information = unsafe siginfo_t()
      let number = unsafe sigwaitinfo(&signals, &information)
      var command = command.load(ordering: .sequentiallyConsistent)
      while command < 0 {
        usleep(1000)
        command = Self.command.load(ordering: .sequentiallyConsistent)
      }
      if number > 0, command == 0 { return number }
      // The kernel sends those of a terminal to the command, too.
      if number > 0, unsafe information.si_code <= 0 { kill(command, number) }
    }
  }

  /// Lets signals have their default effect until ``beginCancelling()``. Then the first cancels the task, and the second ends
  /// the process, as the first does while the task waits for an answer.
  static func wait(for signals: sigset_t, cancelling task: Task<Never, Never>) -> Never {
    var signals = signals
    var number = next(of: signals)
    while !isCancelling.load(ordering: .sequentiallyConsistent) {
      PeerLock.removeAllFiles()
      if isLost(number) { _exit(128 + number) }
      raise(number)
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      number = next(of: signals)
    }
    if !Terminal.isAsking {
      task.cancel()
      // timeout(1) sends its signal twice, to the process and to its group.
      let first = ContinuousClock.now
      repeat { number = next(of: signals) } while .now - first < .milliseconds(300)
    }
    Terminal.restoreEcho()
    PeerLock.removeAllFiles()
    _exit(128 + number)
  }
}
