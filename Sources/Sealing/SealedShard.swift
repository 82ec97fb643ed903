import FoundationEssentials
package import TokenCache

/// Documents of shards, and sealed parts of any kind, whichever store keeps them.
extension SealedFormat {
  /// Seals a shard's document.
  ///
  /// - Throws: ``CacheError/Code/tooLarge``; ``CacheError/Code/refused`` for what is no id of a shard.
  package static func seal(
    _ document: CacheDocument, of shard: ShardID, in group: KeychainGroup, sequence: UInt64,
    with key: DataKeys.Key
  ) throws(CacheError) -> [UInt8] {
    guard let name = shard.bytes else { throw CacheError(.refused, "\"\(shard)\" is not the id of a shard.") }
    let sealed: [UInt8]? = try unsafe document.withJSON { json in
      guard json.count <= maximumDocumentSize else { return nil }
      return unsafe seal(json, as: Identity(group: group, name: name), sequence: sequence, with: key)
    }
    guard let sealed else { throw tooLarge }
    return sealed
  }

  package static let tooLarge = CacheError(
    .tooLarge, "A shard or manifest of more than \(maximumDocumentSize) bytes is too large.",
    advice: "Remove what is of no use any more, such as tokens that have expired.")

  /// Opens a sealed shard.
  package static func document(
    in sealed: [UInt8], of name: [UInt8], in group: KeychainGroup, with keys: DataKeys
  ) throws(SealError) -> (document: CacheDocument, sequence: UInt64) {
    // Only this variable may hold the bytes: what another holds too would be copied, and the copy wiped.
    var opened = try open(sealed, as: Identity(group: group, name: name), with: keys)
    defer { opened.wipe() }
    do {
      return (try CacheDocument(json: opened.contents), opened.sequence)
    } catch {
      throw .unreadable(error.message)
    }
  }

  /// Seals what an older key seals with the present one, as the same version.
  ///
  /// - Returns: `nil` for what has the present key.
  package static func resealed(
    _ sealed: [UInt8], as identity: Identity, with keys: DataKeys
  ) throws(SealError) -> [UInt8]? {
    guard keyID(of: sealed) != keys.current.id else { return nil }
    var opened = try open(sealed, as: identity, with: keys)
    defer { opened.wipe() }
    return unsafe opened.contents.withUnsafeBytes {
      unsafe seal($0, as: identity, sequence: opened.sequence, with: keys.current)
    }
  }
}
