import Foundation
import TestSupport

@testable import TokenCache

/// Details of `CacheFormat.md` that another implementation would have to guess.
struct FormatTests {
  private let test = TestCache()

  @Test(arguments: [
    ("ΟΔΟΣ", "οδοσ"), ("İ", "i\u{307}"), ("\u{A0}\u{3000}\u{2028}\u{85}Ab\u{1680}\n", "ab"),
    ("\u{200B}A", "\u{200B}a"),
    (" \u{301}A", "\u{301}a"), ("\u{1D}\u{1F}A", "\u{1D}\u{1F}a"), ("STRASSE ẞ", "strasse ß"), (" \t ", ""),
  ])
  func `A text is normalized scalar by scalar`(_ text: String, _ normalized: String) {
    #expect(Array(text.normalized.unicodeScalars) == Array(normalized.unicodeScalars))
    #expect((Optional(text).nonBlank == nil) == normalized.isEmpty)
    #expect(text.hasWhitespace == (ScopeSet.list("a\(text)a").count > 1))
  }

  @Test func `Scopes are separated by white space of any kind`() {
    #expect(ScopeSet("A\u{A0}b \u{301}c\td").scopes == ["a", "b", "\u{301}c", "d"])
  }

  @Test(
    .fault("two spellings"),
    arguments: [
      ("\u{E9}.t", "e\u{301}.t"), ("E\u{301}\u{327}.t", "\u{229}\u{301}.t"), ("\u{212B}.t", "\u{E5}.t"),
      ("\u{1100}\u{1161}\0e\u{301}", "\u{AC00}\0\u{E9}"),
    ])
  func `Equal ids have one shard, whatever their Unicode form`(_ one: String, _ other: String) {
    #expect(
      ShardID(homeAccountID: one, group: .default) == ShardID(homeAccountID: other, group: .default))
  }

  @Test(
    .fault("hosts joined"),
    arguments: [
      ["login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"],
      ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"],
      ["login.microsoftonline.us", "login.usgovcloudapi.net"],
      ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"],
    ])
  func `Hosts of one cloud are equal, and the document names them`(_ hosts: [String]) throws {
    #expect(Set(hosts.map(CloudInstances.known.canonical)).count == 1)
    #expect(Set(CloudInstances.known.aliases(of: hosts[0])) == Set(hosts))
    let text = try SharedFiles.cacheFormat()
    for host in hosts { #expect(text.contains("`\(host)`")) }
  }

  /// R3.18
  @Test func `The document names all fields that are replaced with a token`() throws {
    let text = try SharedFiles.cacheFormat()
    for field in Credential.replacedFields { #expect(text.contains("`\(field)`")) }
  }

  /// R3.10
  @Test(.fault("blank key"), arguments: ["", " \t"])
  func `A blank ext_cache_key counts as missing`(_ blank: String) async throws {
    try await test.save()
    var document = try await test.document
    let key = try #require(document.accessTokens.keys.first)
    let plain = try #require(document.accessTokens[key])
    document.accessTokens[key]?.fields["ext_cache_key"] = .string(blank)
    _ = try await test.cache.import(document)
    #expect(try await test.document.accessTokens.count == 1)
    #expect(try await test.token() != nil)
    var other = plain
    (other.fields["ext_cache_key"], other.fields["ext"]) = (.string(blank), "x")
    #expect(other.extraParameters == "x")
    other.fields["ext_cache_key"] = "y"
    #expect(other.extraParameters == "y")
    #expect(other.identity(in: .known) != plain.identity(in: .known))
  }

  /// R4.4
  @Test(.fault("metadata twice"))
  func `Several metadata records of a client are read as one, and signing out leaves one`() async throws {
    func record(_ client: String, _ accounts: String) -> String {
      #"{"client_id": "\#(client)", "account_metadata_map": {\#(accounts)}}"#
    }
    let signedIn = #"{"sign_in_state": "signed_in"}"#
    try await test.load(
      """
      {"AccountMetadataMap": {
        "a": \(record("C", #""u.t": \#(signedIn), "v.t": \#(signedIn)"#)),
        "authority_map-c": \(record("c", #""v.t": {"sign_in_state": "signed_out"}"#))}}
      """)
    #expect(try await test.state(of: "u.t", client: "c") == .signedIn)
    #expect(try await test.state(of: "v.t", client: "c") == .signedOut)
    try await test.cache.removeAccount("v.t", clientID: "C")
    #expect(try test.contents("v.t").accountMetadata.keys.sorted() == ["a"])
    try await test.cache.removeAccount("u.t", clientID: "C")
    #expect(try await test.document.accountMetadata.count == 1)
    #expect(try await test.state(of: "u.t", client: "c") == .signedOut)
  }

  /// R4.14
  @Test(.fault("metadata twice"))
  func `Of an account's spellings in the map the normalized one counts, and all are removed with it`() throws
  {
    let (out, signedIn): (JSONValue, JSONValue) = (
      .object(["sign_in_state": "signed_out"]), .object(["sign_in_state": "signed_in"])
    )
    var metadata = AccountMetadata(fields: [
      "client_id": "c",
      "account_metadata_map": .object(["U.T": signedIn, "u.t": out, "V.t": signedIn, "v.T": out]),
    ])
    for id in ["U.T", "u.t", "u.T"] { #expect(metadata.signInState(of: id) == .signedOut) }
    for id in ["V.t", "v.T"] { #expect(metadata.signInState(of: id) == .signedIn) }
    metadata.removeAccount("u.T")
    #expect(metadata.homeAccountIDs == ["V.t", "v.T"])
  }

  @Test(arguments: [
    #"{"a":1e999}"#, #"{"a":-1e999}"#, #"{"\ud800":1,"\udc00":2}"#,
  ])
  func `Some JSON that the grammar allows is refused`(_ json: String) {
    #expect(throws: CacheError.self) { try CacheDocument(json) }
  }

  @Test func `Of members with equal names the first counts`() throws {
    let json = #"{"a":1,"a":2,"Account":{"k":{"x":1,"x":2},"k":{"x":3}},"é":1,"e\#u{301}":2}"#
    let document = try CacheDocument(json)
    #expect(document.otherSections == ["a": .integer(1), "é": .integer(1)])
    #expect(document.accounts["k"]?.fields == ["x": .integer(1)])
  }

  private static let formless = """
    {"AccessToken": {"no type": {"secret": "1", "home_account_id": "u.t", "client_id": "c", "environment": "e"},
                     "nothing": {}, "other": {"credential_type": "Novel", "home_account_id": "u.t"}},
     "RefreshToken": {"no client": {"credential_type": "RefreshToken", "secret": "2", "home_account_id": "u.t"}},
     "IdToken": {"not one": {"credential_type": "AccessToken", "secret": "3"}},
     "Account": {"no id": {"username": "x"}}, "AppMetadata": {"empty": {}},
     "AccountMetadataMap": {"empty": {}, "k": {"client_id": "z", "x": 1}}}
    """

  @Test func `Records without a type or an identity are kept and serve no request`() async throws {
    try await test.load(Self.formless)
    #expect(try await PlainJSON(test.document.json()) == PlainJSON(Data(Self.formless.utf8)))
    #expect(try await test.cache.accounts(AccountFilter(signedInOnly: false)).isEmpty)
    for id in ["u.t", nil] {
      let request = TokenLookup(homeAccountID: id, environment: "e", clientID: "c")
      #expect(try await test.cache.accessToken(for: request) == nil)
      #expect(try await test.cache.refreshTokens(for: request).isEmpty)
      #expect(try await test.cache.idToken(for: request) == nil)
    }
    let document = try await test.document
    #expect(document.accessTokens["no type"]?.serializedKey == "u.t-e-token-c--")
    #expect(document.accessTokens["nothing"]?.serializedKey == "--token---")
    #expect(try await test.cache.removeAccount("u.t").count == 3)
  }

  @Test func `The record whose fields make a key gets it`() throws {
    func account(_ id: String) -> AccountRecord {
      AccountRecord(homeAccountID: id, environment: "e", realm: "r")
    }
    for isFirst in [true, false] {
      var (one, other) = (CacheDocument(), CacheDocument())
      one.accounts["a.a-e-r"] = account(isFirst ? "a.a" : "b.b")
      other.accounts["a.a-e-r"] = account(isFirst ? "b.b" : "a.a")
      #expect(
        CacheDocument(union: [one, other]).accounts == ["a.a-e-r": account("a.a"), "b.b-e-r": account("b.b")])
    }
    var (one, other) = (CacheDocument(), CacheDocument())
    one.accounts = ["x": account("a.a"), "b.b-e-r": account("c.c"), "b.b-e-r-": account("d.d")]
    other.accounts["x"] = account("b.b")
    let union = CacheDocument(union: [one, other])
    #expect(union.accounts["x"] == account("a.a"))
    #expect(union.accounts["b.b-e-r--"] == account("b.b"))
    // What moves takes no key that a record of the same shard has.
    var (ones, others) = (CacheDocument(), CacheDocument())
    for number in 0..<20 {
      ones.accounts["x\(number)"] = account("a.\(number)")
      others.accounts["x\(number)"] = account("b.\(number)")
      others.accounts["b.\(number)-e-r"] = account("b.\(number)")
      others.accounts["b.\(number)-e-r"]?.fields["x"] = "x"
    }
    let all = CacheDocument(union: [ones, others]).accounts
    for number in 0..<20 { #expect(all["b.\(number)-e-r"]?.fields["x"] == "x") }
  }

  @Test func `A member that is not an object gets another key, and is not lost`() throws {
    let all = CacheDocument(
      union: try [
        #"{"Account": {"k": 1}}"#, #"{"Account": {"k": {"username": "x"}}}"#, #"{"Account": {"k": "text"}}"#,
        #"{"Account": {"k": 1}}"#,
      ].map { try CacheDocument($0) })
    #expect(try all.json() == Data(#"{"Account":{"k":{"username":"x"},"k-":1,"k--":"text"}}"#.utf8))
  }

  @Test(arguments: [true, false])
  func `A family's token replaces that of the client, else the one under the family's key`(_ hasOwn: Bool)
    async throws
  {
    let familyKey = "\(TestPerson.alice.homeAccountID)-login.windows.net-refreshtoken-1--"
    try await test.save(TestResponse(refreshToken: "theirs", family: "1"), client: TestCache.otherClient)
    if hasOwn {
      try await test.load([.alices("old", key: "pythons", host: "login.windows.net", family: "1")])
    }
    try await test.save(TestResponse(refreshToken: "ours", family: "1"))
    let tokens = try await test.document.refreshTokens
    #expect(tokens["pythons"]?.secret == (hasOwn ? "ours" : nil))
    #expect(tokens[familyKey]?.secret == (hasOwn ? "theirs" : "ours"))
  }

  @Test func `Of a family's tokens under the keys of other hosts the first is replaced`() async throws {
    let (id, hosts) = (TestPerson.alice.homeAccountID, ["login.microsoft.com", "sts.windows.net"])
    let keys = hosts.map { "\(id)-\($0)-refreshtoken-1--" }
    let tokens = zip(hosts, keys).map { host, key in
      SampleRecord.refreshToken(
        host, key: key, of: id, client: TestCache.otherClient, host: host, family: "1")
    }
    try await test.load(tokens + [.alices("own", key: "own", host: "login.windows.net", time: 300)])
    try await test.save(TestResponse(refreshToken: "new", family: "1"))
    let after = try await test.document.refreshTokens
    #expect(keys.map { after[$0]?.secret } == ["new", "sts.windows.net"])
    try await test.load([
      .refreshToken(
        "imported", key: "\(id)-login.windows.net-refreshtoken-1--", of: id, client: "third",
        host: "login.windows.net", family: "1", time: 2_000_000_000)
    ])
    let last = try await test.document.refreshTokens
    #expect(keys.map { last[$0]?.secret } == ["imported", "sts.windows.net"])
  }

  @Test
  func `Of several records for one thing a save keeps the first's key and spelling and all that is unknown`()
    async throws
  {
    func record(_ key: String, _ host: String, _ more: JSONObject) -> SampleRecord {
      .account(TestPerson.alice.homeAccountID, key: key, host: host, realm: TestPerson.alice.home, more)
    }
    try await test.load([
      record("a", "sts.windows.net", ["x": .integer(1), "y": .integer(1)]),
      record("b", "login.microsoftonline.com", ["y": .integer(2), "z": .integer(2)]),
    ])
    try await test.save()
    let accounts = try await test.document.accounts
    #expect(Array(accounts.keys) == ["a"])
    #expect(accounts["a"]?.environment == "sts.windows.net")
    #expect(accounts["a"]?.username == TestPerson.alice.username)
    #expect(["x", "y", "z"].map { accounts["a"]?.fields[$0] } == [.integer(1), .integer(1), .integer(2)])
  }

  @Test func `Signing out of a client forgets its authorities, and removing the account forgets the rest`()
    async throws
  {
    let id = TestPerson.alice.homeAccountID
    for client in [TestCache.client, TestCache.otherClient] {
      try await test.save(client: client)
      try await test.cache.updateAccountMetadata(clientID: client, of: id) {
        $0.setResolvedAuthority("https://answered", for: "https://asked", homeAccountID: id)
      }
    }
    try await test.cache.removeAccount(id, clientID: TestCache.client)
    let entries = try await test.document.accountMetadata.mapValues {
      $0.fields["account_metadata_map"]?.objectValue?[id]?.objectValue ?? [:]
    }
    let (ours, theirs) = (
      entries["authority_map-\(TestCache.client)"], entries["authority_map-\(TestCache.otherClient)"]
    )
    #expect(ours?["sign_in_state"] == "signed_out")
    #expect(ours?["athority_map"] == nil)
    #expect(theirs?["sign_in_state"] == "signed_in")
    #expect(theirs?["athority_map"] != nil)
    try await test.cache.removeAccount(id)
    #expect(try await !String(decoding: test.document.json(), as: UTF8.self).contains(id))
    #expect(try await test.document.appMetadata.count == 2)
    // A client without metadata also remembers a sign-out.
    try await test.cache.removeAccount("u.t", clientID: "new")
    #expect(try await test.state(of: "u.t", client: "new") == .signedOut)
  }
}
