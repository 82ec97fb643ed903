package import GLibSupport
import Synchronization
package import TokenCache

/// What the writers of one group share: the thread they run on, one after the other, and the lock file with the counter.
package final class GroupWriter: Sendable {
  private let file: SharedLockFile?
  private let queue: BlockingQueue
  /// The environment variable that names another place for the lock file.
  private let variable: String?
  private let path: String?

  /// Opens the lock file, and makes it where it does not exist.
  ///
  /// - Parameters:
  ///   - directory: Where the lock file is.
  ///   - name: What it is called.
  ///   - variable: The environment variable that names another place for it.
  ///   - label: Names the thread.
  /// - Throws: ``CacheError/Code/unavailable`` when the lock file cannot be used.
  package init(directory: String, name: String, variable: String, label: String) throws(CacheError) {
    do {
      file = try SharedLockFile(directory: directory, name: name)
    } catch {
      throw CacheError(error, Self.unusable, variable: variable)
    }
    queue = BlockingQueue(label: label)
    self.variable = variable
    path = "\(directory)/\(name)"
  }

  /// For a backend that takes other programs' locks itself, or needs none.
  package init(label: String) {
    (file, variable, path) = (nil, nil, nil)
    queue = BlockingQueue(label: label)
  }

  private static let unusable = "The lock file cannot be used."

  /// The group's counter; `nil` while a writer is at work, and after one died in the middle.
  package var generation: UInt64? { file?.completedGeneration }

  /// Runs blocking work while no other writer does, of this process or another. The timeout includes the wait for them.
  package func write<T: Sendable>(
    timeout: Duration, onCancel cancelled: CacheError, onTimeout timedOut: CacheError,
    _ work: @escaping @Sendable (Turn, Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    let timedOut = path.map { timedOut.advising(holderOf: $0) } ?? timedOut
    return try await queue.run(timeout: timeout, onCancel: cancelled, onTimeout: timedOut) {
      [self] (cancellable) throws(CacheError) in
      try locked { (turn) throws(CacheError) in
        // Others may have held the lock until the caller here had given up.
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

extension CacheError {
  /// Adds how to find the process that holds a lock file, where there is no other advice.
  fileprivate func advising(holderOf path: String) -> CacheError {
    advice != nil
      ? self
      : CacheError(
        code, message,
        advice: "Another process may hold its lock; \"fuser -v \(shellQuoted(path))\" says which.",
        underlyingError: underlyingError)
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

  /// The counter of a group; `nil` while it is unknown.
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
