import Foundation
import TestSupport

@testable import TokenCache

/// Where a group keeps the sign-in state.
struct SignInStateTests {
  private let test = TestCache()
  private let alice = TestPerson.alice.homeAccountID
  private let bob = TestPerson.bob.homeAccountID

  /// The entries that stand in a shard.
  private func entries(_ homeAccountID: String?, client: String = TestCache.client) throws -> [String] {
    try test.contents(homeAccountID).accountMetadata(clientID: client)?.homeAccountIDs ?? []
  }

  @Test func `A state stands in the account's shard alone`() async throws {
    try await test.save()
    let common = try test.contents(nil)
    #expect(common.accountMetadata.isEmpty && !common.appMetadata.isEmpty)
    for person in [TestPerson.bob, .alice] {
      try await test.save(TestResponse(person: person, accessToken: "at-2"))
    }
    #expect(try test.contents(nil) == common)
    #expect(try entries(alice) == [alice])
    #expect(try entries(bob) == [bob])
    try await test.cache.removeAccount(bob, clientID: TestCache.client)
    #expect(try test.contents(nil) == common)
    #expect(try await test.accounts().map(\.homeAccountID) == [alice])
  }

  @Test func `What clients know of all accounts is exported as one record, and imported again`() async throws
  {
    for person in [TestPerson.alice, .bob] { try await test.save(TestResponse(person: person)) }
    try await test.save(client: TestCache.otherClient)
    try await test.cache.updateAccountMetadata(clientID: TestCache.client, of: nil) {
      $0.principalUsername = "p"
    }
    let document = try await test.document
    let record = try #require(document.accountMetadata["authority_map-\(TestCache.client)"])
    #expect(document.accountMetadata.count == 2)
    #expect(record.homeAccountIDs == [alice, bob])
    #expect(record.principalUsername == "p")
    let copy = TestCache()
    _ = try await copy.cache.import(document)
    #expect(try await copy.document == document)
    for id in [alice, bob, nil] { #expect(try copy.contents(id) == test.contents(id)) }
  }

  /// R4.16
  @Test func `What another shard says of an account does not count, and is removed with the account`()
    async throws
  {
    try await test.save()
    let common = test.cache.commonShard
    try test.store.update([common], in: test.cache.group) { [alice] contents in
      contents[common].updateAccountMetadata(clientID: TestCache.client) {
        $0.setSignInState(.signedOut, of: alice)
      }
    }
    #expect(try await test.state(of: alice) == .signedIn)
    #expect(try await test.accounts().map(\.homeAccountID) == [alice])
    let exported = try #require(try await test.document.accountMetadata.values.first)
    #expect(exported.signInState(of: alice) == .signedIn)
    try await test.cache.removeAccount(alice)
    #expect(try await test.document.accountMetadata.isEmpty)
  }

  /// R4.8
  @Test func `A later sign-in that is imported ends a sign-out, unless the import says so itself`()
    async throws
  {
    func document(_ refreshToken: String, in other: TestCache = TestCache()) async throws -> CacheDocument {
      try await other.save(TestResponse(refreshToken: refreshToken))
      return try await other.document
    }
    try await test.save()
    try await test.cache.removeAccount(alice, clientID: TestCache.client)
    let other = TestCache()
    let said = try await document("rt-said", in: other)
    try await other.cache.removeAccount(alice, clientID: TestCache.client)
    var signedOut = said
    signedOut.accountMetadata = try await other.document.accountMetadata
    _ = try await test.cache.import(signedOut)
    #expect(try await test.state(of: alice) == .signedOut)
    // No refresh token.
    for name in ["credential_type", "secret"] {
      var other = try await document("rt-other")
      other.accountMetadata = [:]
      other.refreshTokens = other.refreshTokens.mapValues { token in
        var token = token
        token.fields[name] = "Other"
        if name == "secret" { token.fields[name] = nil }
        return token
      }
      _ = try await test.cache.import(other)
      #expect(try await test.state(of: alice) == .signedOut)
    }
    // As other libraries write it.
    var theirs = try await document("rt-later")
    theirs.accountMetadata = [:]
    _ = try await test.cache.import(theirs)
    #expect(try await test.state(of: alice) == .unknown)
    #expect(try await test.accounts().map(\.homeAccountID) == [alice])
    // Only what is new is a sign-in.
    let contents = try test.contents(alice)
    _ = try await test.cache.import(theirs)
    #expect(try test.contents(alice) == contents)
    try await test.cache.updateAccountMetadata(clientID: TestCache.client, of: alice) { [alice] in
      $0.setSignInState(.signedOut, of: alice)
    }
    _ = try await test.cache.import(theirs)
    #expect(try await test.state(of: alice) == .signedOut)
  }

  @Test(.requirement("R3.11")) func `What is no refresh token signs no account in`() async throws {
    for type in ["RefreshToken", "Other"] {
      let test = TestCache()
      try await test.load([
        .account(alice, key: "a", realm: "r"), .alices("rt", key: "k", ["credential_type": .string(type)]),
      ])
      #expect(try await test.accounts().count == (type == "Other" ? 0 : 1))
    }
  }

  /// R4.13
  @Test(.requirement("R4.13")) func `A renewal is refused after a sign-out`() async throws {
    try await test.save()
    try await test.cache.removeAccount(alice, clientID: TestCache.client)
    var request = TokenRequest(environment: "login.windows.net", clientID: TestCache.client)
    request.isRenewal = true
    let error = await expectCacheError(.signedOut) { [request] in
      try await test.cache.save(TestResponse(accessToken: "late").response, for: request)
    }
    #expect(error?.advice == "Sign in again.")
    // Or if nothing is left of the account.
    for records in [[.account(alice, key: "a")], [.alices("rt", key: "k")], []] as [[SampleRecord]] {
      let test = TestCache()
      try await test.load(records)
      let result = try? await test.cache.save(TestResponse().response, for: request)
      #expect((result == nil) == records.isEmpty)
    }
  }

  @Test(.requirement("R4.19"))
  func `No account is signed in by a guess while the shard without an account cannot be read`()
    async throws
  {
    try await test.save()
    let other = TestCache(store: test.store)
    test.store.report(StoreProblem(.damaged, shard: test.cache.commonShard, detail: "not JSON"))
    await expectCacheError(.damaged) { try await other.accounts() }
    #expect(try await other.accounts(signedInOnly: false).count == 1)
  }

  @Test(.requirement("R4.19")) func `No account is signed in by a guess while its shard cannot be read`()
    async throws
  {
    try await test.save()
    test.store.report(StoreProblem(.damaged, shard: test.shard(.alice), detail: "not JSON"))
    let snapshot = try await TestCache(store: test.store).cache.snapshot()
    #expect(throws: CacheError.self) {
      try snapshot.accountMetadata(clientID: TestCache.client, of: alice)
    }
    #expect(try snapshot.accountMetadata(clientID: TestCache.client, of: bob) == nil)
  }

  @Test func `A wipe marks accounts of several clients, and a sign-in after it counts`() async throws {
    let ids = (0..<60).map { "u\($0).t" } + [alice]
    let shards = Set(ids.map { ShardID(homeAccountID: $0, group: .default) })
    try await test.cache.markSignedOut([TestCache.client: Set(ids), TestCache.otherClient: [ids[0]]])
    #expect(Set(test.store.updates) == Set(shards.map { [$0] }) && test.store.updates.count == shards.count)
    for id in ids { #expect(try await test.state(of: id) == .signedOut) }
    #expect(try await test.state(of: ids[0], client: TestCache.otherClient) == .signedOut)
    #expect(try await test.cache.snapshot().homeAccountIDsByClient[TestCache.client] == Set(ids))
    try await test.save()
    #expect(try await test.accounts().map(\.homeAccountID) == [alice])
  }

  @Test func `A wipe marks the accounts that can be read where another cannot`() async throws {
    test.store.report(StoreProblem(.damaged, shard: test.shard(.alice), detail: "Torn."))
    await expectCacheError(.damaged) { [alice, bob] in
      try await test.cache.markSignedOut([TestCache.client: [alice, bob]])
    }
    #expect(try await test.state(of: bob) == .signedOut)
  }
}
