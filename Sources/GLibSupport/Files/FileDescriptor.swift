import Glibc

/// Reads a file, a pipe or a terminal to its end, and leaves no other copy of that in memory.
///
/// - Returns: `nil` when that fails; `errno` says why, `EFBIG` that there are more than `limit` bytes.
package func readAll(_ descriptor: Int32, limit: Int) -> [UInt8]? {
  var status = stat()
  let size = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  guard size <= limit else {
    errno = EFBIG
    return nil
  }
  // One more than is expected, so that the end shows without another buffer.
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

/// Writes all of some bytes, in as many steps as it takes.
///
/// - Returns: Whether that succeeded; `errno` says why not.
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

/// Makes a new file with some bytes, of this mode under any umask, and waits until they are on the disk. When that fails
/// there is no such file.
///
/// - Returns: Whether that succeeded; `errno` says why not, `EEXIST` that there is such a file already.
package func writeNewFile(
  _ bytes: Span<UInt8>, to path: String, in directory: Int32 = AT_FDCWD, mode: UInt32 = 0o600
) -> Bool {
  let file = openat(directory, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
  guard file >= 0 else { return false }
  let isWritten = fchmod(file, mode) == 0 && writeAll(bytes, to: file) && fsync(file) == 0
  let code = errno
  close(file)
  if !isWritten { unlinkat(directory, path, 0) }
  errno = code
  return isWritten
}

/// Puts a new file in the place of another, or of none: a crash leaves either the old or the new one.
///
/// - Returns: Whether that succeeded; `errno` says why not.
package func replaceFile(_ path: String, with bytes: Span<UInt8>, mode: UInt32 = 0o600) -> Bool {
  let new = "\(path).\(getpid()).new"
  unlink(new)
  if writeNewFile(bytes, to: new, mode: mode), rename(new, path) == 0 { return true }
  let code = errno
  unlink(new)
  errno = code
  return false
}

/// Whether this process may open so many more descriptors at once. To be asked before GLib is used in a way that takes
/// some: it ends the process that it cannot get one for.
package func canOpen(_ count: Int) -> Bool {
  let first = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  // To duplicate takes a quarter of the time that to open takes.
  let opened = [first] + (1..<count).map { _ in fcntl(first, F_DUPFD_CLOEXEC, 0) }
  for descriptor in opened where descriptor >= 0 { close(descriptor) }
  return !opened.contains(-1)
}

/// Whether a path names the file that is open.
package func isFile(_ path: String, openAs descriptor: Int32) -> Bool {
  var (named, open) = (stat(), stat())
  return lstat(path, &named) == 0 && fstat(descriptor, &open) == 0 && named.st_dev == open.st_dev
    && named.st_ino == open.st_ino
}
