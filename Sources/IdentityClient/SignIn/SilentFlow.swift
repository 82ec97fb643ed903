import FoundationEssentials
import GLibSupport
import HTTPSupport
import Logging
import Synchronization
import TokenCache

/// One silent call for a token: from the cache, else from the broker or by a refresh token.
struct SilentFlow: Sendable {
  private let request: SilentRequest
  private var resolved: ResolvedRequest
  /// The version of the cache's memory when the flow began.
  private let memoryVersion: UInt64?
  /// The account's part of the cache; `nil` if it is unreadable and the broker does not need it.
  private var cache: CacheSnapshot?
  private var client: PublicClient { resolved.client }

  /// Identifies calls that one request to the server can serve.
  struct Key: Hashable, Sendable {
    let account: String
    /// The requested authority, since the cache stores which tenant it resolved to.
    let requestedAuthority: Authority
    let authority: Authority
    let scopes: ScopeSet
    let claims: String?
    let extra: [String: String]
    let forceRefresh: Bool
    let refreshesWithoutBroker: Bool
    /// The ID of the key that the token is bound to.
    let keyID: String?
  }

  /// Resolves the tenant and cloud of the request from the cache only.
  init(_ request: SilentRequest, _ resolved: ResolvedRequest) async throws(IdentityError) {
    let (account, client) = (request.account, resolved.client)
    guard !account.homeAccountID.isEmpty else {
      throw IdentityError(.accountRequired, "A silent request needs an account.")
    }
    memoryVersion = client.cache.memoryVersion
    let found = try await client.contents(ofSignedIn: account)
    cache = found?.cache
    self.request = request
    self.resolved = resolved
    self.resolved.authority = try resolved.authority(of: account, found?.metadata)
  }

  func token() async throws(IdentityError) -> AuthenticationResult {
    if let result = tokenFromCache() { return result }
    return try await client.renewals.run(key, renewInTurn)
  }

  @Sendable private func renewInTurn() async throws(IdentityError) -> AuthenticationResult {
    // No refresh token is sent, and no other process would see the result, or the lender needs the lock.
    if client.configuration.brokerPolicy == .required,
      client.cache.store is InMemoryStore || client.broker?.borrowsTokens == true
    {
      return try await current.renew()
    }
    return try await client.withLock(
      of: request.account, within: client.timing.turn, await current.renew())
  }

  /// Looks in the cache only.
  func tokenFromCache() -> AuthenticationResult? {
    guard let cached = cachedToken, cached.isFresh, !isForced else { return nil }
    let result = result(of: cached)
    client.remember(result, of: request, cached.found.lifetime, at: memoryVersion)
    return result
  }

  /// The flow with the cache's current content, after the wait for the lock.
  ///
  /// - Throws: ``IdentityError/signedOut`` if the account has signed out meanwhile.
  private var current: SilentFlow {
    get async throws(IdentityError) {
      var current = self
      current.cache = try await client.contents(ofSignedIn: request.account)?.cache
      return current
    }
  }

  /// The same after the wait for a broker or a server. If the cache cannot be read now, the earlier content is kept.
  private var latest: SilentFlow {
    get async throws(IdentityError) {
      do throws(IdentityError) {
        let flow = try await current
        return flow.cache == nil ? self : flow
      } catch  where error.code == .cache {
        return self
      }
    }
  }

