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
    let (account, common) = (shard(homeAccountID), commonShard)
    let metadata = clientID.map { place(ofMetadata: $0, of: homeAccountID) }
    // A program that ignores the format's rules may have put records of the account into other shards.
    let all = try await contents(.all)
    let others = all.documents.filter {
      ![account, common].contains($0.key) && $0.value.hasRecords(of: homeAccountID)
    }.keys.sorted { $0.rawValue < $1.rawValue }
    // The shard without an account is written last: a failure in between leaves an account without tokens.
    let shards = [account] + others + [common]
    let removed = try await store.update(shards, in: group) { contents in
      let removed = shards.map { contents[$0].removeCredentials(where: isRemoved) }
      if let metadata {
        contents.signOut(metadata)
      } else {
        for shard in shards {
          contents[shard].accounts = contents[shard].accounts.filter {
            !isMeant($0.value.homeAccountID, $0.value.environment)
          }
        }
        if !shards.contains(where: { contents[$0].hasRecords(of: homeAccountID) }) {
          for shard in shards { contents[shard].removeAccountMetadata(of: homeAccountID) }
        }
      }
      return removed
    }
    try await checkGone(zip(shards, removed).filter(\.1.isEmpty).map(\.0), in: all) { document in
      document.credentials.contains { isRemoved($0.credential) }
    }
    return removed.flatMap(\.self)
  }

  /// Checks that the parts of a group from which an update removed nothing have nothing of what was read there. Of a whole
  /// group, the keyring's store takes the part from what an item holds (`CacheFormat.md`, section 5).
  private func checkGone(
    _ shards: [ShardID], in contents: GroupContents, where isLeft: (CacheDocument) -> Bool
  ) async throws(CacheError) {
    func hasSome(_ contents: GroupContents) -> Bool {
      shards.contains { contents.documents[$0].map(isLeft) ?? false }
    }
    guard hasSome(contents), hasSome(try await store.read(.all, in: group)) else { return }
    throw CacheError(
      .refused, "Tokens were left in an item of the keyring that is not the one for them.",
      advice: "\"llavero clear --all --group \(group.name)\" removes it; one with attributes of another "
        + "program, the keyring's own program.")
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
    var (removed, unchanged): ([Credential], [ShardID]) = ([], [])
    for (shard, document) in contents.documents.sorted(by: { $0.key.rawValue < $1.key.rawValue })
    where sections.contains(where: { document[$0].values.contains(where: isRemoved) }) {
      let accounts = Set(
        sections.flatMap { document[$0].values.filter(isRemoved).compactMap(\.homeAccountID) })
      let places = clientID.map { id in accounts.map { place(ofMetadata: id, of: $0) } } ?? []
      // The common shard last: what is moved from it is written before it is removed there.
      let shards = Set([shard] + places.flatMap(\.shards)).sorted {
        $1 == commonShard || $0 != commonShard && $0.rawValue < $1.rawValue
      }
      let new = try await store.update(shards, in: group) { contents in
        let removed = contents[shard].removeCredentials(in: sections, where: isRemoved)
        if !removed.isEmpty { for place in places { contents.signOut(place) } }
        return removed
      }
      removed += new
      if new.isEmpty { unchanged.append(shard) }
    }
    try await checkGone(unchanged, in: contents) { document in
      sections.contains { document[$0].values.contains(where: isRemoved) }
    }
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
  fileprivate func hasRecords(of homeAccountID: String) -> Bool {
    accounts.values.contains { homeAccountID.matches($0.homeAccountID) }
      || credentials.contains { homeAccountID.matches($0.credential.homeAccountID) }
  }
}
