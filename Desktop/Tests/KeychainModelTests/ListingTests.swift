import FoundationEssentials
import TokenCache
import Testing

@testable import KeychainModel

struct ListingTests {
  let sample = SampleGroup()

  @Test func `Accounts stand by their names, their tokens by kind and then by their end`() async throws {
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
    document.accessTokens["orphan"] = sample.token(of: "a", "X", account: "Nobody.Known")
    document.accessTokens["app"] = sample.token(of: "b", "Y", account: nil)
    _ = try await sample.cache.import(document)
    let accounts = try await sample.listing().accounts
    #expect(accounts.map(\.title) == ["Applications", "nobody.known"])
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

  @Test(
    arguments: [
      (3600.0, 3600.0, "60 minutes left", 1.0), (7200, 3600, "2 hours left", 1),
      (1800, 3600, "30 minutes left", 0.5),
      (90, 3600, "90 seconds left", 0.025), (1, 3600, "1 second left", 1.0 / 3600),
      (0, 3600, "Expired 0 seconds ago", 0),
      (-7200, 3600, "Expired 2 hours ago", 0), (1e18, 3600, "ages left", 1), (10, 0, "10 seconds left", 1),
    ] as [(Double, Double, String, Double)])
  func `The time left is told in words and as a part of the whole`(
    left: Double, whole: Double, text: String, fraction: Double
  ) {
    let end = sample.now + left
    let time = TimeLeft(until: end, from: end - whole, at: sample.now)
    #expect(time.text == text)
    #expect(abs(time.fraction - fraction) < 0.000_1)
    #expect(time.isOver == (left <= 0))
  }
}
