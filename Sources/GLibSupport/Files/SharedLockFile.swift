import Dispatch
import Glibc
import Synchronization

/// A small file that several processes of one user share: a lock, and a counter mapped into memory.
///
/// The lock is `flock(2)`: the kernel drops it when its holder dies. The file's first page holds 8 bytes
/// "LLAVERO1" and then the counter, 64 bits in the machine's byte order. On a network file system there is no counter:
/// nobody can tell what other machines do.
///
/// `@unchecked Sendable`: `descriptor` and `mappings` are touched only between `threads.wait()` and
/// `threads.signal()`; everything else is immutable or atomic.
package final class SharedLockFile: @unchecked Sendable {
  private let directory: String
  private let name: String
  private let path: String
  private var descriptor: Int32 = -1
  /// Of the file that is open; a later one is on the same file system.
  package let sharing: FileSharing
  private var mappings: [UnsafeMutableRawPointer] = []
  /// Keeps threads of this process apart; between them `flock` on one description does not exclude.
  private let threads = DispatchSemaphore(value: 1)
  private let currentMapping: Atomic<UnsafeMutableRawPointer?>
  private let currentDescriptor: Atomic<Int32>
  private let lastCheck = Atomic<Int>(0)

  /// Opens the file, and makes it and its directory where they do not exist.
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

  /// The counter: even when the last write was completed, odd while one is under way or after a writer died.
  ///
  /// Costs nanoseconds, and waits for nobody. A second at most after somebody deleted the file, this is an odd number
  /// until the lock is taken again, which makes a new file; so it is while another process holds the lock of a file that
  /// is not whole. On a network file system it always is.
  package var generation: UInt64 {
    guard isStillThere(), let counter else { return .max }
    return counter.pointee.load(ordering: .sequentiallyConsistent)
  }

  /// Runs `body` while no other process and no other `SharedLockFile` holds this lock; not reentrant.
  package func withLock<T, E: Error>(
    orThrow failure: (PrivateFileError) -> E, _ body: () throws(E) -> T
  ) throws(E) -> T {
    threads.wait()
    defer { threads.signal() }
    do {
      try lock()
    } catch {
      throw failure(error)
    }
    defer { flock(descriptor, LOCK_UN) }
    return try body()
  }

  /// Makes the counter odd: from now on nobody trusts what they remember. To be called by the lock's holder.
  package func beginWrite() {
    guard let counter else { return }
    let generation = counter.pointee.load(ordering: .sequentiallyConsistent)
    // Odd already means that a writer died in the middle; it is raised all the same, so that a reader that
    // compares two readings sees the difference.
    let next = generation % 2 == 0 ? generation + 1 : generation + 2
    counter.pointee.store(next, ordering: .sequentiallyConsistent)
  }

  /// Makes the counter even again. To be called by the lock's holder.
  ///
  /// - Returns: What it is now.
  @discardableResult
  package func endWrite() -> UInt64 {
    guard let counter else { return .max }
    let generation = counter.pointee.load(ordering: .sequentiallyConsistent)
    let next = generation % 2 == 0 ? generation + 2 : generation + 1
    counter.pointee.store(next, ordering: .sequentiallyConsistent)
    return next
  }

  private var counter: UnsafeMutablePointer<Atomic<UInt64>>? {
    currentMapping.load(ordering: .acquiring).map(OpenedLockFile.counter)
  }

  private func lock() throws(PrivateFileError) {
    while true {
      try OpenedLockFile.lock(descriptor, path: path)
      let opened: OpenedLockFile
      do {
        if isFile(path, openAs: descriptor) { return try map(isLocked: true) }
        opened = try OpenedLockFile(directory: directory, name: name)
      } catch {
        // The file that nothing names is another writer's, perhaps, who opened it before.
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

  /// Maps a page that could not be mapped when the file was opened. To be called between `threads.wait()` and
  /// `threads.signal()`.
  private func map(isLocked: Bool) throws(PrivateFileError) {
    guard sharing == .machine, counter == nil,
      let mapping = try OpenedLockFile.mapping(of: descriptor, path: path, isLocked: isLocked)
    else { return }
    mappings.append(mapping)
    currentMapping.store(mapping, ordering: .releasing)
  }

  /// Looks, at most once in a second, whether the path still names the mapped file, and maps one that was not yet.
  private func isStillThere() -> Bool {
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
