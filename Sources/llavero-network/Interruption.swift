import Dispatch
import Glibc

/// Ctrl-C, or a request to end.
enum Interruption {
  /// Runs `body` in a task that an interruption cancels, so that it can clean up. The second one ends the process.
  ///
  /// Signals that the process was started to ignore stay ignored.
  @MainActor static func cancels(_ body: @escaping @Sendable () async -> Void) async {
    let numbers = [SIGINT, SIGTERM].filter { !isIgnored($0) }
    // Threads inherit this, so that a signal waits until it is taken here. Unlike with a handler, nothing of it is
    // left in the programs that the process starts.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in numbers { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let task = Task.detached { await body() }
    DispatchQueue(label: "llavero.interruption").async { [signals] in
      var (signals, number) = (signals, Int32(0))
      guard !numbers.isEmpty, unsafe sigwait(&signals, &number) == 0 else { return }
      task.cancel()
      unsafe sigwait(&signals, &number)
      _exit(128 + number)
    }
    await task.value
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
