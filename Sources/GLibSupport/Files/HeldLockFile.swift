import Glibc
import Synchronization

/// A lock that a process holds during other work, on a file that the processes of one user share.
///
/// The lock is `flock(2)`: the kernel releases it when its holder dies. Unlike ``SharedLockFile`` it excludes other
/// threads too, and may be released on another thread.
package final class HeldLockFile: Sendable {
  private let path: String
  private let descriptor: Mutex<Int32?>

  /// Waits for the lock; makes the file and its directory if they do not exist.
  package init(directory: String, name: String) throws(PrivateFileError) {
    path = directory + "/" + name
    while true {
      let opened = try OpenedLockFile(directory: directory, name: name)
      if let mapping = opened.mapping { munmap(mapping, OpenedLockFile.size) }
      do {
        try OpenedLockFile.lock(opened.descriptor, path: path)
      } catch {
        close(opened.descriptor)
        throw error
      }
      // The file may have been deleted, and another process may hold a new one.
      if isFile(path, openAs: opened.descriptor) {
        descriptor = Mutex(opened.descriptor)
        return
      }
      close(opened.descriptor)
    }
  }

  deinit { release() }

  /// Deletes the file and releases the lock. A process that waits for the lock makes a new file.
  package func remove() {
    if descriptor.withLock({ $0 != nil }) { unlink(path) }
    release()
  }

  /// Releases the lock; does nothing the second time.
  package func release() {
    descriptor.withLock { descriptor in
      if let descriptor {
        // A child that was forked without exec has the file open too.
        flock(descriptor, LOCK_UN)
        close(descriptor)
      }
      descriptor = nil
    }
  }
}
