import FoundationEssentials
package import GLibSupport
import Glibc
public import Sealing
import StoreSupport
public import TokenCache

/// Keychain groups in encrypted files, for machines without a keyring and for large caches.
///
/// Each shard of a group is one file, sealed with AES-256-GCM, as specified in `CacheFormat.md`. Writers of one group
/// take turns, across the processes of a machine; a lock file beside the data signals changes to the others. The key
/// comes only from the given source.
///
/// For example:
///
/// ```swift
/// let store = EncryptedFileCacheStore(
///   key: .keyFile(path: "/etc/example/cache.key"))
/// let cache = TokenCacheAccessor(store: store)
/// ```
public final class EncryptedFileCacheStore: SealedStore, ForwardingStore {
  private let directory: Result<StoreDirectory, CacheError>
  private let keys: StoreKeys
  private let store: GroupStore<StoreDirectory>
  private let writers: GroupWriters

  /// Makes a store. The first write makes the files.
  ///
  /// - Parameters:
  ///   - key: The source of the key.
  ///   - directory: The absolute path of the files' directory (default: `llavero/sealed` in `$XDG_DATA_HOME`, which is
  ///     `~/.local/share` unless it is set).
  ///   - timeout: How long a call may take, without the user's answer.
  public convenience init(key: KeySource, directory: String? = nil, timeout: Duration = .seconds(25)) {
    self.init(key: key, directory: directory, timeout: timeout, environment: processEnvironment())
  }

  /// Only tests need another environment, another bus, and passphrases that are cheaper to try.
  package init(
    key: KeySource, directory path: String? = nil, timeout: Duration = .seconds(25),
    environment: [String: String], busAddress: String? = nil, scrypt: SealedKeys.Scrypt = .standard
  ) {
    let keys = StoreKeys(
      key, environment: environment, busAddress: busAddress, scrypt: scrypt, timeout: timeout)
    let directory = Result<StoreDirectory, CacheError>(
      calling: try StoreDirectory(keys, at: path, environment: environment))
    writers = GroupWriters(
      label: "llavero.files.writes", variable: try? directory.get().variable,
      // A read makes no lock file for a group that does not exist.
      exists: { (try? directory.get().directory(of: $0)) != nil }
    ) { (group) throws(CacheError) in (try directory.get().path(of: group), GroupFiles.lockName) }
    (self.directory, self.keys) = (directory, keys)
    store = GroupStore(
      writers, label: "llavero.files.reads", StorePolicy("file store", timeout: timeout, unlocks: 8)
    ) { _ throws(CacheError) in
      try directory.get()
    } unlock: { (failure) throws(CacheError) in
      try await keys.unsealing { (cancellable) throws(CacheError) in
        try directory.get().unseal(
          makingStore: failure.disposition == .unseal(makingStore: true), cancellable)
      }
    }
  }

  /// Whether two directories, each a path or `nil` for the default one, are one.
  package static func isSameDirectory(_ one: String?, _ other: String?) -> Bool {
    let environment = processEnvironment()
    let paths = [one, other].map {
      (try? $0 ?? StoreDirectory.defaultPath(environment)).map { URL(filePath: $0).resolvingSymlinksInPath() }
    }
    return paths[0] == paths[1]
  }

  /// The directory of the store.
  ///
  /// - Throws: ``CacheError/Code/unavailable`` if the environment names no directory.
  package func path() throws(CacheError) -> String { try directory.get().path }

  /// Which processes may use the files, by their file system or the one that they would be made on.
  package func sharing() throws(CacheError) -> FileSharing { try directory.get().sharing }

  /// The directory of a group; of all groups for `nil`.
  ///
  /// - Throws: As ``path()`` does.
  package func path(of group: KeychainGroup?) throws(CacheError) -> String {
    try directory.get().path(of: group)
  }

  @discardableResult
  package func open(makingStore: Bool) async throws(CacheError) -> Bool {
    try await store.reading { (directory) throws(CacheError) in
      if makingStore { _ = try directory.presentForWriting() }
      return try directory.present() != nil
    }
  }

  package var base: any CacheStore { store }

  public func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    try await store.reading { [writers] (directory) throws(CacheError) in
      // Where the group's lock file is there, what else a write needs is checked under its lock.
      let place = directory.path(of: group)
      if unsafe writers.openedGeneration(of: group) == nil || access(place, F_OK) != 0 {
        _ = try directory.filesForWriting(of: group)
      }
    }
    return try await store.update(shards, in: group, change)
  }

  /// An update writes the group's manifest once, and waits for the disk once more for that. It waits once for each shard, too:
  /// a slow disk must do all within the timeout.
  public var shardsPerUpdate: Int { 50 }

  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    let exists = try await store.reading { (directory) throws(CacheError) in
      guard try directory.directory(of: group) != nil else { return false }
      _ = try directory.filesForWriting(of: group)
      return true
    }
    return exists ? try await store.remove(removal, in: group) : 0
  }

  /// Not through the generic store, whose code is not specialized for this backend: every lookup calls this.
  public func generation(of group: KeychainGroup) -> UInt64? { writers.generation(of: group) }

  /// Changes the key of the store, or its source, and seals every file of every group again.
  ///
  /// It may be interrupted at any moment: from then on the new key opens the store. The next call finishes the work.
  ///
  /// - Parameter source: The new source of the key (default: the present one). A passphrase is asked for again; a key in
  ///   the keyring is made again.
  /// - Returns: How many files were sealed again and how many could not be.
  /// - Throws: `CacheError` when the store cannot be opened or written.
  public func rekey(to source: KeySource? = nil) async throws(CacheError) -> RekeySummary {
    try await keys.changing(of: self, to: source) {
      [writers, directory] (cancellable, pending) throws(CacheError) in
      try directory.get().change(to: source, writers, cancellable, pending)
    }
  }
}