  /// Gets a new token from the broker or by a refresh token, unless another process has stored one meanwhile. If that
  /// fails, a token that is still valid is returned. A forced renewal always sends a request.
  private func renew() async throws(IdentityError) -> AuthenticationResult {
    let cached = cachedToken
    if let cached, cached.isFresh, !isForced { return result(of: cached) }
    var refusal: IdentityError?
    var same: AuthenticationResult?
    do throws(IdentityError) {
      if let broker = try client.broker(for: resolved.authority, binding: resolved.proof != nil) {
        do throws(IdentityError) {
          let result = try await token(of: broker, replacing: cached)
          // Himmelblau returns its cached token even if another is requested. The client's own refresh token may get
          // one.
          guard isForced, result.accessToken == cached?.found.token.secret, request.refreshesWithoutBroker,
            client.configuration.brokerPolicy == .automatic
          else { return result }
          same = result
        } catch {
          guard client.configuration.brokerPolicy == .automatic,
            request.refreshesWithoutBroker || error.code == .noBroker, error.code != .cancelled,
            error.result == nil
          else { throw error }
          client.log(
            .info, "The broker gave no token.",
            ["code": "\(error.code.rawValue)", "reason": client.log.personal(error.message)])
          refusal = error
        }
      }
      if Task.isCancelled { throw .cancelled }
      // The wait for a broker may have taken minutes.
      let flow = try await refusal == nil || refusal?.code == .noBroker ? self : latest
      // There is no other source, and no server refused.
      if !isForced, let cache = flow.cache, let cached = flow.cachedToken, cached.isValid,
        cache.refreshTokens(for: lookup).isEmpty,
        refusal.map(cached.serves(despite:)) ?? true
      {
        return result(of: cached)
      }
      // Not cancelled with its callers: the server may have replaced the refresh token, so its response must be stored.
      return try await Task {
        await flow.refreshed(isForced ? .forced : cached?.refreshReason ?? .noAccessToken)
      }.value.get()
    } catch {
      // Also after the wait for a server.
      if let same, error.code != .cancelled {
        _ = try await latest
        return same
      }
      let error = error.explained(by: refusal)
      guard !isForced, cachedToken?.serves(despite: error) == true,
        let cached = try await latest.cachedToken, cached.serves(despite: error)
      else { throw error }
      client.log(
        .warning, "The token could not be renewed; the one from the cache serves.",
        ["correlation": "\(request.correlationID.text)", "reason": client.log.reason(error)])
      return result(of: cached, isExtendedLifetime: !cached.isValid)
    }
  }

  private func refreshed(
    _ reason: ServerTelemetry.RefreshReason
  ) async -> Result<AuthenticationResult, IdentityError> {
    await Result(awaiting: try await refresh(reason))
  }

  /// Tries the refresh tokens, the client's own first.
  private func refresh(
    _ reason: ServerTelemetry.RefreshReason
  ) async throws(IdentityError) -> AuthenticationResult {
    let deadline = client.sender.deadline()
    guard let tokens = cache?.refreshTokens(for: lookup), !tokens.isEmpty else {
      // They may be stored under an alias of the host, which discovery finds, or under a host with several issuers.
      func isKnown() -> Bool {
        if resolved.authority.kind == .aad { return client.cache.clouds.contains(resolved.authority.host) }
        return !lookup.namesIssuer || knownIssuer != nil
          || cache?.refreshTokens(for: lookup.underHost).isEmpty ?? true
      }
      if !isKnown() {
        do throws(IdentityError) {
          _ = try await client.metadata(of: resolved.authority, until: deadline)
        } catch  where !error.isOutage && error.code != .cancelled {}
        if isKnown() { return try await current.renew() }
      }
      throw IdentityError(
        .interactionRequired,
        "No token matching arguments found in the cache, user interaction is required")
    }
    let metadata = try await client.metadata(of: resolved.authority, until: deadline)
    var refusal: IdentityError?
    for token in tokens {
      do throws(IdentityError) {
        let keys = throttleKeys(token, metadata.tokenEndpoint)
        if let error = client.throttle.error(for: [keys.server, keys.person], at: client.now()) {
          throw error
        }
        let fields: JSONObject
        do throws(IdentityError) {
          var ask = tokenRequest(token, metadata.tokenEndpoint, reason)
          ask.deadline = deadline
          fields = try await ask.send()
        } catch {
          client.throttle.note(error, server: keys.server, person: keys.person, at: client.now())
          await forget(token, because: error)
          throw error
        }
        return try await GrantResponse(
          request: resolved, authority: metadata.authority, issuer: metadata.issuer,
          isRefresh: true
        ).result(of: fields)
      } catch {
        // The error of the client's own token is more specific than the family's.
        if refusal == nil || refusal?.isRefusal("invalid_grant", "client_mismatch") == true {
          refusal = error
        }
        guard error.isRefusal("invalid_grant"), !error.isRefusal("invalid_grant", "user_account_deleted")
        else { break }
      }
    }
    throw refusal?.forSilentRequest ?? IdentityError(.unexpected, "No refresh token was tried.")
  }
}

extension SilentFlow {
  /// Whether to bypass the cached token.
  private var isForced: Bool { request.forceRefresh || resolved.requestedClaims != nil }

