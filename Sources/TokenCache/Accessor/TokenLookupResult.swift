import FoundationEssentials

/// The access tokens that serve a request, whatever the time is.
struct TokenLookupResult: Sendable {
  /// The tokens, in the order of their keys.
  private let tokens: [FoundAccessToken.Record]

  /// - Parameters:
  ///   - lookup: What is asked for.
  ///   - document: The account's shard.
  ///   - clouds: Which hosts name the same cloud.
  init(of lookup: TokenLookup, in document: CacheDocument, clouds: CloudInstances) {
    let serving = document.accessTokens.sorted { $0.key < $1.key }
      .compactMap { AccessToken($0.value) }
      .filter { lookup.isServed(by: $0, in: clouds) }
    let (idToken, account) = document.owner(for: lookup, in: clouds)
    guard lookup.homeAccountID == nil || idToken != nil && account != nil else {
      tokens = []
      return
    }
    tokens = serving.map { FoundAccessToken.Record($0, idToken: idToken, account: account) }
  }

  /// The best token at some moment, and then the one that lasts longest; `buffer` is how many seconds before its
  /// end a token counts as expired.
  func best(at now: Date, buffer: Double) -> FoundAccessToken? {
    var best: FoundAccessToken?
    for token in tokens {
      let found = FoundAccessToken(
        record: token, condition: token.lifetime.condition(at: now, buffer: buffer))
      if let best, (best.condition.rank, -best.end) <= (found.condition.rank, -found.end) { continue }
      best = found
    }
    return best
  }
}

extension FoundAccessToken {
  fileprivate var end: Double { lifetime.expiresOn?.timeIntervalSince1970 ?? 0 }
}

extension CacheDocument {
  /// The ID token and the account that a token of an account is found together with.
  fileprivate func owner(for lookup: TokenLookup, in clouds: CloudInstances) -> (IDToken?, Account?) {
    guard let homeAccountID = lookup.homeAccountID else { return (nil, nil) }
    let account = [self].accounts(clientID: lookup.clientID, in: clouds)
      .first { homeAccountID.matches($0.homeAccountID) }
    return (idToken(for: lookup, in: clouds), account)
  }

  /// The access tokens that would serve a lookup if no claims mattered, the newest first.
  func accessTokens(withAnyClaims lookup: TokenLookup, in clouds: CloudInstances) -> [AccessToken] {
    accessTokens.sorted { $0.key < $1.key }.compactMap { AccessToken($0.value) }
      .filter { lookup.isServedWithAnyClaims(by: $0, in: clouds) }
      .sorted { $0.credential.cachedAt ?? .distantPast > $1.credential.cachedAt ?? .distantPast }
  }

  /// The ID token of a client for an account in one tenant.
  func idToken(for lookup: TokenLookup, in clouds: CloudInstances) -> IDToken? {
    idTokens.sorted { $0.key < $1.key }.map(\.value).filter { lookup.isAbout($0, in: clouds) }
      .compactMap(IDToken.init).first
  }
}

extension TokenLookup {
  fileprivate func isServed(by token: AccessToken, in clouds: CloudInstances) -> Bool {
    token.credential.requestedClaims == requestedClaims.nonBlank
      && isServedWithAnyClaims(by: token, in: clouds)
  }

  fileprivate func isServedWithAnyClaims(by token: AccessToken, in clouds: CloudInstances) -> Bool {
    let credential = token.credential
    return scheme.isThat(of: credential) && isAbout(credential, in: clouds)
      && credential.extraParameters == nil
      && (applicationIdentifier ?? "").normalized == (credential.applicationIdentifier ?? "").normalized
      && token.scopes.satisfies(scopes)
  }

  /// Whether a credential is of the client, account, cloud and tenant asked for.
  fileprivate func isAbout(_ credential: Credential, in clouds: CloudInstances) -> Bool {
    clientID.matches(credential.clientID)
      && (homeAccountID ?? "").normalized == (credential.homeAccountID ?? "").normalized
      && clouds.canonical(environment) == clouds.canonical(credential.environment ?? "")
      // Applications may leave the tenant open, and AD FS has none.
      && (realm == nil && (homeAccountID == nil || credential.realm == nil)
        || tenant == Tenant.resolve(realm: credential.realm, homeAccountID: credential.homeAccountID))
  }
}

extension FoundAccessToken.Condition {
  fileprivate var rank: Int {
    switch self {
    case .valid: 0
    case .needsRefresh: 1
    case .extendedLifetime: 2
    case .expired: 3
    }
  }
}
