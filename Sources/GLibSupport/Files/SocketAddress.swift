package import Glibc

/// How many bytes of path the address of a Unix socket takes, with one more for the end (unix(7)).
package let longestSocketPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

/// Calls `body` with the address of the socket at a path.
///
/// - Returns: What `body` does; -1 with `ENAMETOOLONG` for a path that is longer than ``longestSocketPath``.
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
