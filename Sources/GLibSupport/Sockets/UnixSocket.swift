package import Glibc

/// The longest path of a Unix socket, in bytes, without the final zero (unix(7)).
package let longestSocketPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

/// Calls `body` with the address of the socket at a path.
///
/// - Returns: The result of `body`; -1 with `ENAMETOOLONG` for a path that is longer than ``longestSocketPath``.
package func withSocketAddress(
  of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
  guard path.utf8.count <= longestSocketPath else {
    errno = ENAMETOOLONG
    return -1
  }
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  return withUnsafePointer(to: address) { address in
    address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}

/// The path that a Unix socket is bound to; empty if it has none.
package func socketPath(of socket: Int32) -> String {
  var address = sockaddr_un()
  var size = socklen_t(MemoryLayout<sockaddr_un>.size)
  _ = withUnsafeMutablePointer(to: &address) { address in
    address.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
  }
  return withUnsafeBytes(of: &address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// Makes a non-blocking Unix socket that no child inherits; -1 on failure, with `errno` set.
package func unixSocket(_ type: __socket_type) -> Int32 {
  socket(AF_UNIX, Int32(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
}

/// Makes a Unix socket that listens at a path, with this mode. Connections before that are refused.
///
/// - Returns: The descriptor; -1 on failure, with `errno` set.
package func listeningUnixSocket(
  _ type: __socket_type, at path: String, mode: mode_t, backlog: Int32
) -> Int32 {
  let socket = unixSocket(type)
  guard socket >= 0 else { return -1 }
  // A link that another process has put there since is not followed.
  if withSocketAddress(of: path, { bind(socket, $0, $1) }) == 0,
    fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW) == 0, listen(socket, backlog) == 0
  {
    return socket
  }
  let code = errno
  close(socket)
  errno = code
  return -1
}
