import FoundationEssentials
import Glibc

/// What the tool prints, and where.
enum Terminal {
  static let isOutput = isatty(STDOUT_FILENO) == 1
  static let isInput = isatty(STDIN_FILENO) == 1
  static let isError = isatty(STDERR_FILENO) == 1

  /// Whether standard output takes colours (https://no-color.org).
  static let hasColor =
    isOutput && ProcessInfo.processInfo.environment["NO_COLOR"].map(\.isEmpty) ?? true
    && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  /// The width of standard output in columns, `nil` where it is no terminal.
  static var width: Int? {
    guard isOutput else { return nil }
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Prints a line to standard output.
  static func out(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }

  /// Prints a line to standard error.
  static func error(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

  /// Shows how far something long has come, on one line of standard error, only on a terminal.
  static func progress(_ text: String, isLast: Bool) {
    if isError { write("\r\u{1B}[K\(text)\(isLast ? "\n" : "")", to: STDERR_FILENO) }
  }

  /// Asks a question that is answered with yes or no, the latter unless told otherwise.
  static func confirm(_ question: String) -> Bool {
    write(question + " [y/N] ", to: STDERR_FILENO)
    let answer = readLine()?.lowercased() ?? ""
    return answer == "y" || answer == "yes"
  }

  static func bold(_ text: String) -> String { styled(text, "1") }
  static func dim(_ text: String) -> String { styled(text, "2") }
  static func red(_ text: String) -> String { styled(text, "31") }
  static func green(_ text: String) -> String { styled(text, "32") }
  static func yellow(_ text: String) -> String { styled(text, "33") }

  private static func styled(_ text: String, _ code: String) -> String {
    hasColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  /// Ends the process when nobody reads any more: the rest of the output has no use.
  static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { exit(Failure.Code.error.rawValue) }
      bytes = bytes.dropFirst(count)
    }
  }
}

/// Text from a cache, safe to print: control characters, which a terminal might obey, are replaced.
func printable(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.map { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
        default: scalar
        }
      }))
}

/// Pretty JSON with sorted keys and ISO 8601 times, the form of every `--json`.
func json(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
  encoder.keyEncodingStrategy = .convertToSnakeCase
  encoder.dateEncodingStrategy = .iso8601
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}
