import Dispatch
import TestSupport

struct SocketAddressTests {
  @Test(.fault("link for socket")) func `A link that replaces a socket is not followed`() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.file("file", "mine")
    chmod(file, 0o600)
    let path = directory.path + "/socket"
    let isOver = Mutex(false)
    let other = DispatchGroup()
    DispatchQueue(label: "test.other").async(group: other) {
      while !isOver.withLock({ $0 }) {
        symlink(file, path + ".link")
        while access(path, F_OK) != 0, !isOver.withLock({ $0 }) {}
        rename(path + ".link", path)
      }
    }
    for _ in 0..<5000 {
      unlink(path)
      let socket = listeningUnixSocket(SOCK_STREAM, at: path, mode: 0o666, backlog: 1)
      if socket >= 0 { close(socket) }
    }
    isOver.withLock { $0 = true }
    other.wait()
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }
}

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

  /// A child between fork and exec has this process's sockets open, too: waits for the last to close it.
  private func waitForClose(of socket: Int32) {
    var byte: UInt8 = 0
    recv(socket, &byte, 1, 0)
  }

  @Test(.fault("gone early"), arguments: [(AF_INET, "127.0.0.1"), (AF_INET6, "::1")])
  func `The user of a local connection is known until its end is closed`(
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
    waitForClose(of: open)
    #expect(peerUser(open) == .gone)
    // Closed before it was accepted.
    _ = try #require(RawClient(port, host: address))
    let late = accept(listener, nil, nil)
    defer { close(late) }
    waitForClose(of: late)
    #expect(peerUser(late) == .gone)
  }

  @Test(.fault("gone early")) func `The user of a reset connection is unknown`() throws {
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
    waitForClose(of: open)
    #expect(peerUser(open) == .gone)
  }
}
