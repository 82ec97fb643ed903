import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct SecrecyTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  /// All that the commands print of a group, standard error included.
  private func everyOutput(on tool: Tool) throws -> [(command: [String], output: String)] {
    let ids = try tool.json("list")["records"]?.strings("id") ?? []
    let commands =
      [
        ["list", "--groups"], ["status"], ["list"], ["clear", "--all", "--dry-run"],
        ["clear", "--expired", "--dry-run"],
        ["clear", "--all"], ["show", "zz"], ["clear", "--account", "zz"],
      ] + ids.map { ["show", $0] }
    return try (commands + commands.map { $0 + ["--json"] }).map { command in
      let result = try tool(command)
      return (command, result.standardOutput + result.standardError)
    }
  }

  @Test func `No token of another library's cache is shown`() throws {
    for fixture in PeerCache.all { try tool.load(String(decoding: fixture.data, as: UTF8.self)) }
    // Some made-up tokens are words, "secret" among them, that stand elsewhere rightfully.
    let secrets = try tool.exported().secrets.filter { $0.count > 6 }
    #expect(secrets.count > 40)
    for (command, output) in try everyOutput(on: tool) {
      for secret in secrets where output.contains(secret) { Issue.record("\(command) shows \(secret)") }
    }
  }

  @Test func `No token and no unknown field is shown without --reveal`() throws {
    try tool.load()
    let outputs = try everyOutput(on: tool)
    #expect(outputs.count > 30)
    for (command, output) in outputs where output.contains("secret-") {
      Issue.record("\(command) shows a secret: \(output)")
    }
    for arguments in [["import", "-"], ["clear", "--all", "--yes"]] {
      try tool(arguments, input: Sample.cache).exits(0, hiding: "secret-")
    }
  }

  /// A control sequence, in its 7-bit and its 8-bit form, a bidirectional override, a line separator and more.
  static let hostile = #"\u001b[31m\u009b31m\u202e\u2028\u200b\u0007\b\r\n\t\u0000\u007f\ue000"# + "\u{E0041}"

  @Test(.fault("hidden characters"))
  func `Text from a cache is printed without control characters`() throws {
    let hostile = try #require(JSONValue(text: "\"\(Self.hostile)\"").stringValue)
    try tool.load([
      Sample.account(Sample.alice, "alice\(hostile)", name: "Alice\(hostile)"),
      Sample.accessToken("h", Sample.alice, "client\(hostile)", "scope\(hostile)", expiresOn: Sample.future),
      Sample.idToken(
        Sample.alice, "c",
        claims: #"{"name\#(Self.hostile)": "\#(Self.hostile)", "n": {"\#(Self.hostile)": 1}}"#),
      Sample.account("h\(hostile).t", "other"),
    ])
    var outputs = try everyOutput(on: tool)
    outputs.append((["export"], try tool("export").standardOutput))
    outputs.append((["clear"], try tool("clear", "--account", "x\u{1B}[31m\u{202E}").standardError))
    outputs.append((["show"], try tool("show", "x\u{1B}[31m\u{202E}", "--json").standardError))
    outputs.append((["import"], try tool("import", "/x\u{1B}[31m\u{202E}").standardError))
    outputs.append((["--x"], try tool("list", "--x\u{1B}[31m\u{202E}").standardError))
    for (command, output) in outputs {
      let bad = output.unicodeScalars.filter { scalar in
        scalar != "\n"
          && [.control, .format, .lineSeparator, .paragraphSeparator].contains(
            scalar.properties.generalCategory)
      }
      #expect(bad.isEmpty, "\(command) prints \(bad.map { String($0.value, radix: 16) })")
    }
  }

  @Test func `Names of caches are printed without control characters`() throws {
    try tool.files.file(".azureauth/msal_\u{1B}[31m\u{202E}_cache.json", Sample.cache)
    let result = try tool.run(["adopt"], with: ["HOME": tool.files.path])
    #expect(result.standardOutput.contains("PLAINTEXT"))
    #expect(result.standardOutput.contains("azureauth-file:\u{FFFD}[31m\u{FFFD} "))
    #expect(!result.standardOutput.unicodeScalars.contains { ["\u{1B}", "\u{202E}"].contains($0) })
  }

  @Test func `JSON keeps the value of escaped characters`() throws {
    let name = try JSONValue(text: "\"alice\(Self.hostile)\"")
    try tool.load([Sample.account(Sample.alice, name.stringValue ?? "")])
    #expect(try tool.json("list")["records"]?[0]?["username"] == name)
    #expect(try tool.exported()["Account"]?.objectValue?.values.first?["username"] == name)
  }
}
