import GLibSupport
public import SecretService
import Synchronization
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
/// let store = KeyringStore(prompt: .allowed(waitingUpTo: .seconds(120)))
/// let cache = TokenCacheAccessor(store: store)
/// ```
public final class KeyringStore: CacheStore {
  private let client: SecretServiceConnection
  private let collection: String?
  private let prompt: PromptPermission
  private let timeout: Duration
  private let runtimeDirectory: RuntimeDirectory
  private let reads = BlockingQueue(label: "llavero.keyring.reads")
  /// A prompt may take minutes; nothing else waits for it.
  private let prompts = BlockingQueue(label: "llavero.keyring.prompts")
  /// A list, since programs work on one group or two.
  private let writers = Mutex<[GroupWriter]>([])

  /// - Parameters:
  ///   - collection: The label or name of the collection; the default one unless another is named.
  ///   - prompt: Whether the keyring may ask the person to unlock it. KeePassXC needs the permission for every
  ///     write, though it asks nobody unless it is told to.
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

  /// The same, on a bus other than the environment's and with another runtime directory, both of which only
  /// tests need.
  package init(
    collection: String? = nil, prompt: PromptPermission = .denied, timeout: Duration = .seconds(25),
    allowsPlainSession: Bool = false, busAddress: String?, environment: [String: String]
  ) {
    client = SecretServiceConnection(busAddress: busAddress, allowsPlainSession: allowsPlainSession)
    (self.collection, self.prompt, self.timeout) = (collection, prompt, timeout)
    runtimeDirectory = RuntimeDirectory(environment: environment)
  }

  public func groups() async throws(CacheError) -> [KeychainGroup] {
    try await reading { (keyring) throws(CacheError) in try keyring.groups() }
  }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    let contents = try await reading { (keyring) throws(CacheError) in
      try keyring.items(shards, of: group).contents
    }
    // Such as a second item of a shard: the next write has to see it.
    if !contents.problems.isEmpty { try? writer(of: group).forget() }
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
    guard runtimeDirectory.isShared, let writer = try? writer(of: group) else { return nil }
    let generation = writer.file.generation
    // Odd: somebody is writing, or died while writing.
    return generation.isMultiple(of: 2) ? generation : nil
  }

  private func writer(of group: KeychainGroup) throws(CacheError) -> GroupWriter {
    try writers.withLock { writers throws(CacheError) in
      if let writer = writers.first(where: { $0.group == group }) { return writer }
      let writer = try GroupWriter(group, in: runtimeDirectory)
      writers.append(writer)
      return writer
    }
  }

  private func reading<T: Sendable>(
    _ work: @escaping @Sendable (Keyring) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await unlockingIfNeeded { () async throws(CacheError) in
      try await self.run(on: self.reads, work)
    }
  }

  private func writing<T: Sendable>(
    in group: KeychainGroup, _ work: @escaping @Sendable (Keyring, GroupWriter) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    let writer = try writer(of: group)
    return try await unlockingIfNeeded { () async throws(CacheError) in
      try await self.run(on: writer.queue) { (keyring) throws(CacheError) in
        try writer.file.withLock(orThrow: { CacheError(lockFile: $0) }) { () throws(CacheError) in
          // Others may have held the lock until nobody waited here any more.
          try keyring.checkDeadline()
          return try work(keyring, writer)
        }
      }
    }
  }

  /// Runs blocking work with the collection, and once more if the keyring went away under it.
  private func run<T: Sendable>(
    on queue: BlockingQueue, _ work: @escaping @Sendable (Keyring) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    let (client, collection, mayPrompt) = (client, collection, prompt != .denied)
    return try await queue.run(
      timeout: timeout, onCancel: CacheError(SecretServiceError.cancelled),
      onTimeout: CacheError(SecretServiceError.timedOut)
    ) { (cancellable) throws(CacheError) in
      func attempt() throws(CacheError) -> T {
        try work(Keyring(client, collection: collection, mayPrompt: mayPrompt, cancellable))
      }
      do throws(CacheError) {
        return try attempt()
      } catch  where error.underlyingError as? SecretServiceError == .serviceGone {
        return try attempt()
      }
    }
  }

  /// Runs `body`, and once more after unlocking the collection if it is locked. Without permission to prompt
  /// only a provider that needs no prompt unlocks.
  private func unlockingIfNeeded<T: Sendable>(
    _ body: () async throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    do {
      return try await body()
    } catch  where error.code == .locked {
      let (client, collection, timeout) = (client, collection, timeout)
      let mayPrompt = prompt != .denied
      let patience: Duration = if case .allowed(let patience) = prompt { patience } else { timeout }
      try await prompts.run(
        timeout: patience, onCancel: CacheError(SecretServiceError.cancelled),
        onTimeout: CacheError(SecretServiceError.timedOut)
      ) { (cancellable) throws(CacheError) in
        try Keyring(client, collection: collection, mayPrompt: mayPrompt, cancellable).unlock()
      }
      return try await body()
    }
  }
}
