import CommandSupport
import FoundationEssentials
import Glibc

/// Reads what a person names on the command line.
enum InputFile {
  /// Larger than any cache, small enough not to fill the memory by mistake: 256 MiB.
  private static let limit = 256 << 20

  /// How messages call a file.
  static func name(of path: String) -> String { path == "-" ? "Standard input" : path }

  /// The contents of a file, or of standard input for `-`.
  static func read(_ path: String) throws -> Data {
    let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { if path != "-" { close(descriptor) } }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    defer { buffer.resetBytes() }
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      if count == 0 { return data }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw failure(path) }
      data.append(contentsOf: buffer[..<count])
      guard data.count <= limit else {
        throw Failure.Message(
          name: "too_large",
          message: "\(name(of: path)) is larger than \(limit >> 20) MiB, which no token cache is.")
      }
    }
  }

  private static func failure(_ path: String) -> Failure.Message {
    let reason = unsafe String(cString: strerror(errno))
    return Failure.Message(name: "unreadable", message: "\(name(of: path)) cannot be read: \(reason).")
  }
}

extension [UInt8] {
  fileprivate mutating func resetBytes() {
    unsafe withUnsafeMutableBytes { bytes in
      if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
    }
  }
}
