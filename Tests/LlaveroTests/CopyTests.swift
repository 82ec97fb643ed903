import TestSupport

/// `import` and `export` between the keyring and encrypted files.
@Suite(.timeLimit(.minutes(20)))
struct CopyTests {
  private let tool: Tool
  private let key: [String]

  init() throws {
    tool = try Tool { ["XDG_DATA_HOME": $0.path] }
    key = ["--key", "file:" + (try tool.files.keyFile())]
  }

  private func run(_ arguments: String..., input: String = "") throws -> Child.Result {
    try tool(arguments + key, input: input)
  }

  private func json(_ arguments: String...) throws -> JSONValue {
    try tool(arguments + key + ["--json"]).exits(0).json
  }

  /// What a store holds of the group.
  private func contents(of store: String) throws -> JSONValue {
    try run("export", "--store", store).json
  }

  @Test(arguments: [("keyring", "file"), ("file", "keyring")])
  func `A copy has the whole group, and a second one changes nothing`(
    _ source: String, _ target: String
  ) throws {
    try run("import", "-", "--store", source, input: Sample.cache).required()
    let preview = try json("import", source, "--store", target, "--dry-run")
    #expect(preview["dry_run"] == .bool(true))
    #expect(preview["saved"] == .integer(10))
    #expect(preview["records"]?.arrayValue?.count == 10)
    #expect(try contents(of: target).secrets.isEmpty)

    let first = try run("export", target, "--store", source).exits(0)
    let directory = "file:\(tool.files.path)/llavero/sealed"
    let place = target == "file" ? "in \(directory) with the key file:" : "in the keyring, "
    #expect(first.standardOutput.hasPrefix("10 records exported into \(tool.group), \(place)"), "\(first)")
    #expect(try contents(of: target) == contents(of: source))

    let second = try json("import", source, "--store", target)
    let keys = ["account_count", "from", "group", "kept", "problems", "saved", "store", "to"]
    #expect(second.keys == (keys + (target == "file" ? ["key"] : [])).sorted())
    #expect(second["store"] == .string(target == "file" ? directory : "keyring"))
    #expect(second["from"] == .string(source) && second["to"] == .string(target))
    #expect(second["account_count"] == .integer(2))
    #expect(second["saved"] == .integer(0) && second["kept"] == .integer(10))
    #expect(try contents(of: target) == contents(of: source))
  }

  @Test func `Records of the other store are kept, and the newer of two for the same thing`() throws {
    let old = Sample.cache([
      Sample.account(Sample.alice, "alice@contoso.example"),
      Sample.refreshToken("alices", Sample.alice, Sample.mail),
      Sample.accessToken("theirs", Sample.alice, Sample.calendar, "Tasks.Read", expiresOn: Sample.future),
      Sample.accessToken("old", Sample.bob, Sample.mail, "Mail.Send", expiresOn: Sample.future),
    ])
    let new = Sample.cache([
      Sample.account(Sample.bob, "bob@contoso.example"),
      Sample.accessToken(
        "new", Sample.bob, Sample.mail, "Mail.Send", at: "1767225700", expiresOn: Sample.future),
    ])
    try run("import", "-", "--store", "file", input: old).required()
    try run("import", "-", "--store", "keyring", input: new).required()
    #expect(try run("export", "file").status == 0)
    let copied = try contents(of: "file").secrets
    #expect(copied.contains("secret-at-theirs") && copied.contains("secret-at-new"))
    #expect(!copied.contains("secret-at-old"))
    // And back: the older store gets the missing records, and loses none.
    #expect(try run("import", "file").status == 0)
    #expect(try contents(of: "keyring") == contents(of: "file"))
  }

  @Test(.fault("copy unreadable"))
  func `Unreadable entries are named, and the rest is copied`() async throws {
    try run("import", "-", "--store", "keyring", input: Sample.cache).required()
    let carol = "0c0c0c0c-3333-4333-8333-333333333333.aaaaaaaa-0000-4000-8000-00000000000a"
    try await tool.create(account: carol, secret: "{\"torn")
    let items = try await tool.items()

    let text = try run("export", "file").exits(1, saying: "doctor --fix", "The copy is incomplete")
    #expect(text.standardOutput.hasPrefix("10 records exported"))
    let result = try run("import", "keyring", "--store", "file", "--json").exits(1)
    #expect(try result.json["problems"]?.strings("kind") == ["damaged"])
    #expect(try result.error?["code"] == "incomplete")
    #expect(try contents(of: "file").secrets.count == contents(of: "keyring").secrets.count)
    #expect(try await tool.items() == items)
  }

  @Test func `A copy of a store onto itself, and of nothing, is an error`() throws {
    let own = tool.files.path + "/llavero/sealed"
    for arguments in [
      ["import", "keyring"], ["export", "keyring"], ["import", "file", "--store", "file"],
      ["import", "file:\(own)", "--store", "file"], ["export", "file:\(own)/.", "--store", "file"],
    ] {
      try tool(arguments + key + ["--json"]).exits(2, code: "same_store")
    }
    try run("export", "file", "--json").exits(1, code: "not_found")
    try run("import", "file").exits(1, saying: "llavero list --groups --store file --key")
  }

  @Test(.fault("side options")) func `Directories are stores of their own, each with its own key`() throws {
    let other = "file:" + (try tool.files.keyFile("other", of: "o"))
    let backup = "file:\(tool.files.path)/backup"
    try tool.load()
    #expect(try tool("export", backup, "--to-key", other).status == 0)
    #expect(try tool("export", "--store", backup, "--key", other).json == tool.exported())
    #expect(try tool("export", "--store", backup).status != 0)
    // From one directory into another, both with keys of their own.
    let own = ["--store", "file"] + key
    #expect(try tool(["import", backup, "--from-key", other] + own).status == 0)
    #expect(try tool(["export"] + own).json == tool.exported())
    // The advice names the option of the store that has another key.
    try tool(["import", backup] + own).exits(1, saying: "--from-key says where the key comes from")
    try tool(["import", backup, "--from-key", "passphrase"] + own)
      .exits(1, saying: "Use that: --from-key file:PATH or --from-key credential:NAME.")
    try tool(["export", backup] + own).exits(1, saying: "--to-key says where the key comes from")
    try tool(["import", backup, "--from-key", other, "--store", "file", "--key", other])
      .exits(1, saying: "--key says where the key comes from")
  }

  @Test func `A file that is named like a store needs a directory`() throws {
    try tool.load()
    try tool.shell(#"cd "$1" && exec "$0" export ./keyring --group "$GROUP""#, [tool.files.path]).exits(0)
    #expect(try JSONValue(text: tool.files.contents("keyring")) == tool.exported())
  }
}
