import Dispatch
import TestSupport

struct SocketAddressTests {
  @Test(.fault("link for socket")) func `A link that replaces a socket is not followed`() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.file("file", "mine")
    chmod(file, 0o600)
    // As long as the kernel allows.
    let path = directory.path + "/" + String(repeating: "s", count: 107 - directory.path.utf8.count - 1)
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
    #expect(mode(of: file) == 0o600)
    unlink(path)
    let socket = listeningUnixSocket(SOCK_STREAM, at: path, mode: 0o600, backlog: 1)
    defer { close(socket) }
    #expect(socketPath(of: socket) == path)
  }
}

@Suite(.timeLimit(.minutes(20)))
struct PeerUserTests {
  /// A socket that listens, and the port of it.
  private func listener(_ family: Int32) throws -> (Int32, UInt16) {
    let bound = try #require(bindToFreePort(family, ofLoopback: true))
    try #require(listen(bound.descriptor, 8) == 0)
    return bound
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
    var client = RawClient(port)
    try #require(client != nil)
    let open = accept(listener, nil, nil)
    defer { close(open) }
    client?.resetOnClose()
    client = nil
    waitForClose(of: open)
    #expect(peerUser(open) == .gone)
  }

  @Test func `Without a descriptor to ask by, a connection's user is unknown`() async {
    await #expect(processExitsWith: .success) {
      let tests = PeerUserTests()
      let (listener, port) = try tests.listener(AF_INET)
      var client = RawClient(port)
      try #require(client != nil)
      let open = accept(listener, nil, nil)
      // To ask by descriptor 0.
      close(STDIN_FILENO)
      #expect(peerUser(open) == .user(geteuid()))
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
      #expect(peerUser(open) == .unknown(systemReason(EMFILE)))
      client = nil
      tests.waitForClose(of: open)
      #expect(peerUser(open) == .gone)
    }
  }
}