  private var lookup: TokenLookup {
    var lookup = TokenLookup(
      homeAccountID: request.account.homeAccountID, environment: resolved.authority.environment,
      clientID: client.configuration.clientID, realm: resolved.realm, scopes: resolved.scopes.scopes,
      scheme: resolved.proof.cacheScheme)
    lookup.issuer = issuer
    return lookup
  }

  private var knownIssuer: String? {
    try? client.knownMetadata.withLock { $0[resolved.authority] }?.result.get().issuer
  }

  /// The authority's issuer, as far as known. A provider cannot claim to be another issuer of its host.
  private var issuer: String? {
    let (authority, known) = (resolved.authority, knownIssuer)
    guard authority.kind == .oidc else { return authority.environment == authority.host ? nil : known }
    return known.flatMap { HTTPSAddress($0)?.host == authority.host ? nil : $0 } ?? authority.address
  }

  private var key: Key {
    Key(
      account: request.account.homeAccountID.normalized, requestedAuthority: resolved.requestedAuthority,
      authority: resolved.authority, scopes: ScopeSet(resolved.scopes.scopes), claims: resolved.claims,
      extra: resolved.extra, forceRefresh: request.forceRefresh,
      refreshesWithoutBroker: request.refreshesWithoutBroker, keyID: resolved.proof?.key.id)
  }

  private var cachedToken: CachedToken? {
    let configuration = client.configuration
    let found = cache?.accessToken(for: lookup, expirationBuffer: configuration.tokenExpirationBuffer)
    return CachedToken(
      found, at: client.now(), extendedLifetimeEnabled: configuration.extendedLifetimeEnabled)
  }

  private func result(of cached: CachedToken, isExtendedLifetime: Bool = false) -> AuthenticationResult {
    client.noteTokenFromCache(request)
    let (found, token, authority) = (cached.found, cached.found.token, resolved.authority)
    let tenant = token.credential.tenant
    let issued = authority.kind == .aad ? try? authority.replacingTenant(with: tenant) : nil
    return AuthenticationResult(
      accessToken: token.secret, tokenType: token.tokenType,
      expiresOn: isExtendedLifetime ? found.lifetime.extendedExpiresOn : found.lifetime.expiresOn,
      scopes: RequestedScopes.granted(in: token.target), idToken: found.idToken?.secret,
      claims: found.idToken?.claims, account: cached.account,
      tenantProfile: cached.account.tenantProfiles.first { $0.tenantID == tenant },
      authority: issued ?? authority, correlationID: request.correlationID,
      isExtendedLifetime: isExtendedLifetime, source: .cache)
  }

  private func token(
    of broker: any TokenBroker, replacing cached: CachedToken?
  ) async throws(IdentityError) -> AuthenticationResult {
    let old = isForced ? cached?.found.token.secret : nil
    var brokerRequest = resolved.brokerRequest
    brokerRequest.isForced = isForced
    brokerRequest.tokenToReplace = old
    brokerRequest.minimumValidity = client.configuration.tokenExpirationBuffer
    let token: BrokerToken
    do throws(IdentityError) {
      token = try await broker.tokenSilently(brokerRequest)
    } catch {
      await forget(nil, because: error)
      throw error
    }
    // A token without an ID token is not stored, so that no save detects a sign-out meanwhile.
    if token.idToken == nil { _ = try await latest }
    // Himmelblau ignores claims, and returns its cached token.
    guard resolved.requestedClaims == nil || token.accessToken != old else {
      var error = IdentityError(
        .interactionRequired, "The broker has no other token than the one that was refused.")
      error.claims = resolved.claims
      throw error
    }
    return try await GrantResponse(
      request: resolved, authority: resolved.authority, isRefresh: true
    ).result(of: token, by: broker)
  }

  private func tokenRequest(
    _ token: RefreshToken, _ endpoint: URL, _ reason: ServerTelemetry.RefreshReason
  ) -> TokenEndpointRequest {
    var grant = [
      "grant_type": "refresh_token", "refresh_token": token.secret, "scope": resolved.scopes.parameter(),
    ]
    grant["redirect_uri"] = client.configuration.redirectURI?.absoluteString
    var request = resolved.tokenRequest(grant, to: endpoint, .silent)
    request.reason = reason
    return request
  }

