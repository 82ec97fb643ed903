import FoundationEssentials
import GLibSupport
public import SecretService
import StoreSupport
public import TokenCache

/// A token cache that programs in other languages keep, as the one group of a store: so a Swift program and
/// one on MSAL for Python, .NET, Go or Node share their sign-ins, both ways and at the same time.
///
/// Each change takes the other program's lock, reads its cache anew, merges, writes in the encoding that was
/// found, and touches the files by which running programs see that something changed. Records that the change
/// is not about stay as they are, known or not, under their keys.
///
/// All of the cache is one item, as the other libraries have it, so that every change writes all of it. For a
/// cache that only Swift programs use, `KeyringCacheStore` is the better choice.
///
/// For example:
///
/// ```swift
/// let store = MSALExtensionsCacheStore(.msalExtensions(location: "/home/alice/.my_app/token_cache"))
/// let cache = TokenCacheAccessor(store: store)
/// ```
public final class MSALExtensionsCacheStore: CacheStore {
  /// The cache that is shared.
  public let peer: PeerCache
  /// What the cache is called as a group; other groups are empty and cannot be written.
  public let group: KeychainGroup

  private let access: KeyringAccess
  private let patience: Duration
  private let queue = BlockingQueue(label: "llavero.peer")

  /// - Parameters:
  ///   - peer: The cache to share.
  ///   - group: What it is called as a group.
  ///   - collection: The label or name of the collection; the default one, which all the libraries use,
  ///     unless another is named.
  ///   - prompt: Whether the keyring may ask the person to unlock it.
  ///   - timeout: How long a call may take, prompts aside.
  ///   - patience: How long a call waits for other programs that hold the lock.
  ///   - allowsPlainSession: Whether tokens may go over the bus in clear where the keyring refuses to encrypt them.
  public convenience init(
    _ peer: PeerCache, group: KeychainGroup = .default, collection: String? = nil,
    prompt: PromptPermission = .denied, timeout: Duration = .seconds(25), patience: Duration = .seconds(15),
    allowsPlainSession: Bool = false
  ) {
    self.init(
      peer, group: group, collection: collection, prompt: prompt, timeout: timeout, patience: patience,
      client: SecretServiceConnection(allowsPlainSession: allowsPlainSession))
  }

  /// Makes the store with a connection that several stores share, or to a bus other than the environment's.
  package init(
    _ peer: PeerCache, group: KeychainGroup = .default, collection: String? = nil,
    prompt: PromptPermission = .denied, timeout: Duration = .seconds(25), patience: Duration = .seconds(15),
    client: SecretServiceConnection
  ) {
    self.peer = peer
    self.group = group
    self.patience = patience
    access = KeyringAccess(client, collection: collection, prompt: prompt, timeout: timeout)
  }

