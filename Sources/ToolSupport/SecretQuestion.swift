import GLibSupport
import Glibc
import SecretService
import Synchronization
import TokenCache

extension Terminal {
  /// Asks for a secret, which the terminal does not show.
  ///
  /// A signal that ends the process, Ctrl-C among them, acts at once, and finds the terminal as it was before.
  ///
  /// - Returns: What was typed, `nil` where there is no terminal.
  /// - Throws: `CacheError` of code `promptDismissed` after Ctrl-C or Ctrl-D.
  static func askSecretly(_ question: String) throws(CacheError) -> SecretBytes? {
    let own = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { if own >= 0 { close(own) } }
    let terminal = own >= 0 ? own : STDIN_FILENO
    guard unsafe tcgetattr(terminal, settings) == 0, let signals = openPipe() else { return nil }
    defer { for end in [signals.reading, signals.writing] { close(end) } }

    unsafe signalEnd = signals.writing
    let caught = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].filter { !isIgnored($0) }
    let handlers = caught.map { ($0, signal($0, noteSignal)) }
    unsafe silencedTerminal = terminal
    atexit { Terminal.showTyping() }
    isSilent.store(true, ordering: .sequentiallyConsistent)
    var silent = unsafe settings.pointee
    silent.c_lflag &= ~tcflag_t(ECHO)
    // Whoever stopped the process here would be left with a terminal that shows nothing.
    unsafe withUnsafeMutableBytes(of: &silent.c_cc) { unsafe $0[Int(VSUSP)] = 0 }
    unsafe tcsetattr(terminal, TCSAFLUSH, &silent)
    _ = writeAll(Array(question.utf8).span, to: own >= 0 ? own : STDERR_FILENO)
    let line = readLine(from: terminal, signals: signals.reading)
    showTyping()
    _ = writeAll([UInt8(ascii: "\n")].span, to: own >= 0 ? own : STDERR_FILENO)
    for (number, handler) in handlers { _ = signal(number, handler) }
    switch line {
    case .typed(var bytes):
      defer { wipe(&bytes) }
      return SecretBytes(copying: bytes)
    case .signal(let number) where number != SIGINT:
      kill(getpid(), number)
      // Another thread may be the one to take it.
      pause()
      fallthrough
    case .signal, .end:
      throw CacheError(.promptDismissed, "The question for the passphrase was cancelled.")
    }
  }

  private enum Line {
    /// Without the line's end.
    case typed([UInt8])
    case signal(Int32)
    case end
  }

  private static func readLine(from terminal: Int32, signals: Int32) -> Line {
    // A terminal's line is no longer.
    var line = [UInt8](repeating: 0, count: 4096)
    defer { wipe(&line) }
    var events = [terminal, signals].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while unsafe poll(&events, 2, -1) < 0 && errno == EINTR {}
    var number: UInt8 = 0
    if events[1].revents != 0, unsafe read(signals, &number, 1) == 1 { return .signal(Int32(number)) }
    let count = unsafe read(terminal, &line, line.count)
    guard count > 0 else { return .end }
    return .typed(Array(line[..<count].prefix { $0 != UInt8(ascii: "\n") }))
  }

  /// Lets the terminal show again what is typed, if a question for a secret has changed that. For whoever ends the process
  /// while another thread asks.
  package static func showTyping() {
    guard isSilent.exchange(false, ordering: .sequentiallyConsistent) else { return }
    unsafe tcsetattr(silencedTerminal, TCSAFLUSH, settings)
  }
}

/// While it is true the three below do not change.
private let isSilent = Atomic(false)
nonisolated(unsafe) private var silencedTerminal: Int32 = -1
/// The terminal's settings before the question. On the heap: Swift 6.3 gives a variable of this type, here, three bytes less
/// than the type has.
nonisolated(unsafe) private let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
/// Where a signal's handler, which may do little else, writes its number.
nonisolated(unsafe) private var signalEnd: Int32 = -1

private let noteSignal: @convention(c) (Int32) -> Void = { number in
  var byte = UInt8(truncatingIfNeeded: number)
  _ = unsafe write(signalEnd, &byte, 1)
}
