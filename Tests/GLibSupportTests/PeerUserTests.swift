import GLibSupport
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct PeerUserTests {
  /// A socket that listens, and the port of it.
  private func listener(_ family: Int32) throws -> (Int32, UInt16) {
    let listener = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var storage = sockaddr_in6()
    storage.sin6_family = sa_family_t(family)
    if family == AF_INET6 { storage.sin6_addr = in6addr_loopback }
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let listens = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    try #require(listens)
    return (listener, UInt16(bigEndian: storage.sin6_port))
  }

  @Test(.fault("gone early"), arguments: [(AF_INET, "127.0.0.1"), (AF_INET6, "::1")])
  func `The user of a connection of this machine is known, until it is nobody's`(
    family: Int32, address: String
  ) throws {
    let (listener, port) = try listener(family)
    defer { close(listener) }
    var client = RawClient(port, host: address)
    try #require(client != nil)
    let open = accept(listener, nil, nil)
    defer { close(open) }
    #expect(peerUser(open) == .user(geteuid()))
    client = nil
    #expect(peerUser(open) == .gone)
    // Closed before it was accepted.
    _ = try #require(RawClient(port, host: address))
    let late = accept(listener, nil, nil)
    defer { close(late) }
    #expect(peerUser(late) == .gone)
  }

  @Test(.fault("gone early")) func `Nor is the user known of a connection that was cut off`() throws {
    let (listener, port) = try listener(AF_INET)
    defer { close(listener) }
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let connects = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    try #require(connects)
    let open = accept(listener, nil, nil)
    defer { close(open) }
    var cut = linger(l_onoff: 1, l_linger: 0)
    setsockopt(client, SOL_SOCKET, SO_LINGER, &cut, socklen_t(MemoryLayout<linger>.size))
    close(client)
    #expect(peerUser(open) == .gone)
  }
}
