import GLibSupport
import Synchronization
public import TokenCache

/// The writers of the groups that a process works on, each made when it is needed. Every lookup asks for a counter.
///
/// Writers of one group run one after the other, across processes, under the lock of a file. The file has the group's
/// counter.
public final class GroupWriters: Sendable {
  /// Whether all writers on this machine see the same lock files.
  let isShared: Bool
  private let label: String
  private let variable: String?
  private let exists: @Sendable (KeychainGroup) -> Bool
  private let lockFile: (@Sendable (KeychainGroup) throws(CacheError) -> (directory: String, name: String))?
  /// A list, since programs work on one group or two.
  private let writers = Mutex<[(group: KeychainGroup, writer: GroupWriter)]>([])

  /// Makes writers with a lock file for each group.
  ///
  /// - Parameters:
  ///   - label: The name of their threads.
  ///   - variable: The environment variable that names another place for the lock files (default: none).
  ///   - isShared: Whether all writers on this machine see the same lock files; if not, there is no counter.
  ///   - exists: Whether a reader makes the lock file of a group (default: always).
  ///   - lockFile: The directory of a group's lock file, and the file's name. Both are made if they do not exist.
  public init(
    label: String, variable: String? = nil, isShared: Bool = true,
    exists: @escaping @Sendable (KeychainGroup) -> Bool = { _ in true },
    lockFile: @escaping @Sendable (KeychainGroup) throws(CacheError) -> (directory: String, name: String)
  ) {
    self.label = label
    self.variable = variable
    self.isShared = isShared
    self.exists = exists
    self.lockFile = lockFile
  }

  /// For a backend that takes other programs' locks itself, or needs none. There is no counter.
  package init(label: String) {
    (self.label, variable, isShared, lockFile) = (label, nil, false, nil)
    exists = { _ in false }
  }

  /// The counter of a group, which every change raises; `nil` while it is unknown, such as before the first read.
  ///
  /// It opens no file: a file system that hangs would block the caller, which has no timeout here.
  public func generation(of group: KeychainGroup) -> UInt64? {
    isShared ? known(group)?.generation : nil
  }

  /// The counter of a group. Opens the lock file first if the group exists, so call it on a thread that may block. Of very many
  /// groups, the counters of some stay unknown.
  package func openedGeneration(of group: KeychainGroup) -> UInt64? {
    guard isShared, known(group) != nil || writers.withLock(\.count) < Self.maximumOpenFiles,
      let writer = try? writer(of: group), writer.isOpen || exists(group)
    else { return nil }
    _ = try? writer.open()
    return writer.generation
  }

  /// How many lock files readers keep open: half of what Linux lets a process have open by default.
  private static let maximumOpenFiles = 512

  private func known(_ group: KeychainGroup) -> GroupWriter? {
    writers.withLock { $0.first { $0.group == group }?.writer }
  }

  /// The writer of a group, whose lock file may not be open yet.
  func writer(of group: KeychainGroup) throws(CacheError) -> GroupWriter {
    if let known = known(group) { return known }
    let new = try newWriter(of: group)
    return writers.withLock { writers in
      // Another thread may have been faster.
      if let known = writers.first(where: { $0.group == group }) { return known.writer }
      writers.append((group, new))
      return new
    }
  }

  private func newWriter(of group: KeychainGroup) throws(CacheError) -> GroupWriter {
    try GroupWriter(label: label, variable: variable, lockFile?(group))
  }

  /// The writer of a group for the caller's thread. A lock file that was not open is closed with it: a store may have more groups
  /// than a process may have open files.
  package func singleUseWriter(of group: KeychainGroup) throws(CacheError) -> GroupWriter {
    if let known = known(group) { known } else { try newWriter(of: group) }
  }
}

/// What the writers of one group share: the thread they run on, one after the other, and the lock file with the counter.
package final class GroupWriter: Sendable {
  let queue: BlockingQueue
  private let place: (directory: String, name: String)?
  private let variable: String?
  private let file = Mutex<SharedLockFile?>(nil)

  init(label: String, variable: String?, _ place: (directory: String, name: String)?) {
    queue = BlockingQueue(label: label)
    self.variable = variable
    self.place = place
  }

  var isOpen: Bool { file.withLock { $0 != nil } }

  /// The group's counter; `nil` while a writer is at work, after one died in the middle, and before ``open()``.
  var generation: UInt64? { file.withLock(\.self)?.completedGeneration }

  /// Opens the lock file and makes it if it does not exist. It stays open.
  ///
  /// - Returns: `nil` if the group has none.
  /// - Throws: ``CacheError/Code/unavailable`` when the lock file cannot be used.
  func open() throws(CacheError) -> SharedLockFile? {
    guard let place else { return nil }
    if let file = file.withLock(\.self) { return file }
    // Not under the mutex, for which readers of the counter would wait.
    let opened = try using(SharedLockFile(directory: place.directory, name: place.name))
    return file.withLock { file in
      // Another thread may have been faster.
      let first = file ?? opened
      file = first
      return first
    }
  }

  /// Waits until no other writer has a turn, of this process or another. ``unlock()`` ends the turn.
  package func lock() throws(CacheError) -> Turn {
    let file = try open()
    if let file { try using(file.lock()) }
    return Turn(file)
  }

  package func unlock() { file.withLock(\.self)?.unlock() }

  private func using<T>(_ result: @autoclosure () throws(PrivateFileError) -> T) throws(CacheError) -> T {
    do {
      return try result()
    } catch {
      throw CacheError(error, "The lock file cannot be used.", variable: variable)
    }
  }

  /// Adds to an error how to find the process that holds the lock file.
  func advising(_ error: CacheError) -> CacheError {
    guard let place else { return error }
    let path = shellQuoted("\(place.directory)/\(place.name)")
    let holder = "Another process may hold the group's lock; \"fuser -v \(path)\" says which."
    var advising = error
    advising.advice = sentences(error.advice, holder)
    return advising
  }
}
