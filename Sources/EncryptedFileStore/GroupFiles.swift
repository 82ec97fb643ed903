import FoundationEssentials
import GLibSupport
import Glibc
import TokenCache

/// The files of one group, while a blocking job runs.
struct GroupFiles {
  static let manifestName = "manifest" + suffix
  static let lockName = "lock"
  private static let suffix = ".sealed"
  /// What a file is called until it is complete.
  private static let newSuffix = ".new"
  private static let newManifestName = manifestName + newSuffix

  private let group: KeychainGroup
  private let directory: PrivateDirectory
  private let keys: DataKeys

  init(_ group: KeychainGroup, in directory: PrivateDirectory, _ keys: DataKeys) {
    (self.group, self.directory, self.keys) = (group, directory, keys)
  }

  var path: String { directory.path }

  static func fileName(_ shard: ShardID) -> String { shard.rawValue + suffix }

  /// The shard whose file has a name; `nil` for another file.
  static func shard(ofFile name: String) -> ShardID? {
    guard name.hasSuffix(suffix) else { return nil }
    let shard = ShardID(rawValue: String(name.dropLast(suffix.count)))
    return shard.bytes == nil ? nil : shard
  }

  /// Reads files. Without the group's lock a writer may be at work on them.
  func read(_ selection: ShardSelection) throws(PrivateFileError) -> GroupFindings {
    let manifest = try readManifest(Self.manifestName)
    var strangers: [String] = []
    var ids: [ShardID]
    switch selection {
    case .some(let wanted): ids = wanted
    case .all:
      var found = (try? manifest?.get().shards).map(Set.init) ?? []
      for name in try directory.names() {
        if let shard = Self.shard(ofFile: name) {
          found.insert(shard)
        } else if ![Self.manifestName, Self.lockName].contains(name), !name.hasSuffix(Self.newSuffix) {
          strangers.append(name)
        }
      }
      ids = found.sorted { $0.rawValue < $1.rawValue }
    }
    var shards: [(id: ShardID, shard: GroupFindings.Shard)] = []
    for id in ids { shards.append((id, try readShard(id))) }
    let isNew = manifest == nil && shards.allSatisfy(\.shard.isAbsent)
    return GroupFindings(
      manifest: manifest ?? (isNew ? .success(Manifest()) : .failure(.missing)), shards: shards,
      strangers: strangers.sorted())
  }

  /// Writes documents and, where there is none, removes the file, in this order and with the group's lock held.
  ///
  /// All is on the disk under other names before the first file changes, so that a full disk changes nothing. The
  /// new manifest stays there until all files are in place: whoever takes the lock next finds it and sees how
  /// far this writer came.
  func commit(
    _ changes: [(id: ShardID, document: CacheDocument?)], to manifest: Manifest,
    announcing lockFile: SharedLockFile
  ) throws(CacheError) {
    var next = manifest
    next.sequence += 1
    var files: [(name: String, bytes: [UInt8])] = []
    for (id, document) in changes {
      next[id] = document == nil ? nil : next.sequence
      guard let document else { continue }
      files.append((Self.fileName(id), try seal(document, of: id, next.sequence)))
    }
    files.append((Self.manifestName, seal(next)))
    do throws(CacheError) {
      try writingFiles { () throws(PrivateFileError) in
        for (name, bytes) in files { try directory.write(bytes, to: name + Self.newSuffix) }
      }
    } catch {
      for (name, _) in files { try? directory.remove(name + Self.newSuffix) }
      throw error
    }
    lockFile.beginWrite()
    defer { lockFile.endWrite() }
    try writingFiles { () throws(PrivateFileError) in
      for (id, document) in changes {
        let name = Self.fileName(id)
        if document == nil {
          try directory.remove(name)
        } else {
          try directory.rename(name + Self.newSuffix, to: name)
        }
      }
      try directory.sync()
      // Until this is on the disk as well, the new manifest is found there.
      try directory.rename(Self.newManifestName, to: Self.manifestName)
    }
  }

