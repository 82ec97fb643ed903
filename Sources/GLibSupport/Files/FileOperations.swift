import CGLib
import Glibc

/// Reads a file, a pipe or a terminal to its end and leaves no other copy of the bytes in memory.
///
/// - Returns: `nil` on failure, with `errno` set: `EFBIG` for more than `limit` bytes.
package func readAll(_ descriptor: Int32, limit: Int) -> [UInt8]? {
  var status = stat()
  let size = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  guard size <= limit else {
    errno = EFBIG
    return nil
  }
  // One more than expected, so that the end is seen without a larger buffer.
  var bytes = [UInt8](repeating: 0, count: max(size, 4096) + 1)
  var filled = 0
  while true {
    let count = bytes.withUnsafeMutableBytes { buffer in
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      return read(descriptor, rest.baseAddress, rest.count)
    }
    if count < 0 && errno == EINTR { continue }
    if count < 0 || filled + count > limit {
      let code = count < 0 ? errno : EFBIG
      wipe(&bytes)
      errno = code
      return nil
    }
    filled += count
    if count == 0 {
      bytes.removeSubrange(filled...)
      return bytes
    }
    if filled == bytes.count {
      var larger = [UInt8](repeating: 0, count: 2 * filled)
      larger.replaceSubrange(..<filled, with: bytes)
      swap(&bytes, &larger)
      wipe(&larger)
    }
  }
}

