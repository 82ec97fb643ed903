import Foundation

@testable import TokenCache
import TestSupport

/// Caches as other MSAL libraries write them.
struct FixtureTests {
  @Test(arguments: SharedFiles.caches)
  func `There are caches in the folder`(_ folder: URL) { #expect(!PeerCache.files(in: folder).isEmpty) }

  @Test(arguments: PeerCache.all)
  func `A document keeps the whole cache`(_ fixture: PeerCache) throws {
    let document = try CacheDocument(json: fixture.data)
    #expect(try plain(document) == original(fixture))
    #expect(try CacheDocument(json: document.json()) == document)
  }

  @Test(arguments: PeerCache.all)
  func `A group keeps the whole cache however often it is imported`(_ fixture: PeerCache) async throws {
    let document = try CacheDocument(json: fixture.data)
    let cache = TokenCacheAccessor(store: InMemoryStore())
    let summary = try await cache.import(document)
    #expect(summary == ImportSummary(saved: document.recordCount, kept: 0))
    #expect(try plain(await cache.snapshot().document) == original(fixture))
    for _ in 1...3 {
      let generation = cache.store.generation(of: cache.group)
      let summary = try await cache.import(document)
      #expect(summary == ImportSummary(saved: 0, kept: document.recordCount))
      #expect(cache.store.generation(of: cache.group) == generation)
      #expect(try plain(await cache.snapshot().document) == original(fixture))
    }
  }

  @Test(arguments: PeerCache.all)
  func `Every account is listed once`(_ fixture: PeerCache) async throws {
    let cache = try await group(with: fixture)
    let listed = try await cache.accounts(AccountFilter(signedInOnly: false)).map(\.homeAccountID)
    #expect(listed.sorted() == Set(records("Account", of: fixture).compactMap(\.homeAccountID)).sorted())
    for id in listed {
      let accounts = try await cache.accounts(AccountFilter(homeAccountID: id.uppercased()))
      #expect(accounts.map(\.homeAccountID) == [id])
    }
  }

  @Test(arguments: PeerCache.all)
  func `Every access token of an account is found`(_ fixture: PeerCache) async throws {
    let clock = Mutex(Date(timeIntervalSince1970: 0))
    let cache = try await group(with: fixture) { clock.withLock { $0 } }
    let accounts = Set(records("Account", of: fixture).compactMap(\.homeAccountID))
    let idTokens = records("IdToken", of: fixture)
    let accessTokens = records("AccessToken", of: fixture)
    for record in accessTokens where record.isOrdinary {
      guard let id = record.homeAccountID else { continue }
      // A token whose account or ID token is not there is not of a known account.
      guard accounts.contains(id), idTokens.contains(where: { $0.matchesSignIn(of: record) }) else {
        continue
      }
      let lifetime = try #require(record.lifetime)
      clock.withLock { $0 = lifetime.middle }
      for environment in CloudInstances.known.aliases(of: record["environment"] ?? "") {
        for scope in record.scopes {
          let request = TokenLookup(
            homeAccountID: id.uppercased(), environment: environment, clientID: record["client_id"] ?? "",
            realm: record.isOfHomeTenant ? nil : record["realm"], scopes: [scope.uppercased()],
            scheme: record.scheme)
          let found = try await cache.accessToken(for: request, expirationBuffer: 0)
          let comment = Comment(rawValue: "\(record.key) by \(scope) at \(environment)")
          let candidates = accessTokens.filter { $0.serves(scope, like: record) }
          #expect(candidates.contains { $0["secret"] == found?.token.secret }, comment)
          #expect(found?.account?.homeAccountID == id, comment)
          if lifetime.isPlausible {
            #expect(found.map { [.valid, .needsRefresh].contains($0.condition) } == true, comment)
          }
        }
      }
    }
  }

  @Test(arguments: PeerCache.all)
  func `The tokens of applications are found`(_ fixture: PeerCache) async throws {
    let clock = Mutex(Date(timeIntervalSince1970: 0))
    let cache = try await group(with: fixture) { clock.withLock { $0 } }
    for record in records("AccessToken", of: fixture) where record.homeAccountID == nil && record.isOrdinary {
      clock.withLock { $0 = record.lifetime?.middle ?? $0 }
      let request = TokenLookup(
        homeAccountID: nil, environment: record["environment"] ?? "", clientID: record["client_id"] ?? "",
        realm: record["realm"], scopes: record.scopes)
      #expect(try await cache.accessToken(for: request)?.token.secret == record["secret"])
    }
  }

  @Test(arguments: PeerCache.all)
  func `Every refresh token is found`(_ fixture: PeerCache) async throws {
    let cache = try await group(with: fixture)
    for record in records("RefreshToken", of: fixture) {
      for environment in CloudInstances.known.aliases(of: record["environment"] ?? "") {
        let request = TokenLookup(
          homeAccountID: record.homeAccountID, environment: environment, clientID: record["client_id"] ?? "")
        let found = try await cache.refreshTokens(for: request)
        #expect(found.contains { $0.secret == record["secret"] }, Comment(rawValue: record.key))
      }
    }
  }

  private func original(_ fixture: PeerCache) throws -> PlainJSON {
    try PlainJSON(fixture.data).cacheWithoutEmptySections
  }

  private func plain(_ document: CacheDocument) throws -> PlainJSON { try PlainJSON(document.json()) }

  private func group(
    with fixture: PeerCache, now: @escaping @Sendable () -> Date = { Date() }
  ) async throws -> TokenCacheAccessor {
    let cache = TokenCacheAccessor(store: InMemoryStore(), now: now)
    _ = try await cache.import(CacheDocument(json: fixture.data))
    return cache
  }

  private func records(_ section: String, of fixture: PeerCache) -> [FixtureRecord] {
    ((try? PlainJSON(fixture.data))?[section]?.members ?? [:]).sorted { $0.key < $1.key }
      .map { FixtureRecord(key: $0.key, fields: $0.value) }
  }
}

/// A record of a fixture, as it stands in the file.
private struct FixtureRecord {
  let key: String
  let fields: PlainJSON

