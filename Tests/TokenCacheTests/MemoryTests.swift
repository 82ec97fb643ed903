import TestSupport

@testable import TokenCache

/// Results that an accessor remembers.
struct MemoryTests {
  private let test = TestCache()

  @Test func `A lookup is answered from memory, and by the clock`() async throws {
    try await test.save()
    _ = try await test.token()
    let reads = test.store.reads
    #expect(try await test.token()?.condition == .valid)
    #expect(try await test.token(buffer: 3601)?.condition == .expired)
    #expect(try await test.token("Mail.Read") == nil)
    test.setClock(40)
    #expect(try await test.token()?.condition == .valid)
    #expect(test.store.reads == reads)
    test.setClock(3590)
    #expect(try await test.token()?.condition == .expired)
    #expect(test.store.reads == reads + 1)
  }

  @Test func `A remembered result is dropped with the next change`() async throws {
    try await test.save()
    for _ in 0..<3 { #expect(try await test.token()?.token.secret == "at-1") }
    try await test.save(TestResponse(accessToken: "at-2"))
    for _ in 0..<3 { #expect(try await test.token()?.token.secret == "at-2") }
    // Another accessor's change.
    let other = TokenCacheAccessor(store: test.store, now: { test.now })
    try await other.removeAccount(TestPerson.alice.homeAccountID)
    for _ in 0..<3 { #expect(try await test.token() == nil) }
    try await test.save(TestResponse(accessToken: "at-3"))
    for _ in 0..<3 { #expect(try await test.token()?.token.secret == "at-3") }
  }

  @Test func `A remembered result is dropped when a cloud becomes known`() async throws {
    try await test.save(environment: "login.one.example")
    for _ in 0..<3 { #expect(try await test.token(environment: "login.two.example") == nil) }
    test.cache.insert([
      CloudInstance(
        preferredNetwork: "login.one.example", preferredCache: "login.one.example",
        aliases: ["login.two.example"])
    ])
    for _ in 0..<3 {
      #expect(try await test.token(environment: "login.two.example")?.token.secret == "at-1")
    }
  }

  @Test func `Different requests have different results`() async throws {
    try await test.save(claims: "{\"a\":1}")
    try await test.save(TestResponse(person: .bob, accessToken: "at-bob"))
    try await test.save(TestResponse(accessToken: "at-other"), client: TestCache.otherClient)
    for _ in 0..<3 {
      #expect(try await test.token()?.token.secret == "at-1")
      #expect(try await test.token(claims: "{\"a\":1}")?.token.secret == "at-1")
      #expect(try await test.token(claims: "{}") == nil)
      #expect(try await test.token(of: .bob)?.token.secret == "at-bob")
      #expect(try await test.token(client: TestCache.otherClient)?.token.secret == "at-other")
      #expect(try await test.token(realm: "another-tenant") == nil)
      #expect(try await test.token(environment: "login.microsoftonline.us") == nil)
      #expect(try await test.token(scheme: .bound(tokenType: "Pop", keyID: "k")) == nil)
    }
  }
}
