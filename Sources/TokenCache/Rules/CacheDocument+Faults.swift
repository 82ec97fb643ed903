extension CacheDocument {
  /// The keys of refresh tokens whose account has no record. MSAL for Python leaves them when it signs out of a cache that
  /// MSAL for Go or Node wrote: no program shows them, and they are still valid.
  package var orphanedRefreshTokens: [String] {
    let known = Set(accounts.values.compactMap { $0.homeAccountID?.normalized })
    return refreshTokens.filter { _, token in
      token.homeAccountID.map { !known.contains($0.normalized) } ?? false
    }.keys.sorted()
  }

  /// How many records are duplicates, as libraries with different keys leave them.
  package func duplicateCount(in clouds: CloudInstances) -> Int {
    func excess(_ identities: [some Hashable]) -> Int { identities.count - Set(identities).count }
    // MSAL for Python keeps a refresh token for each set of scopes; the other libraries write no scopes.
    let byOwner = Dictionary(grouping: refreshTokens.values) { $0.identity(in: clouds) }
    let refreshTokens = byOwner.values.map { tokens in
      tokens.allSatisfy { $0.target != nil }
        ? excess(tokens.map { ScopeSet($0.target ?? "") }) : tokens.count - 1
    }
    return refreshTokens.reduce(0, +)
      + excess(accessTokens.values.map { $0.identity(in: clouds) })
      + excess(idTokens.values.map { $0.identity(in: clouds) })
      + excess(accounts.values.map { $0.identity(in: clouds) })
      + excess(appMetadata.values.map { $0.identity(in: clouds) })
  }
}
