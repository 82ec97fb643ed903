import FoundationEssentials
import GLibSupport
import Sealing
import StoreSupport
import TokenCache

/// The directory of the store, with its keys and its groups.
final class StoreDirectory: Sendable {
  private static let lockName = "lock"
  private static let keysName = "keys"

  private let environment: [String: String]
  private let keys: StoreKeys

  init(_ keys: StoreKeys, environment: [String: String]) {
    self.keys = keys
    self.environment = environment
  }

  func path() throws(CacheError) -> String {
    // XDG Base Directory Specification: a relative path is to be ignored.
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/llavero/sealed" }
    if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/share/llavero/sealed" }
    throw CacheError(
      .unavailable, "The file store has no place: neither XDG_DATA_HOME nor HOME names a directory.",
      advice: "\"export XDG_DATA_HOME=/var/lib/<program>\" names one.")
  }

  /// Runs work that needs the keys, and again after they had to be unsealed. `isWriting` says whether a store is made
  /// where there is none.
  func withKeys<T: Sendable>(
    makingStore isWriting: Bool = false, _ work: () async throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await keys.withKeys(work) { [self] (cancellable) throws(CacheError) in
      if let file = try keysFile() {
        return try keys.unseal(
          file, called: "\(path())/\(Self.keysName)", advice: Self.withoutKeys(path()), cancellable)
      }
      guard isWriting else { return }
      try locking { (root) throws(CacheError) in
        // Another process may have been faster.
        guard try keysFile() == nil else { return }
        try checkNothingIsSealed(in: groups())
        try keys.make(cancellable) { (file) throws(CacheError) in try write(file, in: root) }
      }
    }
  }

  /// The keys as they are now. Costs the reading of one small file.
  ///
  /// - Returns: `nil` where there is no store.
  func present() throws(CacheError) -> DataKeys? {
    guard let file = try keysFile() else { return nil }
    return try keys.keys(in: file)
  }

  /// The keys as they are now, for whoever writes. It throws where there is no store, and where nobody should write.
  func presentForWriting() throws(CacheError) -> DataKeys {
    try checkLocks()
    return try keys.keys(in: keysFile())
  }

  /// Who may use the files, by the file system that they are on or would be made on.
  func sharing() throws(CacheError) -> FileSharing { FileSharing(of: try path()) }

  /// Throws where another machine may write the files and no lock would keep it from doing so meanwhile.
  func checkLocks() throws(CacheError) {
    guard case .networkWithoutLocks(let name) = try sharing() else { return }
    throw CacheError(
      .unavailable,
      "The file store is not written in \(try path()): no lock is sure to reach other machines there (\(name)).",
      advice: "\"export XDG_DATA_HOME=…\" names a directory of this machine; or use the keyring.")
  }

  /// Gives the store new keys, and has the files of each group sealed with them.
  func change(
    to newSource: KeySource?,
    resealing reseal: @escaping @Sendable (KeychainGroup, DataKeys) throws(CacheError) -> RekeySummary
  ) async throws(CacheError) -> RekeySummary {
    try await withKeys { () async throws(CacheError) in
      try await keys.changing(to: newSource) { [self] (cancellable) throws(CacheError) in
        guard try present() != nil else {
          try checkNothingIsSealed(in: groups())
          return RekeySummary()
        }
        return try locking { (root) throws(CacheError) in
          var summary = RekeySummary()
          guard let file = try keysFile() else { return summary }
          try keys.change(file, to: newSource, cancellable) { (file) throws(CacheError) in
            try write(file, in: root)
          } resealing: { (keys) throws(CacheError) in
            for group in try groups() { summary += try reseal(group, keys) }
            return summary.left == 0
          }
          return summary
        }
      }
    }
  }

  /// Throws where there are files that keys which are gone would open.
  private func checkNothingIsSealed(in groups: [KeychainGroup]) throws(CacheError) {
    for group in groups where try hasFiles(group) {
      throw CacheError(
        .damaged, "\(try path())/\(Self.keysName) is gone; without it nobody can open the other files.",
        advice: Self.withoutKeys(try path()), underlyingError: SealError.missing)
    }
  }

