package import GLibSupport
import Synchronization
package import TokenCache

/// What the writers of one group share: the thread they run on, one after the other, and the lock file with the counter.
package final class GroupWriter: Sendable {
  package let file: SharedLockFile
  private let queue: BlockingQueue
  private let variable: String
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

  private static let unusable = "The lock file cannot be used."

  /// The group's counter; `nil` while somebody is writing, and after a writer died in the middle.
  package var generation: UInt64? {
    let generation = file.generation
    return generation.isMultiple(of: 2) ? generation : nil
  }

  /// Runs blocking work while no other writer does, of this process or another.
  ///
  /// - Throws: What `work` throws, and ``CacheError`` when the lock cannot be had in time.
  package func write<T: Sendable>(
    timeout: Duration, _ work: @escaping @Sendable (Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await queue.run(timeout: timeout, onCancel: cancelled, onTimeout: timedOut) {
      [self] (cancellable) throws(CacheError) in
      try locked { () throws(CacheError) in
        // Others may have held the lock until nobody waited here any more.
        if cancellable.isPastDeadline { throw timedOut }
        if cancellable.isCancelled { throw cancelled }
        return try work(cancellable)
      }
    }
  }

  /// Runs blocking work while no other writer does, on the caller's thread.
  package func locked<T>(_ work: () throws(CacheError) -> T) throws(CacheError) -> T {
    try file.withLock(orThrow: { CacheError($0, Self.unusable, variable: variable) }, work)
  }
}

/// The writers of the groups that a process works on, each made when it is needed. Every lookup asks for one.
package final class GroupWriters: Sendable {
  /// A list, since programs work on one group or two.
  private let writers = Mutex<[(group: KeychainGroup, writer: GroupWriter)]>([])

  package init() {}

  /// The writer of a group, where there is one.
  package subscript(group: KeychainGroup) -> GroupWriter? {
    writers.withLock { $0.first { $0.group == group }?.writer }
  }

  /// The writer of a group, made by `make` where there is none.
  package func writer(
    of group: KeychainGroup, _ make: () throws(CacheError) -> GroupWriter
  ) throws(CacheError) -> GroupWriter {
    try writers.withLock { writers throws(CacheError) in
      if let known = writers.first(where: { $0.group == group }) { return known.writer }
      let writer = try make()
      writers.append((group, writer))
      return writer
    }
  }
}
