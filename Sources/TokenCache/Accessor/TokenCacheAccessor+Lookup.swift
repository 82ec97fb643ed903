import FoundationEssentials

/// Which token to find.
public struct TokenRequest: Sendable, Hashable {
  /// `nil` for tokens of an application.
  public var homeAccountID: String?
  /// Any host of the cloud.
  public var environment: String
  public var clientID: String
  /// The tenant; `nil`, `common` and `organizations` mean the account's home tenant.
  public var realm: String?
  /// Scopes that the token must all have.
  public var scopes: ScopeSet
  public var scheme: AuthenticationScheme
  /// The `claims` that the token must have been asked with, to the letter; `nil` finds those asked without.
  public var requestedClaims: String?
  public var applicationIdentifier: String?

  public init(
    homeAccountID: String?, environment: String, clientID: String, realm: String? = nil,
    scopes: [String] = [], scheme: AuthenticationScheme = .bearer, requestedClaims: String? = nil,
    applicationIdentifier: String? = nil
  ) {
    (self.homeAccountID, self.environment, self.clientID) = (homeAccountID, environment, clientID)
    (self.realm, self.scopes, self.scheme) = (realm, ScopeSet(scopes), scheme)
    (self.requestedClaims, self.applicationIdentifier) = (requestedClaims, applicationIdentifier)
  }

  var tenant: String { Tenant.resolve(realm: realm ?? "common", homeAccountID: homeAccountID) }
}

/// An access token that was found, and how good it still is.
public struct FoundAccessToken: Sendable {
  public enum Condition: Sendable, Hashable {
    case valid
    /// Good, but the server asked for a renewal by now.
    case needsRefresh
    /// To be used only while the token service is down.
    case extendedLifetime
    case expired
  }

  /// What was found; shared, so that handing it out copies nothing.
  final class Record: Sendable {
    let token: AccessToken
    let grantedScopes: [String]
    let lifetime: TokenLifetime
    let idToken: IDToken?
    let account: Account?
    let tokenType: String
    let tenant: String
    let tenantProfile: TenantProfile?

    init(_ token: AccessToken, idToken: IDToken?, account: Account?) {
      (self.token, self.idToken, self.account) = (token, idToken, account)
      grantedScopes = token.target.split(separator: " ").map(String.init)
      lifetime = token.credential.lifetime
      tokenType = token.tokenType
      let tenant = Tenant.resolve(realm: token.realm, homeAccountID: token.homeAccountID)
      self.tenant = tenant
      tenantProfile = account?.tenantProfiles.first { $0.tenantID == tenant }
    }
  }

  let record: Record
  public let condition: Condition

  public var token: AccessToken { record.token }
  /// `nil` for tokens of an application.
  public var idToken: IDToken? { record.idToken }
  public var account: Account? { record.account }
  /// The scopes in the server's words.
  package var grantedScopes: [String] { record.grantedScopes }
  package var lifetime: TokenLifetime { record.lifetime }
  package var tokenType: String { record.tokenType }
  /// The tenant that issued the token.
  package var tenant: String { record.tenant }
  /// The account in that tenant.
  package var tenantProfile: TenantProfile? { record.tenantProfile }
}

extension TokenRequest {
  /// By what tells most requests of one program apart.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(homeAccountID)
    hasher.combine(scopes)
  }
}

extension TokenCacheAccessor {
  /// How many seconds before its end an access token counts as expired, unless told otherwise.
  public static let defaultExpirationBuffer = 300.0

  /// Finds the access token that serves a request. Among several, the best and then the one that lasts
  /// longest is taken.
  ///
  /// A token of an account is found only together with that account and an ID token of the same client and
  /// tenant.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - expirationBuffer: How many seconds before its end a token counts as expired.
  /// - Returns: The token, expired ones included; `nil` when there is none.
  /// - Throws: What the store throws.
  public func accessToken(
    for request: TokenRequest, expirationBuffer: Double = defaultExpirationBuffer
  ) async throws(CacheError) -> FoundAccessToken? {
    let answer = if let known = rememberedAnswer(request) { known } else { try await findAnswer(request) }
    return answer.best(at: now(), buffer: expirationBuffer)
  }

  /// Finds the ID token of a client for an account in one tenant. The request's scopes do not matter.
  ///
  /// - Throws: What the store throws.
  public func idToken(for request: TokenRequest) async throws(CacheError) -> IDToken? {
    let shard = shard(request.homeAccountID)
    return try await contents(.some([shard]))[shard].idToken(for: request, in: clouds)
  }

  /// Finds the refresh tokens that may serve a request, as ``CacheSnapshot/refreshTokens(for:)`` does.
  ///
  /// - Throws: What the store throws.
  public func refreshTokens(for request: TokenRequest) async throws(CacheError) -> [RefreshToken] {
    try await snapshot(.some([shard(request.homeAccountID), commonShard])).refreshTokens(for: request)
  }

  /// What is known of a client, `nil` when nothing is.
  ///
  /// - Throws: What the store throws.
  public func appMetadata(
    clientID: String, environment: String
  ) async throws(CacheError) -> AppMetadata? {
    try await contents(.some([commonShard]))[commonShard]
      .appMetadata(clientID: clientID, environment: environment, in: clouds)
  }

  /// What a client knows of its accounts, `nil` when it has met none.
  ///
  /// - Throws: What the store throws.
  public func accountMetadata(clientID: String) async throws(CacheError) -> AccountMetadata? {
    let document =
      if let known = rememberedDocument(commonShard) {
        known
      } else {
        try await contents(.some([commonShard]))[commonShard]
      }
    return document.accountMetadata(clientID: clientID)
  }
}

extension CacheDocument {
  fileprivate func appMetadata(
    clientID: String, environment: String, in clouds: CloudInstances
  ) -> AppMetadata? {
    appMetadata.sorted { $0.key < $1.key }.map(\.value).first {
      clientID.matches($0.clientID)
        && clouds.canonical($0.environment ?? "") == clouds.canonical(environment)
    }
  }

  /// The family whose refresh tokens a client may try, `nil` for none.
  func family(of clientID: String, environment: String?, in clouds: CloudInstances) -> String? {
    let canonical = environment.map(clouds.canonical)
    let known = appMetadata.sorted { $0.key < $1.key }.map(\.value).filter {
      clientID.matches($0.clientID)
        && (canonical ?? clouds.canonical($0.environment ?? "")) == clouds.canonical($0.environment ?? "")
    }
    guard !known.isEmpty else { return "1" }
    return known.lazy.compactMap { Optional($0.familyID ?? "").nonBlank }.first
  }
}
