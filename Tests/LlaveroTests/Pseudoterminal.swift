import TestSupport

/// The result of a program on a terminal.
struct Screening {
  let status: Int32
  let text: String
  /// Whether the terminal has its echo afterwards.
  let echoes: Bool

  /// The lines without control sequences for colours.
  var lines: [String] {
    text.replacing(/\u{1B}\[[0-9;]*m/, with: "").replacing("\r\n", with: "\n").split(separator: "\n")
      .map(String.init)
  }

  /// A row of a table with its cells cut, or padded, to the widths of their columns.
  static func row(_ cells: [String], _ widths: [Int]) -> String {
    zip(cells, widths).map { cell, width -> String in
      if cell.count > width { return String(cell.prefix(width - 1)) + "…" }
      return cell + String(repeating: " ", count: width - cell.count)
    }.joined(separator: "  ")
  }

  /// Expects an exit code, texts that the terminal shows or hides, and its echo afterwards.
  @discardableResult
  func exits(
    _ status: Int32, saying words: String..., hiding hidden: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Self {
    #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
    for word in words { #expect(text.contains(word), "\(text)", sourceLocation: sourceLocation) }
    for word in hidden { #expect(!text.contains(word), "\(text)", sourceLocation: sourceLocation) }
    #expect(echoes, "\(text)", sourceLocation: sourceLocation)
    return self
  }
}

extension Tool {
  /// Runs a command in the tool's group on a terminal of its own, which echoes what the person types: something at
  /// once, and answers to questions, a control character without the Enter. `asked` is called before each answer with the
  /// tool's process.
  func onTerminal(
    _ arguments: String..., columns: Int = 80, typing: String = "", answering: [String] = [],
    with changes: [String: String?] = [:], asked: (pid_t) throws -> Void = { _ in }
  ) throws -> Screening {
    var answers = answering[...]
    return try onTerminal(
      inGroup(arguments), columns: columns, typing: typing, with: changes
    ) { _, process in
      guard let answer = answers.popFirst() else { return nil }
      try asked(#require(process(), "The tool has ended."))
      return answer.unicodeScalars.last.map { $0.value < 32 } == true ? answer : answer + "\n"
    }
  }

  /// Runs a command on a terminal of its own. `answer` says what the person types at each question, for which it gets
  /// what the terminal has shown so far and, if it asks for that, the tool's process; `nil` once it has ended.
  func onTerminal(
    _ arguments: [String], columns: Int = 80, typing: String = "", with changes: [String: String?] = [:],
    answer: (_ shown: String, _ process: @escaping () -> pid_t?) throws -> String?
  ) throws -> Screening {
    let main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    defer { close(main) }
    // ioctl_tty(2): TIOCSPTLCK and TIOCGPTN, macros that Swift does not import.
    var (unlocked, number) = (Int32(0), Int32(-1))
    guard ioctl(main, 0x4004_5431, &unlocked) == 0, ioctl(main, 0x8004_5430, &number) == 0 else {
      throw SetUpFailure("no pseudoterminal: \(String(cString: strerror(errno)))")
    }
    let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var size = winsize(ws_row: 50, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(main, UInt(TIOCSWINSZ), &size)
    // In a session of its own: /dev/tty must be this terminal, not that of the tests.
    let child = try Child(
      "setsid", ["--ctty", "--wait", Self.path] + arguments, environment: environment(with: changes),
      streams: (terminal, terminal, terminal))
    close(terminal)
    var typed = Array(typing.utf8)[...]

    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      var event = pollfd(fd: main, events: Int16(typed.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0)
      let isReady = poll(&event, 1, 300_000) > 0
      if !isReady { child.end() }
      try #require(isReady, "The tool was silent for 300 s.")
      if Int32(event.revents) & POLLOUT != 0, !typed.isEmpty {
        // A paste may exceed the terminal's buffer.
        let count = typed.withUnsafeBytes { write(main, $0.baseAddress, $0.count) }
        typed = typed.dropFirst(max(count, 0))
      }
      // EIO: the last descriptor of the terminal was closed.
      let count = read(main, &buffer, buffer.count)
      if count < 0 && errno == EAGAIN { continue }
      guard count > 0 else { break }
      output += buffer[..<count]
      // Text typed before a prompt for a secret is discarded.
      let question = String(decoding: output.suffix(2), as: UTF8.self)
      if [": ", "] "].contains(question),
        let answer = try answer(String(decoding: output, as: UTF8.self), { Self.child(of: child.pid) })
      {
        typed += Array(answer.utf8)
      }
    }
    var settings = termios()
    let echoes = tcgetattr(main, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    return Screening(status: child.wait(), text: String(decoding: output, as: UTF8.self), echoes: echoes)
  }

  /// The one process that another has started; `nil` once it has ended.
  private static func child(of process: pid_t) -> pid_t? {
    let children = try? Data(contentsOf: URL(filePath: "/proc/\(process)/task/\(process)/children"))
    return String(decoding: children ?? Data(), as: UTF8.self).split(separator: " ").first
      .flatMap { pid_t($0) }
  }
}
