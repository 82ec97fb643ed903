import Foundation
import TestSupport

@testable import TokenCache

/// One account and client as each library writes it, in one document.
private struct MixedCache {
  static let home = TestPerson.alice.homeAccountID
  static let client = TestCache.client
  static let tenant = TestPerson.alice.home

  /// What Python, .NET, Go, Node and Apple's library would each have written.
  static var records: [SampleRecord] {
    let (microsoft, windows) = ("login.microsoftonline.com", "login.windows.net")
    return [
      accessToken("python", "\(home)-\(microsoft)-accesstoken-\(client)-common-openid user.read", microsoft),
      accessToken("net", "\(home)-\(windows)-accesstoken-\(client)-\(tenant)-openid user.read", windows),
      accessToken("node", "\(home)-\(windows)-accesstoken-\(client)-\(tenant)-user.read openid--", windows),
      accessToken("go", "\(home)-\(microsoft)-accesstoken-\(client)-common-user.read openid", microsoft),
      .alices("python", key: pythonKey, ["target": "openid User.Read", "x": .integer(1)]),
      .alices("net", key: "\(home)-\(windows)-refreshtoken-\(client)--", host: windows),
      .alices("node", key: "\(home)-\(windows)-refreshtoken-\(client)----", host: windows),
      .alices("go", key: "\(home)-\(microsoft)-refreshtoken-\(client)"),
      idToken("\(home)-\(microsoft)-idtoken-\(client)-common-", microsoft),
      idToken("\(home)-\(microsoft)-idtoken-\(client)-common", microsoft),
      idToken("\(home)-\(windows)-idtoken-\(client)-\(tenant)---", windows),
      idToken("\(home)-\(windows)-idtoken-\(client)-\(tenant)-", windows),
      account("\(home)-\(microsoft)-common", microsoft), account("\(home)-\(windows)-\(tenant)", windows),
      .appMetadata(key: "appmetadata-\(microsoft)-\(client)", client: client, host: microsoft),
      .appMetadata(
        key: "AppMetadata-\(windows)-\(client)", client: client, host: windows, ["family_id": .null]),
    ]
  }

  static let pythonKey = "\(home)-login.microsoftonline.com-refreshtoken-\(client)--openid user.read"

  private static func accessToken(_ secret: String, _ key: String, _ host: String) -> SampleRecord {
    .accessToken(
      secret, key: key, of: home, client: client, host: host, realm: realm(host), scopes: "User.Read openid",
      cachedAt: 1_767_225_000, expiresOn: 1_767_229_000)
  }

  private static func idToken(_ key: String, _ host: String) -> SampleRecord {
    .idToken("e30.e30.", key: key, of: home, client: client, host: host, realm: realm(host))
  }

  private static func account(_ key: String, _ host: String) -> SampleRecord {
    let fields: JSONObject = ["username": "alice", "account_source": "device_code"]
    return .account(home, key: key, host: host, realm: realm(host), fields)
  }

  private static func realm(_ host: String) -> String { host == "login.windows.net" ? tenant : "common" }
}

/// A cache that several libraries wrote is consistent.
struct MixedCacheTests {
  private let test = TestCache()

  @Test func `Five libraries make one account`() async throws {
    try await test.load(MixedCache.records)
    let accounts = try await test.accounts()
    #expect(accounts.map(\.homeAccountID) == [MixedCache.home])
    #expect(accounts.first?.tenantProfiles.map(\.tenantID) == [MixedCache.tenant])
    #expect(try await test.token()?.condition == .valid)
    #expect(Set(try await test.refreshTokens()) == ["python", "net", "node", "go"])
    #expect(CacheDocument(MixedCache.records).duplicateCount(in: .known) == 11)
    let tokens = ["A", "B", "b"].enumerated().map { number, scope in
      SampleRecord.alices("rt", key: "\(number)", ["target": .string(scope)])
    }
    #expect(CacheDocument(tokens).duplicateCount(in: .known) == 1)
  }

  @Test func `A refresh token is orphaned if its account has no record, not if it has none`() {
    let unowned = SampleRecord.alices("a", key: "unowned", ["home_account_id": .null])
    let document = CacheDocument([unowned, .alices("b", key: "k")])
    #expect(document.orphanedRefreshTokens == ["k"])
  }

  @Test func `A save leaves one record for each thing under a present key`() async throws {
    try await test.load(MixedCache.records)
    let before = try await test.document
    try await test.save(
      TestResponse(scope: "openid User.Read", accessToken: "at-2", refreshToken: "rt-2"),
      environment: "login.microsoftonline.com")
    let after = try await test.document
    #expect(after.accessTokens.values.map(\.secret) == ["at-2"])
    #expect(after.refreshTokens.values.map(\.secret) == ["rt-2"])
    #expect(after.refreshTokens.values.first?.fields["x"] == .integer(1))
    #expect(after.idTokens.count == 1)
    #expect(after.accounts.count == 1)
    #expect(after.accounts.values.first?.fields["account_source"] == "device_code")
    #expect(after.appMetadata.count == 1)
    #expect(after.appMetadata.values.first?.familyID == "")
    for section in CredentialSection.allCases {
      #expect(Set(before[section].keys).isSuperset(of: after[section].keys))
    }
    #expect(Set(before.accounts.keys).isSuperset(of: after.accounts.keys))
    #expect(Set(before.appMetadata.keys).isSuperset(of: after.appMetadata.keys))
    #expect(try await test.refreshTokens() == ["rt-2"])
    #expect(try await test.token()?.token.secret == "at-2")
  }

  @Test func `A replaced record still has the fields that its key was made of`() async throws {
    let key = MixedCache.pythonKey
    var document = CacheDocument(MixedCache.records)
    document.refreshTokens = document.refreshTokens.filter { $0.key == key }
    _ = try await test.cache.import(document)
    try await test.save(TestResponse(refreshToken: "rt-2"))
    let token = try #require(try await test.document.refreshTokens[key])
    #expect(token.secret == "rt-2")
    #expect(token.target == "openid User.Read")
    #expect(token.environment == "login.microsoftonline.com")
  }

  @Test func `Untouched records keep their keys and contents`() async throws {
    try await test.load(MixedCache.records)
    try await test.save(TestResponse(person: .bob), client: TestCache.otherClient)
    let before = CacheDocument(MixedCache.records)
    let after = try await test.document
    for section in CredentialSection.allCases {
      for (key, credential) in before[section] { #expect(after[section][key] == credential) }
    }
    for (key, account) in before.accounts { #expect(after.accounts[key] == account) }
    for (key, metadata) in before.appMetadata { #expect(after.appMetadata[key] == metadata) }
  }

  @Test func `A sign-out removes the records of every library`() async throws {
    try await test.load(MixedCache.records)
    #expect(try await test.cache.removeAccount(MixedCache.home, clientID: MixedCache.client).count == 12)
    #expect(try await test.document.credentials.isEmpty)
    #expect(try await test.accounts().isEmpty)
  }

  @Test func `A family's token under Python's key is replaced there`() async throws {
    let key = "\(MixedCache.home)-login.microsoftonline.com-refreshtoken-\(MixedCache.client)--user.read"
    try await test.load([.alices("old", key: key, family: "1", ["target": "User.Read"])])
    #expect(try await test.refreshTokens() == ["old"])
    try await test.save(TestResponse(refreshToken: "new", family: "1"))
    let tokens = try await test.document.refreshTokens
    #expect(tokens[key]?.secret == "new")
    #expect(tokens.count == 1)
    #expect(try await test.refreshTokens() == ["new"])
  }
}
