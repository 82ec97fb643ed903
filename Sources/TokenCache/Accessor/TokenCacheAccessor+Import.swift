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
  /// - Throws: ``CacheError``; accounts imported before stay.
  public func `import`(
    _ document: CacheDocument, progress: @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) async throws(CacheError) -> ImportSummary {
    let parts = document.withoutPopKeys.split(in: group)
    var summary = ImportSummary()
    let common = try await contents(.some([commonShard]))[commonShard]
    // Whether older versions, or a removal, have written of accounts into the shard without an account.
    let hasOlderStates = common.accountMetadata.values.contains { !$0.homeAccountIDs.isEmpty }
    var done = 0
    func add(_ batch: ArraySlice<(shard: ShardID, document: CacheDocument)>) async throws(CacheError) {
      let clouds = clouds
      // What older versions have written of the accounts is moved, so that what is imported counts.
      let places =
        hasOlderStates
        ? batch.flatMap { part in
          part.document.clientsOfAccounts.map { place(ofMetadata: $0.clientID, of: $0.homeAccountID) }
        } : []
      let shards = batch.map(\.shard) + (places.isEmpty ? [] : [commonShard])
      summary += try await store.update(shards, in: group) { contents in
        for place in places { contents.moveAccountMetadata(at: place) }
        var merged = ImportSummary()
        for part in batch {
          let known = Set(contents[part.shard].refreshTokens.values.map(\.secret))
          merged += contents[part.shard].merge(part.document, in: clouds)
          // Where the imported cache has states, they count.
          let tokens = contents[part.shard].refreshTokens.values.filter { token in
            !known.contains(token.secret)
              && part.document.accountMetadata(clientID: token.clientID ?? "")?.hasAccount(
                token.homeAccountID ?? "") != true
          }
          contents[part.shard].forgetSignOuts(before: tokens)
        }
        return merged
      }
      done += batch.count
      progress(done, parts.count)
    }
    // One shard may be the cause, so that others can still be saved. A wrong key may be that of the whole store, for which a
    // person would be asked again.
    let oneShard: Set<CacheError.Code> = [.damaged, .newerVersion, .rolledBack, .tooLarge]
    while done < parts.count {
      // The common shard is written last where states are moved from it, so the part that it gets is a change of its own.
      let isCommon = hasOlderStates && parts[done].shard == commonShard
      let batch = parts[done...].prefix(isCommon ? 1 : max(store.shardsPerUpdate, 1))
      do throws(CacheError) {
        try await add(batch)
      } catch  where batch.count > 1 && oneShard.contains(error.code) {
        // One account that cannot be saved must not keep those before it.
        for part in batch { try await add([part]) }
      }
    }
    return summary
  }
}

extension CacheDocument {
  /// The accounts and clients that it has a sign-in state or a refresh token of.
  fileprivate var clientsOfAccounts: [(clientID: String, homeAccountID: String)] {
    accountMetadata.values.flatMap { metadata in
      metadata.homeAccountIDs.map { (metadata.clientID ?? "", $0) }
    } + refreshTokens.values.compactMap { token in token.homeAccountID.map { (token.clientID ?? "", $0) } }
  }
}
