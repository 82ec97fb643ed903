import Foundation
import TestSupport

@testable import TokenCache

/// An unreadable part of a group is never taken for absent.
struct UnreadablePartTests {
  private static let kinds: [StoreProblem.Kind] = [.damaged, .newerVersion, .wrongKey, .rolledBack]

  private let test = TestCache()

  /// Makes Alice's shard unreadable, beside Bob's.
  private func damage(_ kind: StoreProblem.Kind, withBob: Bool) async throws {
    if withBob { try await test.save(TestResponse(person: .bob)) }
    test.store.report(StoreProblem(kind, shard: test.shard(.alice), detail: "Torn."))
  }

  @Test(.requirement("R5.5"), .fault("all unreadable"), arguments: kinds)
  func `An empty list of accounts is an error unless everything could be read`(_ kind: StoreProblem.Kind)
    async throws
  {
    try await damage(kind, withBob: false)
    let filters = [
      AccountFilter(), AccountFilter(clientID: TestCache.client), AccountFilter(username: "alice"),
      AccountFilter(homeAccountID: TestPerson.alice.homeAccountID),
    ]
    for filter in filters {
      let error = await #expect(throws: CacheError.self) { try await test.cache.accounts(filter) }
      #expect(error?.code.rawValue == kind.rawValue)
    }
    #expect(try await test.cache.accounts(AccountFilter(homeAccountID: TestPerson.bob.homeAccountID)).isEmpty)
  }

  @Test(.fault("part unreadable"), arguments: kinds)
  func `An account of which a copy is unreadable counts as neither signed in nor signed out`(
    _ kind: StoreProblem.Kind
  ) async throws {
    try await test.save()
    try await damage(kind, withBob: false)
    let filter = AccountFilter(clientID: TestCache.client)
    await #expect(throws: CacheError.self) { try await test.cache.accounts(filter) }
    try await test.save(TestResponse(person: .bob))
    #expect(try await test.cache.accounts(filter).map(\.username) == [TestPerson.bob.username])
  }

  @Test(.fault("part unreadable"), arguments: kinds)
  func `Readable accounts are listed, and unreadable parts are reported`(_ kind: StoreProblem.Kind)
    async throws
  {
    try await damage(kind, withBob: true)
    #expect(try await test.accounts().map(\.username) == [TestPerson.bob.username])
    let snapshot = try await test.cache.snapshot()
    #expect(try snapshot.accounts().map(\.username) == [TestPerson.bob.username])
    #expect(snapshot.problems.map(\.kind) == [kind])
    #expect(throws: CacheError.self) { try snapshot.checkComplete() }
  }

  @Test(
    .fault("all unreadable"),
    arguments: [StoreProblem.Kind.duplicate, .edited, .foreign, .missing, .returned])
  func `A problem that hides no records is no error`(_ kind: StoreProblem.Kind) async throws {
    try await damage(kind, withBob: false)
    #expect(try await test.accounts().isEmpty)
    let snapshot = try await test.cache.snapshot()
    #expect(snapshot.problems.map(\.hidesRecords) == [false])
    try snapshot.checkComplete()
  }

  @Test(.fault("all unreadable"), arguments: [StoreProblem.Kind.rolledBack, .missing])
  func `A problem of the whole group is one of every shard`(_ kind: StoreProblem.Kind) async throws {
    try await test.save()
    test.store.report(StoreProblem(kind, shard: nil, detail: "Old."))
    await #expect(throws: CacheError.self) { try await test.token() }
    await #expect(throws: CacheError.self) {
      try await test.cache.accounts(AccountFilter(homeAccountID: TestPerson.alice.homeAccountID))
    }
  }

  @Test(.fault("part unreadable"))
  func `Removing a client with unreadable tokens is an error`() async throws {
    try await damage(.damaged, withBob: true)
    await #expect(throws: CacheError.self) { try await test.cache.removeClient(TestCache.client) }
    #expect(try await test.document.credentials.isEmpty)
  }

  @Test(.fault("common unreadable"), arguments: [StoreProblem.Kind.damaged, .newerVersion, .rolledBack])
  func `An unreadable common shard stops no import, sign-out or removal of an account`(
    _ kind: StoreProblem.Kind
  ) async throws {
    let source = TestCache()
    for person in [TestPerson.alice, .bob] { try await source.save(TestResponse(person: person)) }
    test.store.report(StoreProblem(kind, shard: test.shard(nil), detail: "Torn."))
    let code = try #require(CacheError.Code(rawValue: kind.rawValue))
    await expectCacheError(code) { [document = try await source.document] in
      _ = try await test.cache.import(document)
    }
    for person in [TestPerson.alice, .bob] { #expect(try await test.token(of: person) != nil) }
    let (alice, bob) = (TestPerson.alice.homeAccountID, TestPerson.bob.homeAccountID)
    #expect(try await test.cache.removeAccount(alice).count == 3)
    #expect(try await test.cache.removeAccount(bob, clientID: TestCache.client).count == 3)
    #expect(try await test.state(of: bob) == .signedOut)
    #expect(try test.contents(nil).isEmpty && test.contents(alice).isEmpty)
  }

  @Test(.fault("misplaced"), arguments: [TestPerson.bob, nil])
  func `A record in another account's shard, or in none's, is removed with its account`(_ owner: TestPerson?)
    async throws
  {
    try await test.save()
    try await test.save(TestResponse(person: .bob))
    let shard = test.shard(owner)
    let misfiled = Credential(
      type: .refreshToken, homeAccountID: TestPerson.alice.homeAccountID, environment: "login.windows.net",
      clientID: TestCache.client, secret: "misfiled")
    try await test.cache.store.update([shard], in: test.cache.group) {
      $0[shard].refreshTokens["misfiled"] = misfiled
    }
    let removed = try await test.cache.removeAccount(TestPerson.alice.homeAccountID)
    #expect(removed.contains { $0.secret == "misfiled" })
    #expect(try await test.document.credentials.allSatisfy { $0.credential.secret != "misfiled" })
    #expect(try await test.token(of: .bob) != nil)
  }
}
