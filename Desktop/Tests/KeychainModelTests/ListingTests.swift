import FoundationEssentials
import TokenCache
import Testing

@testable import KeychainModel

struct ListingTests {
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
    ("", ["alice", "bob"]), ("ALICE", ["alice"]), ("files", ["alice"]), ("mail-client contoso", ["alice"]),
    ("bob mail-client", []), ("contoso", ["alice", "bob"]), ("secret", []),
  ])
  func `A search finds every word in names, tenants, clients and scopes, but in no token`(
    text: String, names: [String]
  ) async throws {
    try await sample.fill()
    let found = try await sample.listing().accounts(matching: text)
    #expect(found.map(\.title) == names.map { $0 + "@contoso.com" })
  }

  @Test func `No token is in what is shown`() async throws {
    try await sample.fill()
    var text = ""
    dump(try await sample.listing(), to: &text)
    #expect(text.contains("Mail.Read"))
    #expect(!text.contains("secret-"))
  }
}
