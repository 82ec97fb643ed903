import FoundationEssentials
import GLibSupport
public import TokenCache

/// Sealed documents of shards, and sealed parts of any kind, in any store.
extension SealedFormat {
  /// Seals a shard's document with the current key.
  ///
  /// - Parameters:
  ///   - document: The document.
  ///   - shard: Its shard.
  ///   - group: The group.
  ///   - sequence: The number of the group's write, by which a store may recognize an older version (default: 0).
  ///   - keys: The keys of the store.
  /// - Returns: Bytes that open only as this shard of this group.
  /// - Throws: `CacheError`: `tooLarge`; `refused` for an invalid id of a shard.
  public static func seal(
    _ document: CacheDocument, of shard: ShardID, in group: KeychainGroup, sequence: UInt64 = 0,
    with keys: DataKeys
  ) throws(CacheError) -> [UInt8] {
    guard let name = shard.bytes else { throw CacheError(.refused, "\"\(shard)\" is not a valid shard id.") }
    guard sequence <= maximumSequence else { throw noNumberLeft }
    let sealed: [UInt8]? = try unsafe document.withJSON { json in
      guard json.count <= maximumDocumentSize else { return nil }
      return unsafe seal(json, as: Identity(group: group, name: name), sequence: sequence, with: keys.current)
    }
    guard let sealed else { throw tooLarge }
    return sealed
  }

  package static let noNumberLeft = CacheError(
    .damaged, "The group's sequence numbers are used up: something wrote an absurd one.",
    advice: "Move the group out of the way and sign in again.")

  package static let tooLarge = CacheError(
    .tooLarge, "A shard or manifest of more than \(maximumDocumentSize) bytes is too large.",
    advice: "Remove expired tokens, or accounts that are no longer used.")

  /// Opens sealed shards.
  ///
  /// - Parameters:
  ///   - sealed: The shards as they are stored.
  ///   - group: The group.
  ///   - keys: The keys of the store.
  ///   - name: The name of a shard in the store, for the beginning of a sentence.
  /// - Returns: The documents of those that open, and the problems of the others.
  public static func contents(
    of sealed: [(shard: ShardID, bytes: [UInt8])], in group: KeychainGroup, with keys: DataKeys,
    called name: (ShardID) -> String
  ) -> GroupContents {
    var opened: [(shard: ShardID, document: Result<CacheDocument, SealError>)] = []
    for (shard, bytes) in sealed {
      opened.append(
        (shard, Result(calling: try document(in: bytes, of: shard.bytes, in: group, with: keys).document)))
    }
    return contents(opened, called: name)
  }

  /// The documents of opened shards, and the problems of those that did not open.
  package static func contents(
    _ opened: [(shard: ShardID, document: Result<CacheDocument, SealError>)],
    called name: (ShardID) -> String,
    otherProblems: [StoreProblem] = []
  ) -> GroupContents {
    var documents: [ShardID: CacheDocument] = [:]
    var problems: [StoreProblem] = []
    for (shard, document) in opened {
      switch document {
      case .success(let document): documents[shard] = document
      case .failure(let error): problems.append(error.storeProblem(of: shard, called: name(shard)))
      }
    }
    return GroupContents(documents: documents, problems: problems + otherProblems)
  }

  /// Opens a sealed shard; `name` is `nil` for an invalid id.
  package static func document(
    in sealed: [UInt8], of name: [UInt8]?, in group: KeychainGroup, with keys: DataKeys
  ) throws(SealError) -> (document: CacheDocument, sequence: UInt64) {
    guard let name else { throw .misplaced }
    // Only this variable may hold the bytes: if another one did, a copy would be wiped.
    var opened = try open(sealed, as: Identity(group: group, name: name), with: keys)
    defer { opened.wipe() }
    do {
      return (try CacheDocument(json: opened.contents), opened.sequence)
    } catch {
      throw .unreadable(error.message)
    }
  }
}

extension ShardID {
  /// The 16 bytes of the id; `nil` for an invalid name, which no file may have.
  package var bytes: [UInt8]? {
    let digits = rawValue.utf8.compactMap { digit -> UInt8? in
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
      default: nil
      }
    }
    guard digits.count == 32, rawValue.utf8.count == 32 else { return nil }
    return stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  package init(bytes: ArraySlice<UInt8>) { self.init(rawValue: hex(bytes)) }
}
