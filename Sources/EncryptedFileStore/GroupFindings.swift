import FoundationEssentials
import GLibSupport
import Sealing
import TokenCache

/// The files of a group as they were read, compared with the manifest.
struct GroupFindings {
  /// A shard's file; `nil` if it does not exist.
  typealias Shard = Result<(document: CacheDocument, sequence: UInt64), SealError>?

  let files: GroupFiles
  let manifest: Result<Manifest, SealError>
  /// Without a manifest a file that opens has no error.
  let shards: [(id: ShardID, shard: Shard, error: SealError?)]
  /// Files that Llavero did not write.
  let foreignEntries: [String]

  init(
    files: GroupFiles, manifest: Result<Manifest, SealError>, shards: [(id: ShardID, shard: Shard)],
    foreignEntries: [String]
  ) {
    (self.files, self.manifest, self.foreignEntries) = (files, manifest, foreignEntries)
    self.shards = shards.map { ($0.id, $0.shard, Self.error(of: $0.id, $0.shard, manifest)) }
  }

  private static func error(
    of id: ShardID, _ shard: Shard, _ manifest: Result<Manifest, SealError>
  ) -> SealError? {
    if case .failure(let error)? = shard { return error }
    guard case .success(let manifest) = manifest else { return nil }
    let expected = manifest[id]
    guard case .success((_, let sequence))? = shard else { return expected == nil ? nil : .missing }
    if sequence == expected { return nil }
    return sequence > expected ?? manifest.sequence ? .olderManifest : .rolledBack
  }

  /// The errors of files or, without a shard, of the manifest.
  var errors: [(id: ShardID?, error: SealError)] {
    var errors: [(ShardID?, SealError)] = []
    if case .failure(let error) = manifest { errors.append((nil, error)) }
    for (id, _, error) in shards { if let error { errors.append((id, error)) } }
    return errors
  }

  /// Whether a writer that is still writing, or was killed, may be the cause.
  var mayBeUnfinished: Bool {
    errors.contains { [.missing, .olderManifest, .rolledBack].contains($0.error) }
  }

  var hasUnknownKey: Bool { errors.contains { $0.error == .unknownKey } }

  var contents: GroupContents {
    let problems = errors.map { id, error in
      let name = GroupFiles.fileName(id)
      var problem = error.storeProblem(
        of: id, called: "The file \(name)", suffix: id == nil ? " \(Self.withoutManifest)" : "")
      problem.modified = files.directory.modification(of: name).map(Date.init(timeIntervalSince1970:))
      return problem
    }
    let foreign = foreignEntries.map {
      StoreProblem(.foreign, shard: nil, detail: "The file \($0) is not Llavero's.")
    }
    var contents = GroupContents(problems: problems + foreign)
    guard case .success = manifest else { return contents }
    for case (let id, .success((let document, _))?, nil) in shards { contents[id] = document }
    return contents
  }

  /// The manifest to change. Throws if it cannot be trusted.
  func soundManifest() throws(CacheError) -> Manifest {
    do {
      return try manifest.get()
    } catch {
      let advice =
        "\(Self.withoutManifest) Restore it from a backup of the whole group, or accept the files that open as "
        + "current."
      throw cacheError(error, of: nil, advice: error.code == .damaged ? advice : nil)
    }
  }

  /// The error for a shard's file or, without a shard, for the manifest.
  func cacheError(_ error: SealError, of id: ShardID?, advice: String? = nil) -> CacheError {
    error.cacheError(
      of: "\(files.path)/\(GroupFiles.fileName(id))", advice: advice,
      remedy: error.problem(isManifest: id == nil).1)
  }

  private static let withoutManifest =
    "Without it, it is unknown whether the group's other files are current."

  /// Throws if one of the files has an error. A missing file may be written again, except on a network file system, where
  /// it may only be invisible for a moment.
  func check(_ sharing: FileSharing) throws(CacheError) {
    for (id, error) in errors where error != .missing || sharing != .machine {
      throw cacheError(error, of: id)
    }
  }

  /// Throws if the manifest must not be replaced: it has a later version or another key, or it is lost and a shard has,
  /// whose number would then be lost as well.
  func checkRepairable() throws(CacheError) {
    guard case .failure(let error) = manifest else { return }
    if error.code != .damaged { _ = try soundManifest() }
    for case (let id, .failure(let error)?, _) in shards where error.code != .damaged {
      throw cacheError(error, of: id)
    }
  }

  /// A manifest that accepts the readable files as current, the shards whose files are removed or missing, and the number
  /// of errors. Files of a later version, or of a key that may be found again, stay.
  var repaired: (manifest: Manifest, removed: [ShardID], count: Int) {
    var repaired = (try? manifest.get()) ?? Manifest(sequence: 0)
    // A file that was put back once may be put back again, and its number must not be used again. Where all that is there is
    // current, the next number is one more: by that an interrupted removal is completed.
    if errors.contains(where: { $0.id == nil || $0.error != .missing }) {
      repaired.sequence = max(repaired.sequence, Manifest.newSequence)
    }
    var removed: [ShardID] = []
    var count = if case .failure = manifest { 1 } else { 0 }
    for (id, shard, error) in shards {
      if case .success((_, let sequence))? = shard, error != .rolledBack {
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
