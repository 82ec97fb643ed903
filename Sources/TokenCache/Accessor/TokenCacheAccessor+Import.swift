import FoundationEssentials

/// The result of an import.
public struct ImportSummary: Sendable, Hashable {
  /// Records that were new or newer than those in the group.
  public var saved: Int
  /// Records of which the group had a newer or equal version.
  public var kept: Int

  public init(saved: Int = 0, kept: Int = 0) {
    self.saved = saved
    self.kept = kept
  }
}

extension TokenCacheAccessor {
  /// Imports a serialized cache into the group, account by account.
  ///
  /// Records keep their keys. Of two records for one thing the newer stays, by `last_modification_time` or
  /// `cached_at`; the imported one wins if neither has a time. Of access tokens that share a scope the newer stays, too.
  /// A repeated import changes nothing. Private keys of bound tokens are not imported.
  ///
  /// - Parameters:
  ///   - document: The cache, of any MSAL library.
  ///   - progress: Called after each shard with the numbers of finished shards and of all shards.
  /// - Returns: How many records were saved, and how many the group had already.
  /// - Throws: ``CacheError``; accounts imported before stay.
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
