import Glibc

/// The process and user that connected to a Unix socket, as the kernel recorded them then.
package struct SocketPeer: Sendable, Hashable {
  /// 0 if this process cannot see it, for example from inside a container.
  package let process: Int32
  package let user: UInt32

  /// - Returns: `nil` for any other socket.
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

/// The user at the other end of a connection.
package enum PeerUser: Sendable, Hashable {
  case user(UInt32)
  /// No process has the other end open, and the kernel no longer knows its user.
  case gone
  /// The kernel does not say, for example about another network namespace, or to a program that qemu-user emulates; with its
  /// reason.
  case unknown(String)
}

/// The user at the other end of a Unix socket or of a TCP connection on this machine (sock_diag(7)).
package func peerUser(_ socket: Int32) -> PeerUser {
  if let peer = SocketPeer(socket) { return .user(peer.user) }
  let user = internetUser(socket)
  // A peer that closed its end sends no more.
  if case .unknown = user, !isEstablished(socket) { return .gone }
  return user
}

private func isEstablished(_ socket: Int32) -> Bool {
  // The first byte of `struct tcp_info` is the state; 1 is TCP_ESTABLISHED, which Glibc's module does not have.
  var state: UInt8 = 0
  var size = socklen_t(1)
  return getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &state, &size) == 0 && state == 1
}

private func internetUser(_ socket: Int32) -> PeerUser {
  // The peer's socket has our addresses with source and target exchanged.
  guard let source = InternetEnd(socket, getpeername), let target = InternetEnd(socket, getsockname) else {
    return .unknown(systemReason())
  }
  // `struct inet_diag_req_v2` behind a `struct nlmsghdr`, neither of which Glibc's module has.
  let wildcard = [UInt8](repeating: 0xff, count: 4)
  let ends: [[UInt8]] = [source.port, target.port, source.address, target.address]
  let head: [UInt8] = [UInt8(truncatingIfNeeded: source.family), UInt8(IPPROTO_TCP), 0, 0]
  let body: [UInt8] = ([head, wildcard] + ends + [[0, 0, 0, 0], wildcard, wildcard]).flatMap { $0 }
  let (byFamily, isRequest) = (UInt16(20), UInt16(1))
  let header: [[UInt8]] = [
    bytes(UInt32(16 + body.count)), bytes(byFamily), bytes(isRequest), [UInt8](repeating: 0, count: 8),
  ]
  let request = header.flatMap { $0 } + body
  let diagnosis = Glibc.socket(16, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), 4)
  guard diagnosis >= 0 else { return .unknown(systemReason()) }
  defer { close(diagnosis) }
  guard send(diagnosis, request, request.count, 0) == request.count else {
    return .unknown(systemReason())
  }
  var reply = [UInt8](repeating: 0, count: 512)
  // A `struct inet_diag_msg`, with user and inode after 64 bytes.
  let count = recv(diagnosis, &reply, reply.count, Int32(MSG_DONTWAIT))
  func number(at offset: Int) -> UInt32 {
    reply.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
  }
  guard count >= 88, Array(reply[4..<6]) == bytes(byFamily) else {
    // Behind the header of an error is its code, negative.
    return .unknown(count < 20 ? systemReason() : systemReason(0 &- Int32(bitPattern: number(at: 16))))
  }
  let (user, inode) = (number(at: 80), number(at: 84))
  // Without an inode the socket has no owner, and the user 0 means nothing.
  return inode == 0 ? .gone : .user(user)
}

private func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

/// One end of a TCP connection, in network byte order.
private struct InternetEnd {
  let family: Int32
  let port: [UInt8]
  /// 16 bytes.
  let address: [UInt8]

  init?(
    _ socket: Int32, _ get: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout.size(ofValue: storage))
    let isKnown = withUnsafeMutablePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { get(socket, $0, &size) == 0 }
    }
    let bytes = withUnsafeBytes(of: storage) { Array($0) }
    family = Int32(storage.ss_family)
    port = Array(bytes[2..<4])
    switch (isKnown, family) {
    case (true, AF_INET): address = Array(bytes[4..<8]) + [UInt8](repeating: 0, count: 12)
    case (true, AF_INET6): address = Array(bytes[8..<24])
    default: return nil
    }
  }
}
