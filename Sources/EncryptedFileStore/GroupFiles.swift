import FoundationEssentials
import GLibSupport
import Glibc
import Sealing
import StoreSupport
import TokenCache

/// The files of one group, while a blocking job runs.
struct GroupFiles {
  static let manifestName = "manifest" + suffix
  static let lockName = "lock"
  private static let suffix = ".sealed"
  /// The suffix of a file that is not complete yet.
  fileprivate static let newSuffix = ".new"
  fileprivate static let newManifestName = manifestName + newSuffix
  /// A manifest that will replace that of a killed writer.
  private static let recoveredName = "recovered" + newSuffix

  let group: KeychainGroup
  let keys: DataKeys
  let directory: PrivateDirectory

  var path: String { directory.path }

  /// The name of a shard's file; of the manifest for `nil`.
  static func fileName(_ shard: ShardID?) -> String { shard.map { $0.rawValue + suffix } ?? manifestName }

  /// The shard of a file; `nil` for any other file.
  static func shard(ofFile name: String) -> ShardID? {
    guard name.hasSuffix(suffix) else { return nil }
    let shard = ShardID(rawValue: String(name.dropLast(suffix.count)))
    return shard.bytes == nil ? nil : shard
  }

  private static func isUnfinished(_ name: String) -> Bool {
    guard name.hasSuffix(newSuffix) else { return false }
    return [newManifestName, recoveredName].contains(name)
      || shard(ofFile: String(name.dropLast(newSuffix.count))) != nil
  }

  /// Reads files. Without the group's lock a writer may be changing them.
  func read(_ selection: ShardSelection) throws(PrivateFileError) -> GroupFindings {
    let manifest = try readManifest(Self.manifestName)
    let names = manifest == nil || selection == .all ? try directory.names() : []
    let present = names.compactMap(Self.shard(ofFile:))
    // The directory's list may be newer than a network file system's cache of missing files.
    let hasManifest = names.contains(Self.manifestName)
    var foreignEntries: [String] = []
    let ids: [ShardID]
    switch selection {
    case .some(let wanted): ids = wanted
    case .all:
      let expected = (try? manifest?.get().shards) ?? []
      ids = Set(expected + present).sorted { $0.rawValue < $1.rawValue }
      foreignEntries = names.filter {
        Self.shard(ofFile: $0) == nil && ![Self.manifestName, Self.lockName].contains($0)
          && !Self.isUnfinished($0)
      }
    }
    let shards = zip(ids, try ids.concurrentMap(readShard)).map { (id: $0, shard: $1) }
    return GroupFindings(
      files: self,
      manifest: manifest
        ?? (present.isEmpty && !hasManifest
          ? .success(Manifest(sequence: Manifest.newSequence)) : .failure(.missing)),
      shards: shards, foreignEntries: foreignEntries.sorted())
  }

  /// A file that a manifest does not name, and that is newer: an older manifest was put back. Found before the next write: after
  /// that, the file would look like a removed one that came back.
  func unnamedFile(newerThan manifest: Manifest) throws(PrivateFileError) -> ShardID? {
    for shard in try directory.names().compactMap(Self.shard(ofFile:)) where manifest[shard] == nil {
      if case .success((_, let sequence))? = try readShard(shard), sequence > manifest.sequence {
        return shard
      }
    }
    return nil
  }

