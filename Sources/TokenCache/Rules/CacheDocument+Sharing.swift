extension CacheDocument {
  /// Takes in the tokens, accounts and app metadata of a group, for the programs that read this cache.
  ///
  /// Of two records for one thing the newer stays, under the key that is there. A token that is taken in
  /// replaces older ones for some of the same scopes, as in every save: MSAL.NET and Node refuse to choose.
  ///
  /// - Returns: How many records were taken in and how many were there already.
  @discardableResult
  package mutating func merge(
    _ other: CacheDocument, of group: KeychainGroup, in clouds: CloudInstances
  ) -> ImportSummary {
    var shared = other
    (shared.accountMetadata, shared.otherSections, shared.misfits) = ([:], [:], [:])
    var parts = Dictionary(split(in: group).map { ($0.shard, $0.document) }) { first, _ in first }
    var summary = ImportSummary()
    for (shard, part) in shared.split(in: group) {
      let merged = parts[shard, default: CacheDocument()].merge(part, in: clouds)
      summary.saved += merged.saved
      summary.kept += merged.kept
      parts[shard]?.removeTokensCovered(by: part, in: clouds)
    }
    self = CacheDocument()
    for part in parts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { formUnion(part.value) }
    return summary
  }

  private mutating func removeTokensCovered(by other: CacheDocument, in clouds: CloudInstances) {
    for token in other.accessTokens.values where token.requestedClaims == nil {
      let identity = RecordIdentity(token, in: clouds)
      let scopes = ScopeSet(token.target ?? "")
      guard let cachedAt = token.cachedAt else { continue }
      accessTokens = accessTokens.filter { _, sibling in
        let theirs = ScopeSet(sibling.target ?? "")
        let isOlder = sibling.cachedAt.map { $0 < cachedAt } ?? true
        return !isOlder || theirs == scopes || !theirs.overlaps(scopes) || sibling.requestedClaims != nil
          || RecordIdentity(sibling, in: clouds) != identity
      }
    }
  }
}
