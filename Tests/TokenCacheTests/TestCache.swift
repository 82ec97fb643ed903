import Foundation
import TestSupport

@testable import TokenCache

/// A cache in memory with a clock that the test sets.
struct TestCache: Sendable {
  static let client = "11111111-2222-4333-8444-555555555555"
  static let otherClient = "22222222-2222-4333-8444-555555555555"
  /// When every test begins.
  static let start = 1_767_225_600.0

  let store: ScriptedStore
  let cache: TokenCacheAccessor
  private let clock: TestClock

  init(group: KeychainGroup = .default, store: ScriptedStore = ScriptedStore()) {
    let clock = TestClock(Date(timeIntervalSince1970: Self.start))
    (self.store, self.clock) = (store, clock)
    cache = TokenCacheAccessor(store: store, group: group, now: { clock.now })
  }

  var now: Date { clock.now }

  /// Sets the clock to so many seconds after the start.
  func setClock(_ seconds: Double) { clock.set(Date(timeIntervalSince1970: Self.start + seconds)) }

  var generation: UInt64? { store.generation(of: cache.group) }

  /// Everything in the group.
  var document: CacheDocument {
    get async throws { try await cache.snapshot().document }
  }

  @discardableResult
  func save(
    _ answer: TestResponse = TestResponse(), client: String = client,
    environment: String = "login.windows.net",
    claims: String? = nil, scheme: AuthenticationScheme = .bearer, homeAccountID: String? = nil
  ) async throws -> TokenRecords {
    try await cache.save(
      answer.response,
      for: TokenRequest(
        environment: environment, clientID: client, scheme: scheme, requestedClaims: claims,
        homeAccountID: homeAccountID))
  }

  /// Whether an account is signed in to a client.
  func state(of homeAccountID: String, client: String = client) async throws -> SignInState? {
    try await cache.accountMetadata(clientID: client, of: homeAccountID)?.signInState(of: homeAccountID)
  }

  /// The shard of an account, or of records without an account, as it is stored.
  func contents(_ homeAccountID: String?) throws -> CacheDocument {
    let shard = ShardID(homeAccountID: homeAccountID, group: cache.group)
    return try store.read(.some([shard]), in: cache.group)[shard]
  }

  /// Takes in a cache given as JSON.
  func load(_ json: String) async throws { _ = try await cache.import(CacheDocument(json)) }

  /// Takes in a cache with these records.
  @discardableResult
  func load(_ records: [SampleRecord]) async throws -> ImportSummary {
    try await cache.import(CacheDocument(records))
  }

  /// The shard of a person, or of records without an account.
  func shard(_ person: TestPerson?) -> ShardID {
    ShardID(homeAccountID: person?.homeAccountID, group: cache.group)
  }

  func token(
    _ scopes: String = "User.Read", of person: TestPerson = .alice, client: String = client,
    realm: String? = nil, environment: String = "login.microsoftonline.com", claims: String? = nil,
    scheme: AuthenticationScheme = .bearer, buffer: Double = TokenCacheAccessor.defaultExpirationBuffer
  ) async throws -> FoundAccessToken? {
    try await cache.accessToken(
      for: TokenLookup(
        homeAccountID: person.homeAccountID, environment: environment, clientID: client, realm: realm,
        scopes: scopes.split(separator: " ").map(String.init), scheme: scheme, requestedClaims: claims),
      expirationBuffer: buffer)
  }

  func refreshTokens(
    of person: TestPerson = .alice, client: String = client, environment: String = "login.microsoftonline.com"
  ) async throws -> [String] {
    try await cache.refreshTokens(
      for: TokenLookup(homeAccountID: person.homeAccountID, environment: environment, clientID: client)
    ).map(\.secret)
  }

  func accounts(client: String? = client, signedInOnly: Bool = true) async throws -> [Account] {
    try await cache.accounts(AccountFilter(clientID: client, signedInOnly: signedInOnly))
  }
}

extension SampleRecord {
  /// A refresh token of Alice's for the tests' client.
  static func alices(
    _ secret: String, key: String, host: String = "login.microsoftonline.com", family: String? = nil,
    time: Int? = nil, _ more: JSONObject = [:]
  ) -> SampleRecord {
    .refreshToken(
      secret, key: key, of: TestPerson.alice.homeAccountID, client: TestCache.client, host: host,
      family: family, time: time, more)
  }
}

/// A response of a token endpoint.
struct TestResponse: Sendable {
  var person = TestPerson.alice
  /// The home tenant unless another is named.
  var tenant: String?
  var scope: String? = "User.Read openid profile"
  var accessToken: String? = "at-1"
  var refreshToken: String? = "rt-1"
  var family: String?
  var hasIDToken = true
  var hasClientInfo = true
  /// Further members.
  var more: JSONObject = ["expires_in": .integer(3600)]

  var response: TokenResponse {
    var fields = more
    fields["token_type"] = "Bearer"
    fields["scope"] = scope.map(JSONValue.string)
    fields["access_token"] = accessToken.map(JSONValue.string)
    fields["refresh_token"] = refreshToken.map(JSONValue.string)
    if let family { fields["foci"] = .string(family) }
    if hasIDToken {
      let claims: JSONObject = [
        "sub": .string("subject of \(person.uid)"),
        "oid": .string(tenant.map { "guest in \($0)" } ?? person.uid),
        "tid": .string(tenant ?? person.home), "preferred_username": .string(person.username),
        "name": .string("Name of \(person.username)"),
      ]
      fields["id_token"] = .string("e30.\(claims.base64URL).")
    }
    if hasClientInfo {
      fields["client_info"] = .string(person.clientInfo)
    }
    return TokenResponse(fields: fields)
  }
}
