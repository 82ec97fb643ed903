import FoundationEssentials
import GLibSupport
import Glibc

/// Reads a file that the command line names.
enum InputFile {
  /// Larger than any cache, small enough not to fill the memory by mistake: 256 MiB.
  private static let limit = 256 << 20

  /// The name of a file in messages.
  static func name(of path: String) -> String { path == "-" ? "Standard input" : path }

  /// The contents of a file, or of standard input for `-`.
  static func read(_ path: String) throws(Failure.Message) -> Data {
    let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { if path != "-" { close(descriptor) } }
    guard var bytes = readAll(descriptor, limit: limit) else {
      guard errno == EFBIG else { throw failure(path) }
      throw Failure.Message(
        name: "too_large",
        message: "\(name(of: path)) is larger than \(limit >> 20) MiB, the limit for a token cache.")
    }
    defer { wipe(&bytes) }
    return Data(bytes)
  }

  private static func failure(_ path: String) -> Failure.Message {
    Failure.Message(name: "unreadable", message: "\(name(of: path)) cannot be read: \(systemReason()).")
  }
}
