import GLibSupport
import Glibc
import SecretService
import TokenCache

extension Terminal {
  /// Asks for a secret without an echo.
  ///
  /// A signal that ends the process, such as that of Ctrl-C, acts at once, after the terminal's settings are restored.
  ///
  /// - Returns: The line that was typed; `nil` without a terminal, and for a shell's completion.
  /// - Throws: `CacheError` of code `promptDismissed` after Ctrl-C or Ctrl-D.
  static func askSecretly(_ question: String) throws(CacheError) -> SecretBytes? {
    guard !Completion.isRequested else { return nil }
    let own = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { if own >= 0 { close(own) } }
    let terminal = own >= 0 ? own : STDIN_FILENO
    guard let echo = EchoOff(terminal, inLines: true) else { return nil }
    _ = writeAll(Array(question.utf8).span, to: own >= 0 ? own : STDERR_FILENO)
    let event = echo.wait()
    var line: [UInt8]? = nil
    if case .typing? = event { line = readLine(from: terminal) }
    if case .signal(let number)? = event, number != SIGINT { echo.end(by: number) } else { echo.end() }
    _ = writeAll([UInt8(ascii: "\n")].span, to: own >= 0 ? own : STDERR_FILENO)
    guard var bytes = line else {
      throw CacheError(.promptDismissed, "The prompt for the passphrase was cancelled.")
    }
    defer { wipe(&bytes) }
    return SecretBytes(copying: bytes)
  }

  /// The line without its end; `nil` at the end of input.
  private static func readLine(from terminal: Int32) -> [UInt8]? {
    // The limit of a line in canonical mode.
    var line = [UInt8](repeating: 0, count: 4096)
    defer { wipe(&line) }
    let count = unsafe read(terminal, &line, line.count)
    return count > 0 ? Array(line[..<count].prefix { $0 != UInt8(ascii: "\n") }) : nil
  }
}
