import Dispatch
import CGLib
import Glibc
import Synchronization

/// A small file that the processes of one user share: a lock, and a counter mapped into memory.
///
/// The lock is `flock(2)`: the kernel releases it when its holder dies. The file's first page holds 8 bytes
/// "LLAVERO1" and then the counter, 64 bits in the machine's byte order. On a network file system there is no counter:
/// it would not show what other machines write.
///
/// `@unchecked Sendable`: `descriptor` and `mappings` are touched only between `threads.wait()` and
/// `threads.signal()`; everything else is immutable or atomic.
package final class SharedLockFile: @unchecked Sendable {
  private let directory: String
  private let name: String
  private let path: String
  private var descriptor: Int32 = -1
  /// That of the first file; a later one is on the same file system.
  package let sharing: FileSharing
  private var mappings: [UnsafeMutableRawPointer] = []
  /// Excludes threads of this process, which `flock` on one open file does not.
  private let threads = DispatchSemaphore(value: 1)
  private let currentMapping: Atomic<UnsafeMutableRawPointer?>
  private let currentDescriptor: Atomic<Int32>
  private let lastCheck = Atomic<Int>(0)

  /// Opens the file; makes it and its directory if they do not exist.
  package init(directory: String, name: String) throws(PrivateFileError) {
    self.directory = directory
    self.name = name
    path = directory + "/" + name
    let opened = try OpenedLockFile(directory: directory, name: name)
    descriptor = opened.descriptor
    sharing = opened.sharing
    mappings = [opened.mapping].compactMap(\.self)
    currentMapping = Atomic(opened.mapping)
    currentDescriptor = Atomic(opened.descriptor)
  }

  deinit {
    for mapping in mappings { munmap(mapping, OpenedLockFile.size) }
    close(descriptor)
  }

  /// The counter: even when the last write was completed, odd during a write or after a writer died.
  ///
  /// Takes nanoseconds and never waits. It is also odd from one second, at most, after the file was deleted until the
  /// lock is taken again, which makes a new file; while another process holds the lock of an incomplete file; and always
  /// on a network file system.
  package var generation: UInt64 {
    guard sharing == .machine, isStillNamed(), let counter else { return .max }
    return counter.pointee.load(ordering: .sequentiallyConsistent)
  }

  /// Waits until no other process, thread or `SharedLockFile` holds this lock, and takes it; not reentrant.
  package func lock() throws(PrivateFileError) {
    threads.wait()
    do {
      try lockFile()
    } catch {
      threads.signal()
      throw error
    }
  }

  package func unlock() {
    flock(descriptor, LOCK_UN)
    threads.signal()
  }

  /// Makes the counter odd: from now on no reader trusts its memory. The caller holds the lock.
  package func beginWrite() {
    raise(toOdd: true)
    // A store orders what precedes it: without a fence, other processors could see the change before the odd number.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  /// Makes the counter even again. The caller holds the lock.
  package func endWrite() { raise(toOdd: false) }

  /// It is odd already if a writer died. It is raised all the same, so that a reader that compares two values sees the change.
  private func raise(toOdd isOdd: Bool) {
    guard let counter else { return }
    let generation = counter.pointee.load(ordering: .sequentiallyConsistent)
    let step: UInt64 = generation.isMultiple(of: 2) == isOdd ? 1 : 2
    // It wraps: any process of the user can write any number here.
    counter.pointee.store(generation &+ step, ordering: .sequentiallyConsistent)
  }

  private var counter: UnsafeMutablePointer<Atomic<UInt64>>? {
    currentMapping.load(ordering: .acquiring).map(OpenedLockFile.counter)
  }

  private func lockFile() throws(PrivateFileError) {
    while true {
      try OpenedLockFile.lock(descriptor, path: path)
      let opened: OpenedLockFile
      do {
        if isFile(path, openAs: descriptor) { return try map(isLocked: true) }
        opened = try OpenedLockFile(directory: directory, name: name)
      } catch {
        // Another writer may still have the deleted file open.
        flock(descriptor, LOCK_UN)
        throw error
      }
      currentMapping.store(opened.mapping, ordering: .releasing)
      currentDescriptor.store(opened.descriptor, ordering: .releasing)
      // The old page stays mapped: another thread may be reading its counter.
      if let mapping = opened.mapping { mappings.append(mapping) }
      // Closing alone would not unlock: the mapping keeps the file open.
      flock(descriptor, LOCK_UN)
      close(descriptor)
      descriptor = opened.descriptor
    }
  }

  /// Maps a page that could not be mapped when the file was opened. Call it between `threads.wait()` and
  /// `threads.signal()`.
  private func map(isLocked: Bool) throws(PrivateFileError) {
    guard sharing == .machine, counter == nil,
      let mapping = try OpenedLockFile.mapping(of: descriptor, path: path, isLocked: isLocked)
    else { return }
    mappings.append(mapping)
    currentMapping.store(mapping, ordering: .releasing)
  }

  /// Checks, at most once a second, whether the path still names this file, and maps it if it is not mapped yet.
  private func isStillNamed() -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
    guard lastCheck.load(ordering: .relaxed) != now.tv_sec else { return true }
    guard isFile(path, openAs: currentDescriptor.load(ordering: .acquiring)) else { return false }
    if counter == nil, threads.wait(timeout: .now()) == .success {
      defer { threads.signal() }
      try? map(isLocked: false)
    }
    lastCheck.store(now.tv_sec, ordering: .relaxed)
    return true
  }
}
