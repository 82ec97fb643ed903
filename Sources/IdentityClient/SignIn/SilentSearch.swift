import FoundationEssentials
import HTTPSupport
import GLibSupport
import Logging
import TokenCache

/// A silent request whose tenant is known: looks into the cache, and renews.
struct SilentSearch: Sendable {
  let client: PublicClient
  let request: SilentRequest
  let requestedAuthority: Authority
  /// The authority to ask, of the account's tenant.
  let authority: Authority
  let scopes: RequestedScopes
  /// The `claims` parameter.
  let claims: String?
  let proof: PopProof?
  let extra: [String: String]

  /// Whether a token from the cache does not do.
  var isForced: Bool { request.forceRefresh || hasClaims }

  private var hasClaims: Bool { !(request.claims?.isEmpty ?? true) }

  private var home: String { request.account.homeAccountID }

  /// The tenant of the tokens; the empty string for authorities without tenants.
  private var realm: String {
    switch authority.kind {
    case .aad: authority.tenant ?? ""
    // What a policy writes into a token as its tenant is no matter; the home tenant counts.
    case .b2c, .ciam: request.account.homeIdentity?.utid ?? authority.tenant ?? ""
    case .adfs, .oidc: ""
    }
  }

  private var lookup: TokenLookup {
    TokenLookup(
      homeAccountID: home, environment: authority.host, clientID: client.configuration.clientID,
      realm: realm, scopes: scopes.scopes, scheme: proof.cacheScheme)
  }

  var key: SilentSignIn.Key {
    SilentSignIn.Key(
      account: home.normalized, requestedAuthority: requestedAuthority, authority: authority,
      realm: realm.normalized, scopes: ScopeSet(scopes.scopes), claims: claims, extra: extra,
      forceRefresh: request.forceRefresh, refreshesWithoutBroker: request.refreshesWithoutBroker,
      keyID: proof?.key.id)
  }
}

/// An access token from the cache, and what it is good for at this moment.
struct CachedToken: Sendable {
  let found: FoundAccessToken
  let account: Account
  /// Whether it may be handed out without asking the server.
  let isFresh: Bool
  /// Whether its time is not over, so that it may be handed out when the server cannot be asked.
  let isAlive: Bool
  /// Whether the server allows its use while the server is down.
  let isExtended: Bool

  var reason: ServerTelemetry.RefreshReason { found.condition == .needsRefresh ? .proactive : .expired }
}

extension SilentSearch {
  /// Looks for an access token.
  ///
  /// - Throws: ``IdentityError/Code/cache``.
  func cachedToken() async throws(IdentityError) -> CachedToken? {
    let buffer = client.configuration.tokenExpirationBuffer
    let found = try await client.readingCache { () async throws(CacheError) in
      try await client.cache.accessToken(for: lookup, expirationBuffer: buffer)
    }
    guard let found, let account = found.account, let end = found.lifetime.expiresOn else { return nil }
    let now = client.now()
    let lifetime = found.lifetime
    // The clock was moved, or a clock was wrong, when the token was stored.
    let isSane =
      end.timeIntervalSince(now) <= SilentSignIn.longestLifetime
      && !lifetime.isFromTheFuture(at: now)
    return CachedToken(
      found: found, account: account, isFresh: isSane && found.condition == .valid,
      isAlive: isSane && end > now,
      isExtended: isSane && lifetime.isInExtendedLifetime(at: now)
        && client.configuration.extendedLifetimeEnabled)
  }

  /// The answer to the request, if that token does.
  func result(ifFresh cached: CachedToken?) -> AuthenticationResult? {
    guard !isForced, let cached, cached.isFresh else { return nil }
    return result(cached)
  }

  func result(_ cached: CachedToken, isExtendedLifetime: Bool = false) -> AuthenticationResult {
    client.telemetry.tokenCameFromCache()
    client.log.debug(
      "The token came from the cache.",
      ["account": client.log.personal(home), "correlation": "\(request.correlationID)"])
    let found = cached.found
    let issued = authority.kind == .aad ? try? authority.replacingTenant(with: found.tenant) : nil
    return AuthenticationResult(
      accessToken: found.token.secret, tokenType: found.tokenType,
      expiresOn: isExtendedLifetime ? found.lifetime.extendedExpiresOn : found.lifetime.expiresOn,
      scopes: found.grantedScopes, idToken: found.idToken?.secret, claims: found.idToken?.claims,
      account: cached.account, tenantProfile: found.tenantProfile,
      authority: issued ?? authority, correlationID: request.correlationID,
      isExtendedLifetime: isExtendedLifetime, source: .cache)
  }
}

extension SilentSearch {
  /// Gets a new token, unless another process has stored one meanwhile. When that fails, a token that is still valid
  /// serves. A forced renewal always asks.
  func renew() async throws(IdentityError) -> AuthenticationResult {
    if sharesNothing { return try await renewInTurn() }
    let shard = ShardID(homeAccountID: home, group: client.cache.group)
    return try await client.locks.withLock(of: shard, within: SilentSignIn.lockTimeout) {
      () async throws(IdentityError) in try await renewInTurn()
    }
  }

