import GLibSupport
public import SecretService
import StoreSupport
public import TokenCache

/// Keychain groups in the Secret Service keyring: gnome-keyring, KWallet, KeePassXC and others.
///
/// Each shard of a group is one item, as `CacheFormat.md` lays down. Writers of one group take turns, across
/// processes; a lock file tells the others that something changed. There is no other place to which the store
/// would turn when the keyring is out of reach.
///
/// For example:
///
/// ```swift
/// let store = KeyringCacheStore(prompt: .allowed(waitingUpTo: .seconds(120)))
/// let cache = TokenCacheAccessor(store: store)
/// ```
public final class KeyringCacheStore: CacheStore {
  private let access: KeyringAccess
  private let runtimeDirectory: RuntimeDirectory
  private let reads = BlockingQueue(label: "llavero.keyring.reads")
  private let writers = GroupWriters()
  private let known = KnownItems()

  /// - Parameters:
  ///   - collection: The label or name of the collection; the default one unless another is named.
  ///   - prompt: Whether the keyring may ask the person to unlock it. KeePassXC needs the permission to
  ///     make and to delete items, also where it asks nobody.
  ///   - timeout: How long a call may take, prompts aside.
  ///   - allowsPlainSession: Whether tokens may go over the bus in clear where the keyring refuses to encrypt them.
  public convenience init(
    collection: String? = nil, prompt: PromptPermission = .denied, timeout: Duration = .seconds(25),
    allowsPlainSession: Bool = false
  ) {
    self.init(
      collection: collection, prompt: prompt, timeout: timeout, allowsPlainSession: allowsPlainSession,
      busAddress: nil, environment: processEnvironment())
  }

  /// Tests alone need a bus other than the environment's and another runtime directory.
  package init(
    collection: String? = nil, prompt: PromptPermission = .denied, timeout: Duration = .seconds(25),
    allowsPlainSession: Bool = false, busAddress: String?, environment: [String: String]
  ) {
    access = KeyringAccess(
      SecretServiceConnection(busAddress: busAddress, allowsPlainSession: allowsPlainSession),
      collection: collection, prompt: prompt, timeout: timeout)
    runtimeDirectory = RuntimeDirectory(environment: environment)
  }

  public func groups() async throws(CacheError) -> [KeychainGroup] {
    try await reading { (keyring) throws(CacheError) in try keyring.groups() }
  }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    let writer = runtimeDirectory.isShared ? try? writer(of: group) : nil
    let generation = writer?.generation
    let settled = try await reading { (keyring) throws(CacheError) -> GroupContents? in
      let items = try keyring.items(shards, of: group)
      if let writer, generation == nil || generation != writer.generation,
        try keyring.mayHideSome(of: shards, beside: items)
      {
        return nil
      }
      return items.contents
    }
    let contents =
      if let settled { settled } else {
        try await writing(in: group) { (keyring, _) throws(CacheError) in
          try keyring.items(shards, of: group).contents
        }
      }
    // Such as a second item of a shard: the next write has to see it.
    if !contents.problems.isEmpty { known.forget(group) }
    return contents
  }

  public func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    try await writing(in: group) { (keyring, writer) throws(CacheError) in
      let items = try writer.items(shards, in: keyring)
      let before = items.contents
      try before.checkReadable(shards)
      var contents = before
      let result = try change(&contents)
      let changed = shards.filter { contents.documents[$0] != before.documents[$0] || items.needsMerging($0) }
      guard !changed.isEmpty else { return result }
      // All are made before the first is sent: one that is too large must not leave half a change.
      let secrets = try changed.map { (shard) throws(CacheError) in try contents[shard].secret() }
      try writer.write { () throws(CacheError) in
        var known: [ShardID: KnownItem] = [:]
        for shard in shards {
          let path =
            if let index = changed.firstIndex(of: shard) {
              try keyring.write(secrets[index], to: shard, of: group, replacing: items)
            } else {
              items.paths(of: shard).first
            }
          known[shard] = path.flatMap { path in
            contents.documents[shard].map { KnownItem(path: path, document: $0) }
          }
        }
        return known
      }
      return result
    }
  }

  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    // In small steps, so that neither other writers nor the deadline suffer from a large group.
    let step = 16
    var count = 0
    while true {
      let removed = try await writing(in: group) { (keyring, writer) throws(CacheError) in
        let paths = try keyring.paths(removal, of: group, limit: step)
        guard !paths.isEmpty else { return 0 }
        try writer.write { () throws(CacheError) in
          for path in paths { try keyring.delete(path) }
          return [:]
        }
        return paths.count
      }
      count += removed
      if removed < step { return count }
    }
  }

  public func generation(of group: KeychainGroup) -> UInt64? {
    runtimeDirectory.isShared ? (try? writer(of: group))?.generation : nil
  }

  private func writer(of group: KeychainGroup) throws(CacheError) -> GroupWriter {
    try writers.writer(of: group) { () throws(CacheError) in
      try GroupWriter(
        directory: runtimeDirectory.path, name: String(sha256Hex(group.name).prefix(32)) + ".lock",
        variable: "XDG_RUNTIME_DIR", label: "llavero.keyring.writes", cancelled: KeyringAccess.cancelled,
        timedOut: KeyringAccess.timedOut)
    }
  }

  private func reading<T: Sendable>(
    _ work: @escaping @Sendable (Keyring) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await access.run(on: reads) { [access] (cancellable) throws(CacheError) in
      try work(Keyring(access, cancellable))
    }
  }

  private func writing<T: Sendable>(
    in group: KeychainGroup, _ work: @escaping @Sendable (Keyring, KeyringWriter) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    let lock = try writer(of: group)
    let writer = KeyringWriter(group: group, lockFile: lock.file, known: known)
    return try await access.run(as: lock) { [access] (cancellable) throws(CacheError) in
      try work(Keyring(access, cancellable), writer)
    }
  }
}
