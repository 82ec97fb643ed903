import FoundationEssentials
import GLibSupport
import Glibc
import Sealing
import StoreSupport
import TokenCache

/// The directory of the store, with its keys and its groups.
struct StoreDirectory {
  /// The environment variable that names the directory of the default store.
  static let variable = "XDG_DATA_HOME"
  private static let lockName = "lock"
  private static let keysName = "keys"

  let path: String
  /// The environment variable that names another directory; `nil` where the store was given this one.
  let variable: String?
  private let keys: StoreKeys

  /// - Throws: ``CacheError/Code/unavailable`` if neither the path nor the environment names a directory.
  init(_ keys: StoreKeys, at path: String?, environment: [String: String]) throws(CacheError) {
    self.keys = keys
    variable = path == nil ? Self.variable : nil
    self.path = if let path { path } else { try Self.defaultPath(environment) }
  }

  static func defaultPath(_ environment: [String: String]) throws(CacheError) -> String {
    // XDG Base Directory Specification: a relative path is to be ignored.
    if let data = environment[variable], data.hasPrefix("/") { return data + "/llavero/sealed" }
    if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/share/llavero/sealed" }
    throw CacheError(
      .unavailable, "The file store has no directory: neither XDG_DATA_HOME nor HOME is set to one.",
      advice: "Set one, for example \"export XDG_DATA_HOME=/var/lib/<program>\".")
  }

  /// Unseals the keys; with `makingStore`, makes the store if it does not exist.
  func unseal(makingStore: Bool, _ cancellable: Cancellable) throws(CacheError) {
    if let file = try keysFile() {
      return try keys.unseal(file, called: "\(path)/\(Self.keysName)", advice: withoutKeys, cancellable)
    }
    guard makingStore else { return }
    let (root, lock) = try locked()
    defer { lock.release() }
    // Another process may have been faster.
    guard try keysFile() == nil else { return }
    try checkNothingIsSealed(in: groups())
    try write(keys.make(cancellable), in: root)
  }

  /// The current keys. Reads one small file.
  ///
  /// - Returns: `nil` if the store does not exist.
  func present() throws(CacheError) -> DataKeys? {
    guard let file = try keysFile() else { return nil }
    return try keys.keys(in: file)
  }

  /// The current keys for a write. Throws if the store does not exist, or if writing is not safe.
  func presentForWriting() throws(CacheError) -> DataKeys {
    try checkLocks()
    return try keys.keys(in: keysFile())
  }

  /// Which processes may use the files, by their file system or the one that they would be made on.
  var sharing: FileSharing { FileSharing(of: path) }

  /// Throws if another machine may write the files at the same time, because no lock excludes it.
  func checkLocks() throws(CacheError) {
    guard case .networkWithoutLocks(let name) = sharing else { return }
    throw CacheError(
      .unavailable,
      "The file store is not written in \(path): locks may not reach other machines there (\(name)).",
      advice:
        "Use a directory of this machine\(variable.map { " (\"export \($0)=…\")" } ?? ""), or the keyring.")
  }

  /// Replaces the keys of the store and seals the files of each group with them.
  func change(
    to newSource: KeySource?, _ writers: GroupWriters, _ cancellable: Cancellable, _ pending: PendingCommit
  ) throws(CacheError) -> RekeySummary {
    guard try present() != nil else {
      try checkNothingIsSealed(in: groups())
      return RekeySummary()
    }
    let (root, lock) = try locked()
    defer { lock.release() }
    guard let file = try keysFile() else { return RekeySummary() }
    return try keys.change(file, to: newSource, cancellable, pending) { (file) throws(CacheError) in
      try write(file, in: root)
    } resealing: { (keys, summary) throws(CacheError) in
      // A group without entries has a manifest, too.
      for group in try directories() {
        guard let files = try directory(of: group) else { continue }
        let writer = try writers.singleUseWriter(of: group)
        let turn = try writer.lock()
        defer { writer.unlock() }
        try writing(GroupFiles(group: group, keys: keys, directory: files).reseal(turn, &summary))
      }
    }
  }

