import Foundation
import Testing

@testable import TokenCache

/// One account and client as each library files it, in one document.
private struct MixedCache {
  static let home = TestPerson.alice.homeAccountID
  static let client = TestCache.client
  static let tenant = TestPerson.alice.utid
  private static let token = "e30.e30."

  /// What Python, .NET, Go, Node and Apple's library would each have written.
  static var json: String {
    let (microsoft, windows) = ("\(home)-login.microsoftonline.com", "\(home)-login.windows.net")
    return """
      {"AccessToken": {
        "\(microsoft)-accesstoken-\(client)-common-openid user.read":
          \(accessToken("python", microsoft: true)),
        "\(windows)-accesstoken-\(client)-\(tenant)-openid user.read":
          \(accessToken("net", microsoft: false)),
        "\(windows)-accesstoken-\(client)-\(tenant)-user.read openid--":
          \(accessToken("node", microsoft: false)),
        "\(microsoft)-accesstoken-\(client)-common-user.read openid":
          \(accessToken("go", microsoft: true))},
       "RefreshToken": {
        "\(microsoft)-refreshtoken-\(client)--openid user.read":
          \(record("RefreshToken", "python", microsoft: true, #", "target": "openid User.Read", "x": 1"#)),
        "\(windows)-refreshtoken-\(client)--": \(record("RefreshToken", "net", microsoft: false)),
        "\(windows)-refreshtoken-\(client)----": \(record("RefreshToken", "node", microsoft: false)),
        "\(microsoft)-refreshtoken-\(client)": \(record("RefreshToken", "go", microsoft: true))},
       "IdToken": {
        "\(microsoft)-idtoken-\(client)-common-":
          \(record("IdToken", token, microsoft: true, #", "realm": "common""#)),
        "\(microsoft)-idtoken-\(client)-common":
          \(record("IdToken", token, microsoft: true, #", "realm": "common""#)),
        "\(windows)-idtoken-\(client)-\(tenant)---":
          \(record("IdToken", token, microsoft: false, #", "realm": "\#(tenant)""#)),
        "\(windows)-idtoken-\(client)-\(tenant)-":
          \(record("IdToken", token, microsoft: false, #", "realm": "\#(tenant)""#))},
       "Account": {
        "\(microsoft)-common": \(account("common", microsoft: true)),
        "\(windows)-\(tenant)": \(account(tenant, microsoft: false))},
       "AppMetadata": {
        "appmetadata-login.microsoftonline.com-\(client)":
          {"client_id": "\(client)", "environment": "login.microsoftonline.com"},
        "AppMetadata-login.windows.net-\(client)":
          {"client_id": "\(client)", "environment": "login.windows.net", "family_id": null}}}
      """
  }

  private static func accessToken(_ secret: String, microsoft: Bool) -> String {
    record(
      "AccessToken", secret, microsoft: microsoft,
      """
      , "realm": "\(microsoft ? "common" : tenant)", "target": "User.Read openid",
      "cached_at": "1767225000", "expires_on": "1767229000"
      """)
  }

  private static func record(_ type: String, _ secret: String, microsoft: Bool, _ more: String = "") -> String
  {
    """
    {"credential_type": "\(type)", "secret": "\(secret)", "home_account_id": "\(home)",
     "client_id": "\(client)",
     "environment": "\(microsoft ? "login.microsoftonline.com" : "login.windows.net")"\(more)}
    """
  }

  private static func account(_ realm: String, microsoft: Bool) -> String {
    """
    {"home_account_id": "\(home)",
     "environment": "\(microsoft ? "login.microsoftonline.com" : "login.windows.net")",
     "realm": "\(realm)", "username": "alice", "authority_type": "MSSTS", "account_source": "device_code"}
    """
  }
}

/// A cache that several libraries fed behaves as one.
struct MixedCacheTests {
  private func mixed() async throws -> TestCache {
    let test = TestCache()
    try await test.load(MixedCache.json)
    return test
  }

  @Test func `Five libraries make one account`() async throws {
    let test = try await mixed()
    let accounts = try await test.accounts()
    #expect(accounts.map(\.homeAccountID) == [MixedCache.home])
    #expect(accounts.first?.tenantProfiles.map(\.tenantID) == [MixedCache.tenant])
    #expect(try await test.token()?.condition == .valid)
    #expect(Set(try await test.refreshTokens()) == ["python", "net", "node", "go"])
  }

  @Test func `A save leaves one record for each thing under a key that was there`() async throws {
    let test = try await mixed()
    let before = try await test.document
    try await test.save(
      TestAnswer(scope: "openid User.Read", accessToken: "at-2", refreshToken: "rt-2"),
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
    let test = TestCache()
    let key =
      "\(MixedCache.home)-login.microsoftonline.com-refreshtoken-\(MixedCache.client)--openid user.read"
    var document = try CacheDocument(json: Data(MixedCache.json.utf8))
    document.refreshTokens = document.refreshTokens.filter { $0.key == key }
    _ = try await test.cache.import(document)
    try await test.save(TestAnswer(refreshToken: "rt-2"))
    let token = try #require(try await test.document.refreshTokens[key])
    #expect(token.secret == "rt-2")
    #expect(token.target == "openid User.Read")
    #expect(token.environment == "login.microsoftonline.com")
  }

  @Test func `Untouched records keep their keys and contents`() async throws {
    let test = try await mixed()
    try await test.save(TestAnswer(person: .bob), client: TestCache.otherClient)
    let before = try CacheDocument(json: Data(MixedCache.json.utf8))
    let after = try await test.document
    for section in CredentialSection.allCases {
      for (key, credential) in before[section] { #expect(after[section][key] == credential) }
    }
    for (key, account) in before.accounts { #expect(after.accounts[key] == account) }
    for (key, metadata) in before.appMetadata { #expect(after.appMetadata[key] == metadata) }
  }

  @Test func `Sign ing out reaches the records of every library`() async throws {
    let test = try await mixed()
    #expect(try await test.cache.removeAccount(MixedCache.home, clientID: MixedCache.client).count == 12)
    #expect(try await test.document.credentials.isEmpty)
    #expect(try await test.accounts().isEmpty)
  }

  @Test func `A family's token under Python's key is replaced there`() async throws {
    let test = TestCache()
    let key = "\(MixedCache.home)-login.microsoftonline.com-refreshtoken-\(MixedCache.client)--user.read"
    try await test.load(
      """
      {"RefreshToken": {"\(key)": {"credential_type": "RefreshToken", "secret": "old", "family_id": "1",
        "home_account_id": "\(MixedCache.home)", "environment": "login.microsoftonline.com",
        "client_id": "\(MixedCache.client)", "target": "User.Read"}}}
      """)
    #expect(try await test.refreshTokens() == ["old"])
    try await test.save(TestAnswer(refreshToken: "new", family: "1"))
    let tokens = try await test.document.refreshTokens
    #expect(tokens[key]?.secret == "new")
    #expect(tokens.count == 2)
    #expect(try await test.refreshTokens() == ["new"])
  }
}
