import GLibSupport
import Glibc

/// A pipe whose ends no child process inherits.
public final class Pipe: @unchecked Sendable {
  public private(set) var reading: Int32
  public private(set) var writing: Int32

  public init() throws {
    guard let ends = openPipe() else { throw SetUpFailure("no pipe: \(String(cString: strerror(errno)))") }
    reading = ends.reading
    writing = ends.writing
  }

  deinit {
    closeReading()
    closeWriting()
  }

  public func closeReading() {
    if reading >= 0 { close(reading) }
    reading = -1
  }

  public func closeWriting() {
    if writing >= 0 { close(writing) }
    writing = -1
  }

  /// Reads up to the end of the first line.
  public func readLine() -> String { nextLine() ?? "" }

  /// As ``readLine()``, but `nil` when there is nothing more.
  public func nextLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(reading, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// The lines up to the end.
  public func remainingLines() -> [String] {
    var lines: [String] = []
    while let line = nextLine() { lines.append(line) }
    return lines
  }
}
