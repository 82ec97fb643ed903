import GLibSupport
import Sealing
import TokenCache

/// What was found of a group's files, and whether it is as the manifest says.
struct GroupFindings {
  /// A shard's file.
  enum Shard {
    case absent
    case sound(CacheDocument, sequence: UInt64)
    case unreadable(SealError)

    var isAbsent: Bool { if case .absent = self { true } else { false } }
  }

  let files: GroupFiles
  var manifest: Result<Manifest, SealError>
  var shards: [(id: ShardID, shard: Shard)]
  /// Files that have no business there.
  var strangers: [String] = []

  /// What is wrong with a shard's file. Without a manifest nobody knows what is wrong with one that opens.
  func error(of id: ShardID, _ shard: Shard) -> SealError? {
    if case .unreadable(let error) = shard { return error }
    guard case .success(let manifest) = manifest else { return nil }
    let expected = manifest[id]
    guard case .sound(_, let sequence) = shard else { return expected == nil ? nil : .missing }
    if sequence == expected { return nil }
    return sequence > expected ?? manifest.sequence ? .olderManifest : .rolledBack
  }

  /// What is wrong, with a file or, where there is no shard, with the manifest.
  var errors: [(id: ShardID?, error: SealError)] {
    var errors: [(ShardID?, SealError)] = []
    if case .failure(let error) = manifest { errors.append((nil, error)) }
    for (id, shard) in shards {
      if let error = error(of: id, shard) { errors.append((id, error)) }
    }
    return errors
  }

  /// Whether a writer that is at work, or was killed, may be what is wrong.
  var mayBeUnfinished: Bool {
    errors.contains { [.missing, .olderManifest, .rolledBack].contains($0.error) }
  }

  /// Whether there is a file sealed with a key that is not known.
  var hasUnknownKey: Bool { errors.contains { $0.error == .unknownKey } }

  var contents: GroupContents {
    let problems = errors.map { id, error in
      let name = id.map(GroupFiles.fileName) ?? GroupFiles.manifestName
      let (kind, remedy) = error.problem(isManifest: id == nil)
      let detail = "The file \(name) \(error.description)"
      return StoreProblem(
        kind, shard: id, detail: id == nil ? "\(detail) \(Self.withoutManifest)" : detail, remedy: remedy)
    }
    let foreign = strangers.map {
      StoreProblem(.foreign, shard: nil, detail: "The file \($0) is none of Llavero's.")
    }
    var contents = GroupContents(problems: problems + foreign)
    guard case .success = manifest else { return contents }
    for (id, shard) in shards {
      if case .sound(let document, _) = shard, error(of: id, shard) == nil { contents[id] = document }
    }
    return contents
  }

  /// The manifest to write by. Throws when there is none that can be trusted.
  func soundManifest() throws(CacheError) -> Manifest {
    switch manifest {
    case .success(let manifest): return manifest
    case .failure(let error):
      let advice =
        "\(Self.withoutManifest) Restore it from a backup of the whole group, or have the files that open taken for "
        + "the present ones."
      throw error.cacheError(
        of: "\(files.path)/\(GroupFiles.manifestName)", advice: error.code == .damaged ? advice : nil,
        remedy: error.problem(isManifest: true).1)
    }
  }

  private static let withoutManifest =
    "Without it nobody can tell whether the group's other files are the present ones."

  /// Throws when one of the files is not as it should be. One that is gone may be written anew, but on a network file
  /// system, where it may only be out of sight for a moment.
  func check(_ sharing: FileSharing) throws(CacheError) {
    for (id, error) in errors where error != .missing || sharing != .machine {
      throw error.cacheError(
        of: "\(files.path)/\(id.map(GroupFiles.fileName) ?? GroupFiles.manifestName)",
        remedy: error.problem(isManifest: id == nil).1)
    }
  }

  /// Throws when the manifest must not be replaced: it is of a later version or of another key, or it is lost and a
  /// shard is, whose number nobody could then know any more.
  func checkRepairable() throws(CacheError) {
    guard case .failure(let error) = manifest else { return }
    if error.code != .damaged { _ = try soundManifest() }
    for case (let id, .unreadable(let error)) in shards where error.code != .damaged {
      throw error.cacheError(of: "\(files.path)/\(GroupFiles.fileName(id))")
    }
  }

  /// A manifest that takes the files that can be read for the present ones, the shards whose files are to go or are
  /// gone, and how many things were wrong. Files of a later version, or of a key that may turn up again, stay.
  var repaired: (manifest: Manifest, removed: [ShardID], count: Int) {
    var repaired = (try? manifest.get()) ?? Manifest(sequence: 0)
    // What was put back once may be put back again, and must not meet its number.
    repaired.sequence = max(repaired.sequence, Manifest.newSequence)
    var removed: [ShardID] = []
    var count = if case .failure = manifest { 1 } else { 0 }
    for (id, shard) in shards {
      let error = error(of: id, shard)
      if case .sound(_, let sequence) = shard, error != .rolledBack {
        repaired.sequence = max(repaired.sequence, sequence)
        repaired[id] = sequence
        if error != nil { count += 1 }
      } else if let error, [.damaged, .rolledBack].contains(error.code) {
        removed.append(id)
      }
    }
    return (repaired, removed, count + removed.count)
  }
}