  /// Throws if files exist whose keys are lost.
  private func checkNothingIsSealed(in groups: [KeychainGroup]) throws(CacheError) {
    for group in groups where try hasFiles(group) {
      throw CacheError(
        .damaged, "\(path)/\(Self.keysName) is missing: without it, the other files cannot be opened.",
        advice: withoutKeys, underlyingError: SealError.missing)
    }
  }

  private var withoutKeys: String {
    "Restore it from a backup. Or move the store out of the way with \"mv \(shellQuoted(path)) "
      + "\(shellQuoted(path + ".old"))\" and sign in again."
  }

  /// The groups that have a directory, in alphabetical order.
  private func directories() throws(CacheError) -> [KeychainGroup] {
    let names = try reading(PrivateDirectory.existing(at: path(of: nil))?.names() ?? [])
    return names.compactMap { try? KeychainGroup($0) }.sorted { $0.name < $1.name }
  }

  /// The directory of a group; of all groups for `nil`.
  func path(of group: KeychainGroup?) -> String { "\(path)/groups" + (group.map { "/\($0.name)" } ?? "") }

  /// A group's directory; `nil` if it does not exist.
  func directory(of group: KeychainGroup) throws(CacheError) -> PrivateDirectory? {
    try reading(
      PrivateDirectory.existing(at: path(of: nil)) == nil
        ? nil : PrivateDirectory.existing(at: path(of: group)))
  }

  /// Whether a group has a shard, readable or not.
  private func hasFiles(_ group: KeychainGroup) throws(CacheError) -> Bool {
    guard let directory = try directory(of: group) else { return false }
    return try reading(directory.names()).contains { GroupFiles.shard(ofFile: $0) != nil }
  }

  private func keysFile() throws(CacheError) -> [UInt8]? {
    guard let directory = try reading(PrivateDirectory.existing(at: path)) else { return nil }
    do throws(PrivateFileError) {
      return try directory.read(Self.keysName, limit: SealedKeys.maximumSize)
    } catch .system(_, _, EFBIG) {
      // Enough for unsealing to find that it is too large.
      return try reading(directory.beginning(of: Self.keysName, size: SealedKeys.maximumSize + 1))
    } catch {
      throw error.whileReading(variable)
    }
  }

  private func write(_ file: [UInt8], in root: PrivateDirectory) throws(CacheError) {
    try writing(root.write(file, to: Self.keysName + ".new"))
    try writing(root.rename(Self.keysName + ".new", to: Self.keysName))
    do {
      try root.sync()
    } catch {
      // The new keys are in place, but perhaps not after a crash.
      throw error.withUnknownOutcome(variable)
    }
  }

  /// Takes the lock of the whole store, which only writers of the `keys` file take. The caller releases it.
  private func locked() throws(CacheError) -> (root: PrivateDirectory, lock: HeldLockFile) {
    try checkLocks()
    let root = try writing(PrivateDirectory.made(at: path))
    return (root, try writing(HeldLockFile(directory: path, name: Self.lockName)))
  }
}

extension StoreDirectory: StoreBackend {
  /// `nil` if the store does not exist.
  typealias Version = GroupFindings?

  func groups() throws(CacheError) -> [KeychainGroup] {
    // Calls about an unreadable group report why.
    try directories().filter { (try? hasFiles($0)) ?? true }
  }

  func load(
    _ shards: ShardSelection, of group: KeychainGroup, _ turn: Turn?
  ) throws(CacheError) -> Loaded<Version> {
    guard let files = try turn == nil ? files(of: group) : filesForWriting(of: group) else {
      return Loaded(GroupContents(), nil)
    }
    if let turn { try writing(files.recover(turn)) }
    let findings = try reading(files.read(shards))
    // Perhaps the keys were changed meanwhile.
    if findings.hasUnknownKey { _ = try present() }
    return Loaded(findings.contents, findings)
  }

