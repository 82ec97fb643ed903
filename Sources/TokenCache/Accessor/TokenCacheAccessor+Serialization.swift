import FoundationEssentials

/// What an import did.
public struct ImportSummary: Sendable, Hashable {
  /// Records that were not there, or older.
  public var saved: Int
  /// Records of which a newer or equal version was there.
  public var kept: Int

  public init(saved: Int = 0, kept: Int = 0) {
    self.saved = saved
    self.kept = kept
  }
}

extension TokenCacheAccessor {
  /// Takes a serialized cache into the group, account by account.
  ///
  /// Records keep their keys. Of two records for one thing the newer stays, by `last_modification_time` or
  /// `cached_at`; an import wins where neither says. Of access tokens that share a scope the newer stays, too. An
  /// import that is done again changes nothing. Private keys of bound tokens are not taken in.
  ///
  /// - Parameters:
  ///   - document: The cache, of whichever library.
  ///   - progress: Told after each shard how many of how many are done.
  /// - Returns: How many records were taken in and how many were there already.
  /// - Throws: What the store throws; accounts taken in before stay.
  public func `import`(
    _ document: CacheDocument, progress: @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) async throws(CacheError) -> ImportSummary {
    let parts = document.withoutPopKeys.split(in: group)
    var summary = ImportSummary()
    for (index, part) in parts.enumerated() {
      let clouds = clouds
      let merged = try await store.update([part.shard], in: group) { contents in
        contents[part.shard].merge(part.document, in: clouds)
      }
      summary.saved += merged.saved
      summary.kept += merged.kept
      progress(index + 1, parts.count)
    }
    return summary
  }
}
