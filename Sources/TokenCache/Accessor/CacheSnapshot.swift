import FoundationEssentials

/// What a group held at one moment: its records, its accounts, and what could not be read of it.
public struct CacheSnapshot: Sendable {
  let contents: GroupContents
  let group: KeychainGroup
  let clouds: CloudInstances

  /// What was met besides records, such as shards that cannot be read.
  public var problems: [StoreProblem] { contents.problems }

  /// Whether the group holds nothing that can be read, the key of bound tokens included.
  package var isEmpty: Bool { contents.documents.values.allSatisfy(\.isEmpty) }

  /// All of the group as one unified cache, which any MSAL library reads. Only the private key of bound tokens is not
  /// in it, which nobody else is to have.
  public var document: CacheDocument {
    var all = CacheDocument()
    for (_, document) in contents.documents.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      all.formUnion(document)
    }
    return all.withoutPopKeys
  }

  /// Passes only where nothing of the group is out of sight.
  ///
  /// - Throws: The ``CacheError`` of the first problem that hides records.
  public func checkComplete() throws(CacheError) {
    try contents.checkComplete()
  }

  /// Lists accounts, in the order of their user names and ids.
  ///
  /// An account is signed in to a client when it was said to be, or when nothing was said and it has a
  /// refresh token of that client or of its family.
  ///
  /// - Returns: The accounts that can be read; ``problems`` says whether there may be others.
  /// - Throws: The ``CacheError`` of what cannot be read, where it may hold all that was asked for, or says who is
  ///   signed in.
  public func accounts(_ filter: AccountFilter = AccountFilter()) throws(CacheError) -> [Account] {
    var accounts = contents.documents.values.accounts(clientID: filter.clientID, in: clouds)
    accounts.removeAll { !filter.matches($0) }
    if filter.signedInOnly, let clientID = filter.clientID {
      let common = ShardID(homeAccountID: nil, group: group)
      try contents.checkReadable([common])
      let signedIn = SignedInAccounts(clientID, in: contents[common], clouds: clouds)
      accounts.removeAll { account in
        let shard = ShardID(homeAccountID: account.homeAccountID, group: group)
        return !signedIn.contains(account.homeAccountID, refreshTokens: contents[shard].refreshTokens.values)
      }
    }
    guard accounts.isEmpty else { return accounts }
    if let id = filter.homeAccountID {
      try contents.checkReadable([ShardID(homeAccountID: id, group: group)])
    } else {
      try checkComplete()
    }
    return []
  }

  /// What a client knows of its accounts, `nil` when it has met none, or that cannot be read.
  package func accountMetadata(clientID: String) -> AccountMetadata? {
    contents[ShardID(homeAccountID: nil, group: group)].accountMetadata(clientID: clientID)
  }

  /// The home account ids of the accounts that each client has met, by the client's id.
  package var homeAccountIDsByClient: [String: Set<String>] {
    let all = contents[ShardID(homeAccountID: nil, group: group)].accountMetadata.values
    return all.reduce(into: [:]) { found, metadata in
      found[metadata.clientID ?? "", default: []].formUnion(metadata.homeAccountIDs)
    }
  }

  /// Finds the refresh tokens that may serve a request, in the order in which to try them: the client's own,
  /// then those of its family; in each the last stored first.
  ///
  /// A client that is known to belong to no family gets none of a family's. One of which nothing is known may
  /// belong to family `1`.
  ///
  /// - Returns: The tokens, each secret once.
  public func refreshTokens(for lookup: TokenLookup) -> [RefreshToken] {
    let shard = ShardID(homeAccountID: lookup.homeAccountID, group: group)
    let tokens = contents[shard].refreshTokens.sorted { $0.key < $1.key }
      .compactMap { RefreshToken($0.value) }
      .filter {
        clouds.canonical($0.environment) == clouds.canonical(lookup.environment)
          && (lookup.homeAccountID ?? "").normalized == ($0.homeAccountID ?? "").normalized
      }
      .sorted { ($0.lastModified ?? .distantPast) > ($1.lastModified ?? .distantPast) }
    let family = contents[ShardID(homeAccountID: nil, group: group)]
      .family(of: lookup.clientID, environment: lookup.environment, in: clouds)
    let own = tokens.filter { $0.familyID == nil && lookup.clientID.matches($0.clientID) }
    let shared = tokens.filter { token in
      token.familyID.map { id in family.map { $0.matches(id) } ?? false } ?? false
    }
    // A token of another library may name a family that this client is not known to be in; it is its own.
    let labelled = tokens.filter { $0.familyID != nil && lookup.clientID.matches($0.clientID) }
    var secrets: Set<String> = []
    return (own + shared + labelled).filter { secrets.insert($0.secret).inserted }
  }
}

extension TokenCacheAccessor {
  /// Reads all of the group at once.
  ///
  /// - Returns: What can be read, and the problems of what cannot.
  /// - Throws: What the store throws.
  public func snapshot() async throws(CacheError) -> CacheSnapshot {
    try await snapshot(.all)
  }

  /// Reads shards at once.
  ///
  /// - Throws: What ``contents(_:)`` throws.
  func snapshot(_ shards: ShardSelection) async throws(CacheError) -> CacheSnapshot {
    CacheSnapshot(contents: try await contents(shards), group: group, clouds: clouds)
  }
}

extension StoreProblem {
  /// Whether something of the group is out of sight because of it.
  public var hidesRecords: Bool { error != nil }

  /// Why what the problem hides must not be taken for absent; `nil` where it hides nothing.
  fileprivate var error: CacheError? {
    switch kind {
    case .missing where shard == nil, .damaged:
      CacheError(
        .damaged, "A part of the cache is damaged: \(detail)",
        advice: "It was left as it is.", remedy: remedy)
    case .newerVersion:
      CacheError(
        .newerVersion, "A part of the cache was written by a later version: \(detail)",
        advice: "It was left as it is. Update this program.")
    case .wrongKey:
      CacheError(
        .wrongKey, "A part of the cache cannot be opened: \(detail)",
        advice: "It was left as it is. Restore the store's files from one backup.")
    case .rolledBack:
      CacheError(
        .rolledBack, "A part of the cache is not the present one: \(detail)",
        advice: "It was left as it is.", remedy: remedy)
    // What is gone may be written anew.
    case .duplicate, .foreign, .missing: nil
    }
  }
}

extension GroupContents {
  /// Throws the first problem that hides anything of the group.
  func checkComplete() throws(CacheError) {
    if let error = problems.lazy.compactMap(\.error).first { throw error }
  }

  /// Throws the first problem that hides one of these shards, as one without a shard may.
  package func checkReadable(_ shards: [ShardID]) throws(CacheError) {
    for problem in problems where problem.shard.map(shards.contains) ?? true {
      if let error = problem.error { throw error }
    }
  }
}
