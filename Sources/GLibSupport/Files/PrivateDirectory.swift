import Glibc

/// A directory that belongs to this user alone, and the files in it, which are replaced as a whole.
package final class PrivateDirectory: Sendable {
  package let path: String
  private let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Opens a directory.
  ///
  /// - Returns: `nil` where there is none.
  /// - Throws: ``PrivateFileError``, `notPrivate` when others may use it, or it is a symbolic link.
  package static func existing(at path: String) throws(PrivateFileError) -> PrivateDirectory? {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if descriptor < 0 {
      if isAbsent(path) { return nil }
      throw errno == ENOTDIR ? .notPrivate(path: path) : .system(call: "open", path: path, code: errno)
    }
    let directory = PrivateDirectory(path: path, descriptor: descriptor)
    try checkPrivate(descriptor, kind: S_IFDIR, path: path)
    return directory
  }

  /// Opens a directory, after making it and those above it where they do not exist, for this user alone.
  ///
  /// - Throws: ``PrivateFileError``
  package static func made(at path: String) throws(PrivateFileError) -> PrivateDirectory {
    if let directory = try existing(at: path) { return directory }
    var parent = ""
    for name in path.split(separator: "/") {
      parent += "/" + name
      if mkdir(parent, 0o700) == 0 { continue }
      let code = errno
      if code != EEXIST, access(parent, F_OK) != 0 {
        throw .system(call: "mkdir", path: parent, code: code)
      }
    }
    guard let directory = try existing(at: path) else {
      throw .system(call: "open", path: path, code: ENOENT)
    }
    return directory
  }

  /// The names in the directory, in no order.
  package func names() throws(PrivateFileError) -> [String] {
    try Self.names(openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), path)
  }

  /// The names in a directory, whose descriptor this takes over.
  static func names(_ list: Int32, _ path: String) throws(PrivateFileError) -> [String] {
    guard list >= 0 else { throw .system(call: "opendir", path: path, code: errno) }
    guard let stream = fdopendir(list) else {
      let code = errno
      close(list)
      throw .system(call: "opendir", path: path, code: code)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw .system(call: "readdir", path: path, code: errno) }
        return names
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
  }

  /// Reads a file.
  ///
  /// - Returns: `nil` where there is none.
  /// - Throws: ``PrivateFileError``: `notRegular`, `system` with `EFBIG` when it has more than `limit` bytes.
  package func read(_ name: String, limit: Int) throws(PrivateFileError) -> [UInt8]? {
    // Without O_NONBLOCK a named pipe would be waited for.
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if file < 0 {
      if errno == ENOENT { return nil }
      // A socket is ENXIO.
      throw [ELOOP, ENXIO].contains(errno) ? .notRegular(path: "\(path)/\(name)") : failure("open", name)
    }
    defer { close(file) }
    return try readRegularFile(file, path: "\(path)/\(name)", limit: limit) { _ in true }
  }

  /// When a file was written last, in seconds since 1970; `nil` where there is none.
  package func modification(of name: String) -> Double? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
  }

  /// Opens a file of this user alone to read and write it, and makes it where it does not exist.
  ///
  /// - Returns: The descriptor, which is the caller's.
  /// - Throws: ``PrivateFileError``
  func open(_ name: String) throws(PrivateFileError) -> Int32 {
    let file = openat(descriptor, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if file < 0 { throw errno == ELOOP ? .notPrivate(path: "\(path)/\(name)") : failure("open", name) }
    do {
      try checkPrivate(file, kind: S_IFREG, path: "\(path)/\(name)")
    } catch {
      close(file)
      throw error
    }
    return file
  }

  /// The address of a file in the directory, which fits a socket's address (108 bytes) whatever the directory's path is.
  /// It holds for as long as this object lives.
  package func address(of name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

  /// Makes a new file in place of one of this name, and waits until its contents are on the disk. When that
  /// fails there is no file of this name.
  package func write(_ bytes: [UInt8], to name: String) throws(PrivateFileError) {
    try remove(name)
    guard writeNewFile(bytes.span, to: name, in: descriptor) else { throw failure("write", name) }
  }

  /// Gives a file another name, in place of the file that has it, in one step.
  package func rename(_ name: String, to newName: String) throws(PrivateFileError) {
    if renameat(descriptor, name, descriptor, newName) == 0 { return }
    guard errno == EISDIR else { throw failure("rename", name) }
    try remove(newName)
    if renameat(descriptor, name, descriptor, newName) != 0 { throw failure("rename", name) }
  }

  /// Removes a file; does nothing where there is none. A directory in its place is removed if it is empty, and gets
  /// another name otherwise.
  package func remove(_ name: String) throws(PrivateFileError) {
    if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return }
    if errno == EISDIR {
      if unlinkat(descriptor, name, AT_REMOVEDIR) == 0 { return }
      if errno == ENOTEMPTY || errno == EEXIST {
        let suffix = String(UInt32.random(in: 0...UInt32.max), radix: 16)
        return try rename(name, to: "\(name).aside-\(suffix)")
      }
    }
    throw failure("unlink", name)
  }

  /// Waits until all names given and taken are on the disk.
  package func sync() throws(PrivateFileError) {
    if fsync(descriptor) != 0 { throw .system(call: "fsync", path: path, code: errno) }
  }

  private func failure(_ call: String, _ name: String) -> PrivateFileError {
    .system(call: call, path: "\(path)/\(name)", code: errno)
  }
}

private func checkPrivate(_ descriptor: Int32, kind: mode_t, path: String) throws(PrivateFileError) {
  var status = stat()
  if fstat(descriptor, &status) != 0 { throw .system(call: "fstat", path: path, code: errno) }
  guard status.st_mode & S_IFMT == kind, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
    throw .notPrivate(path: path)
  }
}
