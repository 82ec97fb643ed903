import FoundationEssentials
import Glibc
import StoreRules
import WorkerSupport

/// A process of the program `Worker` and the lines it writes. They are read one after the other.
public final class Worker: Sendable {
  private let child: Child
  private let input: Pipe
  private let output: Pipe

  /// Starts one on a keyring.
  public convenience init(_ keyring: PrivateKeyring, _ arguments: String...) throws {
    try self.init([Self.program] + arguments, environment: keyring.environment)
  }

  /// Runs a command that starts a `Worker`.
  public init(_ command: [String], environment: [String: String]) throws {
    input = try Pipe()
    output = try Pipe()
    child = try Child.piped(
      command[0], Array(command.dropFirst()), environment: environment, input: input, output: output)
  }

  public static let program = Child.built("Worker")

  /// Sends the process a command and returns its response.
  public func ask(_ line: String) async -> String {
    let bytes = Array((line + "\n").utf8)
    _ = write(input.writing, bytes, bytes.count)
    return await nextLine()
  }

  /// The next line; empty when there are no more.
  public func nextLine() async -> String {
    await blocking { [output] in output.readLine() }
  }

  /// Waits for the end and returns the lines up to then that are whole, and the exit status.
  public func finish() async -> (lines: [String], status: Int32) {
    await blocking { [self] in
      input.closeWriting()
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65536)
      while true {
        let count = read(output.reading, &buffer, buffer.count)
        if count <= 0 { break }
        bytes += buffer[..<count]
      }
      let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
      return (lines.map { String(decoding: $0, as: UTF8.self) }, child.wait())
    }
  }

  /// The most memory that the process had at a time, in bytes.
  public var peakMemory: Int { WorkerSupport.peakMemory(of: child.pid) }

  /// Halts the process.
  public func stop() { child.signal(SIGSTOP) }

  /// Ends the process as the kernel does when memory runs out.
  public func kill() { child.signal(SIGKILL) }
}

extension Child {
  /// The path of a program that was built with these tests: SwiftPM puts all of a build next to each other.
  public static func built(_ name: String) -> String {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: name).path
  }
}
