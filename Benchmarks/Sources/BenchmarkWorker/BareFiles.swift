import Glibc

/// Writes as many files, each in the way that survives a crash: a temporary file, fsync, rename. The directory is in that of
/// the session's home, beside the store.
func writeFiles(_ contents: [[UInt8]]) {
  let directory = (getenv("HOME").map { String(cString: $0) } ?? ".") + "/bare-files"
  mkdir(directory, 0o700)
  for (number, bytes) in contents.enumerated() {
    let (path, temporary) = ("\(directory)/\(number)", "\(directory)/new")
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0,
      close(descriptor) == 0, rename(temporary, path) == 0
    else { exit(70) }
  }
  let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0, fsync(descriptor) == 0, close(descriptor) == 0 else { exit(70) }
}
