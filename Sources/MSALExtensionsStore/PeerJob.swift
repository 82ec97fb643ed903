import FoundationEssentials
import GLibSupport
import Glibc
import SecretService
import StoreSupport
import TokenCache

/// Reads and writes another program's cache. Blocks.
final class PeerJob: StoreBackend {
  private let peer: PeerCache
  private let group: KeychainGroup
  private let access: KeyringAccess
  private let lockTimeout: Duration
  private let cancellable: Cancellable
  private var lock: PeerLock?

  init(
    _ peer: PeerCache, as group: KeychainGroup, _ access: KeyringAccess, lockTimeout: Duration,
    _ cancellable: Cancellable
  ) {
    self.peer = peer
    self.group = group
    self.access = access
    self.lockTimeout = lockTimeout
    self.cancellable = cancellable
  }

  func end() { lock?.release() }

  /// Takes the other programs' lock until the job ends (default: all its files).
  func takeLock(_ files: [String]? = nil) throws(CacheError) {
    lock = try PeerLock(files ?? peer.lockFiles, users: peer.users, timeout: lockTimeout, cancellable)
    // The caller may have given up meanwhile.
    if cancellable.isCancelled { throw KeyringAccess.cancelled }
  }

  func groups() throws(CacheError) -> [KeychainGroup] { try read().copies > 0 ? [group] : [] }