/// Writes all bytes, in as many steps as it takes.
///
/// - Returns: Whether that succeeded; if not, `errno` is set.
package func writeAll(_ bytes: Span<UInt8>, to descriptor: Int32) -> Bool {
  bytes.withUnsafeBytes { bytes in
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}

/// Makes a new file with this mode, whatever the umask is. On failure the file is removed.
///
/// - Returns: Its descriptor, which the caller closes; if that failed, -1, and `errno` is set: `EEXIST` if the file exists
///   already.
func makeNewFile(
  _ bytes: Span<UInt8>, at path: String, in directory: Int32 = AT_FDCWD, mode: UInt32 = 0o600
) -> Int32 {
  let file = openat(directory, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
  if file < 0 || fchmod(file, mode) == 0 && writeAll(bytes, to: file) { return file }
  let code = errno
  close(file)
  unlinkat(directory, path, 0)
  errno = code
  return -1
}

/// Makes a new file with this mode, whatever the umask is, and waits until the bytes are on the disk. On failure the
/// file is removed. `owner` is whose it is (default: this user's).
///
/// - Returns: Whether that succeeded; if not, `errno` is set: `EEXIST` if the file exists already.
package func writeNewFile(
  _ bytes: Span<UInt8>, to path: String, mode: UInt32 = 0o600, owner: (user: UInt32, group: UInt32)? = nil
) -> Bool {
  let file = makeNewFile(bytes, at: path, mode: mode)
  guard file >= 0 else { return false }
  // By the descriptor: the owner of the directory could put another file in this one's place.
  let isOwned = owner.map { fchown(file, $0.user, $0.group) == 0 } ?? true
  let isWritten = isOwned && fsync(file) == 0
  let code = errno
  close(file)
  if !isWritten { unlink(path) }
  errno = code
  return isWritten
}

/// Replaces a file, or makes it, atomically: a crash leaves either the old or the new file. Another user's file, which root
/// replaces, stays that user's.
///
/// - Returns: Whether that succeeded; if not, `errno` is set.
package func replaceFile(_ path: String, with bytes: Span<UInt8>, mode: UInt32 = 0o600) -> Bool {
  let new = "\(path).\(getpid()).new"
  unlink(new)
  var old = stat()
  let isOthers = geteuid() == 0 && lstat(path, &old) == 0 && old.st_uid != 0
  let owner = isOthers ? (user: old.st_uid, group: old.st_gid) : nil
  if writeNewFile(bytes, to: new, mode: mode, owner: owner), rename(new, path) == 0 { return true }
  let code = errno
  unlink(new)
  errno = code
  return false
}

/// Whether this process may open so many more descriptors at once. Check before a GLib call that needs some: GLib ends
/// a process in which it cannot get one.
package func canOpen(_ count: Int) -> Bool {
  // O_PATH, which Glibc's module lacks: "/" need not be readable.
  let first = open("/", 0o10000000 | O_DIRECTORY | O_CLOEXEC)
  // Duplicating takes a quarter of the time of opening.
  let opened = [first] + (1..<count).map { _ in fcntl(first, F_DUPFD_CLOEXEC, 0) }
  for descriptor in opened where descriptor >= 0 { close(descriptor) }
  return !opened.contains(-1)
}

/// Whether a path names this open file.
package func isFile(_ path: String, openAs descriptor: Int32) -> Bool {
  var (named, open) = (stat(), stat())
  return lstat(path, &named) == 0 && fstat(descriptor, &open) == 0 && named.st_dev == open.st_dev
    && named.st_ino == open.st_ino
}

/// Reads a file that must belong to this user or to root and, unless `others` may read it, be closed to other users. One of
/// root's may be readable for its group: a secret that Kubernetes mounts for a pod's group always is.
///
/// - Returns: `nil` if the file does not exist.
/// - Throws: ``PrivateFileError``: `notPrivate`, `notRegular`, `system` with `EFBIG` for more than `limit` bytes.
package func readPrivateFile(
  _ path: String, limit: Int, openToOthers others: Bool = false
) throws(PrivateFileError) -> [UInt8]? {
  try readFile(path, limit: limit) { status in
    isPrivate(owner: status.st_uid, mode: status.st_mode, user: geteuid(), openToOthers: others)
  }
}

/// Whether a file may hold a secret of a user.
func isPrivate(owner: uid_t, mode: mode_t, user: uid_t, openToOthers others: Bool = false) -> Bool {
  let forbidden: mode_t = owner != user ? 0o037 : 0o077
  return [user, 0].contains(owner) && (others || mode & forbidden == 0)
}

/// Reads a regular file of any owner, and with `refusingOtherWriters` none that its group or others may write. Not the owner
/// is asked about: in a user namespace root has another number. A named pipe or a device is refused: it may block, or never end.
///
/// - Returns: `nil` if the file does not exist.
/// - Throws: ``PrivateFileError``: `notPrivate`, `notRegular`, `system` with `EFBIG` for more than `limit` bytes.
package func readFile(
  _ path: String, limit: Int, refusingOtherWriters: Bool = false
) throws(PrivateFileError) -> [UInt8]? {
  try readFile(path, limit: limit) { !refusingOtherWriters || $0.st_mode & 0o022 == 0 }
}

private func readFile(
  _ path: String, limit: Int, isAcceptable: (stat) -> Bool
) throws(PrivateFileError) -> [UInt8]? {
  let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
  if file < 0 {
    if isAbsent(path) { return nil }
    throw .system(call: "open", path: path, code: errno)
  }
  defer { close(file) }
  return try readRegularFile(file, path: path, limit: limit, isAcceptable: isAcceptable)
}

/// Whether `errno`, of a call that could not open a path, means that the path does not exist. `ENOTDIR` means so too,
/// unless it is the path itself that is not a directory.
func isAbsent(_ path: String) -> Bool {
  let code = errno
  defer { errno = code }
  return code == ENOENT || code == ENOTDIR && access(path, F_OK) != 0 && errno == ENOTDIR
}

/// Reads an open file, which must be regular.
func readRegularFile(
  _ file: Int32, path: String, limit: Int, isAcceptable: (stat) -> Bool = { _ in true }
) throws(PrivateFileError) -> [UInt8] {
  var status = stat()
  if fstat(file, &status) != 0 { throw .system(call: "fstat", path: path, code: errno) }
  guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
  guard isAcceptable(status) else { throw .notPrivate(path: path) }
  guard let bytes = readAll(file, limit: limit) else { throw .system(call: "read", path: path, code: errno) }
  return bytes
}

/// The path without symbolic links; the path itself if it cannot be resolved.
package func withoutLinks(_ path: String) -> String {
  String(taking: realpath(path, nil)) ?? path
}

/// The target of a path's symbolic links, which need not exist: replacing it keeps the link.
package func linkTarget(_ path: String) -> String {
  var path = path
  // As many links as the kernel follows.
  for _ in 0..<40 {
    guard let target = String(taking: g_file_read_link(path, nil)) else { break }
    path = target.hasPrefix("/") ? target : "\(parentDirectory(of: path))/\(target)"
  }
  return path
}

/// The directory of a path, `.` for a bare name; only the root ends with a slash.
package func parentDirectory(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}
