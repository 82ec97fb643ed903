import Glibc

/// Reads a file that must belong to this user or to root and, unless `others` may read it, be closed to all others.
///
/// - Returns: `nil` where there is none.
/// - Throws: ``PrivateFileError``: `notPrivate`, `notRegular`, `system` with `EFBIG` when it has more than `limit` bytes.
package func readPrivateFile(
  _ path: String, limit: Int, openToOthers others: Bool = false
) throws(PrivateFileError) -> [UInt8]? {
  try readFile(path, limit: limit) { status in
    [geteuid(), 0].contains(status.st_uid) && (others || status.st_mode & 0o077 == 0)
  }
}

/// Reads a regular file, whoever owns it. A named pipe or a device may have nothing to say, or never an end.
///
/// - Returns: `nil` where there is none.
/// - Throws: ``PrivateFileError``: `notRegular`, `system` with `EFBIG` when it has more than `limit` bytes.
package func readFile(_ path: String, limit: Int) throws(PrivateFileError) -> [UInt8]? {
  try readFile(path, limit: limit) { _ in true }
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

/// Whether `errno`, of a call that could not open a path, says that nothing is there. That something on the way is no
/// directory says so too, unless that is the path itself.
func isAbsent(_ path: String) -> Bool {
  let code = errno
  defer { errno = code }
  return code == ENOENT || code == ENOTDIR && access(path, F_OK) != 0 && errno == ENOTDIR
}

/// Reads an open file, if it is a regular one.
func readRegularFile(
  _ file: Int32, path: String, limit: Int, isAcceptable: (stat) -> Bool
) throws(PrivateFileError) -> [UInt8] {
  var status = stat()
  if fstat(file, &status) != 0 { throw .system(call: "fstat", path: path, code: errno) }
  guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
  guard isAcceptable(status) else { throw .notPrivate(path: path) }
  guard let bytes = readAll(file, limit: limit) else {
    throw .system(call: "read", path: path, code: errno)
  }
  return bytes
}
