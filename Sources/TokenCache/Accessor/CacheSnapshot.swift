import FoundationEssentials

/// The contents of a group at one moment: its records, its accounts, and the problems of what could not be read.
public struct CacheSnapshot: Sendable {
  let contents: GroupContents
  let cache: TokenCacheAccessor
  let clouds: CloudInstances

  /// The problems found, for example shards that cannot be read.
  public var problems: [StoreProblem] { contents.problems }

  /// Whether the group holds nothing readable, not even the key of bound tokens.
  package var isEmpty: Bool { contents.documents.values.allSatisfy(\.isEmpty) }

  /// The whole group as one unified cache, without the private key of bound tokens, which no other program may have. Other MSAL
  /// libraries take bound tokens in it, and tokens that were requested with claims, for bearer tokens.
  public var document: CacheDocument {
    let common = cache.commonShard
    let accounts = contents.documents.filter { $0.key != common }.sorted { $0.key.rawValue < $1.key.rawValue }
    // What an account's own shard says of it counts.
    return CacheDocument(union: accounts.map(\.value) + [contents[common]]).withoutPopKeys
  }

  /// Throws unless all of the group can be read.
  ///
  /// - Throws: The ``CacheError`` of the first problem that hides records.
  public func checkComplete() throws(CacheError) { try contents.checkComplete() }

  /// Lists accounts, in the order of their user names and ids.
  ///
  /// An account is signed in to a client if its state says so, or if it has no state but a refresh token of that client or
  /// of its family.
  ///
  /// - Returns: The accounts that can be read; ``problems`` shows whether there may be others.
  /// - Throws: The ``CacheError`` of an unreadable part that may hold all accounts of the filter, or the sign-in states.
  public func accounts(_ filter: AccountFilter = AccountFilter()) throws(CacheError) -> [Account] {
    var accounts = contents.documents.values.accounts(clientID: filter.clientID, in: clouds)
    accounts.removeAll { !filter.matches($0) }
    if filter.signedInOnly, let clientID = filter.clientID {
      try contents.checkReadable([cache.commonShard])
      let family = contents[cache.commonShard].family(of: clientID, environment: nil, in: clouds)
      // A copy that can be read may be an older one.
      let unreadable = Set(contents.problems.filter { $0.error != nil }.compactMap(\.shard))
      accounts.removeAll { account in
        let id = account.homeAccountID
        let shard = cache.shard(id)
        return unreadable.contains(shard)
          || !contents[shard].isSignedIn(id, to: clientID, of: family)
      }
    }
    guard accounts.isEmpty else { return accounts }
    if let id = filter.homeAccountID {
      try contents.checkReadable([cache.shard(id)])
    } else {
      try checkComplete()
    }
    return []
  }

  /// What a client knows of an account; `nil` if it knows nothing.
  ///
  /// - Throws: The ``CacheError`` of an unreadable part that may hold it.
  package func accountMetadata(
    clientID: String, of homeAccountID: String
  ) throws(CacheError) -> AccountMetadata? {
    let shard = cache.shard(homeAccountID)
    try contents.checkReadable([shard])
    return contents[shard].accountMetadata(clientID: clientID)
  }

  /// The home account ids of the accounts in each client's metadata, by client id.
  package var homeAccountIDsByClient: [String: Set<String>] {
    contents.documents.values.flatMap(\.accountMetadata.values).reduce(into: [:]) { found, metadata in
      found[metadata.clientID ?? "", default: []].formUnion(metadata.homeAccountIDs)
    }
  }

  /// Finds the access token for a request, as ``TokenCacheAccessor/accessToken(for:expirationBuffer:)`` does.
  package func accessToken(for lookup: TokenLookup, expirationBuffer: Double) -> FoundAccessToken? {
    TokenLookupResult(of: lookup, in: contents[cache.shard(lookup.homeAccountID)], clouds: clouds)
      .best(at: cache.now(), buffer: expirationBuffer)
  }

