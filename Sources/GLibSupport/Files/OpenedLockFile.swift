import CGLib
import Glibc
import Synchronization

/// A lock file that was opened, checked, repaired if necessary, and mapped if only this machine uses it.
struct OpenedLockFile {
  static let size = 4096
  private static let magic = Array("LLAVERO1".utf8)

  let descriptor: Int32
  let sharing: FileSharing
  /// `nil` if other machines may write, whose changes memory does not show, and if the file is incomplete while another
  /// process holds its lock.
  let mapping: UnsafeMutableRawPointer?

  init(directory: String, name: String) throws(PrivateFileError) {
    let path = directory + "/" + name
    try checkOwner(ofParentOf: directory)
    if mkdir(directory, 0o700) != 0, errno != EEXIST {
      throw .system(call: "mkdir", path: directory, code: errno)
    }
    guard let folder = try PrivateDirectory.existing(at: directory) else {
      throw .system(call: "open", path: directory, code: ENOENT)
    }
    let descriptor = try folder.open(name)
    sharing = FileSharing(of: descriptor)
    do {
      mapping = sharing == .machine ? try Self.mapping(of: descriptor, path: path) : nil
      self.descriptor = descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// The counter in a mapped page.
  static func counter(in mapping: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
    // An Atomic<UInt64> is laid out as the UInt64 it holds, and zero bytes are a valid one.
    (mapping + magic.count).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  static func lock(_ descriptor: Int32, path: String) throws(PrivateFileError) {
    while flock(descriptor, LOCK_EX) != 0 {
      if errno != EINTR { throw .system(call: "flock", path: path, code: errno) }
    }
  }

  /// Maps the file's page and rewrites it first if it is incomplete. Never waits for the lock, which the caller may hold.
  ///
  /// - Returns: `nil` if the file is incomplete while another process holds the lock.
  static func mapping(
    of descriptor: Int32, path: String, isLocked: Bool = false
  ) throws(PrivateFileError) -> UnsafeMutableRawPointer? {
    var status = stat()
    if fstat(descriptor, &status) != 0 { throw .system(call: "fstat", path: path, code: errno) }
    if status.st_size == size {
      // Without the lock: a reader of the counter must not wait for a writer.
      let page = try map(descriptor, path: path)
      if isMarked(page) { return page }
      munmap(page, size)
    }
    guard isLocked else {
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        if errno == EWOULDBLOCK { return nil }
        throw .system(call: "flock", path: path, code: errno)
      }
      defer { flock(descriptor, LOCK_UN) }
      // Another process may have rewritten it since.
      return try mapping(of: descriptor, path: path, isLocked: true)
    }
    // Storing into a page that the disk has no room for would be a fatal SIGBUS.
    let code = posix_fallocate(descriptor, 0, size)
    if code != 0 { throw .system(call: "posix_fallocate", path: path, code: code) }
    if status.st_size > size, ftruncate(descriptor, size) != 0 {
      throw .system(call: "ftruncate", path: path, code: errno)
    }
    let page = try map(descriptor, path: path)
    // A random start: a reader that remembers a number of a deleted file must not see it again by chance.
    let start = UInt64.random(in: 0...UInt64.max >> 8) * 2
    counter(in: page).pointee.store(start, ordering: .sequentiallyConsistent)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    // Last: from now on other processes trust the page.
    page.copyMemory(from: magic, byteCount: magic.count)
    return page
  }

  private static func map(
    _ descriptor: Int32, path: String
  ) throws(PrivateFileError) -> UnsafeMutableRawPointer {
    guard
      let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), page != MAP_FAILED
    else { throw .system(call: "mmap", path: path, code: errno) }
    return page
  }

  private static func isMarked(_ page: UnsafeMutableRawPointer) -> Bool {
    // Without a fence the counter could be loaded before the mark, which was written after it.
    defer { atomicMemoryFence(ordering: .acquiring) }
    return UnsafeRawBufferPointer(start: page, count: magic.count).elementsEqual(magic)
  }
}
