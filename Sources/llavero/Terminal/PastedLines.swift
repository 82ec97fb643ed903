import Dispatch
import GLibSupport
import Glibc

/// Lines that a person pastes into the terminal, which shows only their length.
///
/// Without an echo they are in no scrollback and no recording of the terminal, while the count shows that something was
/// pasted. The terminal is not in canonical mode, which cuts a line at 4095 bytes; the codes of some authorities are longer.
final class PastedLines: Sendable {
  /// The limit of a line in bytes, above that of any accepted address. The rest is dropped.
  private static let limit = (64 << 10) + 1
  /// How long a paste may pause, in milliseconds.
  private static let pause: Int32 = 100

  private let prompt: String
  private let echo: EchoOff
  private let queue = DispatchQueue(label: "llavero.paste")

  /// Whether standard input is a terminal with this process in its foreground: a background process that changes the
  /// terminal is stopped.
  static var arePossible: Bool { Terminal.isInput && tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Turns off the echo of standard input until ``end()``; `nil` where no lines are possible.
  init?(prompt: String) {
    guard Self.arePossible, let echo = EchoOff(STDIN_FILENO, inLines: false) else { return nil }
    self.prompt = prompt
    self.echo = echo
  }

  /// Waits for a line; `nil` after Ctrl-D or at the terminal's end, and when the task is cancelled.
  func next() async -> String? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.async { [self] in continuation.resume(returning: read()) }
      }
    } onCancel: {
      echo.wake()
    }
  }

  /// Restores the terminal. Call it once, when no read is waiting for a line.
  func end() { queue.sync { echo.end() } }

  private func read() -> String? {
    var line = Line()
    defer { line.wipe() }
    var end: Line.End?
    show(line)
    while true {
      let event = echo.wait(milliseconds: end == nil ? -1 : Self.pause)
      if event == .typing {
        var buffer = [UInt8](repeating: 0, count: 4096)
        defer { wipe(&buffer) }
        let count = unsafe Glibc.read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count > 0 {
          // Text after the line's end belongs to the same paste, and is dropped.
          if end == nil { end = line.take(buffer[..<count], limit: Self.limit) }
          if end == nil { show(line) }
          continue
        }
      }
      Terminal.status("")
      if case .signal(let number)? = event { echo.end(by: number) }
      return event == nil && end == .line ? line.text : nil
    }
  }

  private func show(_ line: Line) {
    let count = line.bytes.count
    Terminal.status(count == 0 ? "\(prompt): " : "\(prompt) (\(count) characters)")
  }
}

/// The part of a line that was pasted so far.
private struct Line {
  enum End {
    case line
    /// Ctrl-D on an empty line.
    case input
  }

  private(set) var bytes: [UInt8] = []

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Appends the terminal's input up to the line's end, and returns what ended the line; `nil` where it goes on.
  mutating func take(_ typed: ArraySlice<UInt8>, limit: Int) -> End? {
    for byte in typed {
      switch byte {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .line
      // Ctrl-D; Ctrl-H and Backspace; Ctrl-U.
      case 0x04 where bytes.isEmpty: return .input
      case 0x08, 0x7f: _ = bytes.popLast()
      case 0x15: wipe()
      case 0..<0x20: break
      default: if bytes.count < limit { bytes.append(byte) }
      }
    }
    return nil
  }

  mutating func wipe() {
    GLibSupport.wipe(&bytes)
    bytes = []
  }
}
