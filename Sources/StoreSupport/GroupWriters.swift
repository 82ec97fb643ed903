import GLibSupport
import Synchronization
public import TokenCache

/// The writers of the groups that a process works on, each made when it is needed. Every lookup asks for one.
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

  /// The counter of a group, which every change raises; `nil` while it is unknown.
  public func generation(of group: KeychainGroup) -> UInt64? {
    guard isShared else { return nil }
    let known = writers.withLock { $0.first { $0.group == group }?.writer }
    if let known { return known.generation }
    return exists(group) ? (try? writer(of: group))?.generation : nil
  }

  func writer(of group: KeychainGroup) throws(CacheError) -> GroupWriter {
    try writers.withLock { writers throws(CacheError) in
      if let known = writers.first(where: { $0.group == group }) { return known.writer }
      let writer = try GroupWriter(label: label, variable: variable, lockFile?(group))
      writers.append((group, writer))
      return writer
    }
  }

  /// Runs blocking work while no other writer of the group does, on the caller's thread.
  package func locked<T>(
    _ group: KeychainGroup, _ work: (Turn) throws(CacheError) -> T
  ) throws(CacheError) -> T {
    let writer = try writer(of: group)
    let turn = try writer.lock()
    defer { writer.unlock() }
    return try work(turn)
  }
}

/// What the writers of one group share: the thread they run on, one after the other, and the lock file with the counter.
final class GroupWriter: Sendable {
  let queue: BlockingQueue
  private let file: SharedLockFile?
  private let variable: String?
  private let path: String?

  private static let unusable = "The lock file cannot be used."

  /// - Throws: ``CacheError/Code/unavailable`` when the lock file cannot be used.
  init(label: String, variable: String?, _ place: (directory: String, name: String)?) throws(CacheError) {
    do {
      file = try place.map { (place) throws(PrivateFileError) in
        try SharedLockFile(directory: place.directory, name: place.name)
      }
    } catch {
      throw CacheError(error, Self.unusable, variable: variable)
    }
    queue = BlockingQueue(label: label)
    self.variable = variable
    path = place.map { "\($0.directory)/\($0.name)" }
  }

  /// The group's counter; `nil` while a writer is at work, and after one died in the middle.
  var generation: UInt64? { file?.completedGeneration }

  /// Waits until no other writer has a turn, of this process or another. ``unlock()`` ends the turn.
  func lock() throws(CacheError) -> Turn {
    do {
      try file?.lock()
    } catch {
      throw CacheError(error, Self.unusable, variable: variable)
    }
    return Turn(file)
  }

  func unlock() { file?.unlock() }

  /// Adds to an error how to find the process that holds the lock file.
  func advising(_ error: CacheError) -> CacheError {
    guard let path else { return error }
    let holder = "Another process may hold the group's lock; \"fuser -v \(shellQuoted(path))\" says which."
    return CacheError(
      error.code, error.message, advice: error.advice.map { "\($0) \(holder)" } ?? holder,
      underlyingError: error.underlyingError)
  }
}