  private func renewInTurn() async throws(IdentityError) -> AuthenticationResult {
    let cached = try await cachedToken()
    if let result = result(ifFresh: cached) { return result }
    do {
      return try await newToken(
        replacing: cached, reason: isForced ? .forced : cached?.reason ?? .noAccessToken)
    } catch {
      guard !isForced, let cached,
        cached.isAlive ? error.leavesCachedToken : cached.isExtended && error.isOutage
      else { throw error }
      client.log.warning(
        "The token could not be renewed; the one from the cache serves.",
        ["correlation": "\(request.correlationID)", "reason": client.log.reason(error)])
      return result(cached, isExtendedLifetime: !cached.isAlive)
    }
  }

  /// Whether no other process would see what is got, and no refresh token is sent.
  private var sharesNothing: Bool {
    client.configuration.brokerPolicy == .required && client.cache.store is InMemoryStore
  }

  /// Asks the broker, then the server.
  private func newToken(
    replacing cached: CachedToken?, reason: ServerTelemetry.RefreshReason
  ) async throws(IdentityError) -> AuthenticationResult {
    guard let broker = try client.broker(for: authority, binding: proof != nil) else {
      return try await refreshToTheEnd(reason)
    }
    let refusal: IdentityError
    do {
      return try await token(of: broker, replacing: cached)
    } catch {
      let mayRefresh = request.refreshesWithoutBroker || error.code == .noBroker
      guard client.configuration.brokerPolicy == .automatic, mayRefresh, error.code != .cancelled,
        error.result == nil
      else { throw error }
      refusal = error
    }
    client.log.info(
      "The broker gave no token.",
      ["code": "\(refusal.code.rawValue)", "reason": client.log.personal(refusal.message)])
    do {
      return try await refreshToTheEnd(reason)
    } catch {
      // Without a refresh token to try the broker's word is all there is.
      guard error.code == .interactionRequired, error.oauthError == nil else { throw error }
      throw error.explained(by: refusal)
    }
  }

  private func token(
    of broker: any TokenBroker, replacing cached: CachedToken?
  ) async throws(IdentityError) -> AuthenticationResult {
    let old = try await tokensToReplace(cached)
    let token: BrokerToken
    do {
      token = try await broker.tokenSilently(
        BrokerRequest(
          clientID: client.configuration.clientID, authority: authority, scopes: scopes.scopes,
          account: request.account, claims: claims, isForced: isForced, tokenToReplace: old.first,
          minimumValidity: client.configuration.tokenExpirationBuffer,
          redirectURI: client.configuration.redirectURI, extraQueryParameters: extra,
          correlationID: request.correlationID))
    } catch {
      if error.isRefusal("invalid_grant", "user_account_deleted") { await forgetAccount() }
      throw error
    }
    // Himmelblau knows nothing of claims, and gives what it has.
    guard !hasClaims || !old.contains(token.accessToken) else {
      var error = IdentityError(
        .interactionRequired, "The broker has no other token than the one that was refused.")
      error.claims = claims
      throw error
    }
    let grant = TokenGrant(
      client: client, authority: authority, requestedAuthority: requestedAuthority, scopes: scopes,
      correlationID: request.correlationID, account: request.account, realm: realm,
      requestedClaims: request.claims, isRefresh: true)
    return try await grant.result(of: token, by: broker)
  }

  /// The tokens that do not do any more, the newest first. A challenge may be about one that an earlier challenge
  /// brought, and that is kept for the claims of that one alone.
  private func tokensToReplace(_ cached: CachedToken?) async throws(IdentityError) -> [String] {
    guard hasClaims else { return isForced ? [cached].compactMap { $0?.found.token.secret } : [] }
    let tokens = try await client.readingCache { () async throws(CacheError) in
      try await client.cache.accessTokens(withAnyClaims: lookup)
    }
    return (tokens ?? []).map(\.secret)
  }

  private func forgetAccount() async {
    do throws(CacheError) {
      try await client.cache.removeAccount(home)
    } catch {
      client.log.warning("A useless account could not be removed.", ["reason": "\(error.code.rawValue)"])
    }
  }

  /// Tries the refresh tokens, also when no caller waits for it any more once it has begun: the server may have put another
  /// token in the place of the one that it took, and what it answered must be kept.
  private func refreshToTheEnd(
    _ reason: ServerTelemetry.RefreshReason
  ) async throws(IdentityError) -> AuthenticationResult {
    if Task.isCancelled { throw .cancelled }
    return try await Task {
      await Result.catching { () async throws(IdentityError) in try await refresh(reason: reason) }
    }.value.get()
  }

