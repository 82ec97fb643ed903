import SecretService
import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct DoctorTests {
  private let home: TemporaryDirectory

  init() throws { home = try TemporaryDirectory() }

  /// Examines with a home of the test's own and, unless told otherwise, with a display and a browser.
  private func examine(
    _ tool: Tool, _ options: String..., with changes: [String: String?] = [:]
  ) throws -> DoctorReport {
    let variables: [String: String?] = [
      "HOME": home.path, "XDG_DATA_HOME": nil, "XDG_CACHE_HOME": nil, "DISPLAY": ":1", "BROWSER": "true",
    ]
    return try tool.examine(options, with: variables.merging(changes) { $1 })
  }

  @Test func `On a good machine all checks pass and leave nothing behind`() async throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try tool.load()
    let before = try tool.exported()
    let report = try examine(tool).exits(0)
    #expect(report.json.keys == ["findings", "state"])
    #expect(report.state == "warning")
    #expect(report.findings("session_bus").first?.keys == ["check", "message", "state"])
    #expect(report.findings("prompt").first?.keys == ["advice", "check", "message", "state"])
    #expect(
      report.checks == [
        "lock_directory", "session_bus", "secret_service", "encryption", "prompt", "collection", "probe",
        "groups", "clock", "sources", "ca_bundle", "authority", "browser", "identity_broker",
        "other_programs",
      ])
    for check in report.checks where check != "prompt" { #expect(report.states(check) == ["ok"], "\(check)") }
    #expect(report.text("secret_service").contains(/gnome-keyring-daemon \d+\.\d.* \(process \d+\)/))
    #expect(report.text("encryption").contains("dh-ietf1024-sha256-aes128-cbc-pkcs7"))
    // This bus cannot start services.
    report.finds("prompt", "warning", saying: "org.gnome.keyring.SystemPrompter")
    #expect(report.text("groups").contains("1 group"))
    #expect(try tool.exported() == before)
    let client = SecretServiceClient(busAddress: tool.keyring.busAddress)
    #expect(try await client.search(["xdg:schema": "org.llavero.Probe"]).unlocked.isEmpty)
    let runtime = try #require(tool.keyring.environment["XDG_RUNTIME_DIR"])
    for name in ["doctor.lock", "keepassxc-changes"] {
      #expect(!FileManager.default.fileExists(atPath: "\(runtime)/llavero/\(name)"))
    }
  }

  /// In another root, such as a container's, another program may have the same path.
  @Test(
    .fault("impostor", "other root"),
    .enabled(if: (try? Child.run("bwrap", otherRoot("/etc/passwd") + ["true"]).status) == 0, "No bwrap."),
    arguments: [false, true])
  func `The version of the provider is reported only if it is the system's program`(inOtherRoot: Bool) throws
  {
    let keyring = try PrivateKeyring(startingDaemon: false)
    let program = home.path + "/gnome-keyring-daemon"
    // As TemporaryDirectory.program, not by this process.
    _ = try Child.output("cp", ["/usr/bin/gnome-keyring-daemon", program])
    let command =
      (inOtherRoot ? ["bwrap"] + Self.otherRoot(program) + ["/usr/bin/gnome-keyring-daemon"] : [program])
      + ["--foreground", "--components=secrets"]
    let daemon = try Child(command[0], Array(command.dropFirst()), environment: keyring.environment)
    defer { daemon.end() }
    let tool = try Tool(on: keyring)
    var report = try examine(tool)
    while report.states("secret_service") != ["ok"] { report = try examine(tool) }
    #expect(report.text("secret_service").contains("gnome-keyring-daemon offers the Secret Service"))
  }

  /// The arguments of bwrap for a root with another program in the daemon's place.
  private static func otherRoot(_ program: String) -> [String] {
    ["--die-with-parent", "--dev-bind", "/", "/", "--bind", program, "/usr/bin/gnome-keyring-daemon"]
  }

  @Test(.fault("plain session"))
  func `A keyring that refuses encryption is a problem, unless --allow-plain-session is given`() throws {
    let service = try FakeService(["SearchItems": .reply([.objectPaths([]), .objectPaths([])])])
    let tool = try Tool(on: service.keyring)
    let report = try examine(tool).finds("encryption", "problem", saying: "--allow-plain-session")
    #expect(report.findings("probe").isEmpty)
    let calls = Set(service.calls)
    #expect(calls.isDisjoint(with: ["SearchItems", "GetSecrets", "CreateItem"]), "\(calls)")
    #expect(try examine(tool, "--allow-plain-session").states("encryption") == ["warning"])
  }

  @Test func `Text has one finding a line, with advice below`() throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    let result = try tool.run(["doctor"], with: ["HOME": home.path]).exits(0)
    let lines = result.standardOutput.split(separator: "\n")
    #expect(lines.first?.hasPrefix("ok       ") == true)
    #expect(lines.contains("ok       There is a session bus."))
    let warning = try #require(lines.firstIndex { $0.hasPrefix("warning  The keyring cannot ask") })
    #expect(lines[warning + 1].hasPrefix("         It has to be unlocked without a dialog."))
  }

  @Test(.fault("doctor no bus"), arguments: [nil, "unix:path=/proc/nonexistent"])
  func `Without a bus the keyring's chain ends, other checks run, and that of the broker warns`(
    address: String?
  ) throws {
    let directory = try TemporaryDirectory()
    let report = try examine(
      Tool(), with: ["DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": directory.path])
    report.exits(1)
      .finds("session_bus", "problem", saying: "dbus-run-session", address ?? "is not set")
      .finds("identity_broker", "warning", saying: "no session bus")
    #expect(report.state == "problem")
    #expect(
      report.checks == [
        "lock_directory", "session_bus", "sources", "ca_bundle", "authority", "browser", "identity_broker",
        "other_programs",
      ])
  }

  @Test(.fault("bad setting"))
  func `An unknown setting is a problem, and all checks run`() throws {
    let tool = try Tool()
    try tool.configure("[llavero]\ngruop = com.example.mail\ncolour = red\n")
    try examine(tool, with: ["XDG_CONFIG_HOME": tool.files.path]).exits(1)
      .finds("configuration", "problem", saying: tool.files.path + "/llavero/config", "gruop", "colour")
      .finds("session_bus", "ok")
  }

  @Test func `An invalid setting is the only finding`() throws {
    let tool = try Tool()
    let report = try examine(tool, with: ["LLAVERO_STORE": "nowhere"]).exits(1)
      .finds("configuration", "problem", saying: "LLAVERO_STORE")
    #expect(report.checks == ["configuration"])
  }

  @Test func `Without a keyring the advice is to install one`() throws {
    let report = try examine(Tool(on: PrivateKeyring(startingDaemon: false)))
      .exits(1)
      .finds("secret_service", "problem", saying: "apt-get install gnome-keyring")
    #expect(report.findings("encryption").isEmpty)
  }

  @Test func `The command in the advice makes the first collection`() async throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    try keyring.startDaemon(unlocked: false)
    let report = try examine(Tool(on: keyring)).exits(1).finds("collection", "problem")
    #expect(report.findings("probe").isEmpty)
    #expect(report.text("collection").contains("gnome-keyring-daemon --replace --unlock"))
    try Child.run(
      "gnome-keyring-daemon", ["--replace", "--unlock", "--components=secrets"],
      environment: keyring.environment, input: "secret"
    ).exits(0)
    // The command is done before the daemon that it leaves behind is on the bus.
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    try await eventually { (try? await client.collection()) != nil }
    #expect(try examine(Tool(on: keyring)).states("probe") == ["ok"])
    keyring.killBus()
  }

  @Test func `A locked keyring is a problem where it cannot prompt, otherwise a warning`() throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try tool.load()
    for lock in [tool.keyring.lockCollection, { try tool.keyring.restartDaemon(unlocked: false) }] {
      try lock()
      for display in [nil, ":1"] {
        let report = try examine(tool, with: ["DISPLAY": display])
          .exits(1)
          .finds("collection", "problem", saying: "Login, is locked")
        #expect(report.findings("probe").isEmpty && report.findings("groups").isEmpty)
      }
    }
    // A prompter.
    let prompter = try FakeService.silentPrompter(on: tool.keyring)
    let report = try examine(tool)
      .exits(0)
      .finds("prompt", "ok")
      .finds("collection", "warning", saying: "llavero doctor --unlock")
    #expect(report.findings("probe").isEmpty && report.findings("groups").isEmpty)
    #expect(try examine(tool, with: ["DISPLAY": nil]).states("collection") == ["problem"])
    withExtendedLifetime(prompter) {}
  }

  @Test func `A keyring that does not respond is a problem`() throws {
    let keyring = try PrivateKeyring(isActivatable: true)
    keyring.stopDaemon()
    let report = try examine(Tool(on: keyring))
    keyring.continueDaemon()
    report.exits(1).finds("secret_service", "problem", saying: "did not answer in time")
  }

  @Test func `A missing collection is named, and other programs' caches are in the default one`() throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try examine(tool, "--collection", "nope").exits(1)
      .finds("collection", "problem", saying: "no collection named nope")
    try examine(tool, with: ["LLAVERO_COLLECTION": "nope"])
      .finds("collection", "problem", saying: "no collection named nope")
      .finds("sources", "ok", saying: "No cache of another program")
  }

  @Test(.fault("plaintext collection"))
  func `A collection without a password is a problem, and the other checks run`() throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    try keyring.makePlaintextCollection("login")
    try keyring.startDaemon(unlocked: false)
    let tool = try Tool(on: keyring)
    try tool.load()
    let file = keyring.directory + "/data/keyrings/login.keyring"
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("secret-rt"))
    try examine(tool).exits(1)
      .finds("password", "problem", saying: "login has no password", file, "Change Password")
      .finds("groups", "ok")
    // Nothing was locked.
    #expect(try tool.run(["list", "--groups"]).status == 0)
  }

  @Test(.fault("two keyrings"))
  func `A second keyring on the same files is a warning, and no advice leads to one`() async throws {
    let keyring = try PrivateKeyring()
    let tool = try Tool(on: keyring)
    let other = try PrivateKeyring(startingDaemon: false)
    #expect(try examine(tool).states("secret_service") == ["ok"])
    // By another path.
    let data = ["XDG_DATA_HOME": keyring.directory + "/./data"]
    let environment = other.environment.merging(data) { $1 }
    let second = try Child(
      "gnome-keyring-daemon", ["--foreground", "--components=secrets"], environment: environment)
    defer { second.end() }
    try await eventually { try examine(tool).states("secret_service") == ["ok", "warning"] }
    try examine(tool)
      .finds("secret_service", "ok", "warning", saying: "Another gnome-keyring-daemon", other.busAddress)
    let report = try examine(
      tool,
      with: [
        "DBUS_SESSION_BUS_ADDRESS": nil, "XDG_RUNTIME_DIR": home.path,
        "XDG_DATA_HOME": keyring.directory + "/data",
      ])
    report.finds("session_bus", "problem", saying: "export DBUS_SESSION_BUS_ADDRESS=")
    #expect(!report.text("session_bus").contains("dbus-run-session"))
  }

  /// A group with two damaged entries, and two of other versions.
  private func damagedGroup() async throws -> Tool {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true), settings: ["HOME": home.path])
    try tool.load()
    for shard in ["broken", "torn"] { try await tool.create(shard: shard, secret: "{") }
    try await tool.create(shard: "later", version: "2", secret: "{}")
    try await tool.create(shard: "strange", version: "", secret: "{}")
    return tool
  }

  @Test func `Problems of a group are reported by kind`() async throws {
    let report = try await examine(damagedGroup()).exits(1)
    #expect(report.states("groups").sorted() == ["problem", "warning"])
    let text = report.text("groups")
    #expect(text.contains(/has 2 items that cannot be read: .*\nRemove them, .*: llavero doctor --fix\n/))
    #expect(text.contains("that only a later version can read"))
  }

  @Test func `Without a terminal --fix removes no entry and exits with 3`() async throws {
    let tool = try await damagedGroup()
    let before = try await tool.items()
    try tool("doctor", "--fix", input: "y\n").exits(
      3, showing: "\nproblem  \(tool.group) has 2 items", saying: "llavero doctor --fix --yes")
    let report = try tool("doctor", "--fix", "--json").exits(3, code: "confirmation_required")
    #expect(try report.json["fixed"] == .array([]))
    #expect(try await tool.items() == before)
  }

  @Test(arguments: ["n\n", "\n", "\u{4}"])
  func `On a terminal --fix names each entry, and a no exits with 5`(_ answer: String) async throws {
    let tool = try await damagedGroup()
    let before = try await tool.items()
    let screening = try tool.onTerminal("doctor", "--fix", columns: 200, typing: answer)
      .exits(5, saying: "Remove 2 items from \(tool.group)? [y/N]", "Nothing was removed from \(tool.group).")
    #expect(
      screening.lines.count {
        $0.contains(/^Shard (broken|torn), changed 2.*Z: The cache.* It would be removed\.$/)
      } == 2)
    // The checks after that one run.
    #expect(screening.lines.contains { $0.contains("No cache of another program") })
    #expect(try await tool.items() == before)
  }

  @Test func `A signal ends the doctor at its question, and nothing is removed`() async throws {
    let tool = try await damagedGroup()
    let before = try await tool.items()
    let end = try tool.onTerminal("doctor", "--fix", answering: ["\u{1}"]) { kill($0, SIGTERM) }
    end.exits(128 + SIGTERM)
    #expect(try await tool.items() == before)
  }

  @Test func `On a terminal a yes to --fix removes the unreadable entries`() async throws {
    let tool = try await damagedGroup()
    let screening = try tool.onTerminal("doctor", "--fix", typing: "y\n").exits(0)
    #expect(screening.lines.contains { $0.hasPrefix("fixed    \(tool.group) has 2 items") })
    #expect(!(try examine(tool).states("groups").contains("problem")))
    #expect(try tool.json("list")["records"]?.arrayValue?.count == 10)
  }

  @Test func `--fix --yes removes entries of each group, and JSON lists them`() async throws {
    let tool = try await damagedGroup()
    let other = try Tool(on: tool.keyring)
    try await other.create(shard: "broken", secret: "{")
    let runtime = try #require(tool.keyring.environment["XDG_RUNTIME_DIR"])
    #expect(chmod(runtime + "/llavero", 0o755) == 0)
    let report = try examine(tool, "--fix", "--yes").exits(0)
    let fixed = try #require(report.json["fixed"]?.arrayValue)
    #expect(
      fixed.compactMap { $0["check"]?.stringValue } == ["lock_directory", "groups", "groups", "groups"])
    #expect(
      fixed.compactMap { $0["group"]?.stringValue }.sorted()
        == [other.group, tool.group, tool.group].sorted())
    #expect(fixed[1].keys == ["check", "group", "kind", "message", "shard"])
    #expect(Set(fixed.compactMap { $0["kind"]?.stringValue }) == ["damaged"])
    #expect(report.states("groups").filter { $0 == "fixed" }.count == 2)
    #expect(try examine(tool, "--fix").exits(0).json["fixed"] == .array([]))
  }

  @Test func `An item of another program is not changed`() async throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try tool.load()
    try await tool.create(shard: "theirs", secret: "theirs", adding: ["xdg:schema": "com.example"])
    try examine(tool, "--fix").exits(0).finds("groups", "warning", saying: "of another program")
    #expect(try await tool.items().contains("theirs"))
  }

  @Test(.fault("edited item")) func `--fix gives an edited item the right attributes`() async throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try await tool.create(account: Sample.alice, secret: Sample.alices, adding: ["theirs": "1"])
    try examine(tool).exits(0).finds("groups", "warning", saying: "attributes that no store gave them")
    let before = try tool.exported()
    try examine(tool, "--fix").exits(0).finds("groups", "fixed")
    #expect(try examine(tool).states("groups") == ["ok"])
    #expect(try tool.exported() == before)
  }

  @Test(.fault("left behind"))
  func `An item under another account's name is a warning`() async throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try await tool.create(account: Sample.bob, secret: Sample.alices)
    try examine(tool, "--fix").exits(0)
      .finds("groups", "warning", saying: "1 item under another name", "llavero clear --all")
  }

  @Test func `--fix merges two items of an account`() async throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try tool.load([Sample.refreshToken("one", Sample.alice, Sample.mail)])
    let second = Sample.cache([Sample.refreshToken("two", Sample.alice, Sample.calendar)])
    try await tool.createTwin(secret: second)
    #expect(try await tool.items().count == 2)
    let before = try tool.exported()

    try examine(tool).exits(0).finds("groups", "warning", saying: "llavero doctor --fix")
    #expect(try await tool.items().count == 2)

    try examine(tool, "--fix").finds("groups", "fixed")
    #expect(try await tool.items().count == 1)
    #expect(try tool.exported() == before)
    #expect(try examine(tool, "--fix").states("groups") == ["ok"])
  }

  @Test func `A token cached in the future is a warning about the clock`() throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try tool.load(Sample.cache(at: "4102440000"))
    let latest = Sample.accessToken(
      "latest", Sample.bob, Sample.calendar, "X", at: "4102444000", expiresOn: Sample.future)
    try tool.load([latest])
    // One with nothing to report, before it.
    try tool.run(["import", "-", "--group", "com.example.first"], input: Sample.alices).required()
    try examine(tool)
      .exits(0)
      .finds(
        "clock", "warning", saying: "5 tokens cached in the future, at 2099-12-31T23:46:40Z", "timedatectl")
  }

  @Test(arguments: ["llavero", "llavero/group.lock"])
  func `--fix closes a lock directory that is open to others`(name: String) throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try tool.load()
    let runtime = try #require(tool.keyring.environment["XDG_RUNTIME_DIR"])
    let path = "\(runtime)/\(name)"
    if name.hasSuffix("lock") { try Data().write(to: URL(filePath: path)) }
    #expect(chmod(path, 0o755) == 0)

    try examine(tool).exits(1).finds("lock_directory", "problem", saying: "\(path) is open to others")
    try examine(tool, "--fix").exits(0).finds("lock_directory", "fixed")
    #expect(try examine(tool).states("lock_directory") == ["ok"])
    try tool.load()
  }

  @Test func `An unusable or unshared lock directory is reported`() throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try examine(tool, with: ["XDG_RUNTIME_DIR": "/proc/nowhere"])
      .finds("lock_directory", "problem", saying: "XDG_RUNTIME_DIR names /proc/nowhere", "Unset")
    try examine(tool, with: ["SNAP": "/snap/example/1"]).finds("lock_directory", "warning")
    symlink("/tmp", tool.files.path + "/llavero")
    try examine(tool, with: ["XDG_RUNTIME_DIR": tool.files.path])
      .finds("lock_directory", "problem", saying: "is a link")
  }

  private static let storeChecks = [
    "configuration", "sealed_files", "store_key", "probe", "groups", "clock", "sources", "ca_bundle",
    "authority", "browser", "identity_broker", "other_programs",
  ]

  /// The environment of a file store in the home directory, with a key file.
  private func fileStore() throws -> [String: String?] {
    let key = try home.keyFile()
    return [
      "HOME": home.path, "XDG_DATA_HOME": home.path, "LLAVERO_STORE": "file", "LLAVERO_KEY": "file:\(key)",
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent", "LLAVERO_BROKER": "off",
    ]
  }

  /// Such a store with a filled group.
  private func filledStore(_ tool: Tool) throws -> (environment: [String: String?], group: SealedGroup) {
    let environment = try fileStore()
    try tool.load(with: environment)
    return (environment, SealedGroup(of: tool, in: home))
  }

  @Test func `The file store is checked instead of the keyring, and nothing is left behind`() throws {
    let tool = try Tool()
    let empty = try examine(tool, with: fileStore())
    #expect(empty.checks == Self.storeChecks.filter { !["store_key", "probe"].contains($0) })
    #expect(empty.text("sealed_files").contains("the first write makes it"))
    #expect(!FileManager.default.fileExists(atPath: home.path + "/llavero"))

    let (environment, group) = try filledStore(tool)
    let before = try FileManager.default.subpathsOfDirectory(atPath: home.path).sorted()
    let report = try examine(tool, with: environment)
    #expect(report.status == 0 && report.state == "ok")
    #expect(report.checks == Self.storeChecks)
    #expect(try FileManager.default.subpathsOfDirectory(atPath: home.path).sorted() == before)

    for path in [group.path, group.path + "/lock", home.path + "/llavero/sealed"] {
      chmod(path, 0o755)
      let open = try examine(tool, with: environment).exits(1)
      #expect(open.text("sealed_files").contains("\(path) is open to others"))
      #expect(try examine(tool, "--fix", with: environment).states("sealed_files") == ["fixed"])
      #expect(try examine(tool, with: environment).state == "ok")
    }
  }

  @Test func `Problems of the store's files are reported, and --fix --yes solves them`() throws {
    let tool = try Tool()
    let (environment, group) = try filledStore(tool)
    let shards = try group.shards()
    let before = try shards.map { try Data(contentsOf: URL(filePath: $0)) }
    try tool.load(Sample.later, with: environment)
    // Not every shard has changed, and their names are in no order.
    let changed = try #require(zip(shards, before).first { try Data(contentsOf: URL(filePath: $0)) != $1 })
    try changed.1.write(to: URL(filePath: changed.0))
    let others = shards.filter { $0 != changed.0 }
    try group.damage(others[0])
    try FileManager.default.removeItem(atPath: others[1])
    let report = try examine(tool, with: environment).exits(1)
    let text = report.text("groups")
    for words in ["was damaged", "older version of itself", "was removed by something", "doctor --fix"] {
      #expect(text.contains(words), "\(text)")
    }
    #expect(report.states("probe") == ["ok"])
    let fixed = try examine(tool, "--fix", "--yes", with: environment).exits(0)
    #expect(
      Set(fixed.json["fixed"]?.strings("kind") ?? []) == ["damaged", "rolled_back", "missing"])
    #expect(try examine(tool, with: environment).states("groups") == ["ok"])
  }

  @Test(arguments: [true, false])
  func `The command in the advice works on the same store`(byDescriptor: Bool) throws {
    let tool = try Tool()
    let secret = try home.keyFile("the key", of: "k")
    let key = byDescriptor ? "passphrase-fd:0" : "file:" + secret
    let environment = ["XDG_DATA_HOME": home.path, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent"]
    /// Runs a line of a shell in which `llavero` is the tool.
    func shell(_ line: String) throws -> Child.Result {
      let path = "\(Tool.path.dropLast("/llavero".count)):/usr/bin:/bin"
      return try Child.run(
        "sh", ["-c", line], environment: tool.environment(with: environment.merging(["PATH": path]) { $1 }))
    }
    let store = "--store file --key '\(key)'" + (byDescriptor ? " < '\(secret)'" : "")
    let cache = try home.file("cache", Sample.cache)
    try shell("llavero import '\(cache)' --group \(tool.group) \(store)").required()
    try SealedGroup(of: tool, in: home).damage()

    let report = try shell("llavero doctor \(store)").exits(1)
    let command = try #require(report.standardOutput.firstMatch(of: /llavero doctor --fix.*/)).output
      .description
    #expect(command.contains("--store file --key"))
    try shell(command.replacing("FILE", with: "'\(secret)'").replacing("--fix", with: "--fix --yes")).exits(0)
    #expect(try shell("llavero doctor \(store)").status == 0)
  }

  @Test func `A wrong key is a problem, a missing passphrase a warning`() throws {
    let tool = try Tool()
    var (environment, _) = try filledStore(tool)
    let other = try home.keyFile("other", of: "x")
    let wrong = try examine(tool, "--key", "file:" + other, with: environment).finds("store_key", "problem")
    #expect(wrong.findings("groups").isEmpty && wrong.states("sources") == ["ok"])
    let missing = try examine(tool, "--key", "file:/proc/nonexistent", with: environment)
    #expect(missing.text("store_key").contains("There is no key file /proc/nonexistent"))

    environment["XDG_DATA_HOME"] = try home.directory("asked")
    environment["LLAVERO_KEY"] = "passphrase-fd:0"
    try tool(["import", home.file("c", Sample.cache)], input: "korrekt", with: environment).required()
    let unasked = try examine(tool, "--key", "passphrase", with: environment)
      .exits(0)
      .finds("store_key", "warning", saying: "passphrase-fd:3 3< FILE")
    #expect(unasked.findings("probe").isEmpty && unasked.findings("groups").isEmpty)
  }

  @Test func `Where the key is in the keyring, the keyring is checked first`() throws {
    var environment = try fileStore()
    environment["LLAVERO_KEY"] = "keyring"
    environment.removeValue(forKey: "DBUS_SESSION_BUS_ADDRESS")
    let report = try examine(Tool(on: PrivateKeyring(startingDaemon: false)), with: environment)
    #expect(report.states("secret_service") == ["problem"])
    #expect(report.findings("sealed_files").isEmpty)
  }

  @Test(arguments: [
    (".azure/msal_token_cache.json", "azure-cli"),
    (".IdentityService/msal.cache.nocae", "azure-identity-python-file"),
    (".IdentityService/msal.cache.prod.cae", "azure-identity-python:msal.cache.prod.cae-file"),
    (".local/share/.IdentityService/tool.nocae", "azure-identity-dotnet-file:tool.nocae"),
    (".local/.IdentityService/msal.cache", "git-credential-manager-file"),
    (".gcm/msal/app.cache", "git-credential-manager-apps-file"),
    (".azureauth/msal_a b_cache.json", "'azureauth-file:a b'"),
  ])
  func `A plaintext cache is reported with the command that moves it`(name: String, command: String) throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    let path = try home.file(name, Sample.cache, mode: 0o644)

    try examine(tool)
      .exits(1)
      .finds(
        "sources", "warning", "problem", saying: "Plaintext tokens in \(path)",
        "llavero adopt \(command)")
    try examine(tool, "--fix").exits(0).finds("sources", "warning", "fixed")
    #expect(try examine(tool).states("sources") == ["warning"])
    #expect(mode(of: path) == 0o600)
    #expect(try home.contents(name) == Sample.cache)
  }

  @Test(
    .fault("unread plaintext"),
    arguments: [
      (".azure/msal_token_cache.json", String(Sample.cache.dropLast(40)), "shred -u", "az login"),
      (".azure/msal_token_cache.json", Sample.cache + "}}", "shred -u", "az login"),
      (".IdentityService/msal.cache.nocae", "secret-html", "truncate -s 0", "go on with what they have"),
      (".azureauth/msal_a b_cache.json", "{\"RefreshToken\": [", "shred -u '", "azureauth asks"),
      (
        ".azure/service_principal_entries.json", "[{\"client_secret\": \"secret-x\"}]", "shred -u", "az login"
      ),
      (".azure/accessTokens.json", "[{\"refreshToken\": \"secret-x\"}]", "shred -u", "2.30"),
      (".kube/cache/kubelogin/A-s-c-t.json", "{\"refresh_token\": \"secret-x\"}", "shred -u", "kubelogin"),
      (".kube/cache/oidc-login/0af3", "token", "shred -u", "kubelogin"),
    ])
  func `Plaintext that cannot be read or moved is closed, and the advice removes it`(
    name: String, contents: String, command: String, consequence: String
  ) throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try home.file(".azure/accessTokens.json", "[ ]\n", mode: 0o644)
    try home.file(".IdentityService/msal.cache.cae", "{}", mode: 0o644)
    try home.file(".kube/cache/kubelogin/auth.json", "{\"tenantId\": \"t\"}", mode: 0o644)
    try home.file(".kube/cache/oidc-login/0af3.lock", "", mode: 0o644)
    try home.directory(".kube/cache/oidc-login/keys")
    let path = try home.file(name, contents, mode: 0o644)
    let report = try examine(tool).exits(1)
      .finds("sources", "warning", "problem", saying: path, command, consequence)
    #expect(!report.text("sources").contains("secret-"))
    try examine(tool, "--fix").exits(0).finds("sources", "warning", "fixed")
    #expect(mode(of: path) == 0o600)
    #expect(try home.contents(name) == contents)
    let advice = try #require(report.text("sources").firstMatch(of: /shred [^\n]*/)?.output)
    _ = try Child.output("sh", ["-c", String(advice)])
    #expect(try examine(tool).states("sources") == ["ok"])
  }

  @Test func `Faults of other programs are reported, also without a keyring`() throws {
    try home.file(".azure/msal_token_cache.json", Sample.faulty, mode: 0o600)
    let lock = try home.file(".azure/msal_token_cache.json.lockfile", "\(missingProcess) python")
    let tool = try Tool(on: PrivateKeyring(startingDaemon: false))

    let report = try examine(tool)
      .finds("secret_service", "problem")
      .finds(
        "sources", "warning", "warning", "warning", "warning", saying: "\(lock) was left behind",
        "azure-cli: 1 refresh tokens have no account", "llavero import azure-cli --dry-run")
    #expect(!report.text("sources").contains("secret-"))
    // A process that reads the lock file keeps it.
    let descriptor = open(lock, O_RDONLY | O_CLOEXEC)
    try #require(flock(descriptor, LOCK_SH) == 0)
    #expect(try examine(tool, "--fix").text("sources").contains("Fixing it failed: "))
    // Closing alone would not unlock: a child that another test starts has the file open, too, for a moment.
    flock(descriptor, LOCK_UN)
    close(descriptor)
    try examine(tool, "--fix").finds("sources", "fixed", "warning", "warning", "warning")
    #expect(access(lock, F_OK) != 0)
    #expect(try home.contents(".azure/msal_token_cache.json") == Sample.faulty)
    try home.file(".azure/msal_token_cache.json", "{")
    #expect(try examine(tool).text("sources").contains("a new \"az login\""))
  }

  @Test func `Unreadable and missing certificates are a problem`() throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    let file = try home.file("none.pem", "not a certificate")
    for (variable, path) in [
      ("LLAVERO_CA_BUNDLE", "/proc/nonexistent.pem"), ("SSL_CERT_FILE", "/proc/nonexistent.pem"),
      ("SSL_CERT_FILE", file),
    ] {
      try examine(tool, with: [variable: path]).exits(1)
        .finds("ca_bundle", "problem", saying: path, "Set \(variable)")
    }
    let torn = try home.file("torn.pem", "-----BEGIN CERTIFICATE-----\nMIIB")
    let pipe = home.path + "/pipe.pem"
    #expect(mkfifo(pipe, 0o600) == 0)
    for path in [torn, pipe] {
      try examine(tool, with: ["LLAVERO_CA_BUNDLE": path]).finds("ca_bundle", "problem", saying: path)
    }
    let good = "/etc/ssl/certs/ca-certificates.crt"
    #expect(try examine(tool, with: ["LLAVERO_CA_BUNDLE": good]).states("ca_bundle") == ["ok"])
  }

  @Test func `Certificates for etcd that cannot be used are a problem`() throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    let etcd = [
      "LLAVERO_STORE": "etcd+https://127.0.0.1:9/llavero",
      "LLAVERO_KEY": "file:" + (try home.file("key", "none")),
    ]
    let report = try examine(tool, with: etcd.merging(["LLAVERO_ETCD_CA": "/proc/nonexistent.pem"]) { $1 })
      .exits(1).finds("etcd_ca", "problem", saying: "/proc/nonexistent.pem", "LLAVERO_ETCD_CA")
    #expect(
      report.checks == [
        "configuration", "etcd_ca", "sources", "ca_bundle", "authority", "browser", "identity_broker",
        "other_programs",
      ])
    try examine(tool, with: etcd.merging(["https_proxy": "gopher://proxy.example"]) { $1 }).exits(1).finds(
      "etcd", "problem")
  }

  @Test func `Without a program that opens pages the browser check warns`() throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    for variables in [
      ["DISPLAY": ":1", "BROWSER": nil, "PATH": home.path],
      ["BROWSER": "browser-that-is-not-installed", "PATH": home.path],
    ]
      as [[String: String?]]
    {
      try examine(tool, with: variables).exits(0).finds("browser", "warning", saying: "llavero login")
    }
  }
}
