import FoundationEssentials
import GLibSupport
import Synchronization
import TokenCache

/// The directory of the store and the data keys in it, which are unsealed once and again when somebody changed them.
final class KeyHolder: Sendable {
  private static let lockName = "lock"
  private static let newName = KeysFile.name + ".new"

  private let environment: [String: String]
  private let busAddress: String?
  private let scrypt: KeysFile.Scrypt
  private let timeout: Duration
  private let state: Mutex<State>
  /// A person may take minutes to find a passphrase; nothing that has its key waits for that.
  private let queue = BlockingQueue(label: "llavero.files.keys")

  private struct State {
    var source: KeySource
    /// The `keys` file that was unsealed, to the byte, and what was in it.
    var unsealed: (file: [UInt8], keys: DataKeys)?
  }

  /// The underlying error when the keys have yet to be unsealed, here or again.
  private struct NotUnsealed: Error {}

  init(
    _ source: KeySource, environment: [String: String], busAddress: String?, scrypt: KeysFile.Scrypt,
    timeout: Duration
  ) {
    (self.environment, self.busAddress) = (environment, busAddress)
    (self.scrypt, self.timeout) = (scrypt, timeout)
    state = Mutex(State(source: source))
  }

  /// The directory of the store.
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
    for _ in 0..<8 {
      do throws(CacheError) {
        return try await work()
      } catch  where error.underlyingError is NotUnsealed {
        try await run(patience: patience) { (holder, cancellable) throws(CacheError) in
          try holder.unseal(makingStore: isWriting, cancellable)
        }
      }
    }
    throw CacheError(.refused, "The keys of the file store changed again and again.", advice: "Try again.")
  }

  /// The keys as they are now. Costs the reading of one small file.
  ///
  /// - Returns: `nil` where there is no store.
  func present() throws(CacheError) -> DataKeys? {
    guard let file = try file() else { return nil }
    guard let unsealed = state.withLock(\.unsealed), unsealed.file == file else {
      throw CacheError(.locked, "The keys were not unsealed.", underlyingError: NotUnsealed())
    }
    return unsealed.keys
  }

  /// The same for whoever writes, and needs a store.
  func presentForWriting() throws(CacheError) -> DataKeys {
    guard let keys = try present() else {
      throw CacheError(.locked, "There are no keys.", underlyingError: NotUnsealed())
    }
    return keys
  }

  /// What is to be said where there are files but no keys.
  func keysAreGone() throws(CacheError) -> CacheError {
    let path = try path()
    return CacheError(
      .damaged, "\(path)/\(KeysFile.name) is gone; without it nobody can open the other files.",
      advice: giveUp(path),
      underlyingError: SealedFileError.missing)
  }

  /// Throws where there are files that keys which are gone would open.
  private func checkNothingIsSealed() throws(CacheError) {
    for group in try groups() where try hasFiles(group) { throw try keysAreGone() }
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
    if try hasFiles(group) { throw try keysAreGone() }
    return nil
  }

  /// Whether there is a shard of a group, readable or not.
  func hasFiles(_ group: KeychainGroup) throws(CacheError) -> Bool {
    guard let directory = try directory(of: group) else { return false }
    return try readingFiles { () throws(PrivateFileError) in
      try directory.names().contains { GroupFiles.shard(ofFile: $0) != nil }
    }
  }

  /// Puts new keys in place of the old, has all files sealed with them, and forgets the old ones when there is
  /// nothing left that they seal. At any moment the `keys` file holds the key of every file.
  func change(
    to newSource: KeySource?,
    resealing reseal: @escaping @Sendable (KeychainGroup, DataKeys) throws(CacheError) -> RekeySummary
  ) async throws(CacheError) -> RekeySummary {
    let source = state.withLock(\.source)
    let newSource = newSource ?? source
    let patience = source.patience(timeout) + newSource.patience(timeout) + .seconds(600)
    return try await withKeys { () async throws(CacheError) in
      try await run(patience: patience) { (holder, cancellable) throws(CacheError) in
        guard try holder.present() != nil else {
          try holder.checkNothingIsSealed()
          return RekeySummary()
        }
        return try holder.locking { (root) throws(CacheError) in
          try holder.change(from: source, to: newSource, in: root, resealing: reseal, cancellable)
        }
      }
    }
  }

  private func change(
    from source: KeySource, to newSource: KeySource, in root: PrivateDirectory,
    resealing reseal: (KeychainGroup, DataKeys) throws(CacheError) -> RekeySummary, _ cancellable: Cancellable
  ) throws(CacheError) -> RekeySummary {
    guard let old = try present(), let oldFile = try file() else { return RekeySummary() }
    guard old.all.count < KeysFile.maximumKeyCount else {
      throw CacheError(
        .tooLarge,
        "\(try path())/\(KeysFile.name) holds as many keys as it may, those of files that cannot be opened.",
        advice: "Put these files right first: \"llavero clear --damaged\" removes what cannot be read.")
    }
    let surroundings = surroundings(cancellable)
    let header = KeysFile.Header(newSource.lock, scrypt: scrypt)
    let key = try newSource.newKey(header, surroundings)
    var keys = DataKeys(current: DataKeys.Key(), older: old.all)
    func write() throws(CacheError) {
      let file = KeysFile.seal(keys, header, with: key)
      try self.write(file, in: root)
      state.withLock { $0 = State(source: newSource, unsealed: (file, keys)) }
    }
    try write()
    var summary = RekeySummary()
    for group in try groups() { summary += try reseal(group, keys) }
    if summary.left == 0 {
      keys = DataKeys(current: keys.current, older: [])
      try write()
    }
    // An item that stays opens nothing any more.
    if let header = try? KeysFile.Header(oldFile) { try? source.forgetKey(header, surroundings) }
    return summary
  }

  private var patience: Duration { state.withLock(\.source).patience(timeout) }

  private func surroundings(_ cancellable: Cancellable) -> KeySource.Surroundings {
    KeySource.Surroundings(environment: environment, busAddress: busAddress, cancellable: cancellable)
  }

  private func run<T: Sendable>(
    patience: Duration, _ work: @escaping @Sendable (KeyHolder, Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await queue.run(
      timeout: patience, onCancel: CacheError(.cancelled, "Waiting for the file store's key was cancelled."),
      onTimeout: CacheError(.timedOut, "The file store's key did not come in time.", advice: "Try again.")
    ) { [self] (cancellable) throws(CacheError) in try work(self, cancellable) }
  }

  private func unseal(makingStore: Bool, _ cancellable: Cancellable) throws(CacheError) {
    let surroundings = surroundings(cancellable)
    guard let file = try file() else {
      guard makingStore else { return }
      return try locking { (root) throws(CacheError) in
        // Another process may have been faster.
        guard try self.file() == nil else { return }
        try checkNothingIsSealed()
        let source = state.withLock(\.source)
        let header = KeysFile.Header(source.lock, scrypt: scrypt)
        let keys = DataKeys(current: DataKeys.Key(), older: [])
        let file = KeysFile.seal(keys, header, with: try source.newKey(header, surroundings))
        try write(file, in: root)
        state.withLock { $0.unsealed = (file, keys) }
      }
    }
    let (source, unsealed) = state.withLock { ($0.source, $0.unsealed) }
    if unsealed?.file == file { return }
    let header = try checking { () throws(SealedFileError) in try KeysFile.Header(file) }
    guard header.lock == source.lock else {
      throw SealedFileError.otherKeySource(header.lock.name).cacheError(
        of: "\(try path())/\(KeysFile.name)", advice: "Use that: \(header.lock.option).")
    }
    let key = try source.key(header, surroundings)
    let keys = try checking { () throws(SealedFileError) in try KeysFile.open(file, with: key) }
    state.withLock { $0.unsealed = (file, keys) }
  }

  private func file() throws(CacheError) -> [UInt8]? {
    let path = try path()
    return try readingFiles { () throws(PrivateFileError) in
      try PrivateDirectory.existing(at: path)?.read(KeysFile.name, limit: KeysFile.maximumSize)
    }
  }

  private func write(_ file: [UInt8], in root: PrivateDirectory) throws(CacheError) {
    try writingFiles { () throws(PrivateFileError) in
      try root.write(file, to: Self.newName)
      try root.rename(Self.newName, to: KeysFile.name)
      try root.sync()
    }
  }

  /// Runs work with the lock of the whole store, which only those take who write the `keys` file.
  private func locking<T>(
    _ work: (PrivateDirectory) throws(CacheError) -> T
  ) throws(CacheError) -> T {
    let path = try path()
    let root = try writingFiles { () throws(PrivateFileError) in try PrivateDirectory.made(at: path) }
    let lock: HeldLockFile
    do {
      lock = try HeldLockFile(directory: path, name: Self.lockName)
    } catch {
      throw CacheError(lockFile: error)
    }
    defer { lock.release() }
    return try work(root)
  }

  private func checking<T>(_ work: () throws(SealedFileError) -> T) throws(CacheError) -> T {
    do {
      return try work()
    } catch {
      let path = try path()
      let isLost = error.code == .damaged
      throw error.cacheError(
        of: "\(path)/\(KeysFile.name)", advice: isLost ? giveUp(path) : nil)
    }
  }

  private func giveUp(_ path: String) -> String {
    let old = shellQuoted(path + ".old")
    return
      "Restore it from a backup. Or move the store out of the way with \"mv \(shellQuoted(path)) \(old)\" "
      + "and sign in again."
  }
}
