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

  static func += (sum: inout ImportSummary, other: ImportSummary) {
    sum.saved += other.saved
    sum.kept += other.kept
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
  ///   - progress: Called after each update of the store with the numbers of finished shards and of all shards.
  /// - Returns: How many records were saved, and how many the group had already.
  /// - Throws: ``CacheError`` of the first account that could not be saved, after the others were, unless the store is the cause.
  public func `import`(
    _ document: CacheDocument, progress: @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) async throws(CacheError) -> ImportSummary {
    let parts = document.withoutPopKeys.split(in: group).map { (shard: $0.shard, part: $0.document) }
    let clouds = clouds
    return try await updateEach(parts, progress: progress) { contents, part in
      let known = Set(contents.refreshTokens.values.map(\.secret))
      let summary = contents.merge(part, in: clouds)
      // Where the imported cache has states, they count.
      let tokens = contents.refreshTokens.values.filter { token in
        !known.contains(token.secret)
          && part.accountMetadata(clientID: token.clientID ?? "")?.hasAccount(token.homeAccountID ?? "")
            != true
      }
      contents.forgetSignOuts(before: tokens)
      return summary
    }.reduce(into: ImportSummary()) { $0 += $1 }
  }

  /// Changes shards that do not depend on each other, as many with one update as the store takes.
  ///
  /// - Throws: ``CacheError`` of the first shard that could not be changed, after the others were, unless the store is the cause.
  func updateEach<Part: Sendable, Value: Sendable>(
    _ parts: [(shard: ShardID, part: Part)], progress: (_ done: Int, _ of: Int) -> Void = { _, _ in },
    _ change: @escaping @Sendable (inout CacheDocument, Part) -> Value
  ) async throws(CacheError) -> [Value] {
    func update(_ batch: [(shard: ShardID, part: Part)]) async throws(CacheError) -> [Value] {
      try await store.update(batch.map(\.shard), in: group) { contents in
        batch.map { change(&contents[$0.shard], $0.part) }
      }
    }
    // One shard may be the cause, so that others can still be saved. A wrong key may be that of the whole store, for which a
    // person would be asked again.
    let oneShard: Set<CacheError.Code> = [.damaged, .newerVersion, .rolledBack, .tooLarge]
    var (values, firstError): ([Value], CacheError?) = ([], nil)
    var (done, endOfSingles) = (0, 0)
    while done < parts.count {
      let batch = Array(parts[done...].prefix(done < endOfSingles ? 1 : max(store.shardsPerUpdate, 1)))
      do throws(CacheError) {
        values += try await update(batch)
      } catch  where oneShard.contains(error.code) {
        guard batch.count == 1 else {
          endOfSingles = done + batch.count
          continue
        }
        firstError = firstError ?? error
      }
      done += batch.count
      progress(done, parts.count)
    }
    if let firstError { throw firstError }
    return values
  }
}
