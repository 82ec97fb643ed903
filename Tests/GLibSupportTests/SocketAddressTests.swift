import Dispatch
import GLibSupport
import Glibc
import Synchronization
import TestSupport
import Testing

struct SocketAddressTests {
  @Test(.fault("link for socket")) func `A link that comes into a socket's place is not followed`() throws {
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
