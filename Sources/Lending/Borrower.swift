import GLibSupport
import Glibc

/// Who asks for a token, as far as the kernel tells.
public struct Borrower: Sendable, Hashable {
  /// The process that connected; `nil` for one that this process cannot see, such as behind a port.
  public let process: Int32?
  /// The user id of that process.
  public let user: UInt32?
  /// The name of its command, which every process can choose for itself.
  public let command: String?
  /// What tells it from a later process with the same number, or from any other connection.
  let identity: UInt64

  /// - Parameters:
  ///   - peer: The other end of the connection.
  ///   - connection: A number that no other connection has.
  init(_ peer: SocketPeer?, connection: UInt64) {
    user = peer?.user
    guard let peer, peer.process > 0, let status = ProcessStatus(peer.process) else {
      process = nil
      command = nil
      identity = connection
      return
    }
    process = peer.process
    command = status.command
    identity = status.start
  }

  /// Whether the process is still there.
  var isThere: Bool { process.map { ProcessStatus($0)?.start == identity } ?? true }
}

/// What `/proc` says of a process.
private struct ProcessStatus {
  let command: String
  /// When it was started, in ticks since the machine was.
  let start: UInt64

  init?(_ process: Int32) {
    guard let bytes = try? readFile("/proc/\(process)/stat", limit: 4096) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    // The name is in parentheses, and may have some itself.
    guard let opening = text.firstIndex(of: "("), let closing = text.lastIndex(of: ")"), opening < closing
    else {
      return nil
    }
    // proc(5): the name is the second field and the start the 22nd.
    let fields = text[text.index(after: closing)...].split(separator: " ")
    guard fields.count > 19, let start = UInt64(fields[19]) else { return nil }
    command = String(text[text.index(after: opening)..<closing])
    self.start = start
  }
}
