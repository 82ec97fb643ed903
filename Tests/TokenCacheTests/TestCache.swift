import Foundation
import TestSupport

@testable import TokenCache

/// A cache in memory with a clock that the test sets.
struct TestCache: Sendable {
  static let client = "11111111-2222-4333-8444-555555555555"
  static let otherClient = "22222222-2222-4333-8444-555555555555"
  /// When every test begins.
  static let start = 1_767_225_600.0

  let store: TestStore
  let cache: TokenCacheAccessor
  private let clock: TestClock

  init(group: KeychainGroup = .default, store: TestStore = TestStore()) {
    let clock = TestClock()
    (self.store, self.clock) = (store, clock)
    cache = TokenCacheAccessor(store: store, group: group, now: { clock.now })
  }

  var now: Date { clock.now }

  /// Sets the clock to so many seconds after the start.
  func setClock(_ seconds: Double) { clock.set(Self.start + seconds) }

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
  func contents(_ homeAccountID: String?) -> CacheDocument {
    let shard = ShardID(homeAccountID: homeAccountID, group: cache.group)
    return store.read(.some([shard]), in: cache.group)[shard]
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

/// A clock that stands still until it is set.
private final class TestClock: Sendable {
  private let seconds = Mutex(TestCache.start)

  var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func set(_ seconds: Double) { self.seconds.withLock { $0 = seconds } }
}

struct TestPerson: Sendable {
  let uid: String
  let utid: String
  let username: String

  var homeAccountID: String { "\(uid).\(utid)" }

  static let alice = TestPerson(
    uid: "0a0a0a0a-1111-4111-8111-111111111111", utid: "aaaaaaaa-0000-4000-8000-00000000000a",
    username: "Alice@contoso.example")
  static let bob = TestPerson(
    uid: "0b0b0b0b-2222-4222-8222-222222222222", utid: "bbbbbbbb-0000-4000-8000-00000000000b",
    username: "bob@fabrikam.example")
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
    fields["foci"] = family.map(JSONValue.string)
    if hasIDToken {
      let claims: JSONObject = [
        "sub": .string("subject of \(person.uid)"),
        "oid": .string(tenant.map { "guest in \($0)" } ?? person.uid),
        "tid": .string(tenant ?? person.utid), "preferred_username": .string(person.username),
        "name": .string("Name of \(person.username)"),
      ]
      fields["id_token"] = .string("e30.\(Self.base64(claims)).")
    }
    if hasClientInfo {
      fields["client_info"] = .string(
        Self.base64(["uid": .string(person.uid), "utid": .string(person.utid)]))
    }
    return TokenResponse(fields: fields)
  }

  private static func base64(_ members: JSONObject) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return ((try? encoder.encode(members)) ?? Data()).base64URL
  }
}

/// A store in memory that can be made to fail and remembers what it was asked for.
final class TestStore: CacheStore {
  private struct State {
    var failure: CacheError?
    /// How many shards an update writes before its process is killed.
    var writesBeforeDeath: Int?
    var problems: [StoreProblem] = []
    var reads = 0
    var updates: [[ShardID]] = []
  }

  private let state = Mutex(State())
  private let memory = InMemoryStore()
  let shardsPerUpdate: Int

  init(shardsPerUpdate: Int = 1) { self.shardsPerUpdate = shardsPerUpdate }

  var reads: Int { state.withLock { $0.reads } }
  var updates: [[ShardID]] { state.withLock { $0.updates } }

  /// Makes every further update fail after the change was made and before it is kept.
  func fail(_ failure: CacheError) { state.withLock { $0.failure = failure } }

  /// Makes every further update write only so many of its shards, and fail; `nil` ends that.
  func kill(after writes: Int?) { state.withLock { $0.writesBeforeDeath = writes } }

  /// Makes every further read meet a problem.
  func report(_ problem: StoreProblem) { state.withLock { $0.problems = [problem] } }

  func groups() -> [KeychainGroup] { memory.groups() }

  func read(_ shards: ShardSelection, in group: KeychainGroup) -> GroupContents {
    let problems = state.withLock { state in
      state.reads += 1
      return state.problems
    }
    return GroupContents(documents: memory.read(shards, in: group).documents, problems: problems)
  }

  func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    let (failure, writes) = state.withLock { state in
      state.updates.append(shards)
      return (state.failure, state.writesBeforeDeath)
    }
    let result = try memory.update(shards, in: group) { contents throws(CacheError) in
      let before = contents.documents
      let result = try change(&contents)
      if let failure { throw failure }
      if let writes {
        let changed = shards.filter { contents.documents[$0] != before[$0] }
        for shard in changed.dropFirst(writes) { contents.documents[shard] = before[shard] }
      }
      return result
    }
    if writes != nil { throw CacheError(.unavailable, "Killed.") }
    return result
  }

  func remove(_ removal: Removal, in group: KeychainGroup) -> Int { memory.remove(removal, in: group) }

  func generation(of group: KeychainGroup) -> UInt64? { memory.generation(of: group) }
}