  /// Seals documents; a shard without a document will be removed.
  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], to manifest: Manifest
  ) throws(CacheError) -> GroupWrite {
    var next = manifest
    next.sequence += 1
    guard next.sequence <= SealedFormat.maximumSequence else { throw SealedFormat.noNumberLeft }
    for (id, document) in changes { next[id] = document == nil ? nil : next.sequence }
    let files = try changes.concurrentMap { [sequence = next.sequence] (change) throws(CacheError) in
      let name = Self.fileName(change.id)
      guard let document = change.document else { return (name: name, bytes: [UInt8]?.none) }
      let sealed = try SealedFormat.seal(document, of: change.id, in: group, sequence: sequence, with: keys)
      return (name: name, bytes: sealed)
    }
    guard next.entries.count <= SealedFormat.maximumDocumentSize else { throw SealedFormat.tooLarge }
    return GroupWrite(directory: directory, files: files + [(Self.manifestName, seal(next))])
  }

  /// Finishes the work of a killed writer. The caller holds the group's lock.
  func recover(_ turn: Turn) throws(PrivateFileError) {
    guard let pending = try readManifest(Self.newManifestName) else { return }
    let present = try readManifest(Self.manifestName)
    // The user decides what replaces a damaged one.
    if case .failure? = present { return }
    if case .success(let next) = pending {
      let manifest: Manifest? = if case .success(let manifest)? = present { manifest } else { nil }
      if manifest == nil, try !isFirst(next) { return }
      if let manifest, next.sequence != manifest.sequence + 1 { return try removeUnfinished() }
      var actual = manifest ?? Manifest(sequence: next.sequence)
      actual.sequence = next.sequence
      for id in Set(actual.shards + next.shards) where actual[id] != next[id] {
        switch try readShard(id) {
        case .success((_, let sequence))? where sequence == next[id]: actual[id] = sequence
        case nil where next[id] == nil: actual[id] = nil
        default: break
        }
      }
      turn.beginChange()
      defer { turn.endChange() }
      try directory.write(seal(actual), to: Self.recoveredName)
      try directory.rename(Self.recoveredName, to: Self.manifestName)
      try directory.sync()
    }
    try removeUnfinished()
  }

  /// Removes incomplete files of a killed writer, or of a killed change of keys.
  func removeUnfinished() throws(PrivateFileError) {
    // The manifest's first: without it the others mean nothing.
    try directory.remove(Self.newManifestName)
    for name in try directory.names() where Self.isUnfinished(name) { try directory.remove(name) }
  }

  /// Whether a manifest may be that of the group's first write: it has every file.
  private func isFirst(_ manifest: Manifest) throws(PrivateFileError) -> Bool {
    for id in try directory.names().compactMap(Self.shard(ofFile:)) {
      guard case .success((_, let sequence))? = try readShard(id), sequence == manifest[id] else {
        return false
      }
    }
    return true
  }

  /// Seals every file that has an older key again. The caller holds the group's lock.
  func reseal(_ turn: Turn, _ summary: inout RekeySummary) throws(PrivateFileError) {
    try recover(turn)
    for name in try directory.names() {
      let shard = Self.shard(ofFile: name)
      guard shard != nil || name == Self.manifestName, let file = try file(name) else { continue }
      let identity = SealedFormat.Identity(group: group, name: shard?.bytes ?? Manifest.name)
      guard let bytes = summary.seal(file, as: identity, with: keys) else { continue }
      try directory.write(bytes, to: name + Self.newSuffix)
      try directory.rename(name + Self.newSuffix, to: name)
      summary.resealed += 1
    }
    try directory.sync()
  }

  private func readManifest(_ name: String) throws(PrivateFileError) -> Result<Manifest, SealError>? {
    guard let file = try file(name) else { return nil }
    return Result(
      calling: try Manifest(
        SealedFormat.open(file.get(), as: .init(group: group, name: Manifest.name), with: keys)))
  }

  private func readShard(_ id: ShardID) throws(PrivateFileError) -> GroupFindings.Shard {
    guard let name = id.bytes, let file = try file(Self.fileName(id)) else { return nil }
    return Result(calling: try SealedFormat.document(in: file.get(), of: name, in: group, with: keys))
  }

  /// Reads the bytes of a file; `nil` if it does not exist.
  private func file(_ name: String) throws(PrivateFileError) -> Result<[UInt8], SealError>? {
    do {
      return try directory.read(name, limit: SealedFormat.maximumFileSize).map(Result.success)
    } catch .notRegular {
      return .failure(.notSealed)
    } catch .system(_, _, EFBIG) {
      return .failure(SealedFormat.problem(ofTooLarge: try directory.beginning(of: name, size: 16)))
    }
  }

  private func seal(_ manifest: Manifest) -> [UInt8] {
    unsafe manifest.entries.withUnsafeBytes {
      unsafe SealedFormat.seal(
        $0, as: .init(group: group, name: Manifest.name), sequence: manifest.sequence, with: keys.current)
    }
  }
}

/// The sealed files of one commit.
struct GroupWrite {
  fileprivate let directory: PrivateDirectory
  /// Those of shards, of which one without bytes is removed, and last the manifest.
  fileprivate let files: [(name: String, bytes: [UInt8]?)]

  /// Writes the files in their order. The caller holds the group's lock.
  ///
  /// All are on the disk under other names before the first file changes, so that a full disk changes nothing. The
  /// new manifest keeps its other name until all files are in place: the next holder of the lock finds it and sees how
  /// far this writer came. Advice names the environment variable.
  func carryOut(_ turn: Turn, _ variable: String?) throws(CacheError) {
    do throws(PrivateFileError) {
      try directory.write(
        files.compactMap { name, bytes in bytes.map { (name + GroupFiles.newSuffix, $0) } })
    } catch {
      throw error.whileWriting(variable)
    }
    turn.beginChange()
    defer { turn.endChange() }
    do {
      try putInPlace()
    } catch {
      // The next holder of the lock keeps what is in place.
      throw error.withUnknownOutcome(variable)
    }
  }

  private func putInPlace() throws(PrivateFileError) {
    var failure: PrivateFileError?
    for (name, bytes) in files.dropLast() {
      if bytes == nil {
        // A failure must not keep the others.
        do {
          try directory.remove(name)
          try directory.remove(name + GroupFiles.newSuffix)
        } catch {
          failure = error
        }
      } else {
        try directory.rename(name + GroupFiles.newSuffix, to: name)
      }
    }
    try directory.sync()
    if let failure { throw failure }
    // Until this is on the disk as well, the new manifest is found under its other name.
    try directory.rename(GroupFiles.newManifestName, to: GroupFiles.manifestName)
  }
}
