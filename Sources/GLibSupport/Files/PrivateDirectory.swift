import CGLib
import Glibc

/// A directory that only this user may use, with files that are replaced as a whole.
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
  /// - Returns: `nil` if it does not exist.
  /// - Throws: ``PrivateFileError``, `notPrivate` if other users may use it or it is a symbolic link.
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

  /// Opens a directory and makes it, and those above it, if they do not exist, for this user alone.
  package static func made(at path: String) throws(PrivateFileError) -> PrivateDirectory {
    if let directory = try existing(at: path) { return directory }
    try makeDirectory(path)
    guard let directory = try existing(at: path) else {
      throw .system(call: "open", path: path, code: ENOENT)
    }
    return directory
  }

  /// The names in the directory, in no particular order.
  package func names() throws(PrivateFileError) -> [String] {
    try Self.names(openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), path)
  }

  /// The names in a directory; closes its descriptor.
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
  /// - Returns: `nil` if it does not exist.
  /// - Throws: ``PrivateFileError``: `notRegular`, `system` with `EFBIG` for more than `limit` bytes.
  package func read(_ name: String, limit: Int) throws(PrivateFileError) -> [UInt8]? {
    guard let file = try openForReading(name) else { return nil }
    defer { close(file) }
    return try readRegularFile(file, path: "\(path)/\(name)", limit: limit)
  }

  /// The first bytes of a file that can be read, fewer if it is shorter or was removed meanwhile.
  package func beginning(of name: String, size: Int) throws(PrivateFileError) -> [UInt8] {
    guard let file = try openForReading(name) else { return [] }
    defer { close(file) }
    return [UInt8](unsafeUninitializedCapacity: size) { $1 = max(pread(file, $0.baseAddress, size, 0), 0) }
  }

  private func openForReading(_ name: String) throws(PrivateFileError) -> Int32? {
    // Without O_NONBLOCK, opening a named pipe would block.
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if file < 0 {
      if errno == ENOENT { return nil }
      // A socket is ENXIO.
      throw [ELOOP, ENXIO].contains(errno) ? .notRegular(path: "\(path)/\(name)") : failure("open", name)
    }
    return file
  }

  /// When a file was last written, in seconds since 1970; `nil` if it does not exist.
  package func modification(of name: String) -> Double? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
  }

  /// Opens a file that only this user may use for reading and writing; makes it if it does not exist.
  ///
  /// - Returns: The descriptor, which the caller closes.
  package func open(_ name: String) throws(PrivateFileError) -> Int32 {
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

  /// A path of a file in the directory that is short enough for a socket (108 bytes). It is valid as long as this object
  /// lives.
  package func address(of name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

  /// Makes a new file in place of the old one and waits until its contents are on the disk. On failure no file of this
  /// name is left.
  package func write(_ bytes: [UInt8], to name: String) throws(PrivateFileError) {
    try write([(name, bytes)])
  }

  /// Makes new files in place of the old ones, in their order, and waits until the contents of all are on the disk, at the
  /// same time: that takes little longer than for one. On failure no file of these names is left.
  package func write(_ files: [(name: String, bytes: [UInt8])]) throws(PrivateFileError) {
    do throws(PrivateFileError) {
      for start in stride(from: 0, to: files.count, by: Self.maximumOpenFiles) {
        try writeAtOnce(files[start..<min(start + Self.maximumOpenFiles, files.count)])
      }
    } catch {
      for (name, _) in files { try? remove(name) }
      throw error
    }
  }

  private func writeAtOnce(_ files: ArraySlice<(name: String, bytes: [UInt8])>) throws(PrivateFileError) {
    var written: [(name: String, descriptor: Int32)] = []
    defer { for file in written { close(file.descriptor) } }
    for (name, bytes) in files {
      try remove(name)
      let file = makeNewFile(bytes.span, at: name, in: descriptor)
      if file < 0 { throw failure("write", name) }
      written.append((name, file))
    }
    _ = try written.concurrentMap(from: 2) { (name, file) throws(PrivateFileError) in
      if fsync(file) != 0 { throw failure("fsync", name) }
    }
  }

  /// How many files of one call are open at the same time.
  private static let maximumOpenFiles = 64

  /// Renames a file atomically, in place of the file that has the new name.
  package func rename(_ name: String, to newName: String) throws(PrivateFileError) {
    if renameat(descriptor, name, descriptor, newName) == 0 { return }
    guard errno == EISDIR else { throw failure("rename", name) }
    try remove(newName)
    if renameat(descriptor, name, descriptor, newName) != 0 { throw failure("rename", name) }
  }

  /// Removes a file if it exists. A directory in its place is removed if it is empty, and renamed otherwise.
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

  /// Waits until all renames and removals are on the disk.
  package func sync() throws(PrivateFileError) {
    if fsync(descriptor) != 0 { throw .system(call: "fsync", path: path, code: errno) }
  }

  private func failure(_ call: String, _ name: String) -> PrivateFileError {
    .system(call: call, path: "\(path)/\(name)", code: errno)
  }
}

/// Makes a directory, and those above it, if they do not exist, for this user alone. Waits until they are on the disk.
package func makeDirectory(_ path: String) throws(PrivateFileError) {
  if access(path, F_OK) == 0 { return }
  let parent = parentDirectory(of: path)
  // Not g_mkdir_with_parents, which does not say which one could not be made.
  if parent != path { try makeDirectory(parent) }
  guard mkdir(path, 0o700) == 0 else {
    let code = errno
    // Another process may have made it. A symbolic link to nothing exists as well.
    if code == EEXIST, access(path, F_OK) == 0 { return }
    throw .system(call: "mkdir", path: path, code: code)
  }
  let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  // This user may perhaps write to it, but not list it.
  if descriptor < 0 { return }
  defer { close(descriptor) }
  // EINVAL: the file system has no such operation.
  if fsync(descriptor) != 0, errno != EINVAL { throw .system(call: "fsync", path: parent, code: errno) }
}

private func checkPrivate(_ descriptor: Int32, kind: mode_t, path: String) throws(PrivateFileError) {
  var status = stat()
  if fstat(descriptor, &status) != 0 { throw .system(call: "fstat", path: path, code: errno) }
  guard status.st_mode & S_IFMT == kind, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
    throw .notPrivate(path: path)
  }
}

/// Why a file or directory cannot be used.
package enum PrivateFileError: Error, Equatable, Sendable {
  /// It belongs to another user, is open to others, or has the wrong type.
  case notPrivate(path: String)
  /// It is not a regular file, but a link, a pipe, a device or a directory.
  case notRegular(path: String)
  /// A system call failed with this `errno`; a full disk is `ENOSPC`.
  case system(call: String, path: String, code: Int32)
}

extension PrivateFileError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notPrivate(let path):
      "\(path) must belong to this user, be closed to all others and have the right file type."
    case .notRegular(let path): "\(path) is not a regular file."
    case .system(let call, let path, let code): "\(path): \(call): \(systemReason(code))."
    }
  }
}