  private func throttleKeys(_ token: RefreshToken, _ endpoint: URL) -> (server: String, person: String) {
    let server =
      [client.configuration.clientID, endpoint.absoluteString, token.secret]
      + ScopeSet(resolved.scopes.scopes).scopes.sorted()
      + (resolved.proof.map { [PopScheme.tokenType, $0.key.id] } ?? [])
    let extra = resolved.extra.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    return (Throttle.key(server), Throttle.key(server + ["claims", resolved.claims ?? "", "extra"] + extra))
  }

  /// Removes what the server will never accept again: a token, or a deleted account.
  private func forget(_ token: RefreshToken?, because error: IdentityError) async {
    do throws(CacheError) {
      if error.isRefusal("invalid_grant", "user_account_deleted") {
        try await client.cache.removeAccount(
          request.account.homeAccountID, environment: resolved.authority.environment)
      } else if let token, error.isRefusal("invalid_grant", "bad_token") {
        try await client.cache.remove(token)
        // Otherwise the next call would return it, since it has no other source.
        if let due = cachedToken, !due.isFresh {
          try await client.cache.removeAccessToken(due.found.token.secret)
        }
      } else if let token, token.familyID != nil, error.isRefusal("invalid_grant", "client_mismatch") {
        try await client.cache.save(
          AppMetadata(
            clientID: client.configuration.clientID, environment: token.environment, familyID: ""))
      }
    } catch {
      client.log(.warning, "What is useless could not be removed.", ["reason": "\(error.code.rawValue)"])
    }
  }
}

extension PublicClient {
  /// Returns an account's part of the cache; `nil` if it is unreadable and the broker does not need it.
  ///
  /// - Throws: ``IdentityError/signedOut`` if the account is signed out.
  fileprivate func contents(
    ofSignedIn account: Account
  ) async throws(IdentityError) -> (cache: CacheSnapshot, metadata: AccountMetadata?)? {
    let id = account.homeAccountID
    let found = try await readingCache(await contents(of: id))
    if found?.metadata?.signInState(of: id) == .signedOut { throw .signedOut }
    return found
  }

  private func contents(
    of homeAccountID: String
  ) async throws(CacheError) -> (cache: CacheSnapshot, metadata: AccountMetadata?) {
    let snapshot = try await cache.snapshot(of: homeAccountID)
    return (snapshot, try snapshot.accountMetadata(clientID: configuration.clientID, of: homeAccountID))
  }
}

extension ResolvedRequest {
  /// Returns the authority of the account's home tenant in place of one without a tenant.
  fileprivate func authority(
    of account: Account, _ metadata: AccountMetadata?
  ) throws(IdentityError) -> Authority {
    let asked = requestedAuthority
    let known = metadata?.resolvedAuthority(
      for: asked.address, homeAccountID: account.homeAccountID, instanceAware: isInstanceAware)
    if let known, let url = URL(string: known), asked.kind == .aad,
      let authority = try? Authority(url: url, kind: .aad), isTrusted(authority),
      !asked.excludes(tenant: authority.tenant)
    {
      return authority
    }
    guard asked.needsHomeTenant(for: account), let home = account.homeIdentity?.utid else { return asked }
    return try asked.replacingTenant(with: home)
  }

  /// Whether refresh tokens may be sent to an authority from the cache: only to a host of the known clouds.
  private func isTrusted(_ authority: Authority) -> Bool {
    let (clouds, asked) = (client.cache.clouds, requestedAuthority)
    return clouds.canonical(authority.host) == clouds.canonical(asked.host)
      || isInstanceAware && clouds.contains(authority.host) && clouds.contains(asked.host)
  }
}

extension Authority {
  /// Whether the request means the account's home tenant. An authority for organisations is asked for personal
  /// accounts, too, so that its own error is reported.
  func needsHomeTenant(for account: Account) -> Bool {
    guard namesManyTenants else { return false }
    return tenant?.lowercased() != "organizations"
      || account.homeIdentity?.utid.lowercased() != Tenant.personalAccounts
  }
}

extension IdentityError {
  static let signedOut = IdentityError(
    .interactionRequired, "Account is signed out, user interaction is required.")

  /// Adds the broker's refusal to the error, if there was no refresh token.
  fileprivate func explained(by refusal: IdentityError?) -> IdentityError {
    guard let refusal, refusal.code != .noBroker, code == .interactionRequired, oauthError == nil else {
      return self
    }
    guard refusal.code == .brokerFailed else { return refusal }
    var error = self
    error.advice = refusal.message
    return error
  }
}
