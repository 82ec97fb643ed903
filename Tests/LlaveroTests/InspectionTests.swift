import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct InspectionTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  @Test func `list --groups counts accounts and records`() throws {
    let keyring = try PrivateKeyring()
    let (one, two) = (try Tool(on: keyring), try Tool(on: keyring))
    #expect(try one("list", "--groups").standardOutput.isEmpty)
    #expect(try one.json("list", "--groups") == .object(["groups": .array([])]))
    try one.load(Sample.cache)
    try two.load([Sample.refreshToken("alone", Sample.alice, Sample.mail)])

    let groups = try #require(one.json("list", "--groups")["groups"])
    #expect(groups.strings("group") == [one.group, two.group].sorted())
    let counted = try #require(groups.arrayValue?.first { $0["group"] == .string(one.group) })
    #expect(counted.keys == ["account_count", "group", "problems", "record_count"])
    #expect(counted["account_count"] == .integer(2))
    #expect(counted["record_count"] == .integer(10))
    #expect(counted["problems"] == .array([]))
    #expect(try one("list", "--groups").standardOutput.contains(/GROUP +ACCOUNTS +RECORDS +PROBLEMS\n/))
    try one.run(["list", "--groups", "--group", one.group]).exits(2, saying: "omit --group")
  }

  @Test func `status without a client lists accounts, their tenants and ids`() throws {
    try tool.load()
    let output = try tool.json("status")
    #expect(output.keys == ["accounts", "group", "problems"])
    #expect(output["group"] == .string(tool.group))
    let accounts = try #require(output["accounts"])
    #expect(accounts.strings("username") == ["Alice@contoso.example", "bob@contoso.example"])
    #expect(accounts.strings("home_account_id") == [Sample.alice, Sample.bob])
    #expect(accounts[0]?.keys == ["environment", "home_account_id", "origin", "tenant_profiles", "username"])
    #expect(
      accounts[0]?["tenant_profiles"]?[0]?.keys
        == ["is_home_tenant", "local_account_id", "name", "tenant_id", "username"])
    let table = try tool("status").standardOutput
    #expect(table.contains("bob@contoso.example    Somebody  1        own     login"))
    #expect(table.contains(Sample.bob))
  }

  @Test func `list shows every record and the state of tokens`() throws {
    try tool.load()
    let output = try tool.json("list")
    #expect(output.keys == ["group", "problems", "records"])
    let records = try #require(output["records"]?.arrayValue)
    #expect(
      records.compactMap { $0["type"]?.stringValue } == [
        "Account", "Account", "AccessToken", "AccessToken", "AccessToken", "AccessToken", "RefreshToken",
        "RefreshToken", "IdToken", "AppMetadata",
      ])
    let token = try #require(records.first { $0["scopes"] == .array(["User.Read", "Mail.Read"]) })
    #expect(
      token.keys == [
        "cached_at", "client_id", "environment", "expires_on", "home_account_id", "id", "scopes", "state",
        "tenant_id", "type", "username",
      ])
    #expect(token["expires_on"] == "2100-01-01T00:00:00Z")
    #expect(token["username"] == "Alice@contoso.example")
    #expect(
      records.compactMap { $0["state"]?.stringValue }.sorted() == [
        "expired", "expired", "expired", "extended",
      ],
      "One ends in more than ten years.")
    #expect(Set(records.compactMap { $0["id"]?.stringValue?.count }) == [12])
    let table = try tool("list").standardOutput
    #expect(table.split(separator: "\n").count == 11)
    #expect(table.contains(/User.Read Mail.Read +expired/))
    #expect(table.contains(/Calendars.Read +[0-9]+ d ago/))
  }

  @Test func `list shows only the records that its options name`() throws {
    try tool.load()
    let all = try #require(tool.json("list")["records"]?.arrayValue)
    func listed(_ options: String...) throws -> [JSONValue] {
      try tool.run(tool.inGroup(["list"]) + ["--json"] + options).exits(0).json["records"]?.arrayValue ?? []
    }
    let bobs = all.filter { $0["home_account_id"] == .string(Sample.bob) }
    #expect(try listed("--account", "BOB@contoso.example") == bobs && !bobs.isEmpty)
    #expect(try listed("--account", Sample.bob) == bobs)
    let mails = all.filter { $0["client_id"] == .string(Sample.mail) }
    #expect(try listed("--client", Sample.mail.uppercased()) == mails && mails.count < all.count)
    #expect(try listed("--type", "refreshtoken").map { $0["type"] } == ["RefreshToken", "RefreshToken"])
    #expect(try listed("--account", Sample.bob, "--type", "Account").count == 1)
    try tool("list", "--account", "carol@contoso.example").exits(0, printing: "", saying: "No such records")
    try tool("list", "--type", "Tokens").exits(2, saying: "RefreshToken")
    try tool.run(["list", "--groups", "--client", Sample.mail]).exits(2, saying: "omit --groups")
  }

  @Test func `On a terminal list cuts no user name, and what all records share stands above`() throws {
    let name = "a.long.name.of.a.person@contoso.example"
    let records =
      [Sample.account(Sample.alice, name), Sample.account(Sample.bob, "bob@contoso.example")]
      + [Sample.alice, Sample.bob, "00000000-1111.22222222-3333"].map {
        Sample.accessToken($0, $0, Sample.mail, "s", expiresOn: Sample.future)
      }
    try tool.load(records)
    let lines = try tool.onTerminal("list").exits(0).lines
    for line in lines { #expect(line.count <= 80, "\(line)") }
    #expect(lines.count { $0.contains(" \(name) ") } == 2, "\(lines)")
    let tokens = try tool.onTerminal("list", "--type", "AccessToken").exits(0).lines
    #expect(tokens.prefix(2) == ["TYPE  AccessToken", "CLIENT  \(Sample.mail)"], "\(tokens)")
    #expect(tokens.contains { $0.contains(/^ID +ACCOUNT/) }, "\(tokens)")
    // One record has nothing to share, and a program that reads columns gets all.
    let accounts = try tool.onTerminal("list", "--type", "Account").lines
    #expect(!accounts.contains { $0.hasSuffix("  -") }, "\(accounts)")
    let one = try tool.onTerminal("list", "--account", name, "--type", "Account").lines
    #expect(one.first?.hasPrefix("ID ") == true, "\(one)")
    let columns = try tool("list", "--type", "AccessToken").standardOutput
    #expect(columns.contains(/^ID +TYPE +ACCOUNT +TENANT +CLIENT +SCOPES +EXPIRES\n/))
  }

  @Test func `JSON has no empty text for what is unknown`() throws {
    let metadata = #"{"client_id":"\#(Sample.mail)","environment":"\#(Sample.host)","family_id":""}"#
    try tool("import", "-", input: #"{"AppMetadata":{"m":\#(metadata)}}"#).exits(0)
    #expect(try tool.json("list")["records"]?[0]?.keys == ["client_id", "environment", "id", "type"])
  }

  @Test func `An empty group is not an error`() throws {
    try tool("list").exits(0, printing: "", saying: tool.group)
    #expect(try tool.json("list")["records"] == .array([]))
    #expect(try tool.exported() == .object([:]))
  }

  @Test func `show explains a token without showing it`() throws {
    try tool.load()
    let id = try id(of: "AccessToken", ["User.Read", "Mail.Read"])
    let text = try tool("show", String(id.prefix(8))).exits(0)
    #expect(text.standardOutput.hasPrefix("AccessToken \(id), "))
    #expect(text.standardOutput.contains("\nScopes\n  User.Read\n  Mail.Read\n"))
    #expect(text.standardOutput.contains(/expires_on +4102444800 \(2100-01-01T00:00:00Z\)\n/))
    #expect(text.standardOutput.contains(/secret +hidden, 15 characters\n/))
    let output = try tool.json("show", id)
    #expect(
      output.keys == ["fields", "group", "hidden_fields", "problems", "record", "seconds_left"])
    #expect(output["hidden_fields"] == .array(["private_extra", "secret"]))
    #expect((output["seconds_left"]?.numberValue ?? 0) > 0)
    #expect(
      output["record"] == (try tool.json("list"))["records"]?.arrayValue?.first { $0["id"] == .string(id) })
  }

  @Test func `show --reveal shows the token and unknown fields`() throws {
    try tool.load()
    let id = try id(of: "AccessToken", ["User.Read", "Mail.Read"])
    let text = try tool("show", id, "--reveal").standardOutput
    #expect(text.contains(/secret +secret-at-valid\n/))
    #expect(text.contains(/private_extra +secret-extra-valid\n/))
    let output = try tool.json("show", id, "--reveal")
    #expect(output["fields"]?["secret"] == "secret-at-valid")
    #expect(output["hidden_fields"] == .array([]))
  }

  @Test func `show reads the claims of a JSON Web Token under their own names`() throws {
    try tool.load()
    let id = try id(of: "IdToken")
    let output = try tool.json("show", id)
    #expect(output["claims"] == (try JSONValue(text: Sample.claims)))
    let text = try tool("show", id).standardOutput
    #expect(text.contains("\nClaims\n"))
    #expect(text.contains(/exp +4102444800 \(2100-01-01T00:00:00Z\)\n/))
    #expect(text.contains(/camelCase +{"innerCase":true}\n/))
  }

  @Test func `show aligns its values`() throws {
    // A longer name does not move the values of the others beyond 32 columns.
    try tool.load([.accessToken("a", key: "a", [String(repeating: "x", count: 40): "1"])])
    let text = try tool("show", id(of: "AccessToken", ["A", "B"])).standardOutput
    #expect(text.contains("\n  client_id" + String(repeating: " ", count: 25) + "c\n"), "\(text)")
  }

  @Test func `show requires an id of one record`() throws {
    try tool.load(
      (1...17).map {
        Sample.accessToken("\($0)", Sample.alice, Sample.mail, "s\($0)", expiresOn: Sample.future)
      })
    let ids = try #require(tool.json("list")["records"]).strings("id")
    let beginning = try #require(Dictionary(grouping: ids) { $0.prefix(1) }.first { $0.value.count > 1 })
    let ambiguous = try tool("show", String(beginning.key), "--json").exits(2, code: "ambiguous")
    for id in beginning.value { #expect(ambiguous.standardError.contains(id)) }
    for id in ["", "zz"] {
      try tool("show", id, "--json").exits(1, code: "not_found")
    }
  }

  private func id(of type: String, _ scopes: [String] = []) throws -> String {
    let records = try tool.json("list")["records"]?.arrayValue ?? []
    let record = records.first {
      $0["type"] == .string(type) && ($0["scopes"]?.arrayValue ?? []) == scopes.map(JSONValue.string)
    }
    return try #require(record?["id"]?.stringValue)
  }
}