  /// Finds the refresh tokens for a request, in the order in which to try them: the client's own, then its family's,
  /// each with the last stored first.
  ///
  /// A client whose metadata names no family gets no family's tokens. A client without metadata may belong to family `1`.
  ///
  /// - Returns: The tokens, each secret once.
  public func refreshTokens(for lookup: TokenLookup) -> [RefreshToken] {
    let document = contents[cache.shard(lookup.homeAccountID)]
    let lookups = document.lookups(serving: lookup, in: clouds).map(\.lookup)
    let tokens = document.refreshTokens.sorted { $0.key < $1.key }
      .compactMap { RefreshToken($0.value) }
      .filter { token in
        (lookup.homeAccountID ?? "").normalized == token.credential.normalizedOwner
          && lookups.contains {
            clouds.canonical($0.environment) == clouds.canonical(token.environment)
              // What is known of the host alone is known of this client.
              && ($0 == lookup || lookup.clientID.matches(token.clientID))
          }
      }
      .sorted { ($0.lastModified ?? .distantPast) > ($1.lastModified ?? .distantPast) }
    let family = contents[cache.commonShard]
      .family(of: lookup.clientID, environment: lookup.environment, in: clouds)
    let own = tokens.filter { $0.familyID == nil && lookup.clientID.matches($0.clientID) }
    let shared = tokens.filter { token in
      token.familyID.map { id in family.map { $0.matches(id) } ?? false } ?? false
    }
    // A token of another library may name a family that this client is not known to be in; it is the client's own.
    let labelled = tokens.filter { $0.familyID != nil && lookup.clientID.matches($0.clientID) }
    var secrets: Set<String> = []
    return (own + shared + labelled).filter { secrets.insert($0.secret).inserted }
  }
}

extension TokenCacheAccessor {
  /// Reads all of the group at once.
  ///
  /// - Returns: What can be read, and the problems of what cannot.
  /// - Throws: ``CacheError``
  public func snapshot() async throws(CacheError) -> CacheSnapshot { try await snapshot(.all) }

  /// Reads at once what a client needs to know of an account.
  package func snapshot(of homeAccountID: String) async throws(CacheError) -> CacheSnapshot {
    try await snapshot(.some([shard(homeAccountID), commonShard]))
  }

  /// Reads some shards of the group at once.
  ///
  /// - Returns: What can be read of them, and the problems of what cannot.
  /// - Throws: ``CacheError``
  public func snapshot(_ shards: ShardSelection) async throws(CacheError) -> CacheSnapshot {
    CacheSnapshot(contents: try await contents(shards), cache: self, clouds: clouds)
  }
}

extension StoreProblem {
  /// Whether it makes a part of the group unreadable.
  public var hidesRecords: Bool { error != nil }

  /// Why the hidden records must not be taken for absent; `nil` if it hides none.
  fileprivate var error: CacheError? {
    switch kind {
    case .missing where shard == nil, .damaged:
      CacheError(
        .damaged, "A part of the cache is damaged: \(detail)",
        advice: "It was not changed.", remedy: remedy)
    case .newerVersion:
      CacheError(
        .newerVersion, "A part of the cache was written by a later version: \(detail)",
        advice: "It was not changed. Update this program.")
    case .wrongKey:
      CacheError(
        .wrongKey, "A part of the cache cannot be opened: \(detail)",
        advice: "It was not changed. Restore the whole store from one backup.")
    case .rolledBack:
      CacheError(
        .rolledBack, "A part of the cache is not the current version: \(detail)",
        advice: "It was not changed.", remedy: remedy)
    // What is missing may be written again, and what returned is no longer a part.
    case .duplicate, .edited, .foreign, .missing, .returned: nil
    }
  }
}

extension GroupContents {
  /// Throws the first problem that hides a part of the group.
  func checkComplete() throws(CacheError) {
    for problem in problems {
      if let error = problem.error { throw error }
    }
  }

  /// Throws the first problem that hides one of these shards; a problem without a shard may hide any.
  package func checkReadable(_ shards: [ShardID]) throws(CacheError) {
    for problem in problems where problem.shard.map(shards.contains) ?? true {
      if let error = problem.error { throw error }
    }
  }
}
