import CGLib
import FoundationEssentials
import GLibSupport
import Glibc
import TokenCache

/// Reads and writes small files as the other libraries expect them.
enum FileContents {
  /// Larger than any cache: 256 MiB.
  private static let limit = 256 << 20

  /// Reads a file; `nil` if it does not exist.
  static func read(_ path: String) throws(CacheError) -> Data? {
    do throws(PrivateFileError) {
      guard var bytes = try readFile(path, limit: limit) else { return nil }
      defer { wipe(&bytes) }
      return Data(bytes)
    } catch .system(_, _, EFBIG) {
      throw tooLarge(path)
    } catch {
      throw CacheError(.unavailable, "The file cannot be read. \(error)", advice: advice)
    }
  }

  /// The beginning of an open file as text, empty if it cannot be read.
  static func text(of descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
    }
    return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
  }

  /// Replaces a file, or the target of a symbolic link, by one that only the user can read. A crash leaves either the old
  /// or the new file. The directory of a link's target is not made: its disk may not be mounted.
  static func replace(_ path: String, with contents: Data) throws(CacheError) {
    guard contents.count <= limit else { throw tooLarge(path) }
    try makeDirectory(of: path)
    let path = linkTarget(path)
    // One that cannot be removed keeps no change from being made.
    try? discardLeftovers(of: path)
    guard replaceFile(path, with: contents.span) else { throw failure("written", path) }
  }

  /// Overwrites and removes the new files that processes left which were ended while they replaced this one. The caller holds
  /// the lock.
  static func discardLeftovers(of path: String) throws(CacheError) {
    let url = URL(filePath: linkTarget(path))
    let directory = url.deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    let prefix = url.lastPathComponent + "."
    for name in names
    where name.hasPrefix(prefix) && name.hasSuffix(".new")
      && Int32(name.dropFirst(prefix.count).dropLast(".new".count)) != nil
    {
      let leftover = directory.appending(path: name).path
      var status = stat()
      if unsafe lstat(leftover, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        try? overwrite(leftover)
      }
      try unlinkFile(leftover)
    }
  }

  /// Overwrites and removes a file, or the target of a symbolic link, if it has the right contents. It gets another name
  /// before they are compared: a program may rename a new file into its place at any moment.
  ///
  /// - Returns: Whether it was removed; if not, it has its name again.
  static func discard(_ path: String, if isRight: (Data) -> Bool) throws(CacheError) -> Bool {
    let path = linkTarget(path)
    let aside = "\(path).\(UUID().uuidString)"
    guard unsafe rename(path, aside) == 0 else {
      if errno == ENOENT { return false }
      throw failure("removed", path)
    }
    func discardAside() throws(CacheError) -> Bool {
      guard var contents = try read(aside) else { return false }
      defer { contents.resetBytes(in: contents.startIndex..<contents.endIndex) }
      guard isRight(contents) else { return false }
      try overwrite(aside)
      try unlinkFile(aside)
      return true
    }
    let outcome = Result<Bool, CacheError>(calling: try discardAside())
    if (try? outcome.get()) != true, !putBack(aside, to: path) {
      throw failure("put back; it is \(aside)", path)
    }
    return try outcome.get()
  }

  /// Gives a file its name back unless another has it by now.
  private static func putBack(_ aside: String, to path: String) -> Bool {
    if unsafe link(aside, path) == 0 { return unsafe unlink(aside) == 0 }
    // Some file systems have no hard links.
    guard errno != EEXIST, unsafe access(path, F_OK) != 0 else { return false }
    return unsafe rename(aside, path) == 0
  }

  /// Overwrites the contents of a file, as far as the file system allows that, and leaves it empty.
  private static func overwrite(_ path: String) throws(CacheError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure("overwritten", path) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      writeAll(Data(repeating: 0, count: Int(status.st_size)).span, to: descriptor), fsync(descriptor) == 0,
      ftruncate(descriptor, 0) == 0, fsync(descriptor) == 0
    else { throw failure("overwritten", path) }
  }

  /// Removes a file, or the target of a symbolic link, which stays.
  static func remove(_ path: String) throws(CacheError) { try unlinkFile(linkTarget(path)) }

  private static func unlinkFile(_ path: String) throws(CacheError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("removed", path) }
  }

  static func isReadableByOthers(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & 0o044 != 0
  }

  /// Whether a file has more than so many bytes.
  static func hasMore(than size: Int, _ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > size
  }

  static func hasDirectory(_ path: String) -> Bool { unsafe access(parentDirectory(of: path), F_OK) == 0 }

  /// Makes the directory of a file, closed to others, and those above it.
  static func makeDirectory(of path: String) throws(CacheError) {
    do {
      try GLibSupport.makeDirectory(parentDirectory(of: path))
    } catch {
      throw CacheError(.unavailable, "The directory cannot be made. \(error)", advice: advice)
    }
  }

  /// Touches a file by whose time other programs see a change; makes it if it does not exist.
  ///
  /// The time is one second ahead, and later than before: MSAL for Python remembers when it finished reading, and a change
  /// while it read must not look older than that.
  static func touch(_ signal: PeerCache.Signal) throws(CacheError) {
    try makeDirectory(of: signal.path)
    let path = linkTarget(signal.path)
    let flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK
    var descriptor = unsafe open(path, flags | O_CREAT | O_EXCL, 0o600)
    let isNew = descriptor >= 0
    // Another error says why the file cannot be made.
    if !isNew && errno == EEXIST { descriptor = unsafe open(path, flags) }
    guard descriptor >= 0 else { throw failure("touched", signal.path) }
    defer { close(descriptor) }
    if isNew { _ = writeAll(Data(signal.contents.utf8).span, to: descriptor) }
    var status = stat()
    var now = timespec()
    unsafe fstat(descriptor, &status)
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    now.tv_sec += 1
    let last = status.st_mtim
    if (now.tv_sec, now.tv_nsec) <= (last.tv_sec, last.tv_nsec) {
      now = timespec(tv_sec: last.tv_sec, tv_nsec: last.tv_nsec + 1)
      if now.tv_nsec > 999_999_999 { now = timespec(tv_sec: last.tv_sec + 1, tv_nsec: 0) }
    }
    let times = [now, now]
    guard unsafe times.withUnsafeBufferPointer({ unsafe futimens(descriptor, $0.baseAddress) }) == 0 else {
      throw failure("touched", signal.path)
    }
  }

  private static func tooLarge(_ path: String) -> CacheError {
    CacheError(.tooLarge, "\(path) is larger than \(limit >> 20) MiB, which no token cache is.")
  }

  /// The error of the last system call; `done` is what was to be done with the file.
  static func failure(_ done: String, _ path: String) -> CacheError {
    let reason = systemReason()
    return CacheError(.unavailable, "\(path) cannot be \(done): \(reason).", advice: advice)
  }

  private static let advice = "Check who owns it and its directory, and whether the disk is full."
}
