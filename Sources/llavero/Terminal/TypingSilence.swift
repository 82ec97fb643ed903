import GLibSupport
import Glibc
import Synchronization

/// A terminal that does not show what is typed, until ``end()``.
///
/// However the process ends meanwhile, by a signal, too, the terminal is as it was before; kill -9 alone leaves it silent.
/// A signal that would end the process waits until it is taken. There is one silence at a time.
struct TypingSilence: Sendable {
  enum Event {
    case typing
    case signal(Int32)
    /// ``wake()`` was called.
    case wake
  }

  private let terminal: Int32
  private let pipe: (reading: Int32, writing: Int32)
  /// Those before; `nil` is the system's.
  private let handlers: [(number: Int32, handler: (@convention(c) (Int32) -> Void)?)]

  /// Begins the silence; `nil` where there is no terminal.
  ///
  /// - Parameters:
  ///   - terminal: An open terminal.
  ///   - inLines: Whether it collects lines of 4095 bytes at most, as it usually does.
  init?(_ terminal: Int32, inLines: Bool) {
    guard unsafe tcgetattr(terminal, settings) == 0, let pipe = openPipe() else { return nil }
    self.terminal = terminal
    self.pipe = pipe
    unsafe signalEnd = pipe.writing
    handlers = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].filter { !isIgnored($0) }
      .map { ($0, signal($0, noteSignal)) }
    unsafe silencedTerminal = terminal
    atexit { Terminal.showTyping() }
    isSilent.store(true, ordering: .sequentiallyConsistent)
    var silent = unsafe settings.pointee
    silent.c_lflag &= ~tcflag_t(inLines ? ECHO : ECHO | ICANON)
    unsafe withUnsafeMutableBytes(of: &silent.c_cc) {
      // If the process is stopped here, its terminal would stay silent.
      unsafe $0[Int(VSUSP)] = 0
      guard !inLines else { return }
      unsafe $0[Int(VMIN)] = 1
      unsafe $0[Int(VTIME)] = 0
    }
    unsafe tcsetattr(terminal, TCSAFLUSH, &silent)
  }

  /// Blocks until there is something to read, a signal has come, or ``wake()`` was called.
  ///
  /// - Parameter milliseconds: How long at most; without an end unless it is given.
  /// - Returns: `nil` when nothing came in time.
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

  /// Lets the terminal show again what is typed, and throws away what was not read.
  func end() {
    Terminal.showTyping()
    for (number, handler) in handlers { _ = signal(number, handler) }
    for end in [pipe.reading, pipe.writing] { close(end) }
  }

  /// Ends the silence, and then the process as the signal would have.
  func end(by number: Int32) {
    end()
    kill(getpid(), number)
    // Another thread may be the one to take it.
    pause()
  }
}

extension Terminal {
  /// Lets the terminal show again what is typed, if a question for a secret has changed that. For code that ends the process
  /// while another thread asks.
  static func showTyping() {
    guard isSilent.exchange(false, ordering: .sequentiallyConsistent) else { return }
    unsafe tcsetattr(silencedTerminal, TCSAFLUSH, settings)
  }
}

/// While it is true the three below do not change.
private let isSilent = Atomic(false)
nonisolated(unsafe) private var silencedTerminal: Int32 = -1
/// The terminal's settings before the silence. On the heap: Swift 6.3 gives a variable of this type, here, three bytes less
/// than the type has.
nonisolated(unsafe) private let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
/// Where a signal's handler, which may do little else, writes its number.
nonisolated(unsafe) private var signalEnd: Int32 = -1

private let noteSignal: @convention(c) (Int32) -> Void = { number in
  var byte = UInt8(truncatingIfNeeded: number)
  _ = unsafe write(signalEnd, &byte, 1)
}
