package import GLibSupport
import Synchronization
package import TokenCache

/// What the writers of one group share: the thread they run on, one after the other, and the lock file with the counter.
package final class GroupWriter: Sendable {
  private let file: SharedLockFile?
  private let queue: BlockingQueue
  private let variable: String?
  private let cancelled: CacheError
  private let timedOut: CacheError

  /// Opens the lock file, and makes it where it does not exist.
  ///
  /// - Parameters:
  ///   - directory: Where the lock file is.
  ///   - name: What it is called.
  ///   - variable: The environment variable that names another place for it.
  ///   - label: Names the thread.
  ///   - cancelled: Thrown when the task is cancelled.
  ///   - timedOut: Thrown when the work, or the wait for other writers, takes too long.
  /// - Throws: ``CacheError/Code/unavailable`` when the lock file cannot be used.
  package init(
    directory: String, name: String, variable: String, label: String, cancelled: CacheError,
    timedOut: CacheError
  ) throws(CacheError) {
    do {
      file = try SharedLockFile(directory: directory, name: name)
    } catch {
      throw CacheError(error, Self.unusable, variable: variable)
    }
    queue = BlockingQueue(label: label)
    self.variable = variable
    self.cancelled = cancelled
    self.timedOut = timedOut
  }

  /// For a backend that takes other programs' locks itself.
  package init(label: String, cancelled: CacheError, timedOut: CacheError) {
    (file, variable) = (nil, nil)
    queue = BlockingQueue(label: label)
    self.cancelled = cancelled
    self.timedOut = timedOut
  }

  private static let unusable = "The lock file cannot be used."

  /// The group's counter; `nil` while somebody is writing, and after a writer died in the middle.
  package var generation: UInt64? { file?.completedGeneration }

  /// Runs blocking work while no other writer does, of this process or another.
  ///
  /// - Throws: What `work` throws, and ``CacheError`` when the lock cannot be had in time.
  package func write<T: Sendable>(
    timeout: Duration, _ work: @escaping @Sendable (Turn, Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await queue.run(timeout: timeout, onCancel: cancelled, onTimeout: timedOut) {
      [self] (cancellable) throws(CacheError) in
      try locked { (turn) throws(CacheError) in
        // Others may have held the lock until nobody waited here any more.
        if cancellable.isPastDeadline { throw timedOut }
        if cancellable.isCancelled { throw cancelled }
        return try work(turn, cancellable)
      }
    }
  }

  /// Runs blocking work while no other writer does, on the caller's thread.
  package func locked<T>(_ work: (Turn) throws(CacheError) -> T) throws(CacheError) -> T {
    guard let file else { return try work(Turn(nil)) }
    return try file.withLock(orThrow: { CacheError($0, Self.unusable, variable: variable) }) {
      () throws(CacheError) in try work(Turn(file))
    }
  }
}

/// The writers of the groups that a process works on, each made when it is needed. Every lookup asks for one.
package final class GroupWriters: Sendable {
  /// Whether all writers on this machine see the same lock files.
  package let isShared: Bool
  private let exists: @Sendable (KeychainGroup) -> Bool
  private let make: @Sendable (KeychainGroup) throws(CacheError) -> GroupWriter
  /// A list, since programs work on one group or two.
  private let writers = Mutex<[(group: KeychainGroup, writer: GroupWriter)]>([])

  /// - Parameters:
  ///   - isShared: Whether all writers on this machine see the same lock files; else there is no counter.
  ///   - exists: Whether to make the lock file of a group for a reader.
  ///   - make: Makes the writer of a group.
  package init(
    isShared: Bool = true, exists: @escaping @Sendable (KeychainGroup) -> Bool = { _ in true },
    _ make: @escaping @Sendable (KeychainGroup) throws(CacheError) -> GroupWriter
  ) {
    self.isShared = isShared
    self.exists = exists
    self.make = make
  }

  /// The counter of a group; `nil` while nobody can tell.
  package func generation(of group: KeychainGroup) -> UInt64? {
    guard isShared else { return nil }
    if let writer = known(group) { return writer.generation }
    return exists(group) ? (try? writer(of: group))?.generation : nil
  }

  package func writer(of group: KeychainGroup) throws(CacheError) -> GroupWriter {
    try writers.withLock { writers throws(CacheError) in
      if let known = writers.first(where: { $0.group == group }) { return known.writer }
      let writer = try make(group)
      writers.append((group, writer))
      return writer
    }
  }

  private func known(_ group: KeychainGroup) -> GroupWriter? {
    writers.withLock { $0.first { $0.group == group }?.writer }
  }
}
