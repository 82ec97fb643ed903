import FoundationEssentials

/// The token to find.
public struct TokenLookup: Sendable, Hashable {
  /// `nil` for tokens of an application.
  public var homeAccountID: String?
  /// Any host of the cloud.
  public var environment: String
  public var clientID: String
  /// The tenant; `nil`, `common` and `organizations` mean the account's home tenant.
  public var realm: String?
  /// Scopes that the token must have, all of them.
  public var scopes: ScopeSet
  public var scheme: AuthenticationScheme
  /// The exact `claims` parameter of the token's request; `nil` finds tokens that were requested without claims.
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
  /// The tokens, the newest first.
  private let tokens: [FoundAccessToken.Record]

  /// - Parameters:
  ///   - lookup: The request.
  ///   - document: The account's shard.
  ///   - clouds: Which hosts name the same cloud.
  init(of lookup: TokenLookup, in document: CacheDocument, clouds: CloudInstances) {
    let serving = document.accessTokens(withAnyClaims: lookup, in: clouds)
      .filter { $0.credential.requestedClaims == lookup.requestedClaims.nonBlank }
    // Both belong to an account's token.
    let account = lookup.homeAccountID.flatMap { id in
      [document].accounts(clientID: lookup.clientID, in: clouds).first { id.matches($0.homeAccountID) }
    }
    let idToken = account == nil ? nil : document.idToken(for: lookup, in: clouds)
    guard lookup.homeAccountID == nil || idToken != nil else {
      tokens = []
      return
    }
    tokens = serving.map { FoundAccessToken.Record($0, idToken: idToken, account: account) }
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
  /// The access tokens for a lookup whatever claims they were requested with, the newest first.
  func accessTokens(withAnyClaims lookup: TokenLookup, in clouds: CloudInstances) -> [AccessToken] {
    accessTokens.sorted { $0.key < $1.key }.compactMap { AccessToken($0.value) }
      .filter { lookup.isServed(by: $0, in: clouds) }
      .sorted { $0.credential.cachedAt ?? .distantPast > $1.credential.cachedAt ?? .distantPast }
  }

  /// The ID token of a client for an account in one tenant.
  func idToken(for lookup: TokenLookup, in clouds: CloudInstances) -> IDToken? {
    idTokens.sorted { $0.key < $1.key }.map(\.value).filter { lookup.matches($0, in: clouds) }
      .compactMap(IDToken.init).first
  }
}

extension TokenLookup {
  /// Whether a token serves, apart from the claims that it was requested with.
  fileprivate func isServed(by token: AccessToken, in clouds: CloudInstances) -> Bool {
    let credential = token.credential
    return scheme.matches(credential) && matches(credential, in: clouds)
      && credential.extraParameters == nil
      && (applicationIdentifier ?? "").normalized == (credential.applicationIdentifier ?? "").normalized
      && token.scopes.satisfies(scopes)
  }

  /// Whether a credential has the client, account, cloud and tenant of the lookup.
  fileprivate func matches(_ credential: Credential, in clouds: CloudInstances) -> Bool {
    clientID.matches(credential.clientID)
      && (homeAccountID ?? "").normalized == credential.normalizedOwner
      && clouds.canonical(environment) == clouds.canonical(credential.environment ?? "")
      // Applications may leave the tenant open, and AD FS has none.
      && (realm == nil && (homeAccountID == nil || credential.tenant.isEmpty)
        || tenant == credential.tenant)
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
  /// `nil` for tokens of an application.
  public var idToken: IDToken? { record.idToken }
  public var account: Account? { record.account }
  package var lifetime: TokenLifetime { record.lifetime }
}
