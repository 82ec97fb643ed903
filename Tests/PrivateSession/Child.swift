import Foundation
public import Glibc

/// A child process and its standard streams.
///
/// Started with `posix_spawn`. The descriptors of the test process are closed in it.
///
/// When it ends it is waited for at once, on a thread of its own: Swift Testing does not see the end of its own children
/// as long as there is another one that has ended.
public final class Child: Sendable {
  /// A program that did not end.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  public struct Result: Sendable {
    /// The exit status, or 128 and the signal's number.
    public let status: Int32
    public let standardOutput: String
    public let standardError: String
  }

  /// The environment of a program that needs only PATH.
  public static let plain = ["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]

  public let pid: pid_t
  private let status = Watched<Int32?>(nil)

  /// Starts a program, which is looked up in the child's PATH, then in the test process's, unless it has a slash.
  ///
  /// The child joins the process group `group`; 0 makes a new one. A stream that is nil is `/dev/null`; standard error is
  /// added to the file `log` where one is named.
  ///
  /// - Throws: ``SetUpFailure`` when it cannot be started.
  public init(
    _ program: String, _ arguments: [String], environment: [String: String] = plain, group: pid_t = 0,
    streams: (input: Int32?, output: Int32?, error: Int32?) = (nil, nil, nil), log: String? = nil
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (target, source) in [(Int32(0), streams.input), (1, streams.output), (2, streams.error)] {
      if let source {
        posix_spawn_file_actions_adddup2(&actions, source, target)
      } else {
        posix_spawn_file_actions_addopen(&actions, target, "/dev/null", target == 0 ? O_RDONLY : O_WRONLY, 0)
      }
    }
    if let log {
      posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var noSignals = sigset_t()
    sigemptyset(&noSignals)
    posix_spawnattr_setsigmask(&attributes, &noSignals)
    // A shell's job in the background, or one under nohup, ignores them, and its children would, too.
    var defaultSignals = sigset_t()
    sigemptyset(&defaultSignals)
    for signal in [SIGHUP, SIGINT, SIGQUIT] { sigaddset(&defaultSignals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &defaultSignals)
    posix_spawnattr_setpgroup(&attributes, group)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let environment = environment.merging(Self.sanitizing) { own, _ in own }
    let path = Self.path(of: program, in: environment)
    var pid: pid_t = 0
    let code = withCStrings([program] + arguments) { argv in
      withCStrings(environment.map { "\($0.key)=\($0.value)" }) { envp in
        posix_spawnp(&pid, path, &actions, &attributes, argv, envp)
      }
    }
    if code != 0 { throw SetUpFailure("\(program) cannot be started: \(String(cString: strerror(code)))") }
    self.pid = pid
    Thread.detachNewThread { [pid, status] in
      var information = siginfo_t()
      while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
      // Under the lock, so that no signal is sent meanwhile: the ID may soon be another process's.
      status.change { status in
        var raw: Int32 = 0
        waitpid(pid, &raw, 0)
        let signal = raw & 0x7f
        status = signal == 0 ? (raw >> 8) & 0xff : 128 + signal
      }
    }
  }

  /// Starts a program with pipes, and closes its ends of them here. Without `errors`, its standard error goes where the tests' own
  /// does, or into `log`.
  public static func piped(
    _ program: String, _ arguments: [String], environment: [String: String] = plain, group: pid_t = 0,
    input: Pipe? = nil, output: Pipe? = nil, errors: Pipe? = nil, log: String? = nil
  ) throws -> Child {
    defer {
      input?.closeReading()
      output?.closeWriting()
      errors?.closeWriting()
    }
    return try Child(
      program, arguments, environment: environment, group: group,
      streams: (input?.reading, output?.writing, errors?.writing ?? 2), log: log)
  }

  /// The path of a program in the child's PATH, by which Python finds its own modules; the name if it is not there.
  private static func path(of program: String, in environment: [String: String]) -> String {
    guard !program.contains("/"), let path = environment["PATH"] else { return program }
    return path.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 } ?? program
  }

  /// The variables of a run under a sanitizer (Tests/sanitize), for the children, too.
  package static let sanitizing: [String: String] = [
    "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "G_SLICE", "LD_PRELOAD", "SWIFT_BACKTRACE",
  ].reduce(into: [:]) { variables, name in
    if let value = getenv(name) { variables[name] = String(cString: value) }
  }

  /// Waits for the end of the process, and returns its exit status, or 128 and the signal's number.
  @discardableResult
  public func wait() -> Int32 {
    status.wait { $0 != nil }
    return status.read { $0 ?? 0 }
  }

  package var hasEnded: Bool { status.read { $0 != nil } }

  public func signal(_ number: Int32) {
    status.read { if $0 == nil { kill(pid, number) } }
  }

  /// Kills the process, and waits for its end.
  public func end() {
    signal(SIGKILL)
    wait()
  }

  /// Runs a program that must succeed and returns its output; throws when it fails.
  @discardableResult
  public static func output(
    _ program: String, _ arguments: [String], environment: [String: String] = plain, input: String = ""
  ) throws -> String {
    let result = try run(program, arguments, environment: environment, input: input)
    guard result.status == 0 else { throw SetUpFailure("\(program): \(result.standardError)") }
    return result.standardOutput
  }

  /// Runs a program to its end; kills it at the deadline, which is for programs that hang, not for slow ones.
  public static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = plain, input: String = "",
    deadline: Duration = .seconds(300)
  ) throws -> Result {
    let stdin = try Pipe()
    let stdout = try Pipe()
    let stderr = try Pipe()
    let child = try piped(
      program, arguments, environment: environment, input: stdin, output: stdout, errors: stderr)

    let end = ContinuousClock.now + deadline
    var pending = Array(input.utf8)[...]
    if pending.isEmpty { stdin.closeWriting() }
    var outputs: [[UInt8]] = [[], []]
    var open = [true, true]
    while open[0] || open[1] {
      let left = max((end - .now) / .milliseconds(1), 0)
      var descriptors = [
        pollfd(fd: open[0] ? stdout.reading : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: open[1] ? stderr.reading : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: pending.isEmpty ? -1 : stdin.writing, events: Int16(POLLOUT), revents: 0),
      ]
      if poll(&descriptors, 3, Int32(left)) == 0 {
        child.end()
        throw Failure(description: "\(program) was not done after \(deadline)")
      }
      for index in 0..<2 where descriptors[index].revents != 0 {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(descriptors[index].fd, &buffer, buffer.count)
        if count > 0 { outputs[index] += buffer[..<count] } else { open[index] = false }
      }
      if descriptors[2].revents != 0 {
        // At most PIPE_BUF bytes, which poll promised not to block.
        let part = Array(pending.prefix(4096))
        let count = write(stdin.writing, part, part.count)
        pending = count > 0 ? pending.dropFirst(count) : []
        if pending.isEmpty { stdin.closeWriting() }
      }
    }
    return Result(
      status: child.wait(),
      standardOutput: String(decoding: outputs[0], as: UTF8.self),
      standardError: String(decoding: outputs[1], as: UTF8.self))
  }
}

/// Calls `body` with a NULL-terminated array of C strings.
private func withCStrings<T>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> T
) -> T {
  var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return body(&pointers)
}
