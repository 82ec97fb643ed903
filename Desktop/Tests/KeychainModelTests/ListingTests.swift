import FoundationEssentials
import IdentityClient
import TokenCache
import Testing

@testable import KeychainModel

struct ListingTests {
  @Test func `Apps have their tokens of all accounts`() async throws {
    let sample = SampleGroup()
    try await sample.fill()
    var document = CacheDocument()
    document.accessTokens["bob"] = sample.token(of: SampleGroup.mail, "Mail.Read", account: SampleGroup.bob)
    _ = try await sample.cache.import(document)
    let apps = try await sample.listing().apps
    #expect(apps.map(\.title) == [SampleGroup.files, SampleGroup.mail])
    let mail = try #require(apps.last)
    #expect(mail.subtitle == "2 accounts" && mail.isApp && !mail.canBeRemoved)
    #expect(Set(mail.tokens.compactMap { mail.label(of: $0) }) == ["alice@contoso.com", "bob@contoso.com"])
    #expect(apps.found(Search("bob")).map(\.id) == [mail.id])
    #expect(apps.found(Search("files.read")).map(\.title) == [SampleGroup.files])
  }

  let sample = SampleGroup()

  @Test func `Accounts are in order of names, their tokens by kind and then by expiry`() async throws {
    try await sample.fill()
    let listing = try await sample.listing()
    #expect(listing.accounts.map(\.title) == ["alice@contoso.com", "bob@contoso.com"])
    #expect(listing.accounts.map(\.subtitle) == ["Alice", "Bob"])
    let tokens = try #require(listing.accounts.first).tokens
    #expect(tokens.map(\.kind) == ["Access token", "Access token", "Refresh token"])
    #expect(tokens.map(\.scopes) == [["Files.Read"], ["Mail.Read"], []])
    #expect(tokens.map(\.tenantID) == ["contoso", "contoso", nil])
    #expect(listing.accounts.last?.tokens.isEmpty == true)
  }

  @Test func `Only a token whose client has a refresh token can be renewed`() async throws {
    try await sample.fill()
    let tokens = try #require(try await sample.listing().accounts.first).tokens
    #expect(tokens.map(\.isRenewable) == [false, true, false])
    #expect(tokens[0].renewal(at: sample.now) == "Cannot be renewed")
    #expect(tokens[1].renewal(at: sample.now) == "Can be renewed")
    #expect(tokens[2].renewal(at: sample.now) == nil)
  }

