import Glibc

/// Who is at the other end of a Unix socket: who connected, as the kernel saw it then.
package struct SocketPeer: Sendable, Hashable {
  /// 0 where this process cannot see it, as out of a container.
  package let process: Int32
  package let user: UInt32

  /// - Returns: `nil` for a socket of another kind.
  package init?(_ socket: Int32) {
    var domain: Int32 = 0
    var size = socklen_t(MemoryLayout.size(ofValue: domain))
    guard getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0, domain == AF_UNIX else {
      return nil
    }
    // `struct ucred`, which Glibc's module does not have.
    var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
    size = socklen_t(MemoryLayout.size(ofValue: peer))
    guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { return nil }
    process = peer.process
    user = peer.user
  }

  package var isOwn: Bool { user == geteuid() }
}
