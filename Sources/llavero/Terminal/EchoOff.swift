import GLibSupport
import Glibc
import Synchronization

/// A terminal without an echo, until ``end()``.
///
/// If the process ends meanwhile, also by a signal, the terminal's settings are restored; only SIGKILL leaves it without an
/// echo. A signal that would end the process stays pending until it is read. There is one such terminal at a time.
struct EchoOff: Sendable {
  enum Event: Equatable {
    case typing
    case signal(Int32)
    /// ``wake()`` was called.
    case wake
  }

  private let terminal: Int32
  private let pipe: (reading: Int32, writing: Int32)
  /// The handlers before; `nil` is the default.
  private let handlers: [(number: Int32, handler: (@convention(c) (Int32) -> Void)?)]

  /// Turns the echo off; `nil` where the descriptor is not a terminal. In lines means in canonical mode, in which they have
  /// 4095 bytes at most.
  init?(_ terminal: Int32, inLines: Bool) {
    guard unsafe tcgetattr(terminal, settings) == 0, let pipe = openPipe() else { return nil }
    self.terminal = terminal
    self.pipe = pipe
    unsafe signalEnd = pipe.writing
    handlers = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].filter { !isIgnored($0) }
      .map { ($0, signal($0, noteSignal)) }
    unsafe echolessTerminal = terminal
    atexit { Terminal.restoreEcho() }
    isEchoOff.store(true, ordering: .sequentiallyConsistent)
    var echoless = unsafe settings.pointee
    echoless.c_lflag &= ~tcflag_t(inLines ? ECHO : ECHO | ICANON)
    unsafe withUnsafeMutableBytes(of: &echoless.c_cc) {
      // A process that is stopped here would leave its terminal without an echo.
      unsafe $0[Int(VSUSP)] = 0
      guard !inLines else { return }
      unsafe $0[Int(VMIN)] = 1
      unsafe $0[Int(VTIME)] = 0
    }
    unsafe tcsetattr(terminal, TCSAFLUSH, &echoless)
  }

  /// Blocks until there is input, a signal has come, or ``wake()`` was called; `nil` after the timeout, if there is one.
  func wait(milliseconds: Int32 = -1) -> Event? {
    var events = [terminal, pipe.reading].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var count: Int32
    repeat { count = unsafe poll(&events, 2, milliseconds) } while count < 0 && errno == EINTR
    if count == 0 { return nil }
    var number: UInt8 = 0
    guard events[1].revents != 0, unsafe read(pipe.reading, &number, 1) == 1 else { return .typing }
    return number == 0 ? .wake : .signal(Int32(number))
  }

  /// Ends a ``wait()``, now or the next one, from any thread.
  func wake() { noteSignal(0) }

  /// Turns the echo on again, and discards unread input.
  func end() {
    Terminal.restoreEcho()
    for (number, handler) in handlers { _ = signal(number, handler) }
    for end in [pipe.reading, pipe.writing] { close(end) }
  }

  /// Turns the echo on again, and ends the process as the signal would have.
  func end(by number: Int32) {
    end()
    if isLost(number) { _exit(128 + number) }
    kill(getpid(), number)
    // Another thread may receive the signal.
    pause()
  }
}

extension Terminal {
  /// Turns the echo on again, if a prompt for a secret has turned it off. For code that ends the process while another thread
  /// prompts.
  static func restoreEcho() {
    guard isEchoOff.exchange(false, ordering: .sequentiallyConsistent) else { return }
    unsafe tcsetattr(echolessTerminal, TCSAFLUSH, settings)
  }
}

/// While it is true, the three variables below do not change.
private let isEchoOff = Atomic(false)
nonisolated(unsafe) private var echolessTerminal: Int32 = -1
/// The terminal's settings before. On the heap: Swift 6.3 gives a variable of this type, here, three bytes less than the type
/// has.
nonisolated(unsafe) private let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
/// The descriptor that the signal handler, which may do little else, writes the signal's number to.
nonisolated(unsafe) private var signalEnd: Int32 = -1

private let noteSignal: @convention(c) (Int32) -> Void = { number in
  var byte = UInt8(truncatingIfNeeded: number)
  _ = unsafe write(signalEnd, &byte, 1)
}
