import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct ClearTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  /// What is chosen; the scopes of access tokens and the secrets of refresh tokens that stay, in alphabetical order; and how
  /// many accounts do.
  static let choices: [([String], stay: [String], accounts: Int)] = [
    (["--account", "ALICE@contoso.example"], ["bobs", "bobs"], 1),
    (["--account", Sample.alice.uppercased()], ["bobs", "bobs"], 1),
    (["--account", Sample.alice, "--client", Sample.mail], ["bobs", "bobs", "expired"], 2),
    (["--client", Sample.mail.uppercased()], ["expired"], 2),
    (["--expired"], ["alices", "bobs", "extended", "valid"], 2), (["--all"], [], 0),
  ]

  @Test(arguments: choices)
  func `clear removes what was chosen and nothing else`(
    _ choice: [String], stay: [String], accounts: Int
  ) throws {
    try tool.load()
    let before = try tool.exported()
    let dryRun = try tool(["clear"] + choice + ["--dry-run", "--json"]).exits(0)
    #expect(try tool.exported() == before)

    let result = try tool(["clear"] + choice + ["--yes", "--json"]).exits(0)
    let after = try tool.exported()
    #expect(tokens(after) == stay)
    #expect((after["Account"]?.objectValue?.count ?? 0) == accounts)

    let (planned, done) = (try dryRun.json, try result.json)
    #expect(done.keys == ["dry_run", "group", "problems", "removed", "unreadable"])
    #expect((planned["dry_run"], done["dry_run"]) == (.bool(true), .bool(false)))
    #expect(planned["removed"] == done["removed"])
    let removed = (done["removed"]?.strings("type") ?? []).filter {
      $0 == "AccessToken" || $0 == "RefreshToken"
    }
    #expect(removed.count == tokens(before).count - stay.count)
  }

  @Test(.fault("unknown type"))
  func `clear --expired lists what it removes, and only removes access tokens`() throws {
    func token(_ type: String, _ more: String = "") -> String {
      #"{"secret": "s", "home_account_id": "\#(Sample.alice)", "client_id": "c"\#(type)\#(more)}"#
    }
    let access = #", "credential_type": "AccessToken""#
    try tool.load(
      """
      {"AccessToken": {"over": \(token(access, #", "expires_on": "\#(Sample.past)""#)), "endless": \(token(access)),
                       "misfiled": \(token(#", "credential_type": "RefreshToken""#)),
                       "future": \(token(access, #", "cached_at": "\#(Sample.future)", "expires_on": "4102448400""#))},
       "RefreshToken": {"untyped": \(token("")), "novel": \(token(#", "credential_type": "Novel""#)),
                        "misfiled": \(token(access))}}
      """)
    let dryRun = try tool.json("clear", "--expired", "--dry-run")
    let result = try tool.json("clear", "--expired", "--yes")
    #expect(result["removed"]?.arrayValue?.count == 2)
    #expect(dryRun["removed"] == result["removed"])
    let left = try tool.exported()
    #expect(left["AccessToken"]?.keys == ["future", "misfiled"])
    #expect(left["RefreshToken"]?.keys == ["misfiled", "novel", "untyped"])
  }

  @Test func `clear prints what was removed`() throws {
    try tool.load()
    let plan = try tool("clear", "--account", Sample.bob, "--dry-run").standardOutput
    #expect(plan.split(separator: "\n").count == 5)
    #expect(
      plan.hasSuffix(
        "3 records would be removed from \(tool.group) (1 AccessToken, 1 Account, 1 RefreshToken).\n"))
    let report = try tool("clear", "--account", Sample.bob, "--yes").standardOutput
    #expect(report == "3 records removed from \(tool.group) (1 AccessToken, 1 Account, 1 RefreshToken).\n")
  }

  @Test(.fault("edited item"))
  func `A sign-out holds although a keyring editor added an attribute`() async throws {
    try await tool.create(account: Sample.alice, secret: Sample.alices, adding: ["theirs": "1"])
    let options = ["--account", "alice@contoso.example", "--client", Sample.mail]
    let token = ["token", "--scope", "User.Read"] + options
    try tool(token).exits(0)
    try tool(["logout"] + options).exits(0, printing: "Signed out alice@contoso.example.\n")
    try tool(token).exits(3)
    try tool("clear", "--all", "--yes").exits(0)
    try tool(token).exits(3)
    #expect(try await tool.items().isEmpty)
  }

  @Test(.fault("left behind"))
  func `What a removal leaves is reported, and is not counted`() async throws {
    try tool.load([Sample.refreshToken("good", Sample.bob, Sample.mail)])
    let stray = Sample.cache([Sample.refreshToken("stray", Sample.alice, Sample.mail)])
    try await tool.create(shard: String(repeating: "a", count: 32), secret: stray)
    let result = try tool("clear", "--client", Sample.mail, "--yes", "--json").exits(1, code: "refused")
    #expect(try result.json["removed"]?.strings("home_account_id") == [Sample.bob])
    #expect(try result.json["unreadable"] == .integer(0))
    try tool("clear", "--account", Sample.alice, "--yes").exits(
      1, printing: "", saying: "was left: 1 records")
    try tool("clear", "--all", "--yes").exits(0)
    #expect(try await tool.items().isEmpty)
  }

  @Test(
    arguments: [
      ["--account", "nobody@contoso.example"], ["--client", "nothing"],
      ["--account", Sample.bob, "--client", Sample.calendar],
    ].abbreviated)
  func `An account or client without records is an error`(_ arguments: Named<[String]>) throws {
    let arguments = arguments.value
    try tool.load()
    for mode in ["--yes", "--dry-run"] {
      try tool(["clear", mode, "--json"] + arguments).exits(1, code: "not_found")
    }
  }

  @Test(arguments: ["--expired", "--all"])
  func `clear without expired tokens or without records succeeds`(_ choice: String) throws {
    if choice == "--expired" { try tool.load([Sample.refreshToken("valid", Sample.alice, Sample.mail)]) }
    try tool("clear", choice).exits(0, printing: "0 records removed from \(tool.group).\n")
  }

  @Test func `A user name of two accounts is ambiguous`() throws {
    try tool.load([Sample.account(Sample.alice, "us@x.example"), Sample.account(Sample.bob, "us@x.example")])
    try tool("clear", "--account", "us@x.example", "--yes", "--json")
      .exits(2, saying: Sample.alice, Sample.bob, code: "ambiguous")
    #expect(try tool.json("list")["records"]?.arrayValue?.count == 2)
    #expect(try tool("clear", "--account", Sample.bob, "--yes").status == 0)
    #expect(try tool.json("list")["records"]?.strings("home_account_id") == [Sample.alice])
  }

  @Test(arguments: [
    ("ALICE@fabrikam.example", Sample.alice), ("bob@contoso.example", Sample.bob),
    (Sample.bob.uppercased(), Sample.bob),
  ])
  func `A name means the same account to each command`(_ name: String, _ id: String) throws {
    func account(_ id: String, _ tenant: String, _ username: String) -> SampleRecord {
      .account(
        id, key: "\(id)-\(Sample.host)-\(tenant)", host: Sample.host, realm: tenant,
        ["local_account_id": "x", "username": .string(username), "authority_type": "MSSTS"])
    }
    // The user name of a guest, and an id like a user name.
    let other = "bob@contoso.example"
    try tool.load(
      [
        Sample.account(Sample.alice, "alice@contoso.example"),
        account(Sample.alice, "fabrikam", "alice@fabrikam.example"), Sample.account(Sample.bob, other),
        account(other, "adfs", "carol@contoso.example"),
      ] + [Sample.alice, Sample.bob, other].map { Sample.refreshToken($0, $0, Sample.mail) })
    func found(_ list: String, _ arguments: String...) throws -> Set<String> {
      let result = try tool(arguments + ["--account", name, "--json"]).exits(0)
      return Set(try result.json[list]?.strings("home_account_id") ?? [])
    }
    #expect(try found("accounts", "status") == [id])
    #expect(try found("records", "list") == [id])
    #expect(try found("removed", "clear", "--dry-run") == [id])
    #expect(try found("signed_out", "logout", "--client", Sample.mail) == [id])
  }

  @Test func `Tokens without an account record are matched by the account's id`() throws {
    try tool.load([Sample.refreshToken("alone", Sample.alice, Sample.mail)])
    #expect(try tool("clear", "--account", Sample.alice, "--yes").status == 0)
    #expect(try tool.exported() == .object([:]))
  }

  @Test(arguments: [
    [], ["--all", "--expired"], ["--all", "--account", "a"], ["--expired", "--client", "c"],
  ])
  func `clear requires one choice`(_ arguments: [String]) throws {
    try tool(["clear"] + arguments).exits(2, saying: "Choose what to remove")
  }

  @Test func `Without --yes and without a terminal nothing is removed`() throws {
    try tool.load()
    let before = try tool.exported()
    try tool("clear", "--all", input: "y\n").exits(3, saying: "--yes")
    #expect(try tool.exported() == before)
  }

  @Test(arguments: ["n\n", "\n", "\u{4}", "yellow\n"])
  func `On a terminal anything but yes removes nothing`(_ answer: String) throws {
    try tool.load()
    let before = try tool.exported()
    let screening = try tool.onTerminal("clear", "--expired", typing: answer)
      .exits(5, saying: "Remove 2 records from \(tool.group)? [y/N]", "Nothing was removed.")
    for text in ["Calen", "d ago"] { #expect(screening.lines.contains { $0.contains(text) }) }
    #expect(try tool.exported() == before)
  }

  @Test(arguments: ["y\n", "YES\n"])
  func `On a terminal yes removes`(_ answer: String) throws {
    try tool.load()
    try tool.onTerminal("clear", "--all", typing: answer).exits(0, saying: "[y/N] 10 records removed from")
    #expect(try tool.exported() == .object([:]))
  }

  @Test func `clear --all removes what no command lists`() throws {
    try tool.load(Sample.cache)
    _ = try tool("clear", "--client", Sample.mail, "--yes")
    _ = try tool("clear", "--account", Sample.alice, "--yes")
    _ = try tool("clear", "--account", Sample.bob, "--yes")
    #expect(try tool.exported().keys == ["AppMetadata"])
    #expect(try tool.json("list")["records"]?.strings("type") == ["AppMetadata"])
    #expect(try tool("clear", "--all", "--yes").status == 0)
    #expect(try tool.json("list", "--groups")["groups"]?.strings("group").contains(tool.group) == false)
  }

  private func tokens(_ cache: JSONValue) -> [String] {
    ["AccessToken", "RefreshToken"].flatMap { cache[$0]?.secrets ?? [] }
      .map { $0.split(separator: "-").last.map(String.init) ?? $0 }.sorted()
  }
}

