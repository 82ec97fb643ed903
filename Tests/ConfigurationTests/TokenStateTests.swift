import Configuration
import TestSupport

/// The state of access tokens.
struct TokenStateTests {
  @Test func `A name shows where it has what is invisible`() {
    #expect(printable("a\u{202E}b\n") == "a\u{FFFD}b\u{FFFD}")
    #expect(printable("a\u{202E}\nb", isName: false) == "a b")
  }

  @Test(
    .fault("not served"),
    arguments: [
      ([:], .valid), (["token_type": "Bearer", "requested_claims": "{}"], .valid),
      // In ten years, and a day later.
      (["expires_on": "2082585600"], .valid), (["expires_on": "2082672000"], .expired),
      (["expires_on": "1767225599"], .expired), (["expires_on": "1767225600"], .valid),
      (["cached_at": "1767225700"], .expired),
      (["expires_on": "1767225500", "extended_expires_on": "1767225700"], .extended),
      (["token_type": "Pop", "kid": "k"], .unusable), (["ext_cache_key": "hash"], .unusable),
      (["application_cache_identifier": "app"], .unusable), (["home_account_id": "v.t"], .unusable),
      (["credential_type": "LegacySingleResourceToken"], .unusable), (["target": " "], .unusable),
      (["home_account_id": .null], .valid),
    ] as [(JSONObject, RecordSummary.State)])
  func `A token is valid if and only if a lookup returns it`(
    _ fields: JSONObject, _ state: RecordSummary.State
  ) async throws {
    let now = Date(timeIntervalSince1970: 1_767_225_600)
    let document = CacheDocument([
      .accessToken("at", cachedAt: 1_767_225_000, expiresOn: 1_767_229_200, fields),
      .account(key: "account"),
    ])
    let shown = document.listed(at: now).compactMap(\.summary.state)
    #expect(shown == [state])
    #expect(document.listed(at: now).map(\.isCredential) == [false, true])
    let hash = sha256Hex("Account\naccount")
    let account = try #require(document.listed(at: now).first).summary
    #expect([account.id, account.shortID] == [String(hash.prefix(12)), String(hash.prefix(8))])
    let cache = TokenCacheAccessor(store: InMemoryStore()) { now }
    _ = try await cache.import(document)
    let token = document.accessTokens.values.first
    let found = try await cache.accessToken(
      for: TokenLookup(homeAccountID: token?.homeAccountID, environment: "e", clientID: "c", realm: "t"),
      expirationBuffer: 0)
    #expect((found?.condition == .valid) == (state == .valid))
  }
}
