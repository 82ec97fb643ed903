extension TokenCacheAccessor {
  /// Signs an account out of one client, or removes it altogether.
  ///
  /// - Parameters:
  ///   - homeAccountID: The account.
  ///   - clientID: The client whose tokens are removed, in every cloud; the account stays for other clients and counts as
  ///     signed out of this one. `nil` removes the tokens of all clients, the account and its metadata.
  /// - Returns: The removed credentials.
  /// - Throws: ``CacheError``
  @discardableResult
  public func removeAccount(
    _ homeAccountID: String, clientID: String? = nil
  ) async throws(CacheError) -> [Credential] {
    try await removeAccount(homeAccountID, clientID: clientID, environment: nil)
  }

  /// The same; with `environment`, what the other clouds have of the account stays.
  @discardableResult
  package func removeAccount(
    _ homeAccountID: String, clientID: String? = nil, environment: String?
  ) async throws(CacheError) -> [Credential] {
    let cloud = environment.map(clouds.canonical)
    @Sendable func isMeant(_ homeAccount: String?, _ environment: String?) -> Bool {
      homeAccountID.matches(homeAccount) && (cloud == nil || cloud == environment.map(clouds.canonical))
    }
    @Sendable func isRemoved(_ credential: Credential) -> Bool {
      isMeant(credential.homeAccountID, credential.environment) && clientID.matches(credential.clientID)
    }
    let account = shard(homeAccountID)
    // A program that ignores the format's rules may have put records of the account into other shards.
    let all = try await contents(.all)
    let others = all.documents.filter {
      $0.key != account
        && ($0.value.hasRecords(of: homeAccountID)
          || clientID == nil && $0.value.hasMetadata(of: homeAccountID))
    }.keys.sorted { $0.rawValue < $1.rawValue }
    // The last has the marks of sign-outs, which go after the tokens that they are about.
    let shards = others + [account]
    @Sendable func size(_ document: CacheDocument) -> Int {
      document.credentials.count { isRemoved($0.credential) }
        + (clientID == nil ? document.accounts.values.count { isMeant($0.homeAccountID, $0.environment) } : 0)
    }
    @Sendable func removeMetadata(in contents: inout GroupContents) {
      if !shards.contains(where: { contents[$0].hasRecords(of: homeAccountID) }) {
        for shard in shards { contents[shard].removeAccountMetadata(of: homeAccountID) }
      }
    }
    let counted = shards.map { size(all[$0]) }
    let (removed, missed) = try await store.update(shards, in: group) { contents in
      let missed = zip(shards, counted).filter { size(contents[$0]) < $1 }.map(\.0)
      let removed = shards.flatMap { contents[$0].removeCredentials(where: isRemoved) }
      if let clientID {
        contents[account].signOut(homeAccountID, of: clientID)
      } else {
        for shard in shards {
          contents[shard].accounts = contents[shard].accounts.filter {
            !isMeant($0.value.homeAccountID, $0.value.environment)
          }
        }
        if missed.isEmpty { removeMetadata(in: &contents) }
      }
      return (removed, missed)
    }
    if missed.isEmpty { return removed }
    try await checkGone(from: missed, size)
    if clientID == nil { try await store.update(shards, in: group) { removeMetadata(in: &$0) } }
    return removed
  }

  /// Takes a second look at shards in which an update found less than a look at the whole group did. There, the keyring's store
  /// takes the shard of an item from what the item holds (`CacheFormat.md`, section 6.1).
  private func checkGone(
    from shards: [ShardID], _ size: (CacheDocument) -> Int
  ) async throws(CacheError) {
    if shards.isEmpty { return }
    let contents = try await store.read(.all, in: group)
    let left = shards.map { size(contents[$0]) }.reduce(0, +)
    guard left > 0 else { return }
    throw CacheError(
      .refused, "What is in a keyring item under another name than its account's was left: \(left) records.",
      advice: "\"llavero clear --all --group \(group.name)\" removes it.")
  }

  /// Removes the tokens of one client for every account. The accounts stay and count as signed out of it.
  ///
  /// - Returns: The removed credentials.
  /// - Throws: ``CacheError``, also of an unreadable part that may hold more of them; what was removed before stays
  ///   removed.
  @discardableResult
  public func removeClient(_ clientID: String) async throws(CacheError) -> [Credential] {
    let (removed, contents) = try await removeTokens(ofClient: clientID)
    try contents.checkComplete()
    return removed
  }

  /// The same, without an error for an unreadable part of what the group held before.
  package func removeTokens(
    ofClient clientID: String
  ) async throws(CacheError) -> (removed: [Credential], before: GroupContents) {
    let contents = try await store.read(.all, in: group)
    let removed = try await removeCredentials(in: contents, signingOutOf: clientID) {
      clientID.matches($0.clientID)
    }
    return (removed, contents)
  }

  /// Removes access tokens that have expired, extended lifetime included.
  ///
  /// - Returns: The removed tokens.
  /// - Throws: ``CacheError``; what was removed before stays removed.
  @discardableResult
  public func removeExpired() async throws(CacheError) -> [Credential] {
    let now = now()
    return try await removeCredentials([.accessToken], in: try await store.read(.all, in: group)) {
      $0.hasFullyExpired(at: now)
    }
  }

  /// Removes a credential, wherever it is.
  ///
  /// - Returns: Whether it was there.
  /// - Throws: ``CacheError``
  @discardableResult
  public func remove(_ credential: Credential) async throws(CacheError) -> Bool {
    try await !removeCredentials(in: try await store.read(.all, in: group)) { $0 == credential }.isEmpty
  }

  /// Removes an access token that a resource refused.
  package func removeAccessToken(_ secret: String) async throws(CacheError) {
    _ = try await removeCredentials(in: try await store.read(.all, in: group)) {
      $0.credentialType.section == .accessToken && $0.secret == secret
    }
  }

  /// Removes credentials shard by shard, so that other writers do not wait for all of them, and signs their accounts out
  /// of a client.
  private func removeCredentials(
    _ sections: [CredentialSection] = CredentialSection.allCases, in contents: GroupContents,
    signingOutOf clientID: String? = nil, where isRemoved: @escaping @Sendable (Credential) -> Bool
  ) async throws(CacheError) -> [Credential] {
    func counted(_ document: CacheDocument) -> [Credential] {
      sections.flatMap { document[$0].values.filter(isRemoved) }
    }
    var (removed, missed): ([Credential], [ShardID]) = ([], [])
    for (shard, document) in contents.documents.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let old = counted(document)
      if old.isEmpty { continue }
      let accounts = Set(old.compactMap(\.homeAccountID))
      let marks =
        clientID.map { clientID in
          accounts.sorted().map { (clientID: clientID, id: $0, shard: self.shard($0)) }
        } ?? []
      let new = try await store.update([shard] + marks.map(\.shard), in: group) { contents in
        let removed = contents[shard].removeCredentials(in: sections, where: isRemoved)
        if !removed.isEmpty {
          for mark in marks { contents[mark.shard].signOut(mark.id, of: mark.clientID) }
        }
        return removed
      }
      removed += new
      if new.count < old.count { missed.append(shard) }
    }
    try await checkGone(from: missed) { counted($0).count }
    return removed
  }

  /// Removes a refresh token that the server refused, unless it was replaced in the meantime.
  ///
  /// - Returns: Whether it was removed.
  /// - Throws: ``CacheError``
  @discardableResult
  public func remove(_ token: RefreshToken) async throws(CacheError) -> Bool {
    let shard = shard(token.homeAccountID)
    return try await store.update([shard], in: group) { contents in
      let removed = contents[shard].removeCredentials(in: [.refreshToken]) {
        RefreshToken($0)?.secret == token.secret
      }
      return !removed.isEmpty
    }
  }

  /// Removes everything in the group that was written in Llavero's format, damaged or not.
  ///
  /// - Returns: How many items were removed.
  /// - Throws: ``CacheError``
  @discardableResult
  public func clear() async throws(CacheError) -> Int {
    try await store.remove(.everything, in: group)
  }
}

extension CacheDocument {
  fileprivate func hasMetadata(of homeAccountID: String) -> Bool {
    accountMetadata.values.contains { $0.hasAccount(homeAccountID) }
  }

  fileprivate func hasRecords(of homeAccountID: String) -> Bool {
    accounts.values.contains { homeAccountID.matches($0.homeAccountID) }
      || credentials.contains { homeAccountID.matches($0.credential.homeAccountID) }
  }
}
