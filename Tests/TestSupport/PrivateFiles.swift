import Glibc

/// The permissions of a file, of a link its own.
package func mode(of path: String) -> mode_t? {
  var status = stat()
  return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
}

/// Writes a file of this user alone.
package func writePrivate(_ bytes: [UInt8], to path: String) throws {
  // A child that another test is starting must not keep it open.
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  defer { close(file) }
  guard write(file, bytes, bytes.count) == bytes.count else {
    throw SetUpFailure("write to \(path): \(String(cString: strerror(errno)))")
  }
}
