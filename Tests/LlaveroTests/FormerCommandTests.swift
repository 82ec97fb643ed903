import FoundationEssentials
import Glibc
import TestSupport
import Testing
import TokenCache

/// The names and options of version 0.2, which the help hides.
@Suite(.timeLimit(.minutes(20)))
struct FormerCommandTests {
  private let tool: Tool
  private let home: TemporaryDirectory

  init() throws {
    home = try TemporaryDirectory()
    tool = try Tool(
      on: PrivateKeyring(),
      settings: [
        "HOME": home.path, "XDG_DATA_HOME": home.path + "/.local/share", "BROWSER": "true",
        "LLAVERO_BROKER": "off",
        "LLAVERO_KEY": "file:" + (try home.keyFile()),
      ])
    _ = try home.directory(".azure")
    chmod(try home.file(".azure/msal_token_cache.json", Sample.cache), 0o600)
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
      try tool.load(Sample.cache([Sample.refreshToken("own", Sample.bob, Sample.calendar)]))
      _ = try tool("clear", "--all", "--yes", "--store", "file")
      try tool.load(with: ["LLAVERO_STORE": "file"])
      return try tool(words.replacing("HOME", with: home.path).words + ["--json"])
    }
    #expect(results[0].status == results[1].status, "\(results)")
    #expect(results[0].standardOutput == results[1].standardOutput)
    let codes = results.map { try? $0.error?["code"]?.stringValue }
    #expect(codes[0] == codes[1])
    #expect((results[0].status == 0) == results[0].standardError.isEmpty)
  }

  @Test func `clear --damaged and sources --fix do a part of doctor --fix`() async throws {
    let lock = try home.file(".azure/msal_token_cache.json.lockfile", "999999 python")
    try await tool.create(shard: "broken", secret: "{")
    try tool("clear", "--damaged", "--json").exits(3, code: "confirmation_required")
    let plan = try tool.json("clear", "--damaged", "--dry-run")
    #expect(plan.keys == ["dry_run", "group", "problems", "removed", "unreadable"])
    #expect(plan["problems"]?.strings("kind") == ["damaged"] && plan["unreadable"] == .integer(1))
    try tool.onTerminal("clear", "--damaged", typing: "n\n").exits(
      5, saying: "Remove 1 item from \(tool.group)?")
    #expect(try await tool.items().count == 1)
    let done = try tool("clear", "--damaged", "--yes").exits(0)
    #expect(done.standardOutput.hasSuffix("It was removed.\n1 item removed from \(tool.group).\n"))
    #expect(try await tool.items().isEmpty)
    let nothing = try tool("clear", "--damaged").exits(0)
    #expect(nothing.standardOutput == "0 records removed from \(tool.group).\n")
    try tool("clear", "--damaged", "--all").exits(2)

    let fixed = try tool.json("sources", "--fix")["sources"]?[0]?["findings"]
    #expect(fixed?.arrayValue?.compactMap { $0["fixed"] } == [.bool(true), .bool(false)])
    #expect(access(lock, F_OK) != 0)
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
