import Glibc

/// Whose the other end of a connection is.
package enum PeerUser: Sendable, Hashable {
  case user(UInt32)
  /// No process has it any more, and the kernel does not know whose it was.
  case gone
  /// The kernel does not tell, such as of another network namespace's.
  case unknown
}

/// Whose the other end of a connection is: over a Unix socket, or over TCP on this machine (sock_diag(7)).
package func peerUser(_ socket: Int32) -> PeerUser {
  if let peer = SocketPeer(socket) { return .user(peer.user) }
  let user = internetUser(socket)
  // Who hides behind an end that he closed has said that he sends no more.
  return user == .unknown && !isEstablished(socket) ? .gone : user
}

private func isEstablished(_ socket: Int32) -> Bool {
  // The first byte of `struct tcp_info` is the state; 1 is TCP_ESTABLISHED, which Glibc's module does not have.
  var state: UInt8 = 0
  var size = socklen_t(1)
  return getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &state, &size) == 0 && state == 1
}

private func internetUser(_ socket: Int32) -> PeerUser {
  // The other end's own addresses are ours the other way round.
  guard let source = InternetEnd(socket, getpeername), let target = InternetEnd(socket, getsockname) else {
    return .unknown
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
  guard diagnosis >= 0 else { return .unknown }
  defer { close(diagnosis) }
  guard send(diagnosis, request, request.count, 0) == request.count else { return .unknown }
  var answer = [UInt8](repeating: 0, count: 512)
  // A `struct inet_diag_msg`, whose user and inode stand behind 64 bytes.
  let count = recv(diagnosis, &answer, answer.count, Int32(MSG_DONTWAIT))
  guard count >= 88, Array(answer[4..<6]) == bytes(byFamily) else { return .unknown }
  let (user, inode) = answer.withUnsafeBytes {
    (
      $0.loadUnaligned(fromByteOffset: 80, as: UInt32.self),
      $0.loadUnaligned(fromByteOffset: 84, as: UInt32.self)
    )
  }
  // Without an inode it has no owner, and the user 0 means nothing.
  return inode == 0 ? .gone : .user(user)
}

private func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

/// One end of a connection over TCP, in the order of bytes that the network has.
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
