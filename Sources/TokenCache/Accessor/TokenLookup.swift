import FoundationEssentials

/// The token to find.
public struct TokenLookup: Sendable, Hashable {
  /// `nil` for tokens of an application.
  public var homeAccountID: String?
  /// Any host of the cloud; for an authority whose host has several issuers, with a path.
  public var environment: String
  /// The issuer of an OpenID Connect authority, as far as known. What other libraries keep of it under the host alone is found, too,
  /// if all ID tokens of the account and client there are from this issuer.
  public var issuer: String?
  public var clientID: String
  /// The tenant; `nil`, `common` and `organizations` mean the account's home tenant.
  public var realm: String?
  /// Scopes that the token must have, all of them.
  public var scopes: ScopeSet
  public var scheme: AuthenticationScheme
  /// The exact `claims` parameter of the token's request; `nil` finds tokens whatever claims they were requested with.
  public var requestedClaims: String?
  public var applicationIdentifier: String?

  public init(
    homeAccountID: String?, environment: String, clientID: String, realm: String? = nil,
    scopes: [String] = [], scheme: AuthenticationScheme = .bearer, requestedClaims: String? = nil,
    applicationIdentifier: String? = nil
  ) {
    self.homeAccountID = homeAccountID
    self.environment = environment
    self.clientID = clientID
    self.realm = realm
    self.scopes = ScopeSet(scopes)
    self.scheme = scheme
    self.requestedClaims = requestedClaims
    self.applicationIdentifier = applicationIdentifier
  }

  /// Whether the environment has a path.
  package var namesIssuer: Bool { environment.contains("/") }

  /// The same for what is under the host alone.
  package var underHost: TokenLookup {
    var lookup = self
    lookup.environment = String(environment.prefix { $0 != "/" })
    return lookup
  }

  var tenant: String { Tenant.resolve(realm: realm ?? "common", homeAccountID: homeAccountID) }
}

extension TokenLookup {
  /// Hashes two fields, which suffice to distinguish most requests of a program.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(homeAccountID)
    hasher.combine(scopes)
  }
}

/// The access tokens for a request, expired or not.
struct TokenLookupResult: Sendable {
  /// The tokens, the last stored first.
  private let tokens: [FoundAccessToken.Record]

  /// - Parameters:
  ///   - lookup: The request.
  ///   - document: The account's shard.
  ///   - clouds: Which hosts name the same cloud.
  init(of lookup: TokenLookup, in document: CacheDocument, clouds: CloudInstances) {
    let account = lookup.homeAccountID.flatMap { id in
      [document].accounts(clientID: lookup.clientID, in: clouds).first { id.matches($0.homeAccountID) }
    }
    guard lookup.homeAccountID == nil || account != nil else {
      tokens = []
      return
    }
    let lookups = document.lookups(serving: lookup, in: clouds)
    let idToken =
      account == nil ? nil : lookups.lazy.compactMap { document.idToken(for: $0.lookup, in: clouds) }.first
    tokens = document.accessTokens.sorted { $0.key < $1.key }.compactMap { AccessToken($0.value) }
      .filter { token in
        lookups.contains {
          $0.lookup.isServed(by: token, in: clouds) && $0.start <= token.credential.cachedAt ?? .distantPast
        }
      }
      .sorted { $0.credential.cachedAt ?? .distantPast > $1.credential.cachedAt ?? .distantPast }
      .map { FoundAccessToken.Record($0, idToken: idToken, account: account) }
  }

  /// The best token at some time, and of equal ones the one that expires last; `buffer` is how many seconds before its
  /// expiry a token counts as expired.
  func best(at now: Date, buffer: Double) -> FoundAccessToken? {
    var best: FoundAccessToken?
    for token in tokens {
      let found = FoundAccessToken(
        record: token, condition: token.lifetime.condition(at: now, buffer: buffer))
      if let best, (best.condition, -best.end) <= (found.condition, -found.end) { continue }
      best = found
    }
    return best
  }
}

extension FoundAccessToken {
  fileprivate var end: Double { lifetime.expiresOn?.timeIntervalSince1970 ?? 0 }
}