  /// A group's files; `nil` if it has none.
  private func files(of group: KeychainGroup) throws(CacheError) -> GroupFiles? {
    guard let directory = try directory(of: group) else { return nil }
    if let keys = try present() { return GroupFiles(group: group, keys: keys, directory: directory) }
    try checkNothingIsSealed(in: [group])
    return nil
  }

  /// A group's files for the lock's holder, in a directory that is made unless the key is wrong. A later change of keys waits
  /// for the lock before it deletes the old keys.
  func filesForWriting(of group: KeychainGroup) throws(CacheError) -> GroupFiles {
    let keys = try presentForWriting()
    _ = try writing(PrivateDirectory.made(at: path(of: nil)))
    let directory = try writing(PrivateDirectory.made(at: path(of: group)))
    return GroupFiles(group: group, keys: keys, directory: directory)
  }

  /// What looks like an attack may be the work of another process or machine that still runs, or was killed.
  func mayBeUnfinished(
    _ loaded: Loaded<Version>, of shards: ShardSelection, wasQuiet: Bool
  ) throws(CacheError) -> Bool {
    loaded.version?.mayBeUnfinished == true
  }

  func check(_ loaded: Loaded<Version>, _ turn: Turn?) throws(CacheError) {
    guard let turn else { return try checkLocks() }
    guard let findings = loaded.version else { return }
    let manifest = try findings.soundManifest()
    try findings.check(turn.sharing)
    if let newer = try writing(findings.files.unnamedFile(newerThan: manifest)) {
      throw findings.cacheError(.olderManifest, of: newer)
    }
  }

  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], of group: KeychainGroup,
    over loaded: Loaded<Version>
  ) throws(CacheError) -> GroupWrite? {
    guard let findings = loaded.version else { return nil }
    return try findings.files.encode(changes, to: findings.soundManifest())
  }

  func commit(
    _ encoded: GroupWrite?, to group: KeychainGroup, over loaded: Loaded<Version>, _ turn: Turn
  ) throws(CacheError) -> Version? {
    try encoded?.carryOut(turn, variable)
    return nil
  }

  func remove(
    _ removal: Removal, from group: KeychainGroup, _ turn: Turn
  ) throws(CacheError) -> (count: Int, isDone: Bool) {
    guard let findings = try load(.all, of: group, turn).version else { return (0, true) }
    let isAll = removal == .everything
    if !isAll { try findings.checkRepairable() }
    let repaired = findings.repaired
    let removed = isAll ? findings.shards.map(\.id) : repaired.removed
    let count = isAll ? removed.count : repaired.count
    try writing(findings.files.removeUnfinished())
    // A manifest that cannot be used refuses every later write, also where it is the last file.
    let isBroken = if case .failure = findings.manifest { true } else { false }
    if count > 0 || isAll && isBroken {
      try findings.files.encode(removed.map { ($0, nil) }, to: repaired.manifest).carryOut(turn, variable)
    }
    return (count, true)
  }
}

extension StoreDirectory {
  private func reading<T>(_ result: @autoclosure () throws(PrivateFileError) -> T) throws(CacheError) -> T {
    do { return try result() } catch { throw error.whileReading(variable) }
  }

  private func writing<T>(_ result: @autoclosure () throws(PrivateFileError) -> T) throws(CacheError) -> T {
    do { return try result() } catch { throw error.whileWriting(variable) }
  }
}

extension PrivateFileError {
  func whileReading(_ variable: String?) -> CacheError {
    CacheError(self, "The file store cannot be read.", variable: variable)
  }

  func whileWriting(_ variable: String?) -> CacheError {
    CacheError(self, "The file store cannot be written.", variable: variable)
  }

  /// The error of a write of which a part is in place. There is no advice: it would say what cannot be known.
  func withUnknownOutcome(_ variable: String?) -> CacheError {
    let failure = whileWriting(variable)
    return CacheError(failure.code, failure.message, underlyingError: self).withUnknownOutcome
  }
}
