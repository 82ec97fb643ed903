import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct ExportTests {
  let tool: Tool

  init() throws {
    tool = try Tool()
    try tool.load()
  }

  @Test(.requirement("R14.3")) func `The private key of bound tokens is not exported, listed or imported`()
    async throws
  {
    let tool = try Tool()
    let key = #"{"Custom":{"a":1},"PopKey":{"rs256":{"secret":"secret-pop-key"}}}"#
    try await tool.create(account: nil, secret: key)
    let other = #""PopKey": {"rs256": {"secret": "secret-other-key"}}"#
    try tool.load(Sample.cache.dropLast() + #", "Custom": {"b": 2}, \#(other)}"#)
    let exported = try tool.exported()
    #expect(exported["Custom"] == .object(["a": .integer(1), "b": .integer(2)]))
    #expect(exported["PopKey"] == nil)
    let items = try await tool.items().joined()
    #expect(items.contains("secret-pop-key") && !items.contains("secret-other-key"))
    for arguments in [
      ["list", "--json"], ["list"], ["list", "--groups"], ["status"], ["doctor", "--json"],
    ] {
      let result = try tool(arguments)
      #expect(!(result.standardOutput + result.standardError).contains("secret-pop-key"))
    }
    #expect(try tool("clear", "--all", "--yes").status == 0)
    #expect(try await tool.items().isEmpty)
    // Also where there is nothing else.
    try await tool.create(account: nil, secret: #"{"PopKey":{"rs256":{"secret":"secret-pop-key"}}}"#)
    #expect(try tool("clear", "--all", "--yes").status == 0)
    #expect(try await tool.items().isEmpty)
  }

  @Test func `A file is new and readable by its owner only`() throws {
    let path = tool.files.path + "/cache.json"
    try tool.shell(#"umask 0; exec "$0" export "$1" --group "$GROUP""#, [path]).exits(
      0, printing: "", errors: "10 records of \(tool.group) written to \(path), in plaintext.\n")
    #expect(mode(of: path) == 0o600)
    #expect(try JSONValue(text: tool.files.contents("cache.json")) == JSONValue(text: Sample.cache))
  }

  @Test func `An existing file is not changed`() throws {
    let path = try tool.files.file("cache.json", "mine")
    symlink(path, tool.files.path + "/link.json")
    symlink(tool.files.path + "/new.json", tool.files.path + "/dangling.json")
    for name in ["cache.json", "link.json", "dangling.json"] {
      try tool("export", tool.files.path + "/" + name).exits(1, saying: "does not exist yet")
    }
    #expect(try tool.files.contents("cache.json") == "mine")
    #expect(access(tool.files.path + "/new.json", F_OK) != 0)
  }

  @Test func `A dry run to a file prints the records and writes nothing`() throws {
    let path = tool.files.path + "/cache.json"
    let preview = try tool.json("export", path, "--dry-run")
    #expect(preview.keys == ["dry_run", "group", "kept", "problems", "records", "saved"])
    #expect(preview["saved"] == .integer(10) && preview["records"]?.arrayValue?.count == 10)
    #expect(access(path, F_OK) != 0)
    #expect(
      try tool.json("export", path)
        == .object([
          "group": .string(tool.group), "kept": .integer(0), "problems": .array([]), "saved": .integer(10),
        ]))
    try tool("export", path, "--dry-run", "--json").exits(1, code: "unwritable")
  }

  @Test func `A missing directory is an error`() throws {
    let path = tool.files.path + "/none/cache.json"
    try tool("export", path).exits(
      1, errors: "llavero: \(path) cannot be written: No such file or directory.\n")
  }

  @Test func `An export to a terminal requires --reveal`() throws {
    try tool.onTerminal("export").exits(2, saying: "--reveal", hiding: "secret-")
    try tool.onTerminal("export", "--reveal").exits(0, saying: "secret-at-valid")
  }

  @Test(arguments: ["list", "export", "list --json"])
  func `A closed pipe is not an error`(_ command: String) throws {
    try tool.shell(#""$0" \#(command) --group "$GROUP" | head -c 1 | wc -c"#)
      .exits(0, printing: "1\n", errors: "")
    try tool.shell(#"trap "" PIPE; "$0" \#(command) --group "$GROUP" | true"#).exits(0, errors: "")
  }
}