  private static func withoutKeys(_ path: String) -> String {
    "Restore it from a backup. Or move the store out of the way with \"mv \(shellQuoted(path)) "
      + "\(shellQuoted(path + ".old"))\" and sign in again."
  }

  /// The groups that have a directory, in alphabetical order.
  func groups() throws(CacheError) -> [KeychainGroup] {
    let path = try path(of: nil)
    let names = try readingFiles { () throws(PrivateFileError) in
      try PrivateDirectory.existing(at: path)?.names() ?? []
    }
    return names.compactMap { try? KeychainGroup($0) }.sorted { $0.name < $1.name }
  }

  /// The directory of a group; of all groups for `nil`.
  func path(of group: KeychainGroup?) throws(CacheError) -> String {
    try "\(path())/groups" + (group.map { "/\($0.name)" } ?? "")
  }

  /// A group's directory, `nil` where there is none.
  func directory(of group: KeychainGroup) throws(CacheError) -> PrivateDirectory? {
    let (all, path) = (try path(of: nil), try path(of: group))
    return try readingFiles { () throws(PrivateFileError) in
      try PrivateDirectory.existing(at: all) == nil ? nil : PrivateDirectory.existing(at: path)
    }
  }

  func madeDirectory(of group: KeychainGroup) throws(CacheError) -> PrivateDirectory {
    let (all, path) = (try path(of: nil), try path(of: group))
    return try writingFiles { () throws(PrivateFileError) in
      _ = try PrivateDirectory.made(at: all)
      return try PrivateDirectory.made(at: path)
    }
  }

  /// A group's files, `nil` where there are none.
  func files(of group: KeychainGroup) throws(CacheError) -> GroupFiles? {
    guard let directory = try directory(of: group) else { return nil }
    if let keys = try present() { return GroupFiles(group, in: directory, keys) }
    try checkNothingIsSealed(in: [group])
    return nil
  }

  /// Whether there is a shard of a group, readable or not.
  func hasFiles(_ group: KeychainGroup) throws(CacheError) -> Bool {
    guard let directory = try directory(of: group) else { return false }
    return try readingFiles { () throws(PrivateFileError) in
      try directory.names().contains { GroupFiles.shard(ofFile: $0) != nil }
    }
  }

  private func keysFile() throws(CacheError) -> [UInt8]? {
    let path = try path()
    return try readingFiles { () throws(PrivateFileError) in
      try PrivateDirectory.existing(at: path)?.read(Self.keysName, limit: SealedKeys.maximumSize)
    }
  }

  private func write(_ file: [UInt8], in root: PrivateDirectory) throws(CacheError) {
    try writingFiles { () throws(PrivateFileError) in
      try root.write(file, to: Self.keysName + ".new")
      try root.rename(Self.keysName + ".new", to: Self.keysName)
      try root.sync()
    }
  }

  /// Runs work with the lock of the whole store, which only those take who write the `keys` file.
  private func locking<T>(_ work: (PrivateDirectory) throws(CacheError) -> T) throws(CacheError) -> T {
    try checkLocks()
    let path = try path()
    let (root, lock) = try writingFiles { () throws(PrivateFileError) in
      (try PrivateDirectory.made(at: path), try HeldLockFile(directory: path, name: Self.lockName))
    }
    defer { lock.release() }
    return try work(root)
  }
}

/// Runs work that reads files.
func readingFiles<T>(_ work: () throws(PrivateFileError) -> T) throws(CacheError) -> T {
  do {
    return try work()
  } catch {
    throw CacheError(error, "The file store cannot be read.", variable: "XDG_DATA_HOME")
  }
}

/// Runs work that writes files.
func writingFiles<T>(_ work: () throws(PrivateFileError) -> T) throws(CacheError) -> T {
  do {
    return try work()
  } catch {
    throw CacheError(error, "The file store cannot be written.", variable: "XDG_DATA_HOME")
  }
}
