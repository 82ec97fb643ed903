import CGLib
import Glibc
import GLibSupport
import HTTPSupport

/// Where the requests of a session go.
enum Route: Sendable {
  /// To the hosts that their addresses name, over TLS.
  case hosts(trustAnchors: GObjectReference<GTlsDatabase>?, ProxySettings?)
  /// To this machine's own loopback addresses, without TLS and without a proxy.
  case loopback
  /// To one Unix socket, without TLS.
  case socket(UnixSocket)

  /// The only scheme that is spoken on the way.
  var scheme: String {
    switch self {
    case .hosts: "https"
    case .loopback, .socket: "http"
    }
  }
}

/// A socket in the file system.
struct UnixSocket: Sendable {
  let path: String

  /// - Throws: ``HTTPTransportError/invalidConfiguration(_:)`` for a path that no socket can have.
  init(path: String) throws(HTTPTransportError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw .invalidConfiguration("A socket needs a path.")
    }
    // GIO would cut it off.
    guard path.utf8.count <= longestSocketPath else {
      throw .invalidConfiguration(
        "The socket's path has \(path.utf8.count) bytes, and the kernel takes \(longestSocketPath): reach it by a shorter one, "
          + "such as a symbolic link to its directory.")
    }
    self.path = path
  }

  var address: UnsafeMutablePointer<GSocketAddress>? { g_unix_socket_address_new(path) }

  /// Why the connection failed, in a clause; `nil` where the file does not show it.
  var problem: String? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return errno == ENOENT ? "there is no such file" : systemReason()
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else { return "it is no socket" }
    guard access(path, W_OK) == 0 else { return "this user may not connect" }
    return nil
  }
}
