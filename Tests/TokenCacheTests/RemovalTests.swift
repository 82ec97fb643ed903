import Foundation
import TestSupport

@testable import TokenCache

/// A store in which another program removes all tokens and accounts that a read finds, right after it.
private struct OvertakenStore: ForwardingStore {
  let base: any CacheStore = InMemoryStore()

  func read(_ shards: ShardSelection, in group: KeychainGroup) async throws(CacheError) -> GroupContents {
    let found = try await base.read(shards, in: group)
    let present = Array(found.documents.keys)
    try await base.update(present, in: group) { contents in
      for shard in present {
        contents[shard].accounts = [:]
        contents[shard].removeCredentials { _ in true }
      }
    }
    return found
  }

  func generation(of group: KeychainGroup) -> UInt64? { nil }
}

/// What a removal removes, and what stays.
struct RemovalTests {
  private let test = TestCache()

  @Test func `A sign-out of one client leaves the account and other clients`() async throws {
    try await test.save()
    try await test.save(TestResponse(refreshToken: "theirs"), client: TestCache.otherClient)
    try await test.save(TestResponse(person: .bob))
    let removed = try await test.cache.removeAccount(
      TestPerson.alice.homeAccountID.uppercased(), clientID: TestCache.client)
    #expect(removed.count == 3)
    #expect(test.store.updates.last == [test.shard(.alice)])
    #expect(try await test.accounts().map(\.username) == [TestPerson.bob.username])
    #expect(try await test.accounts(signedInOnly: false).count == 2)
    #expect(try await test.token() == nil)
    #expect(try await test.refreshTokens().isEmpty)
    #expect(try await test.token(client: TestCache.otherClient) != nil)
    #expect(try await test.accounts(client: TestCache.otherClient).count == 1)
    #expect(
      try await test.cache.appMetadata(clientID: TestCache.client, environment: "login.windows.net") != nil)
  }

  @Test func `A sign-out removes the family's token only if the client stored it last`() async throws {
    try await test.save(TestResponse(family: "1"))
    try await test.save(TestResponse(refreshToken: "rt-2", family: "1"), client: TestCache.otherClient)
    try await test.cache.removeAccount(TestPerson.alice.homeAccountID, clientID: TestCache.client)
    #expect(try await test.refreshTokens(client: TestCache.otherClient) == ["rt-2"])
    #expect(try await test.document.refreshTokens.values.contains { $0.familyID == "1" })
    try await test.cache.removeAccount(TestPerson.alice.homeAccountID, clientID: TestCache.otherClient)
    #expect(try await test.document.refreshTokens.isEmpty)
  }

  @Test func `Removing an account leaves nothing of it`() async throws {
    for environment in ["login.windows.net", "login.microsoftonline.us"] {
      try await test.save(TestResponse(family: "1"), environment: environment)
    }
    try await test.save(TestResponse(tenant: "guest-tenant"), client: TestCache.otherClient)
    try await test.save(TestResponse(person: .bob))
    try await test.cache.removeAccount(TestPerson.alice.homeAccountID)
    #expect(test.store.updates.last == [test.shard(.alice)] && test.store.updates.count == 5)
    let json = String(decoding: try await test.document.json(), as: UTF8.self)
    #expect(!json.contains(TestPerson.alice.uid))
    #expect(try await test.accounts(client: nil).map(\.username) == [TestPerson.bob.username])
    #expect(try await test.token(of: .bob) != nil)
  }

  @Test func `Removing a missing account or client changes nothing`() async throws {
    try await test.save()
    let generation = test.generation
    #expect(try await test.cache.removeAccount("unknown").isEmpty)
    #expect(try await test.cache.removeClient("unknown").isEmpty)
    #expect(try await test.cache.removeExpired().isEmpty)
    #expect(test.generation == generation)
  }

  @Test func `Removing a client signs every account out of it`() async throws {
    for person in [TestPerson.alice, .bob] { try await test.save(TestResponse(person: person)) }
    try await test.save(client: TestCache.otherClient)
    #expect(try await test.cache.removeClient(TestCache.client.uppercased()).count == 6)
    #expect(try await test.accounts().isEmpty)
    #expect(try await test.accounts(signedInOnly: false).count == 2)
    #expect(try await test.token(client: TestCache.otherClient) != nil)
  }

  @Test func `Expired tokens are removed, and those in their extended lifetime stay`() async throws {
    try await test.save(TestResponse(scope: "A", accessToken: "gone", more: ["expires_in": .integer(100)]))
    try await test.save(
      TestResponse(
        scope: "B", accessToken: "extended", more: ["expires_in": .integer(100), "ext_expires_in": "1000"]))
    try await test.save(TestResponse(scope: "C", accessToken: "good", more: ["expires_in": .integer(200)]))
    test.setClock(200)
    let reads = test.store.reads
    #expect(try await test.cache.removeExpired().map(\.secret) == ["gone"] && test.store.reads == reads + 1)
    #expect(
      try await test.document.accessTokens.values.compactMap(\.secret).sorted() == ["extended", "good"])
    #expect(try await test.refreshTokens() == ["rt-1"])
    test.setClock(1000)
    #expect(try await test.cache.removeExpired().count == 2)
  }

  /// Records without an expiry that are not access tokens by their section or their type.
  private static let endless = """
    {"RefreshToken": {"novel": {"credential_type": "Novel", "secret": "1", "home_account_id": "u.t"},
                      "untyped": {"secret": "2", "home_account_id": "u.t"},
                      "misfiled": {"credential_type": "AccessToken", "secret": "3", "home_account_id": "u.t"}},
     "IdToken": {"untyped": {"secret": "4", "home_account_id": "u.t"}},
     "AccessToken": {"misfiled": {"credential_type": "RefreshToken", "secret": "5", "home_account_id": "u.t"}}}
    """

  /// R3.13
  @Test(.requirement("R3.13"), .fault("unknown type")) func `Only access tokens expire`() async throws {
    try await test.load(Self.endless)
    try await test.load(
      #"{"AccessToken": {"untyped": {"secret": "6", "home_account_id": "u.t"}}}"#)
    #expect(try await test.cache.removeExpired().map(\.secret) == ["6"])
    #expect(try await PlainJSON(test.document.json()) == PlainJSON(Data(Self.endless.utf8)))
  }

  /// R3.14
  @Test(.requirement("R3.14"), .fault("unknown type"))
  func `A refused refresh token is removed, and no other record with the same secret`() async throws {
    try await test.load([
      .refreshToken("s", key: "good"),
      .refreshToken("s", key: "family", ["credential_type": "FamilyRefreshToken"]),
      .refreshToken("s", key: "novel", ["credential_type": "Novel"]),
      .accessToken("s", key: "misfiled", ["credential_type": "RefreshToken"]),
    ])
    let lookup = TokenLookup(homeAccountID: "u.t", environment: "e", clientID: "c")
    let token = try #require(try await test.cache.refreshTokens(for: lookup).first)
    #expect(try await test.cache.remove(token))
    #expect(try await test.document.refreshTokens.keys.sorted() == ["novel"])
    #expect(try await test.document.accessTokens.keys.sorted() == ["misfiled"])
    #expect(try await !test.cache.remove(token))
  }

  @Test func `A refused access token is removed, and no other token`() async throws {
    try await test.load([
      .accessToken("s", key: "refused"), .accessToken("x", key: "other"), .refreshToken("s", key: "refresh"),
      .accessToken("s", key: "misfiled", ["credential_type": "RefreshToken"]),
    ])
    try await test.cache.removeAccessToken("s")
    #expect(try await test.document.credentials.map(\.key) == ["misfiled", "other", "refresh"])
  }

  @Test(arguments: [nil, TestCache.client])
  func `What another program removes meanwhile is gone, and so is the rest`(_ client: String?) async throws {
    let cache = TokenCacheAccessor(store: OvertakenStore())
    let id = TestPerson.alice.homeAccountID
    let request = TokenRequest(environment: "login.windows.net", clientID: TestCache.client)
    try await cache.save(TestResponse().response, for: request)
    #expect(try await cache.removeAccount(id, clientID: client).isEmpty)
    let metadata = try await cache.accountMetadata(clientID: TestCache.client, of: id)
    #expect(metadata?.signInState(of: id) == (client == nil ? nil : .signedOut))
    try await cache.save(TestResponse().response, for: request)
    #expect(try await cache.removeClient(TestCache.client).isEmpty)
  }

  @Test func `Clearing a group affects no other`() async throws {
    let other = TestCache(group: try KeychainGroup("com.example.other"), store: test.store)
    try await test.save()
    try await other.save()
    #expect(try await test.token() != nil)
    #expect(try await test.cache.clear() == 2)
    #expect(try await test.cache.clear() == 0)
    #expect(try await test.token() == nil)
    #expect(try await test.document.isEmpty)
    #expect(try await other.token() != nil)
    #expect(try test.store.groups() == [other.cache.group])
  }
}
