import TestSupport

@testable import TokenCache

/// The names of groups and of their shards.
struct NameTests {
  @Test(
    arguments: [
      "com.example", "com.microsoft.identity.universalstorage", "a.b", "com.Example.my-app_2", "0.1",
      String(repeating: "a", count: 253) + ".b",
    ].abbreviated)
  func `A group is named in reverse-DNS form`(_ name: Named<String>) throws {
    let name = name.value
    #expect(try KeychainGroup(name).name == name)
  }

  @Test(
    arguments: [
      "", "com", ".", "com.", ".com", "com..example", "com.-a", "com._a", "com.exa mple", "com.ex/ample",
      "com.exämple",
      "com.example\n", "com.example\0", "com.*", "../com.example", "com.１",
      String(repeating: "a", count: 254) + ".b",
    ].abbreviated)
  func `Other names are refused`(_ name: Named<String>) {
    let name = name.value
    #expect(throws: CacheError(.invalidGroup, "")) { try KeychainGroup(name) }
  }

  @Test func `The default group is that of MSAL for macOS`() throws {
    #expect(try KeychainGroup("com.microsoft.identity.universalstorage") == .default)
  }

  /// `printf 'com.microsoft.identity.universalstorage\nuid.utid' | sha256sum`, the first half.
  @Test func `A shard is named by a hash of group and account`() throws {
    #expect(
      ShardID(homeAccountID: "uid.utid", group: .default).rawValue == "dce094b8f6535289c0cc13f579e57aaf")
    #expect(
      ShardID(homeAccountID: " UID.utid\n", group: .default).rawValue == "dce094b8f6535289c0cc13f579e57aaf")
    #expect(ShardID(homeAccountID: nil, group: .default).rawValue == "0d6999ca465e54fa923ad3b2a9294986")
    #expect(ShardID(homeAccountID: "", group: .default) == ShardID(homeAccountID: nil, group: .default))
    #expect(
      ShardID(homeAccountID: "uid.utid", group: try KeychainGroup("com.example")).rawValue
        != "dce094b8f6535289c0cc13f579e57aaf")
  }

  @Test(
    arguments: [
      ("{}", nil), (#"{"X": 1}"#, ""), (#"{"Account": {"k": 1}}"#, ""),
      (#"{"Account": {"k": {"home_account_id": "u.t"}}}"#, "u.t"),
      (#"{"X": 1, "Account": {"k": {"home_account_id": "u.t"}}}"#, nil),
      (#"{"Account": {"k": {"home_account_id": "u.t"}, "l": 1}}"#, nil),
    ] as [(String, String?)])
  func `Records of one account belong to its shard, and others to none`(
    _ json: String, _ owner: String?
  ) throws {
    let shard = owner.map { ShardID(homeAccountID: $0, group: .default) }
    #expect(try CacheDocument(json).shard(in: .default) == shard)
  }

  @Test(arguments: [
    ("common", "uid.utid", "utid"), ("Organizations", "uid.UTID", "utid"),
    ("consumers", "uid.utid", Tenant.personalAccounts),
    ("contoso.com", "uid.utid", "contoso.com"), ("common", "subject", "common"), ("", "uid.utid", ""),
    ("common", "joe@adfs.example", "common"), ("ADFS", "subject", ""),
    ("contoso.onmicrosoft.com", "uid-b2c_1_policy.utid", "utid"), ("B2C_1A_x", "uid-B2C_1A_x.UTID", "utid"),
    ("guest", "first_name.utid", "guest"),
  ])
  func `A realm stands for a tenant`(_ realm: String, _ account: String, _ tenant: String) {
    #expect(Tenant.resolve(realm: realm, homeAccountID: account) == tenant)
  }

  @Test func `The cache's host comes first among aliases, and then the given one`() {
    #expect(
      CloudInstances.known.aliases(of: "LOGIN.microsoftonline.com")
        == ["login.windows.net", "login.microsoftonline.com", "login.microsoft.com", "sts.windows.net"])
    #expect(
      CloudInstances.known.aliases(of: "sts.windows.net")
        == ["login.windows.net", "sts.windows.net", "login.microsoftonline.com", "login.microsoft.com"])
    #expect(CloudInstances.known.aliases(of: "contoso.b2clogin.com") == ["contoso.b2clogin.com"])
    #expect(CloudInstances([]).aliases(of: "login.windows.net") == ["login.windows.net"])
  }
}
