import CGLib
import GLibSupport
import Glibc

/// A Unix socket that a lender listens on, and its file, which is removed with it.
final class LoanSocket: Sendable {
  let path: String
  let socket: GObjectReference<GSocket>
  /// The directory and the name in it; `nil` where another program removes the file.
  private let place: Place?

  private struct Place: Sendable {
    let directory: Int32
    let name: String
    /// Made for this socket alone.
    let ownDirectory: String?
    let device: UInt
    let inode: UInt
  }

  private init(path: String, socket: GObjectReference<GSocket>, place: Place?) {
    self.path = path
    self.socket = socket
    self.place = place
  }

  deinit {
    if let place { close(place.directory) }
  }

  /// Takes a socket that another program listens on, such as systemd (`sd_listen_fds(3)`).
  static func passed(_ descriptor: Int32) throws(LendingError) -> LoanSocket {
    func option(_ name: Int32) -> Int32? {
      var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
      return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
    guard option(SO_DOMAIN) == AF_UNIX, option(SO_TYPE) == Int32(SOCK_STREAM.rawValue),
      option(SO_ACCEPTCONN) == 1
    else { throw .notListening(descriptor: descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return LoanSocket(path: socketPath(of: descriptor), socket: try socket(descriptor), place: nil)
  }

  /// Makes a socket, without a path in a new directory of its own. One without a listener is replaced. If it is open, other users
  /// who can reach it may connect.
  static func made(at wanted: String?, isOpen: Bool) throws(LendingError) -> LoanSocket {
    let runtime = RuntimeDirectory(environment: processEnvironment())
    let path: String
    var ownDirectory: String?
    var lock: HeldLockFile?
    defer {
      // With a socket in it, it stays.
      if let ownDirectory { rmdir(ownDirectory) }
      lock?.remove()
    }
    do throws(PrivateFileError) {
      if let wanted {
        path = absolutePath(wanted)
        lock = try HeldLockFile(directory: runtime.path, name: "loan-\(sha256Hex(path).prefix(16)).lock")
      } else {
        // No other process uses a name in a new directory, so that it needs no lock.
        let name = "loan-\(String(UInt32.random(in: .min ... .max), radix: 16))"
        let directory = try runtime.directory(name).path
        ownDirectory = directory
        path = directory + "/loan.sock"
        if let all = try PrivateDirectory.existing(at: runtime.path) { removeAbandonedDirectories(in: all) }
        // The directories above it still keep other users out, but not a container that it is mounted into.
        if isOpen { chmod(directory, 0o711) }
      }
    } catch {
      throw .init(error)
    }
    guard path.utf8.count <= longestSocketPath else { throw .pathTooLong(path: path) }
    let parent = parentDirectory(of: path)
    let name = String(path.dropFirst(parent.count).drop { $0 == "/" })
    guard !name.isEmpty else { throw .notASocket(path: path) }
    let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw failure("open", parent) }
    do throws(LendingError) {
      try removeAbandoned(name, in: directory, path)
      let (descriptor, status) = try listening(name, in: directory, mode: isOpen ? 0o666 : 0o600, path)
      return LoanSocket(
        path: path, socket: try socket(descriptor),
        place: Place(
          directory: directory, name: name, ownDirectory: ownDirectory, device: UInt(status.st_dev),
          inode: UInt(status.st_ino)))
    } catch {
      close(directory)
      throw error
    }
  }

  /// Removes the file, unless another has replaced it.
  func remove() {
    guard let place else { return }
    var status = stat()
    if fstatat(place.directory, place.name, &status, AT_SYMLINK_NOFOLLOW) == 0,
      UInt(status.st_dev) == place.device, UInt(status.st_ino) == place.inode
    {
      unlinkat(place.directory, place.name, 0)
    }
    if let directory = place.ownDirectory { rmdir(directory) }
  }

  /// Removes the directories of lenders that were killed. One that has no socket may belong to a lender that is about to
  /// make it.
  private static func removeAbandonedDirectories(in runtime: PrivateDirectory) {
    for name in (try? runtime.names()) ?? [] where name.hasPrefix("loan-") {
      let path = "\(runtime.path)/\(name)"
      let directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard directory >= 0 else { continue }
      defer { close(directory) }
      if faccessat(directory, "loan.sock", F_OK, 0) == 0,
        (try? removeAbandoned("loan.sock", in: directory, path)) != nil
      {
        rmdir(path)
      }
    }
  }

  private static func removeAbandoned(
    _ name: String, in directory: Int32, _ path: String
  ) throws(LendingError) {
    var status = stat()
    guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return }
      throw failure("stat", path)
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
    let probe = unixSocket(SOCK_STREAM)
    guard probe >= 0 else { throw failure("socket", path) }
    defer { close(probe) }
    // A socket with a listener accepts the connection, or its queue is full.
    guard withSocketAddress(of: address(name, in: directory), { connect(probe, $0, $1) }) != 0,
      errno == ECONNREFUSED
    else {
      throw .inUse("Another program listens on \(path).")
    }
    guard unlinkat(directory, name, 0) == 0 else { throw failure("unlink", path) }
  }

  /// Makes a socket that gets its name when it listens, so one that refuses connections was left behind.
  private static func listening(
    _ name: String, in directory: Int32, mode: mode_t, _ path: String
  ) throws(LendingError) -> (Int32, stat) {
    let new = ".\(UInt64.random(in: .min ... .max)).new"
    let socket = listeningUnixSocket(SOCK_STREAM, at: address(new, in: directory), mode: mode, backlog: 1024)
    var status = stat()
    let isNamed =
      socket >= 0 && fstatat(directory, new, &status, AT_SYMLINK_NOFOLLOW) == 0
      && linkat(directory, new, directory, name, 0) == 0
    let error = failure("bind", path)
    unlinkat(directory, new, 0)
    if isNamed { return (socket, status) }
    if socket >= 0 { close(socket) }
    throw error
  }

  /// The path of a file in a directory, which fits an address whatever the directory's path is.
  private static func address(_ name: String, in directory: Int32) -> String {
    "/proc/self/fd/\(directory)/\(name)"
  }

  private static func socket(_ descriptor: Int32) throws(LendingError) -> GObjectReference<GSocket> {
    GIOTypes.register()
    guard let socket = g_socket_new_from_fd(descriptor, nil) else {
      close(descriptor)
      throw .notListening(descriptor: descriptor)
    }
    g_socket_set_blocking(socket, 0)
    return GObjectReference(taking: socket)
  }

  private static func failure(_ call: String, _ path: String) -> LendingError {
    LendingError(.system(call: call, path: path, code: errno))
  }
}
