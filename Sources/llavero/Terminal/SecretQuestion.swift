import GLibSupport
import Glibc
import SecretService
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
    guard let silence = TypingSilence(terminal, inLines: true) else { return nil }
    _ = writeAll(Array(question.utf8).span, to: own >= 0 ? own : STDERR_FILENO)
    let event = silence.wait()
    var line: [UInt8]? = nil
    if case .typing? = event { line = readLine(from: terminal) }
    if case .signal(let number)? = event, number != SIGINT { silence.end(by: number) } else { silence.end() }
    _ = writeAll([UInt8(ascii: "\n")].span, to: own >= 0 ? own : STDERR_FILENO)
    guard var bytes = line else {
      throw CacheError(.promptDismissed, "The question for the passphrase was cancelled.")
    }
    defer { wipe(&bytes) }
    return SecretBytes(copying: bytes)
  }

  /// - Returns: What was typed, without the line's end; `nil` at the end of all lines.
  private static func readLine(from terminal: Int32) -> [UInt8]? {
    // A terminal's line is no longer.
    var line = [UInt8](repeating: 0, count: 4096)
    defer { wipe(&line) }
    let count = unsafe read(terminal, &line, line.count)
    return count > 0 ? Array(line[..<count].prefix { $0 != UInt8(ascii: "\n") }) : nil
  }
}