  /// Finishes what a writer left that was killed, with the group's lock held.
  func recover(announcing lockFile: SharedLockFile) throws(PrivateFileError) {
    guard let pending = try readManifest(Self.newManifestName) else { return }
    let present = try readManifest(Self.manifestName) ?? .success(Manifest())
    guard case .success(let manifest) = present else { return }
    if case .success(let next) = pending, next.sequence == manifest.sequence + 1 {
      var actual = manifest
      actual.sequence = next.sequence
      for id in Set(manifest.shards + next.shards) where manifest[id] != next[id] {
        switch try readShard(id) {
        case .sound(_, let sequence) where sequence == next[id]: actual[id] = sequence
        case .absent where next[id] == nil: actual[id] = nil
        default: break
        }
      }
      lockFile.beginWrite()
      defer { lockFile.endWrite() }
      let name = "recovered" + Self.newSuffix
      try directory.write(seal(actual), to: name)
      try directory.rename(name, to: Self.manifestName)
      try directory.sync()
    }
    // The manifest's first: without it the others mean nothing.
    try directory.remove(Self.newManifestName)
    for name in try directory.names() where name.hasSuffix(Self.newSuffix) { try directory.remove(name) }
  }

  /// Seals every file again that was sealed with an older key, with the group's lock held.
  ///
  /// - Returns: How many files were sealed again, and how many could not be.
  func reseal() throws(PrivateFileError) -> RekeySummary {
    var summary = RekeySummary()
    for name in try directory.names() {
      let shard = Self.shard(ofFile: name)
      guard shard != nil || name == Self.manifestName,
        case .success(let file) = try file(name)
      else { continue }
      let identity = SealedFormat.Identity(group: group, name: shard?.bytes ?? Manifest.name)
      guard SealedFormat.keyID(of: file) != keys.current.id else { continue }
      var opened: SealedFormat.Opened
      do throws(SealedFileError) {
        opened = try SealedFormat.open(file, as: identity, with: keys)
      } catch {
        summary.left += 1
        continue
      }
      defer { opened.wipe() }
      let bytes = unsafe opened.contents.withUnsafeBytes {
        unsafe SealedFormat.seal($0, as: identity, sequence: opened.sequence, with: keys.current)
      }
      try directory.write(bytes, to: name + Self.newSuffix)
      try directory.rename(name + Self.newSuffix, to: name)
      summary.resealed += 1
    }
    try directory.sync()
    return summary
  }

  private func readManifest(
    _ name: String
  ) throws(PrivateFileError) -> Result<Manifest, SealedFileError>? {
    guard let file = try file(name) else { return nil }
    return Result { () throws(SealedFileError) in
      try Manifest(
        SealedFormat.open(try file.get(), as: .init(group: group, name: Manifest.name), with: keys))
    }
  }

  private func readShard(_ id: ShardID) throws(PrivateFileError) -> GroupFindings.Shard {
    guard let name = id.bytes, let file = try file(Self.fileName(id)) else { return .absent }
    // In this variable alone: what another holds too would be copied, and the copy wiped.
    var opened: SealedFormat.Opened
    do throws(SealedFileError) {
      opened = try SealedFormat.open(try file.get(), as: .init(group: group, name: name), with: keys)
    } catch {
      return .unreadable(error)
    }
    defer { opened.wipe() }
    do {
      return .sound(try CacheDocument(json: opened.contents), sequence: opened.sequence)
    } catch {
      return .unreadable(.unreadable(error.message))
    }
  }

  /// The bytes of a file; `nil` where there is none.
  private func file(_ name: String) throws(PrivateFileError) -> Result<[UInt8], SealedFileError>? {
    do {
      return try directory.read(name, limit: SealedFormat.maximumFileSize).map(Result.success)
    } catch .notPrivate {
      return .failure(.notSealed)
    } catch .system(_, _, EFBIG) {
      return .failure(.notSealed)
    }
  }

  private func seal(
    _ document: CacheDocument, of id: ShardID, _ sequence: UInt64
  ) throws(CacheError) -> [UInt8] {
    guard let name = id.bytes else { throw CacheError(.refused, "\"\(id)\" is not the id of a shard.") }
    let limit = SealedFormat.maximumDocumentSize
    let file: [UInt8]? = try unsafe document.withJSON { json in
      guard json.count <= limit else { return nil }
      return unsafe SealedFormat.seal(
        json, as: .init(group: group, name: name), sequence: sequence, with: keys.current)
    }
    guard let file else {
      throw CacheError(
        .tooLarge, "A shard of more than \(limit) bytes is too large.",
        advice: "\"llavero clear --expired\" removes what is of no use any more.")
    }
    return file
  }

  private func seal(_ manifest: Manifest) -> [UInt8] {
    unsafe manifest.entries.withUnsafeBytes {
      unsafe SealedFormat.seal(
        $0, as: .init(group: group, name: Manifest.name), sequence: manifest.sequence, with: keys.current)
    }
  }
}