  subscript(name: String) -> String? { fields[name]?.text }

  var homeAccountID: String? { self["home_account_id"]?.lowercased() }
  var scopes: [String] { (self["target"] ?? "").split(separator: " ").map(String.init) }

  /// Whether the token was asked for without further parameters, which have a part in its identity.
  var isOrdinary: Bool {
    fields["ext_cache_key"] == nil && fields["ext"] == nil && self["requested_claims"] == nil
      && ["accesstoken", "accesstoken_with_authscheme"].contains(self["credential_type"]?.lowercased())
  }

  var isOfHomeTenant: Bool {
    let realm = (self["realm"] ?? "").lowercased()
    return ["common", "organizations", "consumers"].contains(realm)
      || homeAccountID?.hasSuffix(".\(realm)") == true
  }

  var scheme: AuthenticationScheme {
    guard let type = self["token_type"], type.lowercased() != "bearer" else { return .bearer }
    return .bound(tokenType: type, keyID: self["kid"] ?? self["key_id"] ?? self["keyid"] ?? "")
  }

  /// The time in the middle of the token's life, and whether it ever lived.
  var lifetime: (middle: Date, isPlausible: Bool)? {
    func seconds(_ name: String) -> Double? {
      self[name].flatMap(Double.init)
        ?? {
          if case .number(let number) = fields[name] { Double(number) } else { nil }
        }()
    }
    guard let start = seconds("cached_at"), let end = seconds("expires_on") else { return nil }
    return (Date(timeIntervalSince1970: (start + end) / 2), start < end)
  }

  func matchesSignIn(of other: FixtureRecord) -> Bool {
    homeAccountID == other.homeAccountID && self["client_id"] == other["client_id"]
      && (self["realm"] == other["realm"] || isOfHomeTenant && other.isOfHomeTenant)
      && CloudInstances.known.canonical(self["environment"] ?? "")
        == CloudInstances.known.canonical(other["environment"] ?? "")
  }

  func serves(_ scope: String, like other: FixtureRecord) -> Bool {
    isOrdinary && matchesSignIn(of: other) && scopes.contains { $0.lowercased() == scope.lowercased() }
  }
}
