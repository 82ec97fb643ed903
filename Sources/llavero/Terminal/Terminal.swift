import GLibSupport
import Glibc
import Synchronization

/// What the tool prints, and where.
enum Terminal {
  static let output = Stream(STDOUT_FILENO)
  static let errors = Stream(STDERR_FILENO)
  static let isInput = isatty(STDIN_FILENO) == 1

  static func out(_ line: String) { output.write(line + "\n") }

  /// Prints an object of `--json`.
  static func out(_ members: Members) throws { out(try json(members)) }

  /// Prints a line to standard error: an error, a warning, or what a person must see to go on.
  static func error(_ line: String) { errors.write(line + "\n") }

  /// Prints a warning, which may quote untrusted text, to standard error.
  static func warn(_ text: String) { error("warning: " + printable(text)) }

  /// Whether `--quiet` hides notes and progress.
  static let isQuiet = hasFlag("quiet", "q")

  /// Whether `--verbose` shows the log.
  static let isVerbose = hasFlag("verbose", "v")

  private static func hasFlag(_ name: String, _ letter: Character) -> Bool {
    processOptions.contains {
      // The letters of all flags that have one.
      $0 == "--" + name
        || $0.hasPrefix("-") && $0.contains(letter) && $0.dropFirst().allSatisfy("hqvy".contains)
    }
  }

  /// Prints a line to standard error that a person can do without: a note or a hint.
  static func note(_ line: String) {
    if !isQuiet { error(line) }
  }

  /// Shows one line on a terminal, in place of the one before. An empty one clears it.
  static func status(_ text: String) {
    guard errors.isTerminal && !isDumb else { return }
    errors.write("\r\u{1B}[K" + text)
  }

  private static let asking = Atomic(false)

  /// Whether ``confirm(_:)`` waits for an answer. Only the end of the process interrupts that.
  static var isAsking: Bool { asking.load(ordering: .sequentiallyConsistent) }

  /// Asks a question that is answered with yes or no (default: no).
  static func confirm(_ question: String) -> Bool {
    asking.store(true, ordering: .sequentiallyConsistent)
    defer { asking.store(false, ordering: .sequentiallyConsistent) }
    errors.write(question + " [y/N] ")
    guard let answer = readLine()?.lowercased() else {
      errors.write("\n")
      return false
    }
    return answer == "y" || answer == "yes"
  }

  /// Throws where no person can confirm something: a `Failure` of code `interactionRequired`.
  static func requirePerson(_ outcome: String, advice: String) throws(Failure) {
    guard !isInput else { return }
    throw Failure(
      "confirmation_required", "\(outcome): confirmation required.", code: .interactionRequired,
      advice: advice)
  }

  /// Asks a question until the answer is valid. An empty answer is the proposal; the end of standard input cancels.
  static func ask<Answer>(
    _ question: String, _ proposal: String, _ answer: (String) -> Answer?
  ) throws(Failure) -> Answer {
    while true {
      errors.write(question + (proposal.isEmpty ? ": " : " [\(proposal)]: "))
      guard let line = readLine() else {
        errors.write("\n")
        throw .cancelled("The questions were not answered.")
      }
      if let answer = answer(line.isEmpty ? proposal : line) { return answer }
      error("Not a valid choice.")
    }
  }

  fileprivate static let isDumb = processEnvironment()["TERM"] == "dumb"
}

/// Standard output or standard error.
struct Stream: Sendable {
  let isTerminal: Bool
  private let descriptor: Int32
  private let takesColor: Bool

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    // https://no-color.org
    let isPlain = processEnvironment()["NO_COLOR"].map { !$0.isEmpty } ?? false
    takesColor = isTerminal && !isPlain && !Terminal.isDumb
  }

  /// The width in columns; `nil` where this is not a terminal.
  var width: Int? {
    guard isTerminal else { return nil }
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// The text in a style; unchanged where colours are off.
  func styled(_ text: String, _ style: Style?) -> String {
    guard takesColor, let style else { return text }
    return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }

  /// Writes text as ``write(_:)-([UInt8])`` does.
  func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes bytes. A failure on standard output ends the process, since the rest of the output would be lost; a failure on
  /// standard error is ignored.
  func write(_ bytes: [UInt8]) {
    if writeAll(bytes.span, to: descriptor) || descriptor == STDERR_FILENO { return }
    // A reader that has seen enough, such as head, closes the pipe.
    if errno == EPIPE { exit(Failure.Code.error.rawValue) }
    Failure.exit(with: Failure("unwritable", "Standard output cannot be written: \(systemReason())."))
  }
}

/// How text can look on a terminal: the parameter of the SGR control sequence (ECMA-48).
enum Style: String, Sendable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
}
