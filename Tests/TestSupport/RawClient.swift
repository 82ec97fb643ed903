import GLibSupport
import Glibc

/// A connection to a server of this machine whose bytes the test writes and reads.
package final class RawClient: Sendable {
  private let descriptor: Int32

  /// Connects to `host`, `127.0.0.1` or `::1`.
  package init?(_ port: UInt16, host: String = "127.0.0.1") {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found else { return nil }
    defer { freeaddrinfo(found) }
    descriptor = Self.unconnected(address.pointee.ai_family)
    guard connects(to: address.pointee.ai_addr, address.pointee.ai_addrlen) else { return nil }
  }

  /// Connects to the socket at a path.
  package init?(socket path: String) {
    descriptor = Self.unconnected(AF_UNIX)
    guard withSocketAddress(of: path, { connects(to: $0, $1) ? 0 : -1 }) == 0 else { return nil }
  }

  /// A child that another test starts does not keep the socket open.
  private static func unconnected(_ family: Int32) -> Int32 {
    socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  }

  private func connects(to address: UnsafePointer<sockaddr>?, _ size: socklen_t) -> Bool {
    var limit = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard let address else { return false }
    return connect(descriptor, address, size) == 0
  }

  deinit { Glibc.close(descriptor) }

  package func write(_ text: String) { _ = sendAll(Array(text.utf8), to: descriptor) }

  /// What the server sends until it closes the connection.
  package func readToEnd() async -> String {
    await blocking { [self] in
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65536)
      while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
        bytes += buffer[..<count]
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}

/// The status of an HTTP response.
package func httpStatus(of response: String) -> Int? {
  response.prefixMatch(of: #/HTTP/1\.\d (\d+)\s/#).flatMap { Int($0.1) }
}

/// Sends bytes to a socket; false when the other side is gone.
func sendAll(_ bytes: [UInt8], to socket: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    guard count > 0 else { return false }
    rest = rest.dropFirst(count)
  }
  return true
}
