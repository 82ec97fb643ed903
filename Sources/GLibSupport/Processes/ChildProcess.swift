import CGLib
import Glibc

/// A program started without a shell, looked up in this process's PATH unless its name has a slash.
package struct ChildProcess: Sendable {
  package let id: Int32

  /// Starts a program in a session of its own: Ctrl-C in the terminal does not end it.
  ///
  /// It gets the given descriptors as its standard streams, and `/dev/null` for the others. With `survivesReader` it
  /// ignores SIGPIPE, so that it keeps running after the reader of its output has gone. It inherits no other descriptor:
  /// GLib closes all of them between fork and exec.
  /// - Throws: ``GLibError`` when it cannot be started.
  package init(
    _ command: [String], environment: [String: String], input: Int32? = nil, output: Int32? = nil,
    errors: Int32? = nil, survivesReader: Bool = false
  ) throws(GLibError) {
    let silent =
      (output == nil ? FLAG_G_SPAWN_STDOUT_TO_DEV_NULL.rawValue : 0)
      | (errors == nil ? FLAG_G_SPAWN_STDERR_TO_DEV_NULL.rawValue : 0)
    try self.init(
      command, environment, flags: silent, streams: (input, output, errors),
      survivesReader ? leaveSessionAndReader : leaveSession)
  }

  /// Starts a program with the terminal, standard streams and other descriptors of this process.
  ///
  /// - Throws: ``GLibError`` when it cannot be started.
  package init(inForeground command: [String], environment: [String: String]) throws(GLibError) {
    try self.init(
      command, environment,
      flags: FLAG_G_SPAWN_LEAVE_DESCRIPTORS_OPEN.rawValue | FLAG_G_SPAWN_CHILD_INHERITS_STDIN.rawValue,
      streams: (nil, nil, nil), { _ in unblockSignals() })
  }

  private init(
    _ command: [String], _ environment: [String: String], flags: UInt32,
    streams: (input: Int32?, output: Int32?, errors: Int32?), _ setup: GSpawnChildSetupFunc
  ) throws(GLibError) {
    let flags = GSpawnFlags(
      rawValue: FLAG_G_SPAWN_SEARCH_PATH.rawValue | FLAG_G_SPAWN_DO_NOT_REAP_CHILD.rawValue | flags)
    var arguments = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (arguments + variables).forEach { free($0) } }
    var id: Int32 = 0
    _ = try withGError {
      g_spawn_async_with_fds(
        nil, &arguments, &variables, flags, setup, nil, &id, streams.input ?? -1, streams.output ?? -1,
        streams.errors ?? -1, $0)
    }
    self.id = id
  }

  /// Waits for the program to end. Call it once.
  ///
  /// - Returns: The exit status; 128 and the signal's number if a signal ended it, as in a shell.
  package func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 && errno == EINTR {}
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }

  /// Waits for the program to end and kills it at the deadline. Call it once.
  ///
  /// - Returns: As ``wait()`` does.
  package func wait(_ cancellable: Cancellable) -> Int32 {
    // Not reaped: the process ID is not reused before wait().
    var end = siginfo_t()
    while waitid(P_PID, id_t(id), &end, WEXITED | WNOHANG | WNOWAIT) == 0, end.si_signo == 0 {
      if cancellable.isPastDeadline { kill() }
      usleep(5000)
    }
    return wait()
  }

  package func kill() { Glibc.kill(id, SIGKILL) }
}

/// Runs in the child before the program. The starting thread may have blocked signals; a program that inherited the mask
/// could not be ended.
private func unblockSignals() {
  var noSignals = sigset_t()
  sigemptyset(&noSignals)
  sigprocmask(SIG_SETMASK, &noSignals, nil)
}

private let leaveSession: GSpawnChildSetupFunc = { _ in
  setsid()
  unblockSignals()
}

private let leaveSessionAndReader: GSpawnChildSetupFunc = { data in
  leaveSession(data)
  signal(SIGPIPE, SIG_IGN)
}

/// Runs a program to its end and returns its standard output.
///
/// Blocks, at most until the deadline, at which the program is killed. A name without a slash is looked up in PATH;
/// `variables` are added to the environment. `input` is its standard input and `errors` its standard error (default:
/// discarded).
/// - Throws: ``GLibError`` when the program cannot be started, fails, or does not end in time.
package func outputOfCommand(
  _ command: [String], variables: [String: String] = [:], input: Int32? = nil, errors: Int32? = nil,
  _ cancellable: Cancellable
) throws(GLibError) -> String {
  guard let pipe = openPipe() else { throw .outOfDescriptors }
  defer { close(pipe.reading) }
  let started = Result<ChildProcess, GLibError>(
    calling: try ChildProcess(
      command, environment: processEnvironment().merging(variables) { $1 }, input: input,
      output: pipe.writing, errors: errors))
  close(pipe.writing)
  let process = try started.get()
  var output: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  var isAtEnd = false
  while !isAtEnd {
    var event = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, cancellable.remainingMilliseconds) > 0 || errno == EINTR,
      !cancellable.isPastDeadline
    else {
      process.kill()
      _ = process.wait()
      throw .unexplained
    }
    let count = event.revents == 0 ? -1 : read(pipe.reading, &buffer, buffer.count)
    output += buffer.prefix(max(count, 0))
    isAtEnd = count == 0
  }
  guard process.wait(cancellable) == 0 else { throw .unexplained }
  return String(decoding: output, as: UTF8.self)
}

/// Makes a pipe whose ends no child inherits; `nil` on failure, with `errno` set.
package func openPipe() -> (reading: Int32, writing: Int32)? {
  var ends: [Int32] = [-1, -1]
  return g_unix_open_pipe(&ends, FD_CLOEXEC, nil) != 0 ? (ends[0], ends[1]) : nil
}
