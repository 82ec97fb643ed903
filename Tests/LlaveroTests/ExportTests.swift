import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct ExportTests {
  let tool: Tool
  let directory: TemporaryDirectory

  init() throws {
    tool = try Tool()
    directory = try TemporaryDirectory()
    try tool.load()
  }

  @Test func `The export is one cache with everything`() throws {
    #expect(try tool.exported() == JSONValue(text: Sample.cache))
  }

  @Test func `The private key of bound tokens is not exported, listed or imported`() async throws {
    let tool = try Tool()
    let shard = ShardID(homeAccountID: nil, group: try KeychainGroup(tool.group))
    let key = #"{"Custom":{"a":1},"PopKey":{"rs256":{"secret":"secret-pop-key"}}}"#
    try await tool.create(shard: shard.rawValue, secret: key)
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
    try await tool.create(shard: shard.rawValue, secret: #"{"PopKey":{"rs256":{"secret":"secret-pop-key"}}}"#)
    #expect(try tool("clear", "--all", "--yes").status == 0)
    #expect(try await tool.items().isEmpty)
  }

  @Test func `A file is new and readable by its owner only`() throws {
    let path = directory.path + "/cache.json"
    try shell(#"umask 0; exec "$0" export "$1" --group "$2""#, path).exits(
      0, printing: "", errors: "10 records of \(tool.group) written to \(path), in plaintext.\n")
    #expect(mode(of: path) == 0o600)
    #expect(try JSONValue(text: directory.contents("cache.json")) == JSONValue(text: Sample.cache))
  }

  @Test func `An existing file is not changed`() throws {
    let path = try directory.file("cache.json", "mine")
    symlink(path, directory.path + "/link.json")
    symlink(directory.path + "/new.json", directory.path + "/dangling.json")
    for name in ["cache.json", "link.json", "dangling.json"] {
      try tool("export", directory.path + "/" + name).exits(1, saying: "does not exist yet")
    }
    #expect(try directory.contents("cache.json") == "mine")
    #expect(access(directory.path + "/new.json", F_OK) != 0)
  }

  @Test func `A dry run to a file prints the records and writes nothing`() throws {
    let path = directory.path + "/cache.json"
    let preview = try tool.json("export", path, "--dry-run")
    #expect(preview.keys == ["dry_run", "group", "kept", "records", "saved"])
    #expect(preview["saved"] == .integer(10) && preview["records"]?.arrayValue?.count == 10)
    #expect(access(path, F_OK) != 0)
    #expect(
      try tool.json("export", path)
        == .object(["group": .string(tool.group), "kept": .integer(0), "saved": .integer(10)]))
    try tool("export", path, "--dry-run", "--json").exits(1, code: "unwritable")
  }

  @Test func `A missing directory is an error`() throws {
    let path = try TemporaryDirectory().path + "/cache.json"
    try tool("export", path).exits(
      1, errors: "llavero: \(path) cannot be written: No such file or directory.\n")
  }

  @Test func `An export to a terminal requires --reveal`() throws {
    try tool.onTerminal("export").exits(2, saying: "--reveal", hiding: "secret-")
    try tool.onTerminal("export", "--reveal").exits(0, saying: "secret-at-valid")
  }

  @Test(arguments: ["list", "export", "list --json"])
  func `A closed pipe is not an error`(_ command: String) throws {
    let result = try shell(#""$0" \#(command) --group "$2" | head -c 1 | wc -c"#)
    #expect(result.standardOutput == "1\n")
    #expect(result.standardError.isEmpty)
    let ignoring = try shell(#"trap "" PIPE; "$0" \#(command) --group "$2" | true"#)
    #expect(ignoring.standardError.isEmpty)
  }

  @Test func `A full disk is an error`() throws {
    try shell(#""$0" export --group "$2" >/dev/full"#).exits(1, saying: "No space left")
  }

  /// Runs a shell script whose `$0` is the tool, `$1` a path and `$2` the group.
  private func shell(_ script: String, _ path: String = "") throws -> Child.Result {
    try Child.run(
      "/bin/sh", ["-c", script, Tool.path, path, tool.group], environment: tool.environment(with: [:]))
  }
}
