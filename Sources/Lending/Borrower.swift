import GLibSupport

/// A process that borrows, as far as the kernel identifies it.
public struct Borrower: Sendable, Hashable {
  /// The process that connected; `nil` for one that this process cannot see, such as behind a port.
  public let process: Int32?
  /// The user id of that process.
  public let user: UInt32?
  /// Why the user is unknown, in a clause; `nil` where it is known.
  public let unknownUserReason: String?
  /// The name of its command, which every process can choose for itself.
  public let command: String?
  /// Distinguishes it from a later process with the same number, or from any other connection.
  let identity: UInt64

  init(_ peer: SocketPeer?, _ user: PeerUser) {
    let status = peer.flatMap { ProcessStatus($0.process) }
    (self.user, unknownUserReason) =
      switch user {
      case .user(let number): (number, nil)
      case .gone: (nil, "it has closed the connection")
      case .unknown(let reason): (nil, "the kernel does not tell it (NETLINK_SOCK_DIAG: \(reason))")
      }
    process = status == nil ? nil : peer?.process
    command = status?.command
    identity = status?.start ?? .random(in: .min ... .max)
  }

  var isRunning: Bool { process.map { ProcessStatus($0)?.start == identity } ?? true }
}
