import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct FailureTests {
  static let commands: [[String]] = [
    ["list", "--groups"], ["list"], ["show", "a"], ["clear", "--all"], ["import", "-"], ["export"],
  ]

  /// Every command fails alike: an exit code, advice in words, and with `--json` an error object.
  private func expect(
    _ status: Int32, _ code: String, advice: String, of tool: Tool, with changes: [String: String?] = [:],
    options: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for command in Self.commands {
      let arguments = tool.inGroup(command) + options
      let text = try tool.run(arguments, input: Sample.cache, with: changes)
        .exits(status, printing: "", saying: advice, sourceLocation: sourceLocation)
      // With --unlock the first line is what the command waited for.
      let error = text.standardError.split(separator: "\n").first { !$0.hasPrefix("The keyring asks for ") }
      #expect(error?.hasPrefix("llavero: ") == true, "\(command)", sourceLocation: sourceLocation)
      guard command != ["export"] else { continue }
      let json = try tool.run(arguments + ["--json"], input: Sample.cache, with: changes)
        .exits(status, printing: "", code: code, sourceLocation: sourceLocation)
      let object = try JSONValue(text: json.standardError)
      #expect(object.keys == ["error"], sourceLocation: sourceLocation)
      #expect(object["error"]?.keys == ["advice", "code", "message"], sourceLocation: sourceLocation)
    }
  }

  @Test func `Without a session bus commands advise how to get one`() throws {
    let tool = try Tool()
    for address in [nil, "unix:path=/proc/nonexistent"] {
      try expect(
        1, "unavailable", advice: "dbus-run-session", of: tool,
        with: [
          "DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": tool.files.path,
          "XDG_DATA_HOME": tool.files.path,
        ])
    }
  }

  @Test func `Without a keyring commands name some providers`() throws {
    try expect(1, "unavailable", advice: "gnome-keyring", of: Tool(on: PrivateKeyring(startingDaemon: false)))
  }

  @Test func `A locked keyring exits with 3`() throws {
    let tool = try Tool(on: PrivateKeyring())
    try tool.load()
    try tool.keyring.lockCollection()
    try expect(3, "locked", advice: "--unlock", of: tool)
    try tool.keyring.restartDaemon(unlocked: false)
    try expect(3, "locked", advice: "--unlock", of: tool)
    try expect(5, "prompt_dismissed", advice: "prompt", of: tool, options: ["--unlock"])
    try tool.keyring.unlockCollection()
    #expect(try tool.exported() == JSONValue(text: Sample.cache))
  }

  @Test func `Without a default collection commands advise how to create it`() throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    try keyring.startDaemon(unlocked: false)
    let tool = try Tool(on: keyring)
    try expect(1, "unavailable", advice: "run the command again with --unlock", of: tool)
    // No program can ask for its password.
    try expect(5, "prompt_dismissed", advice: "prompt", of: tool, options: ["--unlock"])
  }

  @Test func `A missing collection is named in the error`() throws {
    try expect(
      1, "unavailable", advice: "no collection named nope", of: Tool(), options: ["--collection", "nope"])
  }

  @Test func `A collection is found by its name or label`() throws {
    let tool = try Tool()
    try tool.load()
    for name in ["login", "Login"] {
      #expect(try tool.json("list", "--collection", name)["records"]?.arrayValue?.count == 10)
    }
  }

  @Test(arguments: [
    ["nonsense"], ["list", "--nonsense"], ["show"], ["import"], ["list", "--group", "no-dots"],
    ["clear", "--account"], ["export", "a", "b"], ["doctor", "--yes"], ["token", "--query", "[tenant, x]"],
    ["token", "--query", "xtenant]"],
  ])
  func `Wrong usage has its own exit code`(_ arguments: [String]) throws {
    let tool = try Tool()
    try tool.run(arguments).exits(2, printing: "", saying: "--help")
    #expect(try tool.run(arguments + ["--json"]).exits(2, printing: "").error?["code"] == "usage")
  }

  @Test func `An argument after -- asks for no JSON`() throws {
    let result = try Tool().run(["list", "--", "--json"]).exits(2, printing: "", saying: "--help")
    #expect(result.standardError.hasPrefix("llavero: "))
  }

  @Test(
    .fault("secret in option"),
    arguments: [
      ["list", "--key", "hunter2"], ["list", "--key=hunter2"], ["list", "--etcd-password", "hunter2"],
      ["export", "file", "--to-key", "hunter2"],
      ["rekey", "--new-key", "hun'is invalid for '--x ter2"],
    ])
  func `A secret given as a key source is not shown`(_ arguments: [String]) throws {
    for more in [[], ["--json"]] {
      try Tool().run(arguments + more).exits(2, saying: "passphrase-fd:N", hiding: "ter2")
    }
  }

  @Test(arguments: [
    "import ADDRESS", "export ADDRESS",
    "list --store ADDRESS", "list --store=ADDRESS", "token --from https://root:secret@h/x",
    "login --redirect-uri https://root:secret@h/x",
  ])
  func `A password in an address is not shown`(_ command: String) throws {
    let arguments = command.replacing("ADDRESS", with: "etcd+https://root:secret@h/x").words
    for more in [[], ["--json"]] {
      try Tool().run(arguments + more).exits(2, hiding: "secret")
    }
  }

  @Test(.fault("many accounts")) func `An error about many accounts names five`() throws {
    let tool = try Tool()
    let accounts = (0..<40).flatMap { number in
      let id = "0a0a0a0a-1111-4111-8111-\(100_000_000_000 + number).aaaaaaaa-0000-4000-8000-00000000000a"
      return [
        Sample.account(id, "user\(number)@contoso.example"),
        Sample.refreshToken("r\(number)", id, Sample.mail),
      ]
    }
    try tool.load(Sample.cache(accounts))
    let result = try tool("token", "--client", Sample.mail)
      .exits(2, saying: "40 accounts are signed in.", "--account NAME", "and 35 more")
    #expect(result.standardError.utf8.count < 1200)
    let five = try Tool()
    try five.load(Sample.cache(Array(accounts.prefix(10))))
    try five("token", "--client", Sample.mail).exits(2, saying: "5 accounts are", hiding: " more")
  }

  @Test(arguments: [["--help"], ["help", "clear"], ["show", "-h"], ["--version"], []])
  func `Help exits with 0`(_ arguments: [String]) throws {
    #expect(try !Tool().run(arguments).exits(0, errors: "").standardOutput.isEmpty)
  }

  @Test func `The help documents exit codes and JSON`() throws {
    let help = try Tool().run(["help"]).standardOutput
    for line in [
      "0  done", "1  error", "2  wrong usage", "3  action required", "4  the network", "5  cancelled",
      "standard error",
    ] {
      #expect(help.contains(line))
    }
    for command in Self.commands + [["login"], ["logout"], ["token"], ["get"]]
    where command[0] != "export" {
      // An export is a cache.
      #expect(try Tool().run(["help", command[0]]).standardOutput.contains("\nJSON: "))
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `Every shell has completions`(_ shell: String) throws {
    let script = try Tool().run(["--generate-completion-script", shell])
      .exits(0, showing: "dry-run", "reveal", "collection", "device-code", "min-validity")
    if shell == "fish" {
      script.exits(
        0, showing: #""llavero help" -eq 1' -fa '"#, #""llavero help" -eq 2; and "#,
        #""llavero import" -eq 1' -a '"#)
    }
    guard shell == "bash" else { return }
    try Child.run("bash", ["-n"], environment: Tool().environment(with: [:]), input: script.standardOutput)
      .exits(0)
  }
}
