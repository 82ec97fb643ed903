import CGLib
import Glibc

/// A program that was started without a shell, in a session of its own: a terminal's Ctrl-C does not end it.
package struct ChildProcess: Sendable {
  private let id: pid_t

  /// Starts a program, which is looked up in this process's PATH unless its name has a slash.
  ///
  /// It gets the descriptors that are named as its standard streams, and `/dev/null` as the others. With `survivesReader` it finds
  /// SIGPIPE ignored, so that it lives on when nobody reads that output any more. No other descriptor of this process
  /// reaches it, whoever opened that and however: GLib closes them between fork and exec.
  /// - Throws: ``GLibError`` when it cannot be started.
  package init(
    _ command: [String], environment: [String: String], input: Int32? = nil, output: Int32? = nil,
    errors: Int32? = nil, survivesReader: Bool = false
  ) throws(GLibError) {
    let silent =
      (output == nil ? FLAG_G_SPAWN_STDOUT_TO_DEV_NULL.rawValue : 0)
      | (errors == nil ? FLAG_G_SPAWN_STDERR_TO_DEV_NULL.rawValue : 0)
    let flags = GSpawnFlags(
      rawValue: FLAG_G_SPAWN_SEARCH_PATH.rawValue | FLAG_G_SPAWN_DO_NOT_REAP_CHILD.rawValue | silent)
    var arguments = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (arguments + variables).forEach { free($0) } }
    var id: pid_t = 0
    _ = try withGError {
      g_spawn_async_with_fds(
        nil, &arguments, &variables, flags, survivesReader ? leaveSessionAndReader : leaveSession, nil, &id,
        input ?? -1, output ?? -1, errors ?? -1, $0)
    }
    self.id = id
  }

  /// Waits for its end, once.
  ///
  /// - Returns: The exit status, `nil` when a signal ended it.
  package func wait() -> Int32? {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 && errno == EINTR {}
    return status & 0x7f == 0 ? status >> 8 & 0xff : nil
  }

  /// Waits for its end, once, and kills it when the deadline passes before.
  ///
  /// - Returns: The exit status, `nil` when a signal ended it.
  package func wait(_ cancellable: Cancellable) -> Int32? {
    // Not reaped: the id stays its own until wait() takes it.
    var end = siginfo_t()
    while waitid(P_PID, id_t(id), &end, WEXITED | WNOHANG | WNOWAIT) == 0, end.si_signo == 0 {
      if cancellable.isPastDeadline { kill() }
      usleep(5000)
    }
    return wait()
  }

  package func kill() { Glibc.kill(id, SIGKILL) }
}

/// Runs in the child before the program does. The thread that starts it may have blocked signals, and the program would
/// inherit that, so that nobody could end it.
private let leaveSession: GSpawnChildSetupFunc = { _ in
  setsid()
  var noSignals = sigset_t()
  sigemptyset(&noSignals)
  sigprocmask(SIG_SETMASK, &noSignals, nil)
}

private let leaveSessionAndReader: GSpawnChildSetupFunc = { data in
  leaveSession(data)
  signal(SIGPIPE, SIG_IGN)
}
