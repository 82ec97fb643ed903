import Foundation
import TestSupport

@testable import TokenCache

/// Where a group keeps the sign-in state. Llavero 0.3 and before kept it in the shard without an account.
struct SignInStateTests {
  private let test = TestCache()
  private let alice = TestPerson.alice.homeAccountID
  private let bob = TestPerson.bob.homeAccountID

  /// Writes an account's entry as version 0.3 does.
  private func writeAsBefore(
    _ entry: JSONObject, of homeAccountID: String, client: String = TestCache.client, key: String? = nil,
    in test: TestCache? = nil
  ) throws {
    let test = test ?? self.test
    let common = test.cache.commonShard
    try test.store.update([common], in: test.cache.group) { contents in
      let key = key ?? "authority_map-\(client)"
      var record = contents[common].accountMetadata[key] ?? AccountMetadata(clientID: client)
      var accounts = record.fields["account_metadata_map"]?.objectValue ?? [:]
      accounts[homeAccountID] = .object(entry)
      record.fields["account_metadata_map"] = .object(accounts)
      contents[common].accountMetadata[key] = record
    }
  }

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

  @Test func `A state of an older version is read`() async throws {
    for person in [TestPerson.alice, .bob] { try await test.save(TestResponse(person: person)) }
    let authorities: JSONObject = ["URLMap-": .object(["https://asked": "https://answered"])]
    try writeAsBefore(["sign_in_state": "signed_out", "athority_map": .object(authorities)], of: alice)
    #expect(try await test.state(of: alice) == .signedOut)
    #expect(try await test.state(of: bob) == .signedIn)
    #expect(try await test.accounts().map(\.homeAccountID) == [bob])
    #expect(
      try await test.cache.snapshot().accountMetadata(clientID: TestCache.client, of: alice)?
        .signInState(of: alice) == .signedOut)
    let metadata = try await test.cache.accountMetadata(clientID: TestCache.client, of: alice)
    #expect(metadata?.resolvedAuthority(for: "https://asked", homeAccountID: alice) == "https://answered")
    let exported = try #require(try await test.document.accountMetadata.values.first)
    #expect(exported.signInState(of: alice) == .signedOut)
    #expect(exported.signInState(of: bob) == .signedIn)
  }

  /// R4.16
  @Test func `An unknown state in the common shard counts before the account's shard`() async throws {
    try await test.save()
    try await test.cache.updateAccountMetadata(clientID: TestCache.client, of: alice) { [alice] in
      $0.setSignInState(.signedOut, of: alice)
    }
    #expect(try await test.accounts().isEmpty)
    try writeAsBefore(["sign_in_state": "unknown"], of: alice)
    #expect(try await test.state(of: alice) == .unknown)
    #expect(try await test.accounts().map(\.homeAccountID) == [alice])
  }

  /// R4.8
  @Test(arguments: [false, true])
  func `A later sign-in that is imported ends a sign-out, unless the import says so itself`(
    _ isOlder: Bool
  ) async throws {
    func document(_ refreshToken: String, in other: TestCache = TestCache()) async throws -> CacheDocument {
      try await other.save(TestResponse(refreshToken: refreshToken))
      return try await other.document
    }
    try await test.save()
    try await test.cache.removeAccount(alice, clientID: TestCache.client)
    if isOlder { try await test.cache.markSignedOut([TestCache.client: [alice]]) }
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

  @Test func `A renewal is refused after an older version signed the account out`() async throws {
    try await test.save()
    try writeAsBefore(["sign_in_state": "signed_out"], of: alice)
    var request = TokenRequest(environment: "login.windows.net", clientID: TestCache.client)
    request.isRenewal = true
    let error = await expectCacheError(.signedOut) { [request] in
      try await test.cache.save(TestResponse(accessToken: "late").response, for: request)
    }
    #expect(error?.advice == "Sign in again.")
  }

  @Test(arguments: 0...3)
  func `A save that is killed loses no state of an older version`(_ writes: Int) async throws {
    let authorities: JSONObject = ["URLMap-": .object(["https://asked": "https://answered"])]
    try writeAsBefore(
      ["sign_in_state": "signed_in", "x": "y", "athority_map": .object(authorities)], of: alice)
    test.store.kill(after: writes)
    await expectCacheError(.unavailable) { try await test.save() }
    let metadata = try await test.cache.accountMetadata(clientID: TestCache.client, of: alice)
    #expect(metadata?.signInState(of: alice) == .signedIn)
    #expect(metadata?.resolvedAuthority(for: "https://asked", homeAccountID: alice) == "https://answered")
    test.store.kill(after: nil)
    try await test.save()
    #expect(try await test.state(of: alice) == .signedIn)
    #expect(try await test.token() != nil)
  }

  @Test(arguments: 0...2)
  func `A change of metadata that is killed loses none`(_ writes: Int) async throws {
    try await test.save()
    try writeAsBefore(["sign_in_state": "signed_in", "x": "y"], of: alice)
    test.store.kill(after: writes)
    await expectCacheError(.unavailable) {
      try await test.cache.updateAccountMetadata(clientID: TestCache.client, of: alice) { _ in }
    }
    let entries = try await test.document.accountMetadata.values.first?.fields["account_metadata_map"]
    #expect(entries?.objectValue?[alice]?.objectValue?["x"] == "y")
  }

  @Test func `A save changes the state of its account and client where an older version wrote it`()
    async throws
  {
    try await test.save()
    for id in [alice, bob] { try writeAsBefore(["sign_in_state": "signed_out", "x": "y"], of: id) }
    try writeAsBefore(["sign_in_state": "signed_out"], of: alice, client: TestCache.otherClient)
    for _ in 1...2 {
      try await test.save()
      #expect(try await test.state(of: alice) == .signedIn)
      #expect(try entries(nil) == [bob, alice].sorted())
      try await test.cache.updateAccountMetadata(clientID: TestCache.client, of: alice) { _ in }
      #expect(try entries(nil) == [bob])
      #expect(try entries(nil, client: TestCache.otherClient) == [alice])
      #expect(try await test.state(of: alice) == .signedIn)
      let account = try test.contents(alice).accountMetadata(clientID: TestCache.client)?.fields[
        "account_metadata_map"]
      #expect(account?.objectValue?[alice]?.objectValue?["x"] == "y")
      #expect(try await test.state(of: alice, client: TestCache.otherClient) == .signedOut)
      #expect(try await test.state(of: bob) == .signedOut)
      try writeAsBefore(["sign_in_state": "signed_out", "x": "y"], of: alice)
      #expect(try await test.state(of: alice) == .signedOut)
    }
    for id in [alice, bob] {
      try await test.cache.updateAccountMetadata(clientID: TestCache.client, of: id) { _ in }
    }
    let remaining = try test.contents(nil).accountMetadata.keys
    #expect(remaining.sorted() == ["authority_map-\(TestCache.otherClient)"])
  }

  @Test func `A state that is moved keeps the key of its record and the spelling of the client`() async throws
  {
    let client = TestCache.client.uppercased()
    try writeAsBefore(["sign_in_state": "signed_out"], of: alice, client: client, key: "theirs")
    try await test.cache.updateAccountMetadata(clientID: TestCache.client, of: alice) { _ in }
    #expect(try test.contents(nil).accountMetadata.isEmpty)
    #expect(try test.contents(alice).accountMetadata["theirs"]?.clientID == client)
    try await test.save()
    #expect(try await test.state(of: alice) == .signedIn)
  }

  @Test func `A sign-out moves the state, and the removal of an account removes it from both shards`()
    async throws
  {
    for person in [TestPerson.alice, .bob] { try await test.save(TestResponse(person: person)) }
    for id in [alice, bob] { try writeAsBefore(["sign_in_state": "signed_in"], of: id) }
    try writeAsBefore(["sign_in_state": "signed_in"], of: alice, client: TestCache.otherClient)
    try await test.cache.removeAccount(alice, clientID: TestCache.client)
    #expect(try entries(nil) == [bob])
    #expect(try await test.state(of: alice) == .signedOut)
    try await test.cache.removeAccount(alice)
    #expect(try test.contents(alice).isEmpty)
    #expect(try entries(nil, client: TestCache.otherClient).isEmpty)
    #expect(try await test.cache.removeClient(TestCache.client).count == 3)
    #expect(try test.contents(nil).accountMetadata.isEmpty)
    #expect(try await test.state(of: bob) == .signedOut)
  }

  @Test func `What is imported counts, also before what an older version wrote`() async throws {
    try writeAsBefore(["sign_in_state": "signed_out"], of: alice)
    let source = TestCache()
    try await source.save()
    _ = try await test.cache.import(try await source.document)
    #expect(try await test.state(of: alice) == .signedIn)
    #expect(try entries(nil).isEmpty)
  }

  @Test func `An import writes the common shard last where it moves a state from it`() async throws {
    let test = TestCache(store: ScriptedStore(shardsPerUpdate: 10))
    let common = test.shard(nil)
    let source = TestCache()
    try await source.save()
    let document = try await source.document
    for isOlder in [false, true] {
      if isOlder { try writeAsBefore(["sign_in_state": "signed_out"], of: alice, in: test) }
      let updates = test.store.updates.count
      _ = try await test.cache.import(document)
      #expect(
        Array(test.store.updates.dropFirst(updates))
          == (isOlder ? [[common], [test.shard(.alice), common]] : [[common, test.shard(.alice)]]))
    }
    #expect(try test.contents(nil).accountMetadata.isEmpty)
  }

  @Test func `The removal of a misplaced record writes the common shard last where it moves a state from it`()
    async throws
  {
    try writeAsBefore(["sign_in_state": "signed_in"], of: alice)
    let common = test.shard(nil)
    try test.store.update([common], in: test.cache.group) { contents in
      contents[common].refreshTokens["k"] = Credential(
        type: .refreshToken, homeAccountID: alice, environment: "login.microsoftonline.com",
        clientID: TestCache.client, secret: "misplaced")
    }
    #expect(try await test.cache.removeClient(TestCache.client).count == 1)
    #expect(test.store.updates.last == [test.shard(.alice), common])
    #expect(try await test.state(of: alice) == .signedOut)
  }

  @Test func `Writes of both versions at once lose no state of each other's`() async throws {
    let people = (0..<24).map {
      TestPerson(uid: "person-\($0)", home: "tenant", username: "\($0)@contoso.example")
    }
    let other = TestCache(store: test.store)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, person) in people.enumerated() {
        group.addTask { try await (number % 2 == 0 ? test : other).save(TestResponse(person: person)) }
        if number % 3 == 0 {
          group.addTask {
            try writeAsBefore(
              ["sign_in_state": "signed_out"], of: person.homeAccountID, client: TestCache.otherClient)
          }
        }
      }
      try await group.waitForAll()
    }
    for (number, person) in people.enumerated() {
      #expect(try await other.state(of: person.homeAccountID) == .signedIn)
      let theirs = try await test.state(of: person.homeAccountID, client: TestCache.otherClient) ?? .unknown
      #expect(theirs == (number % 3 == 0 ? .signedOut : .unknown))
    }
    // A save moves the states of its own client.
    #expect(try entries(nil).isEmpty)
    let written = stride(from: 0, to: people.count, by: 3).map { people[$0].homeAccountID }
    #expect(try Set(entries(nil, client: TestCache.otherClient)) == Set(written))
  }

  @Test func `No account is signed in by a guess while the shard without an account cannot be read`()
    async throws
  {
    try await test.save()
    let other = TestCache(store: test.store)
    test.store.report(StoreProblem(.damaged, shard: test.cache.commonShard, detail: "not JSON"))
    await expectCacheError(.damaged) { try await other.accounts() }
    await expectCacheError(.damaged) { try await other.state(of: alice) }
    #expect(try await other.accounts(signedInOnly: false).count == 1)
  }

  @Test func `No account is signed in by a guess while its shard cannot be read`() async throws {
    try await test.save()
    test.store.report(StoreProblem(.damaged, shard: test.shard(.alice), detail: "not JSON"))
    let snapshot = try await TestCache(store: test.store).cache.snapshot()
    #expect(throws: CacheError.self) {
      try snapshot.accountMetadata(clientID: TestCache.client, of: alice)
    }
    #expect(try snapshot.accountMetadata(clientID: TestCache.client, of: bob) == nil)
  }

  @Test func `A sign-in after a wipe counts, and a sign-out after that`() async throws {
    try await test.cache.markSignedOut([TestCache.client: [alice, bob]])
    try await test.save()
    #expect(try await test.accounts().map(\.homeAccountID) == [alice])
    #expect(try await test.state(of: bob) == .signedOut)
    try await test.cache.removeAccount(alice, clientID: TestCache.client)
    #expect(try await test.state(of: alice) == .signedOut)
    #expect(try entries(nil) == [bob])
  }

  @Test func `A wipe marks accounts of several clients at once`() async throws {
    let ids = (0..<60).map { "u\($0).t" }
    try await test.cache.markSignedOut([TestCache.client: Set(ids), TestCache.otherClient: [ids[0]]])
    #expect(test.store.updates == [[test.shard(nil)]])
    for id in ids { #expect(try await test.state(of: id) == .signedOut) }
    #expect(try await test.state(of: ids[0], client: TestCache.otherClient) == .signedOut)
    #expect(try await test.cache.snapshot().homeAccountIDsByClient[TestCache.client] == Set(ids))
  }
}
