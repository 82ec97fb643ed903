import Glibc

/// Ctrl-C, or a request to end.
enum Interruption {
  /// Runs `body` in a task that an interruption cancels, so that it can clean up. The second one ends the
  /// process.
  ///
  /// To be called on the main thread, which waits here: an asynchronous main function would lend it to Dispatch,
  /// where it takes signals. Signals that the process was started to ignore stay ignored.
  static func cancels(_ body: @escaping @Sendable () async -> Void) -> Never {
    // All threads inherit this, so that a signal waits until it is taken here. Programs that the process starts
    // do not: the browser gets a mask of its own.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM] where !isIgnored(number) { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let task = Task.detached {
      await body()
      exit(EXIT_SUCCESS)
    }
    var number: Int32 = 0
    unsafe sigwait(&signals, &number)
    task.cancel()
    unsafe sigwait(&signals, &number)
    _exit(128 + number)
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
