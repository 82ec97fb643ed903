import Testing

@testable import TokenCache

/// Answers that an accessor remembers.
struct MemoryTests {
  @Test func `A lookup is answered from memory, and by the clock`() async throws {
    let cache = TestCache()
    try await cache.save()
    _ = try await cache.token()
    let reads = cache.store.reads
    #expect(try await cache.token()?.condition == .valid)
    #expect(try await cache.token(buffer: 3601)?.condition == .expired)
    #expect(try await cache.token("Mail.Read") == nil)
    cache.setClock(40)
    #expect(try await cache.token()?.condition == .valid)
    #expect(cache.store.reads == reads)
    cache.setClock(3590)
    #expect(try await cache.token()?.condition == .expired)
    #expect(cache.store.reads == reads + 1)
  }

  @Test func `A remembered answer goes with the next change`() async throws {
    let cache = TestCache()
    try await cache.save()
    for _ in 0..<3 { #expect(try await cache.token()?.token.secret == "at-1") }
    try await cache.save(TestAnswer(accessToken: "at-2"))
    for _ in 0..<3 { #expect(try await cache.token()?.token.secret == "at-2") }
    // Somebody else's change.
    let other = TokenCacheAccessor(store: cache.store, now: { cache.now })
    try await other.removeAccount(TestPerson.alice.homeAccountID)
    for _ in 0..<3 { #expect(try await cache.token() == nil) }
    try await cache.save(TestAnswer(accessToken: "at-3"))
    for _ in 0..<3 { #expect(try await cache.token()?.token.secret == "at-3") }
  }

  @Test func `A remembered answer goes when a cloud becomes known`() async throws {
    let cache = TestCache()
    try await cache.save(environment: "login.one.example")
    for _ in 0..<3 { #expect(try await cache.token(environment: "login.two.example") == nil) }
    cache.cache.insert([
      CloudInstance(
        preferredNetwork: "login.one.example", preferredCache: "login.one.example",
        aliases: ["login.two.example"])
    ])
    for _ in 0..<3 {
      #expect(try await cache.token(environment: "login.two.example")?.token.secret == "at-1")
    }
  }

  @Test func `Requests that differ have answers of their own`() async throws {
    let cache = TestCache()
    // In this order: a token that was asked with claims replaces one that was not.
    try await cache.save(TestAnswer(accessToken: "at-claims"), claims: "{\"a\":1}")
    try await cache.save()
    try await cache.save(TestAnswer(person: .bob, accessToken: "at-bob"))
    try await cache.save(TestAnswer(accessToken: "at-other"), client: TestCache.otherClient)
    for _ in 0..<3 {
      #expect(try await cache.token()?.token.secret == "at-1")
      #expect(try await cache.token(claims: "{\"a\":1}")?.token.secret == "at-claims")
      #expect(try await cache.token(of: .bob)?.token.secret == "at-bob")
      #expect(try await cache.token(client: TestCache.otherClient)?.token.secret == "at-other")
      #expect(try await cache.token(realm: "another-tenant") == nil)
      #expect(try await cache.token(environment: "login.microsoftonline.us") == nil)
      #expect(try await cache.token(scheme: .bound(tokenType: "Pop", keyID: "k")) == nil)
    }
  }
}
