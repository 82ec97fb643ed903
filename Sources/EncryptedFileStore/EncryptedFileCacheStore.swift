package import GLibSupport
public import Sealing
import StoreSupport
public import TokenCache

/// Keychain groups in encrypted files, for machines without a keyring and for large caches.
///
/// Each shard of a group is one file, sealed with AES-256-GCM, as `CacheFormat.md` lays down. Writers of one group
/// take turns, across the processes of a machine; a lock file beside the data tells the others that something
/// changed. The key comes from where the caller says and from nowhere else.
///
/// For example:
///
/// ```swift
/// let store = EncryptedFileCacheStore(key: .keyFile(path: "/etc/example/cache.key"))
/// let cache = TokenCacheAccessor(store: store)
/// ```
public final class EncryptedFileCacheStore: SealedStore {
  private let directory: StoreDirectory
  private let timeout: Duration
  private let reads = BlockingQueue(label: "llavero.files.reads")
  private let writers = GroupWriters()

  /// The files are in `llavero/sealed` in `$XDG_DATA_HOME`, or in `~/.local/share` where that is not set. The first
  /// write makes the store.
  ///
  /// - Parameters:
  ///   - key: Where the key comes from, or is to come from.
  ///   - timeout: How long a call may take, waiting for a person aside.
  public convenience init(key: KeySource, timeout: Duration = .seconds(25)) {
    self.init(key: key, timeout: timeout, environment: processEnvironment())
  }

  /// Tests alone need another environment, another bus, and passphrases that are cheaper to try.
  package init(
    key: KeySource, timeout: Duration = .seconds(25), environment: [String: String],
    busAddress: String? = nil, scrypt: SealedKeys.Scrypt = .standard
  ) {
    self.timeout = timeout
    let keys = StoreKeys(
      key, environment: environment, busAddress: busAddress, scrypt: scrypt, timeout: timeout)
    directory = StoreDirectory(keys, environment: environment)
  }

  /// The directory of the store.
  ///
  /// - Throws: ``CacheError/Code/unavailable`` when the environment names none.
  package func path() throws(CacheError) -> String { try directory.path() }

  /// Who may use the files, by the file system that they are on or would be made on.
  package func sharing() throws(CacheError) -> FileSharing { try directory.sharing() }

  /// The directory of a group; of all groups for `nil`.
  ///
  /// - Throws: As ``path()`` does.
  package func path(of group: KeychainGroup?) throws(CacheError) -> String { try directory.path(of: group) }

  /// Unseals the keys, as every call does that needs them.
  ///
  /// - Parameter makingStore: Whether to make the store where there is none, as the first write would.
  /// - Returns: Whether there is a store.
  /// - Throws: ``CacheError`` when the key is out of reach or does not open the store, or the store cannot be made.
  @discardableResult
  package func open(makingStore: Bool = false) async throws(CacheError) -> Bool {
    try await directory.withKeys(makingStore: makingStore) { () async throws(CacheError) in
      try await self.run { [directory] () throws(CacheError) in
        if makingStore { _ = try directory.presentForWriting() }
        return try directory.present() != nil
      }
    }
  }

