import GLibSupport
import Glibc
import Testing

/// A connection to a server of this machine whose bytes the test writes and reads.
package final class RawClient: Sendable {
  let descriptor: Int32

  /// Connects to `host`, `127.0.0.1` or `::1`.
  package init?(_ port: UInt16, host: String = "127.0.0.1") {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found?.pointee else { return nil }
    defer { freeaddrinfo(found) }
    descriptor = newSocket(address.ai_family)
    guard connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else { return nil }
  }

  /// Connects to the socket at a path.
  package init?(socket path: String) {
    descriptor = newSocket(AF_UNIX)
    guard withSocketAddress(of: path, { connect(descriptor, $0, $1) }) == 0 else { return nil }
  }

  /// Closes a socket with this object.
  init(taking descriptor: Int32) {
    self.descriptor = descriptor
    // An accepted one stays open in children otherwise.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(descriptor) }

  /// Ends the connection both ways.
  func shut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Has the socket closed with a RST.
  package func resetOnClose() { resetsOnClose(descriptor) }

  package func write(_ text: String) { _ = write(Array(text.utf8)) }

  /// False when the other side is gone.
  func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// The next bytes; `nil` at the end.
  func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  /// What the server sends until it closes the connection, which it has to do within 300 s.
  package func readToEnd() async -> String {
    var limit = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let (bytes, isOpen) = await blocking { [self] in
      var bytes: [UInt8] = []
      while true {
        errno = 0
        guard let part = read() else { return (bytes, errno == EAGAIN) }
        bytes += part
      }
    }
    if isOpen { Issue.record("The server kept the connection open for 300 s.") }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The status of an HTTP response.
package func httpStatus(of response: String) -> Int? {
  response.prefixMatch(of: #/HTTP/1\.\d (\d+)\s/#).flatMap { Int($0.1) }
}

/// A child that another test starts does not keep the socket open.
func newSocket(_ family: Int32) -> Int32 {
  socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
}

/// Binds a new socket to a free port of all addresses of this machine, or of the loopback interface.
package func bindToFreePort(_ family: Int32, ofLoopback: Bool = false) -> (descriptor: Int32, port: UInt16)? {
  let descriptor = newSocket(family)
  var (off, on) = (Int32(0), Int32(1))
  setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, socklen_t(MemoryLayout<Int32>.size))
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
  // Of either family: the port stands at the same place.
  var address = sockaddr_in6()
  address.sin6_family = sa_family_t(family)
  if ofLoopback, family == AF_INET6 { address.sin6_addr = in6addr_loopback }
  // Where IPv4 has its address.
  if ofLoopback, family == AF_INET { address.sin6_flowinfo = UInt32(0x7f00_0001).bigEndian }
  var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
  let isBound = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
      bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
    }
  }
  if isBound { return (descriptor, UInt16(bigEndian: address.sin6_port)) }
  close(descriptor)
  return nil
}

/// Has a socket closed with a RST.
func resetsOnClose(_ socket: Int32) {
  var option = linger(l_onoff: 1, l_linger: 0)
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
}
