import FoundationEssentials
import GLibSupport
import Glibc
import IdentityClient

/// Where a process waits for the response that the desktop gives to another process of the same program: a socket in the
/// runtime directory.
///
/// Its name comes from the scheme and the sign-in's `state`, so that an address finds the one process that it is for, and
/// no other gets to see it. A name on the session bus would need a bus, and show every address to a monitor of that bus.
struct RedirectMailbox: Sendable {
  /// The longest address that is taken, in bytes.
  static let limit = 1 << 16

  let directory: PrivateDirectory
  let name: String

  static var ownDirectory: String {
    RuntimeDirectory(environment: processEnvironment()).path + "/redirects"
  }

  static func makeOwnDirectory() throws(PrivateFileError) -> PrivateDirectory {
    try RuntimeDirectory(environment: processEnvironment()).directory("redirects")
  }

  init(_ directory: PrivateDirectory, scheme: String, state: String) {
    self.directory = directory
    name = String(sha256Hex("\(scheme.lowercased())\n\(state)").prefix(32))
  }

  /// Makes the socket, which listens, and which only this user may connect to.
  func open() throws(PrivateFileError) -> Int32 {
    try removeAbandoned()
    // A socket gets its name when it listens, so one that refuses connections was left behind.
    let new = name + ".new"
    try directory.remove(new)
    let socket = listeningUnixSocket(
      SOCK_SEQPACKET, at: directory.address(of: new), mode: 0o600, backlog: 16)
    guard socket >= 0 else {
      throw .system(call: "bind", path: "\(directory.path)/\(name)", code: errno)
    }
    do throws(PrivateFileError) {
      try directory.rename(new, to: name)
    } catch {
      close(socket)
      throw error
    }
    return socket
  }

  /// Connects to the process that waits there; `nil` where none of this user does.
  func connect(to name: String? = nil) -> Int32? {
    // Of packets: an address comes as a whole or not at all.
    let socket = unixSocket(SOCK_SEQPACKET)
    guard socket >= 0 else { return nil }
    let address = directory.address(of: name ?? self.name)
    if withSocketAddress(of: address, { Glibc.connect(socket, $0, $1) }) == 0,
      SocketPeer(socket)?.isOwn == true
    {
      return socket
    }
    let code = errno
    close(socket)
    errno = code
    return nil
  }

  /// Removes the sockets of processes that were killed.
  private func removeAbandoned() throws(PrivateFileError) {
    for name in try directory.names() {
      if let socket = connect(to: name) {
        close(socket)
      } else if errno == ECONNREFUSED, !name.hasSuffix(".new") {
        try directory.remove(name)
      }
    }
  }
}