  public func groups() async throws(CacheError) -> [KeychainGroup] {
    try await run { [directory] () throws(CacheError) in
      // Of one that cannot be looked into, the calls about it say why.
      try directory.groups().filter { (try? directory.hasFiles($0)) ?? true }
    }
  }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    let findings = try await directory.withKeys { () async throws(CacheError) in
      try await self.run { [directory] () throws(CacheError) -> GroupFindings? in
        guard let files = try directory.files(of: group) else { return nil }
        let findings = try readingFiles { () throws(PrivateFileError) in try files.read(shards) }
        // Perhaps the keys were changed meanwhile.
        if findings.hasUnknownKey { _ = try directory.present() }
        return findings
      }
    }
    guard let findings else { return GroupContents() }
    // What looks like an attack may be another process that is at work, or was killed. Where nobody can write,
    // nobody is.
    guard findings.mayBeUnfinished, (try? directory.checkLocks()) != nil, (try? writer(of: group)) != nil
    else {
      return findings.contents
    }
    return try await writing(in: group) { (files, _) throws(CacheError) in
      try readingFiles { () throws(PrivateFileError) in try files.read(shards).contents }
    }
  }

  public func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    try await writing(in: group) { (files, lockFile) throws(CacheError) in
      let findings = try readingFiles { () throws(PrivateFileError) in try files.read(.some(shards)) }
      let manifest = try findings.soundManifest(in: files.path)
      try findings.check(in: files.path, lockFile.sharing)
      let before = findings.contents
      var contents = before
      let result = try change(&contents)
      let changed = shards.filter { contents.documents[$0] != before.documents[$0] }
      if !changed.isEmpty {
        try files.commit(changed.map { ($0, contents.documents[$0]) }, to: manifest, announcing: lockFile)
      }
      return result
    }
  }

  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    let isThere = try await run { [directory] () throws(CacheError) in
      try directory.directory(of: group) != nil
    }
    guard isThere else { return 0 }
    return try await writing(in: group) { (files, lockFile) throws(CacheError) in
      let findings = try readingFiles { () throws(PrivateFileError) in try files.read(.all) }
      let isAll = removal == .everything
      if !isAll { try findings.checkRepairable(in: files.path) }
      let repaired = findings.repaired
      let removed = isAll ? findings.shards.map(\.id) : repaired.removed
      let count = isAll ? removed.count : repaired.count
      try writingFiles { () throws(PrivateFileError) in try files.removeUnfinished() }
      // A manifest that cannot be used refuses every later write, also where it is the last file.
      let isBroken = if case .failure = findings.manifest { true } else { false }
      if count > 0 || isAll && isBroken {
        try files.commit(removed.map { ($0, nil) }, to: repaired.manifest, announcing: lockFile)
      }
      return count
    }
  }

  public func generation(of group: KeychainGroup) -> UInt64? {
    var writer = writers[group]
    // Asking makes no lock file where there is no group.
    if writer == nil, (try? directory.directory(of: group)) != nil { writer = try? self.writer(of: group) }
    return writer?.generation
  }

  /// Gives the store a new key, or the same in a new place, and seals every file of every group again.
  ///
  /// It may be interrupted at any moment: from then on the new key opens the store. The next call finishes the work.
  ///
  /// - Parameter source: Where the key is to come from; from where it comes now unless another is named. A
  ///   passphrase is asked for again; a key in the keyring is made anew.
  /// - Returns: How many files were sealed again and how many could not be.
  /// - Throws: `CacheError` when the store cannot be opened or written.
  public func rekey(to source: KeySource? = nil) async throws(CacheError) -> RekeySummary {
    try await directory.change(to: source) { [self] (group, keys) throws(CacheError) in
      guard let directory = try self.directory.directory(of: group) else { return RekeySummary() }
      let writer = try writer(of: group)
      return try writer.locked { () throws(CacheError) in
        try writingFiles { () throws(PrivateFileError) in
          let files = GroupFiles(group, in: directory, keys)
          try files.recover(announcing: writer.file)
          return try files.reseal()
        }
      }
    }
  }

  /// Runs work on a group's files, after what a killed writer left was put right, while no other writer does.
  private func writing<T: Sendable>(
    in group: KeychainGroup,
    _ work: @escaping @Sendable (GroupFiles, SharedLockFile) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await directory.withKeys(makingStore: true) { () async throws(CacheError) in
      let writer = try await self.run { [self] () throws(CacheError) in
        // Before anything is made: the key may be wrong.
        _ = try directory.presentForWriting()
        _ = try directory.madeDirectory(of: group)
        return try self.writer(of: group)
      }
      return try await writer.write(timeout: timeout) { [directory] _ throws(CacheError) in
        // Only now: whoever changes the keys afterwards waits for the lock before it forgets the old ones.
        let present = try directory.presentForWriting()
        let files = GroupFiles(group, in: try directory.madeDirectory(of: group), present)
        try writingFiles { () throws(PrivateFileError) in try files.recover(announcing: writer.file) }
        return try work(files, writer.file)
      }
    }
  }

  /// Runs blocking work that writes nothing.
  private func run<T: Sendable>(
    _ work: @escaping @Sendable () throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await reads.run(
      timeout: timeout, onCancel: Self.cancelled, onTimeout: CacheError(.timedOut, Self.late)
    ) { _ throws(CacheError) in try work() }
  }

  private static let cancelled = CacheError(.cancelled, "The call to the file store was cancelled.")
  private static let late = "The file store did not answer in time."

  private func writer(of group: KeychainGroup) throws(CacheError) -> GroupWriter {
    try writers.writer(of: group) { () throws(CacheError) in
      let path = try directory.path(of: group)
      let lock = shellQuoted("\(path)/\(GroupFiles.lockName)")
      return try GroupWriter(
        directory: path, name: GroupFiles.lockName, variable: "XDG_DATA_HOME", label: "llavero.files.writes",
        cancelled: Self.cancelled,
        timedOut: CacheError(
          .timedOut, Self.late, advice: "Another process may hold its lock; \"fuser -v \(lock)\" says which.")
      )
    }
  }
}
