import FoundationEssentials
import TokenCache
import Testing

@testable import KeychainModel

struct ActionTests {
  let sample = SampleGroup()

  @Test func `A token is returned on request, and not after it was removed`() async throws {
    try await sample.fill()
    let keychain = sample.keychain()
    let token = try #require(try await sample.listing().accounts.first?.tokens.first)
    #expect(try await keychain.secret(of: token, in: sample.group) == "secret-files-client")
    try await keychain.remove(token, in: sample.group)
    await #expect(throws: Trouble.gone) { try await keychain.secret(of: token, in: sample.group) }
    await #expect(throws: Trouble.gone) { try await keychain.remove(token, in: sample.group) }
    #expect(try await sample.listing().accounts.first?.tokens.map(\.scopes) == [["Mail.Read"], []])
  }

  /// Puts a token of an account into a shard, as a program that ignores the format's rules may do.
  private func put(_ account: String, intoShardOf owner: String) throws {
    let token = sample.token(of: SampleGroup.mail, "Mail.Read", account: account)
    let shard = ShardID(homeAccountID: owner, group: sample.group)
    try sample.store.update([shard], in: sample.group) { $0[shard].accessTokens["token"] = token }
  }

  private func tokens() async throws -> [TokenEntry] {
    try await sample.listing().accounts.flatMap(\.tokens)
  }

  @Test func `Each of two accounts' tokens with one key is removed`() async throws {
    for id in [SampleGroup.alice, SampleGroup.bob] { try put(id, intoShardOf: id) }
    // The list gives one of them another key.
    for hasOwnKey in [false, true] {
      let token = try #require(try await tokens().first { ($0.id.key == "token") == hasOwnKey })
      try await sample.keychain().remove(token, in: sample.group)
    }
    #expect(try await tokens().isEmpty)
  }

  @Test func `A token that has the key of a removed one is not taken for it`() async throws {
    for id in [SampleGroup.alice, SampleGroup.bob] { try put(id, intoShardOf: id) }
    let keychain = sample.keychain()
    let token = try #require(try await tokens().first { $0.id.key == "token" })
    try await keychain.remove(token, in: sample.group)
    await #expect(throws: Trouble.gone) { try await keychain.secret(of: token, in: sample.group) }
    await #expect(throws: Trouble.gone) { try await keychain.remove(token, in: sample.group) }
    #expect(try await tokens().map(\.id) == [token.id])
  }

  @Test func `A token in another account's shard is removed`() async throws {
    try put(SampleGroup.alice, intoShardOf: SampleGroup.bob)
    let token = try #require(try await tokens().first)
    try await sample.keychain().remove(token, in: sample.group)
    #expect(try await tokens().isEmpty)
  }

  @Test func `Signing out removes the tokens of the named clients, and keeps the account`()
    async throws
  {
    try await sample.fill()
    let keychain = sample.keychain()
    let alice = try #require(try await sample.listing().accounts.first)
    #expect(alice.clientIDs == [SampleGroup.files, SampleGroup.mail])
    try await keychain.signOut(alice, of: [SampleGroup.mail], in: sample.group)
    #expect(try await sample.listing().accounts.first?.clientIDs == [SampleGroup.files])
    try await keychain.signOut(alice, of: alice.clientIDs, in: sample.group)
    let accounts = try await sample.listing().accounts
    #expect(accounts.map(\.id) == [SampleGroup.alice, SampleGroup.bob])
    #expect(accounts.map(\.tokens.count) == [0, 0])
  }

