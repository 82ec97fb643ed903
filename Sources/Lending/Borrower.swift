import GLibSupport

/// A process that borrows, as far as the kernel identifies it.
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