  @Test func `A token that serves no call for a bearer token is shown as such`() {
    let plain = sample.token(of: "x", "Mail.Read")
    var (bound, scheme, extra, challenge) = (plain, plain, plain, plain)
    bound.fields["credential_type"] = "AccessToken_With_AuthScheme"
    scheme.fields["token_type"] = "Pop"
    extra.fields["ext_cache_key"] = "hash"
    challenge.fields["requested_claims"] = "{}"
    let entries = [plain, challenge, bound, scheme, extra].map {
      TokenEntry(.accessToken, key: "", $0, isRenewable: true)
    }
    #expect(entries.map(\.isRenewable) == [true, true, false, false, false])
    #expect(
      Set(entries.dropFirst(2).map { $0.renewal(at: sample.now) }) == ["Serves no call for a bearer token"])
  }

  @Test(arguments: [
    ("User.Read openid profile Mail.Read", "Microsoft Graph", ["User.Read", "Mail.Read"]),
    ("openid profile", "Microsoft Graph", ["openid", "profile"]),
    ("https://graph.microsoft.com/.default", "Microsoft Graph", [".default"]),
    (
      "openid https://management.azure.com//user_impersonation", "Azure Resource Manager",
      ["user_impersonation"]
    ),
    ("499b84ac-1321-427f-aa17-267ca6975798/.default", "Azure DevOps", [".default"]),
    ("https://api.contoso.com/v1/Orders.Read", "api.contoso.com", ["Orders.Read"]),
    ("api://contoso/Orders.Read", "api://contoso", ["Orders.Read"]), ("", "Access token", []),
  ])
  func `A token is titled by its API, and shows its permissions there`(
    scopes: String, title: String, permissions: [String]
  ) {
    let token = TokenEntry(
      .accessToken, key: "", sample.token(of: "x", scopes), isRenewable: false)
    #expect((token.title, token.permissions) == (title, permissions))
  }

  @Test func `An app has its name where that is known, and the details have the rest`() async throws {
    var document = CacheDocument()
    for client in ["04B07795-8ddb-461a-bbee-02f9e1bf7b46", "00000000-aaaa"] {
      document.accessTokens[client] = sample.token(of: client, "User.Read")
    }
    _ = try await sample.cache.import(document)
    let account = try #require(try await sample.listing().accounts.first)
    #expect(account.apps == ["Azure CLI", "00000000-aaaa"])
    let token = try #require(account.tokens.first { $0.app == "Azure CLI" })
    #expect(
      token.details.map { "\($0.name): \($0.value)" } == [
        "Kind: Access token", "Scopes: User.Read", "Tenant: contoso",
        "Client ID: \(token.clientID ?? "")", "Cloud: login.microsoftonline.com",
        "Account ID: \(SampleGroup.alice)",
      ])
    #expect(try await sample.listing().accounts.found(Search("azure cli graph")).count == 1)
  }

  @Test func `A search finds accounts, and the tokens that have its other words`() async throws {
    try await sample.fill()
    let listing = try await sample.listing()
    let search = Search("ALICE files")
    let found = try #require(listing.accounts.found(search).first)
    #expect(listing.accounts.found(search).map(\.id) == [SampleGroup.alice])
    #expect(found.tokens(search).map(\.scopes) == [["Files.Read"]])
    #expect(found.tokens(Search("alice")) == found.tokens)
    #expect(listing.accounts.found(Search("alice nothing")).isEmpty)
  }

  @Test func `Filters find what has expired, and what needs a sign-in`() async throws {
    try await sample.fill()
    var listing = try await sample.listing()
    #expect(listing.accounts.found(Search(filter: .expired, at: sample.now)).isEmpty)
    let expired = Search(filter: .expired, at: sample.now + 2000)
    let alice = try #require(listing.accounts.found(expired).first)
    #expect(listing.accounts.found(expired).map(\.id) == [SampleGroup.alice])
    #expect(alice.tokens(expired).map(\.scopes) == [["Mail.Read"]])
    let needsSignIn = Search(filter: .needsSignIn, at: sample.now + 3001)
    #expect(listing.accounts.found(needsSignIn).isEmpty)
    let refreshToken = try #require(alice.tokens.first { $0.id.section == .refreshToken })
    try await sample.keychain().remove(refreshToken, in: sample.group)
    listing = try await sample.listing()
    #expect(listing.accounts.found(needsSignIn).map(\.id) == [SampleGroup.alice])
  }

  @Test(arguments: ["\u{202E}", "\u{2066}", "\u{200B}", "\n", "\u{2028}", "\u{1B}"])
  func `A character that hides, or turns the direction, is shown as such, and changes no action`(
    _ hidden: String
  ) async throws {
    var document = CacheDocument()
    for part in ["", hidden] {
      let id = "id\(part).contoso"
      var account = AccountRecord(
        homeAccountID: id, environment: "login.microsoftonline.com", realm: "contoso")
      (account.username, account.name) = ("alice\(part)", "Alice\(part)")
      document.accounts[id] = account
      var token = sample.token(of: "app\(part)", "Mail.Read", account: id)
      token.realm = "con\(part)toso"
      document.accessTokens[id] = token
    }
    _ = try await sample.cache.import(document)
    let accounts = try await sample.listing().accounts.sorted { $0.title < $1.title }
    #expect(accounts.map(\.title) == ["alice", "alice\u{FFFD}"])
    #expect(accounts.map(\.subtitle) == ["Alice", "Alice\u{FFFD}"])
    #expect(accounts.map(\.apps) == [["app"], ["app\u{FFFD}"]])
    let account = try #require(accounts.last)
    let token = try #require(account.tokens.first)
    #expect(token.app == "app\u{FFFD}")
    #expect(token.details.first { $0.name == "Tenant" }?.value == "con\u{FFFD}toso")
    try await sample.keychain().signOut(account, of: account.clientIDs, in: sample.group)
    #expect(try await sample.listing().accounts.map(\.tokens.count).sorted() == [0, 1])
  }

  @Test func `A token without an account record, and one of no account, are shown too`() async throws {
    var document = CacheDocument()
    document.accessTokens["orphan"] = sample.token(of: "a", "X", account: "Some.Account")
    document.accessTokens["app"] = sample.token(of: "b", "Y", account: nil)
    _ = try await sample.cache.import(document)
    let accounts = try await sample.listing().accounts
    #expect(accounts.map(\.title) == ["Applications", "some.account"])
    #expect(accounts.map(\.canBeRemoved) == [false, true])
    #expect(accounts.map(\.tokens.count) == [1, 1])
  }

  @Test(arguments: [
    ("https://a/x https://a/.default openid", ["https://a/.default"]),
    ("user.read Files.Read profile", ["user.read", "Files.Read"]),
  ])
  func `A renewal asks for nothing beside .default`(_ target: String, _ asked: [String]) async throws {
    var document = CacheDocument()
    document.accessTokens["a"] = sample.token(of: "a", target, account: "some.account")
    _ = try await sample.cache.import(document)
    let authority = try Authority("https://login.microsoftonline.com/common")
    let tokens = try await sample.listing().accounts.flatMap(\.tokens)
    #expect(tokens.map { authority.scopesToRenew($0.scopes, of: $0.clientID ?? "") } == [asked])
  }

  @Test(arguments: [
    ("https://login.microsoftonline.com/common", ["x"]),
    ("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi", ["x", "c"]),
  ])
  func `The client ID is a scope for Azure AD B2C alone`(_ address: String, _ asked: [String]) throws {
    #expect(try Authority(address).scopesToRenew(["x", "openid", "c"], of: "c") == asked)
  }

  @Test(arguments: [
    ("", ["alice", "bob"]), ("ALICE", ["alice"]), ("files", ["alice"]), ("mail-client contoso", ["alice"]),
    ("bob mail-client", []), ("contoso", ["alice", "bob"]), ("secret", []),
  ])
  func `A search finds every word in names, tenants, clients and scopes, but in no token`(
    text: String, names: [String]
  ) async throws {
    try await sample.fill()
    let found = try await sample.listing().accounts.found(Search(text))
    #expect(found.map(\.title) == names.map { $0 + "@contoso.com" })
  }

  @Test func `A group without accounts offers the groups that have some`() async throws {
    let (keychain, other) = (sample.keychain(), try KeychainGroup("org.example.other"))
    func emptyGroup() async throws -> EmptyGroup {
      await keychain.emptyGroup(try await keychain.listing(of: other), among: try await keychain.groups())
    }
    #expect(try await emptyGroup().reason.title == "No Accounts")
    try await sample.fill()
    let emptyGroup = try await emptyGroup()
    #expect(emptyGroup.reason.title == "No Accounts in This Group")
    #expect(emptyGroup.groupsWithAccounts == [sample.group])
  }

  @Test func `No token is in what is shown`() async throws {
    try await sample.fill()
    var text = ""
    dump(try await sample.listing(), to: &text)
    #expect(text.contains("Mail.Read"))
    #expect(!text.contains("secret-"))
  }
}