  @Test func `Signing out removes tokens without an account record`() async throws {
    var document = CacheDocument()
    document.accessTokens["orphan"] = sample.token(of: "a", "X", account: "some.account")
    _ = try await sample.cache.import(document)
    let orphan = try #require(try await sample.listing().accounts.first)
    try await sample.keychain().signOut(orphan, of: orphan.clientIDs, in: sample.group)
    #expect(try await sample.listing().accounts.isEmpty)
    await #expect(throws: Trouble.self) {
      try await sample.keychain().signOut(orphan, of: orphan.clientIDs, in: sample.group)
    }
  }

  @Test func `A keyring that asks before each change may do so for what the person does`() async throws {
    try await sample.fill()
    func keychain(mayPrompt: Bool) -> Keychain {
      Keychain(
        environment: [:], store: AskingStore(store: sample.store, mayPrompt: false),
        promptingStore: AskingStore(store: sample.store, mayPrompt: mayPrompt))
    }
    let alice = try #require(try await keychain(mayPrompt: false).listing(of: sample.group).accounts.first)
    let refused = await #expect(throws: Trouble.self) {
      try await keychain(mayPrompt: false).remove(alice.tokens[0], in: sample.group)
    }
    #expect(refused?.title == "The Keyring Asks First")
    let keychain = keychain(mayPrompt: true)
    try await keychain.remove(alice.tokens[0], in: sample.group)
    try await keychain.signOut(alice, of: alice.clientIDs, in: sample.group)
    try await keychain.remove(alice, in: sample.group)
    try await keychain.removeDamaged(in: sample.group)
    #expect(try await sample.listing().accounts.map(\.id) == [SampleGroup.bob])
  }

  @Test func `Removing an account leaves the others`() async throws {
    try await sample.fill()
    let alice = try #require(try await sample.listing().accounts.first)
    try await sample.keychain().remove(alice, in: sample.group)
    #expect(try await sample.listing().accounts.map(\.id) == [SampleGroup.bob])
  }

  @Test func `A token whose account was removed is not renewed, and no server is asked`() async throws {
    try await sample.fill()
    let alice = try #require(try await sample.listing().accounts.first)
    try await sample.keychain().remove(alice, in: sample.group)
    await #expect(throws: Trouble.gone) {
      try await sample.keychain().renew(alice.tokens[1], in: sample.group)
    }
  }

  @Test func `A token without an account record cannot be renewed, and does not count as removed`()
    async throws
  {
    var document = CacheDocument()
    document.accessTokens["orphan"] = sample.token(of: SampleGroup.mail, "Mail.Read")
    document.refreshTokens["refresh"] = Credential(
      type: .refreshToken, homeAccountID: SampleGroup.alice, environment: "login.microsoftonline.com",
      clientID: SampleGroup.mail, secret: "secret-refresh")
    _ = try await sample.cache.import(document)
    let orphan = try #require(try await tokens().first { $0.id.section == .accessToken })
    #expect(!orphan.isRenewable)
    let trouble = await #expect(throws: Trouble.self) {
      try await sample.keychain().renew(orphan, in: sample.group)
    }
    #expect(trouble?.title == "A New Sign-In Is Needed")
  }

  @Test(.timeLimit(.minutes(5))) func `Another program's change is announced`() async throws {
    try await sample.fill()
    let keychain = sample.keychain()
    let known = await keychain.generation(of: sample.group)
    // Also one that comes between the reading and the watch.
    _ = try await sample.cache.removeAccount(SampleGroup.alice)
    var changes = keychain.changes(of: sample.group, since: known, every: .milliseconds(1), limit: .max)
      .makeAsyncIterator()
    #expect(await changes.next() != nil)
  }

  @Test(.timeLimit(.minutes(5))) func `Without an announcement the group is read again after a while`()
    async throws
  {
    var changes = sample.keychain().changes(of: sample.group, since: nil, every: .milliseconds(1), limit: 3)
      .makeAsyncIterator()
    #expect(await changes.next() != nil)
    #expect(await changes.next() != nil)
  }

  @Test(arguments: [true, false])
  func `A plaintext cache moves into a group, and its file is removed only on request`(isRemoved: Bool)
    async throws
  {
    let home = FileManager.default.temporaryDirectory.path + "/llavero-\(UUID().uuidString)"
    let file = home + "/.azure/msal_token_cache.json"
    try FileManager.default.createDirectory(atPath: home + "/.azure", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: home) }
    var document = CacheDocument()
    document.accessTokens["token"] = sample.token(of: "cli", "Management")
    try document.json().write(to: URL(filePath: file))

    let keychain = sample.keychain(["HOME": home])
    let cache = try #require(await keychain.plaintextCaches().first)
    #expect((cache.path, cache.recordCount) == (file, 1))
    let adoption = try await keychain.adopt(cache, into: sample.group, removing: isRemoved)
    #expect(adoption == (1, isRemoved))
    #expect(FileManager.default.fileExists(atPath: file) != isRemoved)
    #expect(await keychain.plaintextCaches().isEmpty == isRemoved)
    let tokens = try await sample.listing().accounts.flatMap(\.tokens)
    #expect(tokens.map(\.clientID) == ["cli"])
  }
}
