import TestSupport

/// The names and options of version 0.2, which the help hides.
@Suite(.timeLimit(.minutes(20)))
struct FormerCommandTests {
  private let tool: Tool

  init() throws {
    tool = try Tool(on: PrivateKeyring()) {
      [
        "HOME": $0.path, "XDG_DATA_HOME": $0.path + "/.local/share", "BROWSER": "true",
        "LLAVERO_BROKER": "off",
        "LLAVERO_KEY": "file:" + (try $0.keyFile()),
      ]
    }
    try tool.files.file(".azure/msal_token_cache.json", Sample.cache, mode: 0o600)
  }

  static let names: [(former: String, new: String)] = [
    ("groups", "list --groups"), ("sources", "adopt"),
    ("import --from azure-cli --dry-run", "import azure-cli --dry-run"),
    ("import --from azure-cli", "import azure-cli"),
    (
      "import --from file --location HOME/.azure/msal_token_cache.json",
      "import file --location HOME/.azure/msal_token_cache.json"
    ),
    ("import --from nonsense", "import nonsense --location x"),
    ("export --to azure-cli-encrypted --dry-run", "export azure-cli-encrypted --dry-run"),
    ("export --to file --location HOME/new --dry-run", "export file --location HOME/new --dry-run"),
    ("copy --to-store file --dry-run", "export file --dry-run"),
    ("copy --from-store file", "import file"),
    (
      "copy --from-store file --to-store file:HOME/other --to-key keyring --dry-run",
      "export file:HOME/other --store file --to-key keyring --dry-run"
    ),
    ("copy", "export keyring"),
  ]

  @Test(arguments: names)
  func `A former name has the exit code and the JSON of the new one`(former: String, new: String) throws {
    let results = try [former, new].map { words in
      // What the first run writes must not be there for the second.
      try tool("clear", "--all", "--yes").exits(0)
      try tool.load([Sample.refreshToken("own", Sample.bob, Sample.calendar)])
      _ = try tool("clear", "--all", "--yes", "--store", "file")
      try tool.load(with: ["LLAVERO_STORE": "file"])
      return try tool(words.replacing("HOME", with: tool.files.path).words + ["--json"])
    }
    #expect(results[0].status == results[1].status, "\(results)")
    #expect(results[0].standardOutput == results[1].standardOutput)
    let codes = results.map { try? $0.error?["code"]?.stringValue }
    #expect(codes[0] == codes[1])
    #expect((results[0].status == 0) == results[0].standardError.isEmpty)
  }

  @Test func `sources --fix removes a lock that was left behind, and no plaintext`() throws {
    let lock = try tool.files.file(".azure/msal_token_cache.json.lockfile", "\(missingProcess) python")
    let fixed = try tool.json("sources", "--fix")["sources"]?[0]?["findings"]
    #expect(fixed?.arrayValue?.compactMap { $0["fixed"] } == [.bool(true), .bool(false)])
    #expect(access(lock, F_OK) != 0)
  }

  @Test func `clear --damaged removes nothing from a group without damage`() throws {
    try tool.load()
    let before = try tool.exported()
    let plan = try tool.json("clear", "--damaged", "--dry-run")
    #expect(try tool.exported() == before)
    let done = try tool.json("clear", "--damaged", "--yes")
    #expect(try tool.exported() == before)
    #expect((plan["dry_run"], done["dry_run"]) == (.bool(true), .bool(false)))
    for result in [plan, done] {
      #expect(result.keys == ["dry_run", "group", "problems", "removed", "unreadable"])
      #expect(result["removed"] == .array([]) && result["problems"] == .array([]))
      #expect(result["unreadable"] == .integer(0))
    }
    try tool("clear", "--damaged").exits(0, printing: "0 records removed from \(tool.group).\n")
  }

  @Test func `clear --damaged does a part of doctor --fix, and removes only what is damaged`() async throws {
    try tool.load()
    try await tool.create(
      shard: String(repeating: "a", count: 32), secret: #"{"AccessToken": [], "secret": "secret-damaged"}"#)
    try await tool.create(shard: String(repeating: "b", count: 32), version: "2", secret: "later")
    let before = try await tool.items()
    try tool("clear", "--damaged", "--json").exits(3, code: "confirmation_required")
    let plan = try tool.json("clear", "--damaged", "--dry-run")
    #expect(plan.keys == ["dry_run", "group", "problems", "removed", "unreadable"])
    #expect(plan["problems"]?.strings("kind") == ["damaged"] && plan["unreadable"] == .integer(1))
    try tool.onTerminal("clear", "--damaged", typing: "n\n").exits(
      5, saying: "Remove 1 item from \(tool.group)?")
    #expect(try await tool.items() == before)
    let report = try tool("clear", "--damaged", "--yes").exits(0).standardOutput
    #expect(report.hasSuffix("It was removed.\n1 item removed from \(tool.group).\n"))
    #expect(try await tool.items() == before.filter { !$0.contains("secret-damaged") })
    try tool("clear", "--damaged").exits(0, printing: "0 records removed from \(tool.group).\n")
    let left = try tool.json("list")
    #expect(left["problems"]?.strings("kind") == ["newer_version"])
    #expect(left["records"]?.arrayValue?.count == 10)
  }

  @Test(arguments: [["--damaged", "--client", "c"], ["--expired", "--damaged"], ["--damaged", "--all"]])
  func `clear requires one choice beside --damaged, too`(_ arguments: [String]) throws {
    try tool(["clear"] + arguments).exits(2, saying: "Choose what to remove")
  }

  @Test(arguments: ["groups", "sources", "copy", "--damaged", "--from ", "--to "])
  func `The help does not show former names`(_ name: String) throws {
    for command in ["", "clear", "import", "export", "list", "adopt"] {
      let help = try tool.run(command.words + ["--help"]).exits(0).standardOutput
      let lines = help.split(separator: "\n").filter { $0.hasPrefix("  " + name) }
      #expect(lines.isEmpty, "\(command): \(lines)")
    }
  }
}
