import Foundation
import Synchronization

/// A log that scrolls, with a prompt under it. Any thread may write to it.
final class Screen: Sendable {
  private let prompt: String
  private let output = Mutex(FileHandle.standardOutput)

  init(prompt: String) {
    self.prompt = prompt
  }

  /// Adds to the log, above the prompt.
  func show(_ text: String) {
    let lines = text.split(whereSeparator: \.isNewline).map { Self.printable($0) + "\n" }
    output.withLock { $0.write(Data(("\r\u{1B}[K" + lines.joined() + prompt).utf8)) }
  }

  /// What the person types, line by line. An "x" is not among it: it calls `onCancel`, at once, while the program
  /// may be busy with an earlier line.
  func lines(onCancel: @escaping @Sendable () -> Void) -> AsyncStream<String> {
    show("")
    return AsyncStream { continuation in
      Thread.detachNewThread { [self] in
        while let line = readLine() {
          show("")
          if line == "x" { onCancel() } else { continuation.yield(line) }
        }
        continuation.finish()
      }
    }
  }

  /// Text from elsewhere could hold characters that a terminal obeys.
  private static func printable(_ text: Substring) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
          default: scalar
          }
        }))
  }
}
