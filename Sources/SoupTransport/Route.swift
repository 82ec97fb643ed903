import CGLib
import Glibc
import GLibSupport
import HTTPSupport

/// The destination of a session's requests.
enum Route: Sendable {
  /// The hosts of their URLs, over TLS. The variable is what an error names for the certificates to trust.
  case hosts(trustAnchors: GObjectReference<GTlsDatabase>?, ProxySettings?, caBundleVariable: String)
  /// This machine's loopback addresses, without TLS and without a proxy.
  case loopback
  /// One Unix socket, without TLS.
  case socket(UnixSocket)

  var isPlaintext: Bool { if case .hosts = self { false } else { true } }
  var unixSocket: UnixSocket? { if case .socket(let socket) = self { socket } else { nil } }
  /// The only supported scheme.
  var scheme: String { isPlaintext ? "http" : "https" }
}

/// A socket in the file system.
struct UnixSocket: Sendable {
  let path: String

  init(path: String) throws(HTTPTransportError) {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .invalidConfiguration("A socket needs a path.") }
    // GIO would truncate it.
    guard path.utf8.count <= longestSocketPath else {
      throw .invalidConfiguration(
        "The socket's path has \(path.utf8.count) bytes, and the kernel allows \(longestSocketPath): use a shorter one, "
          + "such as a symbolic link to its directory.")
    }
    self.path = path
  }

  var address: UnsafeMutablePointer<GSocketAddress>? { g_unix_socket_address_new(path) }

  /// Why the connection failed, in a clause; `nil` if the file does not show it.
  var problem: String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return errno == ENOENT ? "there is no such file" : systemReason() }
    guard status.st_mode & S_IFMT == S_IFSOCK else { return "it is not a socket" }
    guard access(path, W_OK) == 0 else { return "this user may not connect" }
    return nil
  }
}
