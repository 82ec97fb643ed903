import FoundationEssentials
package import TokenCache

/// Sealed documents of shards, and sealed parts of any kind, in any store.
extension SealedFormat {
  /// Seals a shard's document.
  ///
  /// - Throws: ``CacheError/Code/tooLarge``; ``CacheError/Code/refused`` for an invalid id of a shard.
  package static func seal(
    _ document: CacheDocument, of shard: ShardID, in group: KeychainGroup, sequence: UInt64,
    with key: DataKeys.Key
  ) throws(CacheError) -> [UInt8] {
    guard let name = shard.bytes else { throw CacheError(.refused, "\"\(shard)\" is not a valid shard id.") }
    let sealed: [UInt8]? = try unsafe document.withJSON { json in
      guard json.count <= maximumDocumentSize else { return nil }
      return unsafe seal(json, as: Identity(group: group, name: name), sequence: sequence, with: key)
    }
    guard let sealed else { throw tooLarge }
    return sealed
  }

  package static let tooLarge = CacheError(
    .tooLarge, "A shard or manifest of more than \(maximumDocumentSize) bytes is too large.",
    advice: "Remove expired tokens, or accounts that are no longer used.")

  /// Opens a sealed shard.
  package static func document(
    in sealed: [UInt8], of name: [UInt8], in group: KeychainGroup, with keys: DataKeys
  ) throws(SealError) -> (document: CacheDocument, sequence: UInt64) {
    // Only this variable may hold the bytes: if another one did, a copy would be wiped.
    var opened = try open(sealed, as: Identity(group: group, name: name), with: keys)
    defer { opened.wipe() }
    do {
      return (try CacheDocument(json: opened.contents), opened.sequence)
    } catch {
      throw .unreadable(error.message)
    }
  }

  /// Seals a part that has an older key again with the current one, as the same version.
  ///
  /// - Returns: `nil` if it has the current key already.
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
