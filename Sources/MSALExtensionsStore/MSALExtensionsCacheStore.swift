import FoundationEssentials
import GLibSupport
public import SecretService
import StoreSupport
public import TokenCache

/// A token cache of programs in other languages, as a store with one group: a Swift program and programs that use MSAL for
/// Python, .NET, Go or Node share their sign-ins, both ways and at the same time.
///
/// Each change takes the other programs' lock, reads the cache again, merges, writes in the encoding that was
/// found, and touches the files by which running programs see a change. Other records keep their contents, known or not,
/// and their keys.
///
/// The whole cache is one item, as in the other libraries, so that every change writes all of it. For a
/// cache that only Swift programs use, `KeyringCacheStore` is the better choice.
///
/// For example:
///
/// ```swift
/// let store = MSALExtensionsCacheStore(
///   .msalExtensions(location: "/home/alice/.my_app/token_cache"))
/// let cache = TokenCacheAccessor(store: store)
/// ```
public final class MSALExtensionsCacheStore: ForwardingStore {
  /// The cache that is shared.
  public let peer: PeerCache
  /// The name of the cache as a group; other groups are empty and cannot be written.
  public let group: KeychainGroup

  private let store: GroupStore<PeerJob>

  /// - Parameters:
  ///   - peer: The cache to share.
  ///   - group: Its name as a group.
  ///   - collection: The label or name of the collection (default: the default collection, which all the libraries use).
  ///   - prompt: Whether the keyring may ask the user to unlock it. KeePassXC needs the permission to make and to delete
  ///     items.
  ///   - timeout: How long a call may take. Prompts that unlock do not count; those that KeePassXC shows for a change do.
  ///   - lockTimeout: How long a call waits for other programs that hold the lock.
  ///   - allowsPlainSession: Whether tokens may cross the bus as plaintext if the keyring refuses to encrypt them.
  public convenience init(
    _ peer: PeerCache, group: KeychainGroup = .default, collection: String? = nil,
    prompt: PromptPermission = .denied, timeout: Duration = .seconds(25),
    lockTimeout: Duration = .seconds(15),
    allowsPlainSession: Bool = false
  ) {
    self.init(
      peer, group: group, collection: collection, prompt: prompt, timeout: timeout, lockTimeout: lockTimeout,
      client: SecretServiceConnection(allowsPlainSession: allowsPlainSession))
  }

  /// Makes a store with a connection that several stores share, or to another bus than the environment's.
  package init(
    _ peer: PeerCache, group: KeychainGroup = .default, collection: String? = nil,
    prompt: PromptPermission = .denied, timeout: Duration = .seconds(25),
    lockTimeout: Duration = .seconds(15),
    client: SecretServiceConnection
  ) {
    self.peer = peer
    self.group = group
    let access = KeyringAccess(client, collection: collection, prompt: prompt, timeout: timeout)
    store = GroupStore(
      GroupWriters(label: "llavero.peer.writes"), label: "llavero.peer.reads", access.policy(retries: 2),
      backend: { PeerJob(peer, as: group, access, lockTimeout: lockTimeout, $0.cancellable) },
      unlock: access.unlock)
  }

  package var base: any CacheStore { store }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    group == self.group ? try await store.read(shards, in: group) : GroupContents()
  }

  public func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    try check(group)
    return try await store.update(shards, in: group, change)
  }

  /// Removes the cache as a whole, for all programs that use it.
  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    try check(group)
    return try await store.remove(removal, in: group)
  }

  /// Always `nil`: other programs raise no counter, so that every lookup reads the cache.
  public func generation(of group: KeychainGroup) -> UInt64? { nil }

  private func check(_ group: KeychainGroup) throws(CacheError) {
    guard group == self.group else {
      throw CacheError(
        .invalidGroup, "The cache of \(peer.users) holds one group, \(self.group).",
        advice: "Use that group, or another store.")
    }
  }
}

extension MSALExtensionsCacheStore {
  /// Reads the cache without waiting for a lock.
  package func contents() async throws(CacheError) -> PeerContents {
    try await store.reading { (job) throws(CacheError) in try job.read() }
  }

  /// Reads the cache while no other program writes. Lock files of programs that were never installed are left out.
  package func contentsUnderLock() async throws(CacheError) -> PeerContents {
    let files = peer.lockFiles.filter(FileContents.hasDirectory)
    return try await store.reading { (job) throws(CacheError) in
      try job.takeLock(files)
      return try job.read()
    }
  }

  /// Overwrites and removes a plaintext cache, unless it has changed. A file that is also the signal of a keyring item
  /// stays, empty.
  ///
  /// - Returns: Whether the tokens were removed; `false` if the file has other contents by now.
  /// - Throws: ``CacheError`` when the lock or the file cannot be used.
  package func discardPlaintext(holding document: CacheDocument) async throws(CacheError) -> Bool {
    guard let path = peer.file else { return false }
    return try await store.changing(group) { (job, _, _) throws(CacheError) in
      try job.discardPlaintext(at: path, holding: document)
    }
  }

  /// Reads the cache, changes it, and writes it if it differs, while no other program does. `change` is called again if another
  /// program broke the lock meanwhile. A cache that cannot be read is not changed.
  package func updateDocument<Result: Sendable>(
    _ change: @escaping @Sendable (inout CacheDocument) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    try await store.changing(group) { (job, _, commit) throws(CacheError) in
      try job.takeLock()
      let contents = try job.read()
      var document = contents.document
      let result = try change(&document)
      if document != contents.document || contents.copies > 1 {
        let payload = try job.payload(of: document, over: contents)
        guard commit.begin() else { throw KeyringAccess.cancelled }
        try job.write(payload, over: contents)
      }
      return result
    }
  }
}