  /// The cache's group, where there is a cache.
  public func groups() async throws(CacheError) -> [KeychainGroup] {
    try await contents().copies > 0 ? [group] : []
  }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    guard group == self.group else { return GroupContents() }
    let contents = try await contents()
    var documents = contents.document.shards(in: group)
    if case .some(let wanted) = shards { documents = documents.filter { wanted.contains($0.key) } }
    let duplicate = StoreProblem(
      .duplicate, shard: nil, detail: "\(contents.copies) items hold the cache of \(peer.users).")
    return GroupContents(documents: documents, problems: contents.copies > 1 ? [duplicate] : [])
  }

  public func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    try check(group)
    let users = peer.users
    return try await updateDocument { (document) throws(CacheError) in
      var all = document.shards(in: group)
      let before = all.filter { shards.contains($0.key) }
      var contents = GroupContents(documents: before)
      let result = try change(&contents)
      let changed = shards.filter { contents.documents[$0] != before[$0] }
      guard !changed.isEmpty else { return result }
      for shard in changed {
        // It would lie with the tokens that it is to protect, for other programs to copy and in some places in a file.
        guard contents.documents[shard]?.hasPopKeys != true || before[shard]?.hasPopKeys == true else {
          throw CacheError(
            .refused, "The cache of \(users) keeps no private keys.",
            advice: "For tokens that are bound to a key use the keyring or sealed files.")
        }
        all[shard] = contents.documents[shard]
        if all[shard]?.isSignedOut(since: before[shard]) == true { all[shard]?.accounts = [:] }
      }
      document = CacheDocument()
      for part in all.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { document.formUnion(part.value) }
      return result
    }
  }

  /// Removes the cache as a whole, for all programs that use it.
  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    try check(group)
    let peer = peer
    return try await locked { (job, lock) throws(CacheError) in
      if removal == .damaged {
        do throws(CacheError) {
          _ = try job.read()
          return 0
        } catch  where error.code == .damaged {}
      }
      guard lock.isStillHeld else { throw .lockLost }
      let count = try job.remove()
      if count > 0 { try peer.touchSignals() }
      return count
    }
  }

  /// Always `nil`: other programs raise no counter, so that every answer reads the cache.
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
  /// Reads the cache as it is, without waiting for a lock.
  package func contents() async throws(CacheError) -> PeerContents {
    try await run { (job, _) throws(CacheError) in try job.read() }
  }

  /// Reads the cache while no other program writes. The lock files of programs that were never here are left
  /// out.
  package func settledContents() async throws(CacheError) -> PeerContents {
    let (users, patience) = (peer.users, patience)
    let files = peer.lockFiles.filter(FileContents.hasDirectory)
    return try await run { (job, cancellable) throws(CacheError) in
      let lock = try PeerLock(files, users: users, patience: patience, cancellable)
      defer { lock.release() }
      return try job.read()
    }
  }

  /// Writes over a plaintext cache and removes it, unless it has changed. A file that also is the signal of a
  /// keyring item stays, empty.
  ///
  /// - Parameter document: What the file is known to hold.
  /// - Returns: Whether the tokens are gone; `false` when the file holds something else by now.
  /// - Throws: ``CacheError`` when the lock or the file cannot be had.
  package func discardPlaintext(holding document: CacheDocument) async throws(CacheError) -> Bool {
    guard let path = peer.file else { return false }
    let peer = peer
    return try await locked { (job, lock) throws(CacheError) in
      guard try job.read().document == document, lock.isStillHeld else { return false }
      if let signal = peer.signals.first(where: { $0.path == path }) {
        try FileContents.overwrite(path, leaving: signal.contents)
        try peer.touchSignals()
      } else {
        try FileContents.overwrite(path, leaving: "")
        try FileContents.remove(path)
      }
      return true
    }
  }

  /// Reads the cache, changes it, and writes it if it differs, while no other program does.
  ///
  /// - Parameter change: Called with what is there; again if another program broke the lock meanwhile.
  /// - Returns: What `change` returned.
  /// - Throws: ``CacheError/Code/damaged`` when the cache cannot be read, in which case it is left as it is;
  ///   what the keyring, the lock and `change` throw.
  package func updateDocument<Result: Sendable>(
    _ change: @escaping @Sendable (inout CacheDocument) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    let peer = peer
    for _ in 0..<3 {
      let done = try await locked { (job, lock) throws(CacheError) -> Result? in
        let contents = try job.read()
        var document = contents.document
        let result = try change(&document)
        guard document != contents.document || contents.copies > 1 else { return result }
        let payload = try job.payload(of: document, encoding: contents.encoding ?? peer.encoding)
        guard lock.isStillHeld else { return nil }
        try job.write(payload, over: contents)
        try peer.touchSignals()
        return result
      }
      if let done { return done }
    }
    throw .lockLost
  }

  private func locked<T: Sendable>(
    _ work: @escaping @Sendable (PeerJob, PeerLock) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    let (peer, patience) = (peer, patience)
    return try await run { (job, cancellable) throws(CacheError) in
      let lock = try PeerLock(peer.lockFiles, users: peer.users, patience: patience, cancellable)
      defer { lock.release() }
      // Nobody waits for it any more.
      if cancellable.isCancelled { throw KeyringAccess.cancelled }
      return try work(job, lock)
    }
  }

  private func run<T: Sendable>(
    _ work: @escaping @Sendable (PeerJob, Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await access.run(on: queue) { [access, peer] (cancellable) throws(CacheError) in
      try work(PeerJob(peer, access, cancellable), cancellable)
    }
  }
}

extension CacheError {
  fileprivate static let lockLost = CacheError(
    .unavailable, "Another program removed the lock file again and again while it was held.",
    advice: "Try again; nothing was written.")
}

extension CacheDocument {
  /// Whether the last token went. The account goes with it then: the other libraries know no state of having
  /// signed out, and would list it as signed in.
  fileprivate func isSignedOut(since before: CacheDocument?) -> Bool {
    before?.refreshTokens.isEmpty == false && credentials.isEmpty
  }

  fileprivate func shards(in group: KeychainGroup) -> [ShardID: CacheDocument] {
    Dictionary(split(in: group).map { ($0.shard, $0.document) }) { first, _ in first }
  }
}

extension PeerCache {
  func touchSignals() throws(CacheError) {
    for signal in signals { try FileContents.touch(signal) }
  }
}