extension CacheDocument {
  /// The ID token of a client for an account in one tenant.
  func idToken(for lookup: TokenLookup, in clouds: CloudInstances) -> IDToken? {
    idTokens.sorted { $0.key < $1.key }.map(\.value).filter { lookup.matches($0, in: clouds) }
      .compactMap(IDToken.init).first
  }

  /// The lookups whose tokens serve one: itself, and the same under the host alone, unless what is there may be another issuer's.
  /// An access token serves that was stored since `start`: before, another issuer's ID token may have been there.
  func lookups(
    serving lookup: TokenLookup, in clouds: CloudInstances
  ) -> [(lookup: TokenLookup, start: Date)] {
    guard let issuer = lookup.issuer.map({ $0.hasSuffix("/") ? $0.dropLast() : $0[...] }) else {
      return [(lookup, .distantPast)]
    }
    let claims = idTokens.values.filter { lookup.underHost.matchesClient(of: $0, in: clouds) }
      .map { IDToken($0)?.claims }
    let issuers = claims.map { $0?.string("iss") ?? "" }.filter { $0 != issuer && $0 != issuer + "/" }
    guard lookup.namesIssuer else {
      return issuers.contains { $0.hasPrefix(issuer + "/") } ? [] : [(lookup, .distantPast)]
    }
    guard !claims.isEmpty, issuers.isEmpty else { return [(lookup, .distantPast)] }
    let start = claims.compactMap { $0?.claims["iat"]?.numberValue }.max()
    return [
      (lookup, .distantPast),
      (lookup.underHost, start.map(Date.init(timeIntervalSince1970:)) ?? .distantPast),
    ]
  }
}

extension TokenLookup {
  fileprivate func isServed(by token: AccessToken, in clouds: CloudInstances) -> Bool {
    token.serves(scheme, applicationIdentifier: applicationIdentifier)
      && matches(token.credential, in: clouds) && token.scopes.satisfies(scopes)
      && requestedClaims.nonBlank.map { $0 == token.credential.requestedClaims } ?? true
  }

  fileprivate func matchesClient(of credential: Credential, in clouds: CloudInstances) -> Bool {
    clientID.matches(credential.clientID)
      && (homeAccountID ?? "").normalized == credential.normalizedOwner
      && clouds.canonical(environment) == clouds.canonical(credential.environment ?? "")
  }

  /// Whether a credential has the client, account, cloud and tenant of the lookup.
  fileprivate func matches(_ credential: Credential, in clouds: CloudInstances) -> Bool {
    matchesClient(of: credential, in: clouds)
      // Applications may leave the tenant open, and AD FS has none.
      && (realm == nil && (homeAccountID == nil || credential.tenant.isEmpty)
        || tenant == credential.tenant)
  }
}

extension AccessToken {
  /// Whether lookups with an authentication scheme find the token while its account has a record: not one that was requested
  /// with parameters that no lookup has.
  public func serves(
    _ scheme: AuthenticationScheme = .bearer, applicationIdentifier: String? = nil
  ) -> Bool {
    scheme.matches(credential) && credential.extraParameters == nil
      && (applicationIdentifier ?? "").normalized == (credential.applicationIdentifier ?? "").normalized
  }
}

/// An access token that was found, and its condition.
public struct FoundAccessToken: Sendable {
  /// The conditions, the best first.
  public enum Condition: Sendable, Hashable, Comparable {
    case valid
    /// The token is valid, but the server asked for a renewal by now.
    case needsRefresh
    /// The token may be used only while the token service is down.
    case extendedLifetime
    case expired
  }

  /// The record, shared, so that returning it copies nothing.
  final class Record: Sendable {
    // First, since every lookup reads it: beside the reference count.
    let lifetime: TokenLifetime
    let token: AccessToken
    let idToken: IDToken?
    let account: Account?

    init(_ token: AccessToken, idToken: IDToken?, account: Account?) {
      self.token = token
      self.idToken = idToken
      self.account = account
      lifetime = token.credential.lifetime
    }
  }

  let record: Record
  public let condition: Condition

  public var token: AccessToken { record.token }
  /// `nil` for tokens of an application, and where the server sent none.
  public var idToken: IDToken? { record.idToken }
  public var account: Account? { record.account }
  package var lifetime: TokenLifetime { record.lifetime }
}
