extension TokenCacheAccessor {
  /// Lists accounts, as ``CacheSnapshot/accounts(_:)`` does; ``snapshot()`` also returns what could not be read.
  public func accounts(_ filter: AccountFilter = AccountFilter()) async throws(CacheError) -> [Account] {
    try await snapshot(for: filter).accounts(filter)
  }

  /// Reads what ``CacheSnapshot/accounts(_:)`` needs for these accounts.
  package func snapshot(for filter: AccountFilter) async throws(CacheError) -> CacheSnapshot {
    try await snapshot(filter.homeAccountID.map { .some([shard($0), commonShard]) } ?? .all)
  }
}

extension CacheDocument {
  /// Whether the account of this shard is signed in to a client.
  func isSignedIn(_ homeAccountID: String, to clientID: String, of family: String?) -> Bool {
    switch accountMetadata(clientID: clientID)?.signInState(of: homeAccountID) ?? .unknown {
    case .signedIn: return true
    case .signedOut: return false
    case .unknown:
      return refreshTokens.values.contains { token in
        RefreshToken(token) != nil && homeAccountID.matches(token.homeAccountID)
          && (clientID.matches(token.clientID) || (family?.matches(token.familyID) ?? false))
      }
    }
  }
}

extension Sequence where Element == CacheDocument {
  /// The accounts in these documents, in the order of their user names and ids, with one profile for each
  /// tenant.
  func accounts(clientID: String?, in clouds: CloudInstances) -> [Account] {
    var records = Dictionary(grouping: flatMap(\.accounts.values), by: \.normalizedOwner)
    records[""] = nil
    let idTokens = clientID.map { clientID in
      let tokens = flatMap(\.idTokens.values).filter { clientID.matches($0.clientID) }
      return Dictionary(grouping: tokens, by: \.normalizedOwner)
    }
    return records.map { id, records in
      Account(homeAccountID: id, records: records, idTokens: idTokens?[id] ?? [], clouds: clouds)
    }.sorted {
      (($0.username ?? "").normalized, $0.homeAccountID) < (($1.username ?? "").normalized, $1.homeAccountID)
    }
  }
}

extension Account {
  fileprivate init(
    homeAccountID: String, records: [AccountRecord], idTokens: [Credential], clouds: CloudInstances
  ) {
    let home = Tenant.home(of: homeAccountID)
    // The key breaks ties, so that of several records for one tenant always the same one is used. A record that
    // names its tenant is preferred to one with "common".
    let ordered = records.map { (($0.realm?.normalized == $0.tenant ? 0 : 1, $0.serializedKey), $0) }
      .sorted { $0.0 < $1.0 }.map(\.1)
    let tokens = Dictionary(grouping: idTokens, by: \.tenant)
    let profiles = Dictionary(grouping: ordered, by: \.tenant).map { tenant, twins in
      TenantProfile(
        tenantID: tenant,
        localAccountID: twins.lazy.compactMap(\.localAccountID).first,
        username: twins.lazy.compactMap(\.username).first,
        name: twins.lazy.compactMap(\.name).first,
        environment: clouds.canonical(twins.first?.environment ?? ""),
        isHomeTenant: tenant == home,
        claims: tokens[tenant]?.firstIDToken?.claims)
    }
    let tenantProfiles = profiles.homeFirst
    self.init(
      homeAccountID: homeAccountID,
      username: tenantProfiles.lazy.compactMap(\.username).first,
      environment: tenantProfiles.first?.environment ?? "",
      tenantProfiles: tenantProfiles, source: ordered.lazy.compactMap(\.source).first)
  }
}

extension [Credential] {
  /// The first valid ID token in the order of the keys. In most cases only this one is decoded.
  fileprivate var firstIDToken: IDToken? {
    map { ($0.serializedKey, $0) }.sorted { $0.0 < $1.0 }.lazy.compactMap { IDToken($0.1) }.first
  }
}