  func load(
    _ shards: ShardSelection, of group: KeychainGroup, _ turn: Turn?
  ) throws(CacheError) -> Loaded<PeerContents> {
    if turn != nil { try takeLock() }
    let contents = try wholeContents()
    var documents = contents.document.shards(in: group).mapValues { document in
      var document = document
      // A sign-out removes these in one write with its mark.
      document.forgetSignOuts(before: document.refreshTokens.values)
      return document
    }
    var wanted: [ShardID] = []
    if case .some(let shards) = shards {
      wanted = shards
      documents = documents.filter { wanted.contains($0.key) }
    }
    guard contents.copies > 1 else { return Loaded(GroupContents(documents: documents), contents) }
    let duplicate = StoreProblem(
      .duplicate, shard: nil, detail: "\(contents.copies) items hold the cache of \(peer.users).")
    return Loaded(
      GroupContents(documents: documents, problems: [duplicate]), contents, unmerged: Set(wanted))
  }

  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], of group: KeychainGroup,
    over loaded: Loaded<PeerContents>
  ) throws(CacheError) -> SecretBytes {
    var all = loaded.version.document.shards(in: group)
    for (shard, document) in changes {
      let before = all[shard]
      // Other programs could copy it with the tokens that it protects, in some places from a file.
      guard document?.hasPopKeys != true || before?.hasPopKeys == true else {
        throw CacheError(
          .refused, "The cache of \(peer.users) cannot hold private keys.",
          advice: "For tokens that are bound to a key use the keyring or sealed files.")
      }
      all[shard] = document
      if document?.isSignedOut(since: before) == true { all[shard]?.accounts = [:] }
    }
    let document = CacheDocument(union: all.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value))
    return try payload(of: document, over: loaded.version)
  }

  /// Encodes the bytes to write; too many are refused before anything is sent.
  func payload(of document: CacheDocument, over contents: PeerContents) throws(CacheError) -> SecretBytes {
    var payload = try (contents.encoding ?? peer.encoding).encode(document)
    defer { payload.resetBytes(in: payload.startIndex..<payload.endIndex) }
    return unsafe payload.withUnsafeBytes { unsafe SecretBytes(copying: $0) }
  }

  func commit(
    _ encoded: SecretBytes, to group: KeychainGroup, over loaded: Loaded<PeerContents>, _ turn: Turn
  ) throws(CacheError) -> PeerContents? {
    try write(encoded, over: loaded.version)
    return nil
  }

  func write(_ payload: SecretBytes, over contents: PeerContents) throws(CacheError) {
    try signalling(put(payload, over: contents))
  }

  private func put(_ payload: SecretBytes, over contents: PeerContents) throws(CacheError) {
    switch peer.place {
    case .file(let path):
      var data = unsafe payload.withUnsafeBytes { unsafe Data($0) }
      defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
      try FileContents.replace(path, with: data)
      // The new file is younger than the old one even if this fails.
      try? FileContents.touch(.init(path))
    case .item(let label, let attributes):
      if let path = contents.paths.first {
        _ = try access.calling(access.connection.setSecret(path, payload, cancellable))
        try access.delete(contents.paths.dropFirst(), cancellable)
      } else {
        _ = try access.calling(
          access.connection.create(
            label: label, attributes: attributes, secret: payload, in: collection(),
            prompt: access.mayPrompt, cancellable))
      }
    }
  }

  /// Changes the cache and touches its signals, before the change as well: what cannot be signalled is not changed, and a
  /// change that was made is not reported as failed.
  private func signalling<T>(_ change: @autoclosure () throws(CacheError) -> T) throws(CacheError) -> T {
    try touchSignals()
    try checkLock()
    // Also after a failure: it may have been made in part.
    defer { try? touchSignals() }
    return try change()
  }

  /// Removes the cache as a whole, for all programs that use it.
  func remove(
    _ removal: Removal, from group: KeychainGroup, _ turn: Turn
  ) throws(CacheError) -> (count: Int, isDone: Bool) {
    try takeLock()
    if removal == .damaged {
      do throws(CacheError) {
        _ = try read()
        return (0, true)
      } catch  where error.code == .damaged {}
    }
    switch peer.place {
    case .file(let path):
      try FileContents.discardLeftovers(of: path)
      guard try FileContents.read(path) != nil else { return (0, true) }
      try signalling(FileContents.remove(path))
      return (1, true)
    case .item(_, let attributes):
      let paths = try access.calling(items(attributes)).map(\.path)
      if paths.isEmpty { return (0, true) }
      try signalling(access.delete(paths, cancellable))
      return (paths.count, true)
    }
  }

  /// Overwrites and removes a plaintext cache; see ``MSALExtensionsCacheStore/discardPlaintext(holding:)``.
  func discardPlaintext(at path: String, holding document: CacheDocument) throws(CacheError) -> Bool {
    try takeLock()
    try checkLock()
    try FileContents.discardLeftovers(of: path)
    func discard() throws(CacheError) -> Bool {
      try FileContents.discard(path) { (try? PeerContents(file: $0))?.document == document }
    }
    // The signal after it makes an empty one in its place.
    return try peer.isSignalOfAnItem ? signalling(discard()) : discard()
  }

  /// The contents; what another program is writing is waited for. They write a file in place, so that it is empty or half of
  /// one meanwhile.
  private func wholeContents() throws(CacheError) -> PeerContents {
    guard lock == nil, peer.file != nil else { return try read() }
    do throws(CacheError) {
      let contents = try read()
      if contents.copies > 0 { return contents }
    } catch  where error.code == .damaged {}
    if peer.lockFiles.contains(where: { unsafe Glibc.access($0, F_OK) == 0 }) { try takeLock() }
    return try read()
  }

  /// - Throws: ``CacheError/Code/damaged`` if the contents are not a cache.
  func read() throws(CacheError) -> PeerContents {
    do throws(CacheError) {
      switch peer.place {
      case .item(_, let attributes): return try PeerContents(items: access.calling(items(attributes)))
      case .file(let path):
        guard var payload = try FileContents.read(path) else { return try PeerContents(items: []) }
        defer { payload.resetBytes(in: payload.startIndex..<payload.endIndex) }
        return try PeerContents(file: payload)
      }
    } catch  where error.code == .damaged {
      throw CacheError(
        .damaged, "What \(peer.users) keeps in \(peer.place.description) cannot be used. \(error.message)",
        advice: peer.removalAdvice.map { "It was not changed. " + $0 } ?? error.advice
          ?? "It was not changed. Let the program that wrote it repair or remove it.",
        underlyingError: error)
    }
  }

  /// Finds the items with exactly these attributes, the newest first: two programs may have made one each at the same time.
  /// They are written in place: gnome-keyring's `CreateItem` with `replace` also replaces items of other programs that have
  /// more attributes.
  private func items(
    _ attributes: [String: String]
  ) throws(SecretServiceError) -> [(path: ObjectPath, payload: SecretBytes)] {
    let found = try access.connection.search(attributes, in: collection(), cancellable)
    guard found.locked.isEmpty else { throw .itemsLocked(found.locked) }
    let own = ItemProperties.own(attributes)
    var items: [ItemProperties] = []
    for path in found.unlocked {
      if let item = try access.connection.item(path, cancellable), item.ownAttributes == own {
        items.append(item)
      }
    }
    items.sort { ($0.modified, $0.path.description) > ($1.modified, $1.path.description) }
    let secrets = try access.connection.secrets(of: items.map(\.path), cancellable)
    return items.compactMap { item in secrets[item.path].map { (item.path, $0) } }
  }

  /// The collection, which is unlocked.
  private func collection() throws(SecretServiceError) -> ObjectPath {
    try access.connection.path(ofUnlockedCollection: access.collection, cancellable)
  }

  /// msal-node-extensions may remove a lock file while others hold it.
  private func checkLock() throws(CacheError) {
    guard lock?.isStillHeld == true else {
      // Nothing is written without the lock.
      throw CacheError(
        .unavailable, "Another program keeps removing the lock file while it is held.",
        advice: "Try again; nothing was written.", disposition: .retry, leavesOutcomeOpen: false)
    }
  }

  private func touchSignals() throws(CacheError) {
    for signal in peer.signals { try FileContents.touch(signal) }
  }
}

extension CacheDocument {
  /// Whether the last token was removed. Then the account is removed, too: the other libraries have no sign-in state and
  /// would list it as signed in.
  fileprivate func isSignedOut(since before: CacheDocument?) -> Bool {
    before?.refreshTokens.isEmpty == false && credentials.isEmpty
  }

  fileprivate func shards(in group: KeychainGroup) -> [ShardID: CacheDocument] {
    Dictionary(split(in: group).map { ($0.shard, $0.document) }) { first, _ in first }
  }
}

extension PeerCache.Place {
  /// The location as text.
  package var description: String {
    switch self {
    case .file(let path): path
    case .item(_, let attributes): "the keyring item with the schema \(attributes[PeerCache.schema] ?? "")"
    }
  }
}