@Suite(.timeLimit(.minutes(20)))
struct UnreadableItemTests {
  let tool: Tool
  let shard = String(repeating: "a", count: 32)

  init() async throws {
    // The doctor examines all groups of a keyring.
    tool = try Tool(on: PrivateKeyring())
    try tool.load()
    try await tool.create(shard: shard, secret: #"{"AccessToken": [], "secret": "secret-damaged"}"#)
    try await tool.create(shard: String(repeating: "b", count: 32), version: "2", secret: "later")
  }

  @Test(arguments: ["list", "status"])
  func `Commands warn about unreadable entries, and show the rest`(_ command: String) throws {
    try tool(command).exits(
      0, showing: "bob@contoso.example", saying: "llavero doctor --fix", "update llavero",
      hiding: "secret-damaged")

    let problems = try #require(tool.json(command)["problems"])
    #expect(problems.strings("kind").sorted() == ["damaged", "newer_version"])
    #expect(problems[0]?.keys == ["detail", "kind", "remedy", "shard"])
  }

  @Test func `clear --json has the unreadable entries that it left`() throws {
    let cleared = try tool.json("clear", "--expired", "--yes")
    #expect(cleared["problems"]?.strings("kind").sorted() == ["damaged", "newer_version"])
    #expect(cleared["unreadable"] == .integer(0))
  }

  @Test func `clear --client reports removed tokens although unreadable entries remain`() throws {
    let result = try tool("clear", "--client", Sample.mail, "--yes", "--json").exits(1, saying: "\"error\"")
    #expect(try result.json["removed"]?.arrayValue?.isEmpty == false)
    #expect(try result.json["problems"]?.arrayValue?.count == 2)
    try tool("clear", "--client", Sample.mail, "--dry-run").exits(1, hiding: "would be removed")
  }

  @Test func `JSON names what could not be read, wherever a command reads the group`() throws {
    let id = try #require(tool.json("list")["records"]?.strings("id").first)
    #expect(try tool.json("show", id)["problems"]?.arrayValue?.count == 2)
    try tool("show", "ffffffffffff", "--json").exits(1, hiding: "not_found")
    let file = tool.files.path + "/export.json"
    for arguments in [["export", file], ["export", "azure-cli", "--dry-run"]] {
      let result = try tool(arguments + ["--json"], with: ["HOME": tool.files.path])
        .exits(1, code: "incomplete")
      #expect(try result.json["problems"]?.arrayValue?.count == 2)
    }
    let preview = try tool("import", "-", "--dry-run", "--json", input: Sample.cache).exits(0).json
    #expect(preview["problems"]?.arrayValue?.count == 2)
  }

  @Test func `list --groups counts problems`() throws {
    let group = try #require(
      tool.json("list", "--groups")["groups"]?.arrayValue?.first { $0["group"] == .string(tool.group) })
    #expect(group["problems"]?.arrayValue?.count == 2)
    #expect(group["record_count"] == .integer(10))
  }

  @Test func `An incomplete export exits with 1, and has the rest`() throws {
    #expect(try tool("export").exits(1, saying: "The export is incomplete").json["Account"]?.keys.count == 2)
  }

  @Test func `doctor --fix --yes removes only damaged entries, and names each`() throws {
    let report = try tool("doctor", "--fix", "--yes").exits(0).standardOutput
    #expect(report.contains(/\n[^\n]+ It was removed.\nfixed    \S+ has 1 item that cannot be read/))
    let left = try tool.json("list")
    #expect(left["problems"]?.strings("kind") == ["newer_version"])
    #expect(left["records"]?.arrayValue?.count == 10)
  }

  @Test func `clear --all removes unreadable items, too`() throws {
    let screening = try tool.onTerminal("clear", "--all", typing: "y\n")
    #expect(screening.text.contains("Remove 10 records and 2 unreadable items from"))
    #expect(try tool.json("list")["problems"] == .array([]))
    #expect(try tool.exported() == .object([:]))
  }
}
