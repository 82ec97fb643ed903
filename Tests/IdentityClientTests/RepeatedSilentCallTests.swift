import Foundation
import TestSupport

@testable import IdentityClient

/// A silent call that the cache has answered before is answered without another look at its records.
struct RepeatedSilentCallTests {
  let test: TestClient
  let account: Account

  init() async throws {
    test = TestClient()
    account = try await test.signIn().account
    for _ in 0..<3 { #expect(try await test.silent(account).accessToken == "access-1") }
    #expect(try remembered(SilentRequest(scopes: ["User.Read"], account: account)))
  }

  /// Whether the client would answer a call from its memory.
  private func remembered(_ request: SilentRequest) throws -> Bool {
    test.client.rememberedResult(of: request)?.accessToken == "access-1"
  }

  @Test func `A repeated call has its own correlation id, and is logged as the first`()
    async throws
  {
    let before = test.log.count(of: "The token came from the cache.")
    let first = try await test.silent(account)
    let second = try await test.silent(account)
    #expect(first.correlationID != second.correlationID)
    #expect(test.log.count(of: "The token came from the cache.") == before + 2)
    #expect(test.log.text.contains(second.correlationID.text))
    let result = try #require(
      try await test.client.acquireTokenFromCache(SilentRequest(scopes: ["User.Read"], account: account)))
    #expect(result.source == .cache && result.account == account && result.scopes.contains("User.Read"))
  }

  @Test(arguments: [3301.0, -60, 7200])
  func `A repeated call notices that its token is not fresh any more`(seconds: Double) async throws {
    test.clock.advance(seconds)
    test.transport.answerTokens(test.tokens())
    #expect(try await test.silent(account).accessToken == "access-2")
  }

  @Test func `A repeated call notices that the server asked for a renewal by now`() async throws {
    test.transport.answerTokens(
      test.tokens("due", changing: ["refresh_in": .integer(30)]), test.tokens("renewed"))
    _ = try await test.renew(account)
    for _ in 0..<3 { #expect(try await test.silent(account).accessToken == "due") }
    test.clock.advance(31)
    #expect(try await test.silent(account).accessToken == "renewed")
  }

  @Test func `A repeated call notices a new token of another process`() async throws {
    let bob = try await test.signIn(.bob, changing: ["access_token": "of bob"]).account
    for account in [account, bob, account] { _ = try await test.silent(account) }
    _ = try await test.silent(bob)
    #expect(try remembered(SilentRequest(scopes: ["User.Read"], account: account)))
    let other = test.another()
    other.transport.answerTokens(test.tokens())
    _ = try await other.renew(account)
    for _ in 0..<3 { #expect(try await test.silent(bob).accessToken == "of bob") }
    for _ in 0..<3 { #expect(try await test.silent(account).accessToken == "access-2") }
  }

  @Test func `A repeated call notices that the account was signed out by another process`() async throws {
    let other = test.another()
    try await other.client.remove(account)
    await expectError(.interactionRequired) { try await test.silent(account) }
  }

  @Test func `A repeated call reads the cache again after the revalidation interval`() async throws {
    let before = test.store.reads
    #expect(try await test.silent(account).source == .cache)
    #expect(test.store.reads == before)
    test.clock.advance(TokenCacheAccessor.revalidationInterval + 1)
    #expect(try await test.silent(account).source == .cache)
    #expect(test.store.reads > before)
  }

  @Test func `The memory for results is bounded`() async throws {
    let (result, now) = (try await test.silent(account), test.clock.now)
    var results = SilentResults()
    let calls = (1...20_001).compactMap {
      SilentResults.Call(SilentRequest(scopes: ["\($0)"], account: account))
    }
    for call in calls { results.remember(result, of: call, version: 1, validity: now...now) }
    let kept = [0, 19_999, 20_000].map { results.result(of: calls[$0], version: 1, at: now) != nil }
    #expect(kept == [false, false, true])
  }

  @Test func `A call that differs is not answered by the result of another`() async throws {
    func request(_ change: (inout SilentRequest) throws -> Void) rethrows -> SilentRequest {
      var request = SilentRequest(scopes: ["User.Read"], account: account)
      try change(&request)
      return request
    }
    let guest = Authority.entra("33333333-3333-3333-3333-333333333333")
    let claims = try ClaimsRequest(json: #"{"access_token":{"nbf":{"essential":true}}}"#)
    let bob = try await test.signIn(.bob, changing: ["access_token": "of bob"]).account
    let differing = [
      request { $0.forceRefresh = true }, request { $0.claims = claims },
      request { $0.scopes = ["Mail.Read"] },
      request { $0.scopes += ["Mail.Read"] }, request { $0.extraQueryParameters = ["dc": "1"] },
      request { $0.authority = guest }, request { $0.account = bob },
      request { $0.authenticationScheme = PopScheme(httpMethod: nil, url: URL(filePath: "/")) },
    ]
    #expect(try await test.silent(account).accessToken == "access-1")
    #expect(try await test.silent(account).accessToken == "access-1")
    #expect(try remembered(request { _ in }))
    for request in differing { #expect(try !remembered(request), "\(request)") }
  }
}