  /// Tries the refresh tokens, the client's own first.
  private func refresh(
    reason: ServerTelemetry.RefreshReason
  ) async throws(IdentityError) -> AuthenticationResult {
    let tokens = try await cacheCall { () async throws(CacheError) in
      try await client.cache.refreshTokens(for: lookup)
    }
    guard !tokens.isEmpty else {
      throw IdentityError(
        .interactionRequired,
        "No token matching arguments found in the cache, user interaction is required")
    }
    let metadata = try await client.resolver.metadata(of: authority)
    var refusal: IdentityError?
    for token in tokens {
      do {
        return try await refresh(by: token, metadata, reason)
      } catch {
        // The client's own token says more of what is wrong than the family's.
        if refusal == nil || refusal?.isRefusal("invalid_grant", "client_mismatch") == true {
          refusal = error
        }
        guard error.isRefusal("invalid_grant"), !error.isRefusal("invalid_grant", "user_account_deleted")
        else { break }
      }
    }
    throw refusal?.forSilentRequest ?? IdentityError(.unexpected, "No refresh token was tried.")
  }

  private func refresh(
    by token: RefreshToken, _ metadata: AuthorityMetadata, _ reason: ServerTelemetry.RefreshReason
  ) async throws(IdentityError) -> AuthenticationResult {
    let keys = throttleKeys(token, metadata.tokenEndpoint)
    if let error = client.throttle.error(for: [keys.server, keys.person], at: client.now()) { throw error }
    let fields: JSONObject
    do {
      fields = try await client.tokenEndpoint.send(tokenEndpointRequest(token, metadata, reason))
    } catch {
      client.throttle.note(error, server: keys.server, person: keys.person, at: client.now())
      await forget(token, because: error)
      throw error
    }
    let grant = TokenGrant(
      client: client, authority: metadata.authority, issuer: metadata.issuer,
      requestedAuthority: requestedAuthority, scopes: scopes, correlationID: request.correlationID,
      account: request.account,
      realm: authority.kind == .adfs || authority.kind == .oidc ? nil : realm,
      requestedClaims: request.claims, proof: proof,
      isRefresh: true)
    return try await grant.result(of: fields)
  }

  private func tokenEndpointRequest(
    _ token: RefreshToken, _ metadata: AuthorityMetadata, _ reason: ServerTelemetry.RefreshReason
  ) -> TokenEndpoint.Request {
    var grant = [
      "grant_type": "refresh_token", "refresh_token": token.secret, "scope": scopes.parameter(),
    ]
    grant["redirect_uri"] = client.configuration.redirectURI?.absoluteString
    return TokenEndpoint.Request(
      url: metadata.tokenEndpoint,
      form: client.configuration.tokenForm(grant, claims: claims, for: authority, proof), query: extra,
      correlationID: request.correlationID, call: .silent, reason: reason,
      isMicrosofts: authority.isMicrosofts, anchorMailbox: request.account.anchorMailbox)
  }

  private func throttleKeys(_ token: RefreshToken, _ endpoint: URL) -> (server: String, person: String) {
    let names = ScopeSet(scopes.scopes).scopes.sorted()
    let server =
      [client.configuration.clientID, endpoint.absoluteString, token.secret] + names
      + (proof.map { [PopScheme.tokenType, $0.key.id] } ?? [])
    let extra = extra.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    return (Throttle.key(server), Throttle.key(server + ["claims", claims ?? "", "extra"] + extra))
  }

  /// Removes what the server will never take again.
  private func forget(_ token: RefreshToken, because error: IdentityError) async {
    do throws(CacheError) {
      if error.isRefusal("invalid_grant", "bad_token") {
        try await client.cache.remove(token)
      } else if error.isRefusal("invalid_grant", "user_account_deleted") {
        try await client.cache.removeAccount(home)
      } else if error.isRefusal("invalid_grant", "client_mismatch"), token.familyID != nil {
        try await client.cache.save(
          AppMetadata(
            clientID: client.configuration.clientID,
            environment: client.cache.clouds.preferredCache(of: authority.host), familyID: ""))
      }
    } catch {
      client.log.warning("A useless token could not be removed.", ["reason": "\(error.code.rawValue)"])
    }
  }
}

extension Throttle {
  /// Notes what a failure means for the next equal request.
  func note(_ error: IdentityError, server: String, person: String, at now: Date) {
    let pause = HTTPDate.secondsToWait(error.header("Retry-After"), now: now)
    if pause != nil || error.httpStatus == 429 || (error.httpStatus ?? 0) >= 500 {
      add(error, for: server, seconds: pause ?? Self.pause, at: now)
    } else if error.forSilentRequest.code == .interactionRequired {
      add(error, for: person, seconds: Self.interactionPause, at: now)
    }
  }
}

extension IdentityError {
  /// That nothing was found, with what the broker said before.
  fileprivate func explained(by refusal: IdentityError) -> IdentityError {
    switch refusal.code {
    case .noBroker: return self
    case .brokerFailed:
      var error = self
      error.advice = refusal.message
      return error
    default: return refusal
    }
  }

  /// A header field of the answer, whatever its case.
  func header(_ name: String) -> String? {
    httpHeaders.first { $0.key.lowercased() == name.lowercased() }?.value
  }
}
