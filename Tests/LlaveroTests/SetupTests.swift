import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct SetupTests {
  let tool: Tool

  init() throws {
    tool = try Tool { ["XDG_CONFIG_HOME": $0.path + "/config", "XDG_DATA_HOME": $0.path + "/data"] }
  }

  private var path: String { tool.files.path + "/config/llavero/config" }
  private var configuration: String? { try? String(contentsOfFile: path, encoding: .utf8) }

  /// What a machine without a keyring has.
  private static let noBus: [String: String?] = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent"]

  private func setup(
    _ arguments: String..., with changes: [String: String?] = [:], input: String = ""
  ) throws -> Child.Result {
    try tool.run(["setup"] + arguments, input: input, with: changes)
  }

  @Test func `On a machine without a keyring one command makes a store of encrypted files and its key`()
    throws
  {
    let result = try setup(
      "--store", "file", "--client", "some-client", "--tenant", "contoso.com", "--json", with: Self.noBus
    ).exits(0)
    let report = try result.json
    #expect(
      report.keys == ["does_not_protect", "dry_run", "key_file", "path", "protects", "settings", "warnings"])
    let key = tool.files.path + "/config/llavero/key"
    #expect(report["key_file"]?.stringValue == key)
    #expect(
      configuration
        == "[llavero]\nstore = file\nkey = file:\(key)\nclient = some-client\ntenant = contoso.com\n")
    for file in [path, key] {
      #expect(mode(of: file) == 0o600)
    }
    #expect(try Data(contentsOf: URL(filePath: key)).count == 32)
    // A dry run names only a key file that it would make.
    try setup("--store", "file", "--dry-run", with: Self.noBus).exits(0, hiding: "would be made")
    try setup("--store", "file", "--key", "file:\(key).new", "--dry-run", with: Self.noBus)
      .exits(0, showing: "The key file \(key).new would be made.")
    // From then on the other commands work without an option, and the probe has left nothing.
    try tool.run(["list", "--groups"], with: Self.noBus).exits(0, printing: "")
    // Again, nothing changes.
    let before = configuration
    #expect(try setup("--json", with: Self.noBus).exits(0).json["key_file"] == nil)
    #expect(configuration == before)
  }

  @Test(.fault("setup unasked"))
  func `Without a terminal setup writes etcd's address, its settings and the group of the environment`()
    throws
  {
    let key = tool.files.path + "/key"
    let settings = try setup(
      "--dry-run", "--json",
      with: [
        "LLAVERO_STORE": "etcd+https://etcd.example.com:2379/ours", "LLAVERO_KEY": "file:\(key)",
        "LLAVERO_GROUP": "com.example.mail",
        "LLAVERO_ETCD_USER": "cache", "LLAVERO_ETCD_PASSWORD": "file:/etc/password",
        "LLAVERO_ETCD_CA": "etcd.pem",
      ]
    ).exits(0).json["settings"]
    #expect(
      zip(settings?.strings("name") ?? [], settings?.strings("value") ?? []).map { "\($0)=\($1)" } == [
        "store=etcd+https://etcd.example.com:2379/ours", "key=file:\(key)", "etcd-user=cache",
        "etcd-password=file:/etc/password",
        "etcd-ca=\(FileManager.default.currentDirectoryPath)/etcd.pem", "group=com.example.mail",
      ])
  }

  @Test func `With another authority the tenant of the one before is removed`() throws {
    let other = "https://login.microsoftonline.us/common"
    try setup("--store", "keyring", "--client", "c", "--tenant", "contoso.com").exits(0)
    try setup("--client", "d").exits(0)
    #expect(configuration == "[llavero]\nstore = keyring\nclient = d\ntenant = contoso.com\n")
    let plan = try setup("--authority", other, "--dry-run", "--json").exits(0).json["settings"]?.arrayValue
    #expect(plan?.last?["name"] == "tenant" && plan?.last?["written"] == .bool(true))
    try setup("--authority", other).exits(0, showing: "tenant removed (was contoso.com)")
    #expect(configuration == "[llavero]\nstore = keyring\nclient = d\nauthority = \(other)\n")
    let settings = try setup("--authority", other, "--tenant", "fabrikam.com", "--json").exits(0)
      .json["settings"]
    #expect(settings?.strings("value") == ["keyring", "d", other, "fabrikam.com"])
  }

  @Test func `Doctor and setup show where a value is from, and setup leaves what is set for all users there`()
    throws
  {
    let all = try tool.files.file(
      "all/llavero/config",
      "[llavero]\ntenant = contoso.com\nproxy = http://proxy.test:1\n",
      mode: 0o644)
    try tool.files.file(
      "config/llavero/config", "[llavero]\nclient = c\nproxy = http://me:hunter2@own.test:1\n")
    let variables = ["XDG_CONFIG_DIRS": tool.files.path + "/all", "LLAVERO_GROUP": "com.example.mail"]
    for arguments in [["--dry-run"], []] {
      try tool.run(["setup"] + arguments, with: variables).exits(
        0, showing: "client = c (from \(path))", "tenant = contoso.com (from \(all), where it stays)",
        "group = com.example.mail (from LLAVERO_GROUP)")
    }
    #expect(configuration?.contains("contoso.com") == false)
    try tool.examine(["--offline"], with: variables).finds(
      "configuration", "ok", "ok", "ok", saying: "\(all) sets tenant = contoso.com.",
      "\(path) sets store = keyring, client = c, proxy = http://own.test:1.",
      "The environment sets group = com.example.mail.")
    // A tenant that is named for another authority is the user's own.
    try setup(
      "--authority", "https://login.microsoftonline.us/common", "--tenant", "contoso.com", with: variables
    ).exits(0)
    #expect(configuration?.contains("tenant = contoso.com") == true)
  }

  @Test(.fault("bad setting"))
  func `An invalid old value is not shown: it may be a secret`() throws {
    try tool.files.file("config/llavero/config", "[llavero]\nkey = my secret passphrase\n")
    let key = ["LLAVERO_KEY": "file:\(tool.files.path)/key"]
    try setup("--store", "file", "--dry-run", with: key).exits(0, showing: "key = file:", hiding: "my secret")
    try setup("--store", "file", "--dry-run", "--json", with: key).exits(0, hiding: "my secret")
  }

  @Test(.fault("bad setting"))
  func `An unknown setting stays in the file, and setup names it`() throws {
    try tool.files.file("config/llavero/config", "[llavero]\ngruop = com.example.mail\n")
    try setup("--store", "keyring", "--client", "c").exits(0, saying: "gruop")
    #expect(configuration == "[llavero]\ngruop = com.example.mail\nstore = keyring\nclient = c\n")
  }

  @Test(.fault("dangling link"))
  func `A link to a missing file stays, and the file is made`() throws {
    try tool.files.directory("config/llavero")
    try tool.files.directory("dotfiles")
    #expect(symlink("../../dotfiles/config", path) == 0)
    #expect(try setup("--client", "c", "--store", "keyring").status == 0)
    #expect(configuration == "[llavero]\nstore = keyring\nclient = c\n")
    #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == "../../dotfiles/config")
    #expect(try tool.files.contents("dotfiles/config") == configuration)
  }

  @Test func `With a keyring setup chooses it, and prints what it protects against`() throws {
    try setup("--client", "some-client").exits(
      0, errors: "", showing: "The store works: ",
      "What it does not protect against:\n  Your programs can get")
    #expect(configuration == "[llavero]\nstore = keyring\nclient = some-client\n")
  }

  @Test(.fault("setup without keyring"))
  func `Without a terminal setup takes no other store than the keyring unless it is named`() throws {
    try setup("--client", "c", with: Self.noBus).exits(1, saying: "session bus", "llavero setup --store file")
    try setup("--client", "c", "--collection", "nope")
      .exits(1, saying: "no collection named nope", "llavero setup --store file\n")
    #expect(configuration == nil)
  }

  @Test(.fault("setup without keyring"))
  func `On a terminal setup says why the keyring cannot be used, and asks`() throws {
    try tool.onTerminal(
      ["setup", "--collection", "nope", "--client", "c"],
      answer: { shown, _ in
        let question = shown.replacing("\r\n", with: "\n").split(separator: "\n").last ?? ""
        guard question.hasSuffix(": ") else { return nil }
        let isExplained = shown.contains(
          "The keyring cannot be used. The keyring has no collection named nope")
        return question.hasPrefix("Store (") && !isExplained ? "\u{4}" : "\n"
      }
    ).exits(0)
    #expect(
      configuration
        == "[llavero]\nstore = file\nkey = file:\(tool.files.path)/config/llavero/key\nclient = c\n")
  }

  @Test(.fault("odd setting")) func `A byte order mark of the configuration stays`() throws {
    try tool.files.file("config/llavero/config", "\u{FEFF}[llavero]\nclient = a\n")
    try setup("--store", "keyring", "--client", "b").exits(0, showing: "client = b (was a)")
    let text = "\u{FEFF}[llavero]\nclient = b\nstore = keyring\n"
    #expect(try Data(contentsOf: URL(filePath: path)) == Data(text.utf8))
  }

  @Test(.fault("setup store")) func `A locked keyring exits with 3, and nothing is written`() throws {
    var tool = tool
    tool.keyring = try PrivateKeyring()
    try tool.keyring.lockCollection()
    try tool.run(["setup", "--client", "c"]).exits(3)
    #expect(configuration == nil)
  }

  @Test(.fault("config kept"))
  func `Everything else in the file stays as it is, and a change is shown with the old value`() throws {
    let text = """
      # Ours; made by hand
      [other]
      store = theirs
      [llavero]
      # the old one
        tenant=fabrikam.com
      scope = Mail.Read   Files.Read
      tenant = contoso.com

      [more]
      client = theirs
      """
    try tool.files.file("config/llavero/config", text, mode: 0o644)
    try setup("--store", "keyring", "--client", #"a\b"#, "--tenant", "example.com")
      .exits(0, showing: "tenant = example.com (was contoso.com)\n", "client = a\\b\n")
    #expect(
      configuration
        == text.replacing(
          "tenant = contoso.com\n", with: "tenant = example.com\nstore = keyring\nclient = a\\\\b\n"))
    #expect(mode(of: path) == 0o600)
    let again = try tool.run(["setup", "--json"])
    #expect(try again.json["settings"]?.strings("previous") == [])
    #expect(try again.json["settings"]?.strings("value").contains(#"a\b"#) == true)
  }

  @Test(.fault("config kept")) func `A comment in another encoding stays as it is`() throws {
    try tool.files.file("config/llavero/config", "[llavero]\n")
    let comment: [UInt8] = [UInt8(ascii: "#"), 0xe9, UInt8(ascii: "\n")]
    try Data(comment + Array("[llavero]\n".utf8)).write(to: URL(filePath: path))
    try setup("--client", "c", "--store", "keyring").exits(0)
    let written = try Data(contentsOf: URL(filePath: path))
    #expect(Array(written) == comment + Array("[llavero]\nstore = keyring\nclient = c\n".utf8))
  }

  @Test(.fault("config kept")) func `A configuration that is a link stays a link`() throws {
    try tool.files.directory("config/llavero")
    let real = try tool.files.file("dotfiles", "[llavero]\nscope = Mail.Read\n")
    #expect(symlink(real, path) == 0)
    #expect(try setup("--client", "c", "--store", "keyring").status == 0)
    #expect(configuration == "[llavero]\nscope = Mail.Read\nstore = keyring\nclient = c\n")
    #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == real)
    // The key is beside the link: what holds its target may be published.
    try setup("--store", "file").exits(
      0, showing: "The key file \(tool.files.path)/config/llavero/key was made")
  }

  @Test func `Where the configuration cannot be written, the error names the key that was made`() throws {
    try tool.files.directory("config/llavero")
    #expect(symlink("/proc/nonexistent", path) == 0)
    let key = tool.files.path + "/config/llavero/key"
    try setup("--store", "file", "--client", "c").exits(
      1, saying: "sealed with \(key), which was made", "--key file:\(key).")
    #expect(FileManager.default.fileExists(atPath: key))
  }

  @Test func `A dry run writes nothing, neither settings nor key nor store`() throws {
    let result = try setup("--store", "file", "--client", "c", "--dry-run", with: Self.noBus).exits(0)
    #expect(result.standardOutput.hasPrefix("Would be written to \(path):\n  store = file\n"))
    #expect(!FileManager.default.fileExists(atPath: tool.files.path + "/config"))
    #expect(!FileManager.default.fileExists(atPath: tool.files.path + "/data"))
  }

  @Test(.fault("setup store"))
  func `A store that does not work is an error, and nothing is written`() throws {
    try setup("--store", "keyring", "--json", with: Self.noBus).exits(1, saying: "llavero setup")
    // Before a key is made.
    try setup("--store", "etcd+https://etcd.example.com:2379/x", "--etcd-user", "u").exits(2)
    #expect(!FileManager.default.fileExists(atPath: tool.files.path + "/config"))
    // The store that is there has another key.
    #expect(try setup("--store", "file", "--client", "c").status == 0)
    let before = configuration
    let other = tool.files.path + "/other"
    try setup("--store", "file", "--key", "file:\(other)").exits(1)
    #expect(configuration == before)
    #expect(!FileManager.default.fileExists(atPath: other))
    // A key that setup has not made stays.
    try tool.files.keyFile("other", of: "x")
    try setup("--store", "file", "--key", "file:\(other)").exits(1)
    #expect(FileManager.default.fileExists(atPath: other))
  }

  @Test(.fault("setup step"))
  func `The key of a store that was made stays when a later step fails, and setup can be run again`() throws {
    // No file may be larger than 4 KiB, eight blocks: the keys are smaller, a shard is larger.
    let script = #"trap "" XFSZ; ulimit -f 8; exec "$0" setup --store file --client c"#
    let key = tool.files.path + "/config/llavero/key"
    try tool.shell(script).exits(1, saying: "The key file \(key) was made and stays")
    #expect(FileManager.default.fileExists(atPath: tool.files.path + "/data/llavero/sealed/keys"))
    #expect(FileManager.default.fileExists(atPath: key))
    #expect(configuration == nil)
    try setup("--store", "file", "--client", "c").exits(0)
    #expect(configuration?.contains("key = file:\(key)\n") == true)
    // Neither has left the group that it tried.
    let groups = tool.files.path + "/data/llavero/sealed/groups"
    #expect(try FileManager.default.contentsOfDirectory(atPath: groups) == [])
  }

  @Test(.fault("setup step")) func `The key of a store that could not be made is removed`() throws {
    try setup("--store", "file", "--client", "c", with: ["XDG_DATA_HOME": "/proc/nowhere"]).exits(
      1, hiding: "stays")
    #expect(!FileManager.default.fileExists(atPath: tool.files.path + "/config/llavero/key"))
  }

  @Test(arguments: [
    ["--store", "file", "--key", "file:relative"], ["--store", "keyring", "--key", "keyring"],
    ["--store", "papyrus"], ["--store", "etcd"], ["--authority", "http://login.example.com/common"],
    ["--store", "keyring", "--client", "c # mine"],
  ])
  func `Invalid options exit with 2`(_ arguments: [String]) throws {
    try tool.run(["setup"] + arguments).exits(2)
    #expect(configuration == nil)
  }

  @Test func `A passphrase from a descriptor makes the store, and the configuration says passphrase`() throws
  {
    let phrase = try tool.files.file("phrase", "korrekt\n")
    try tool.shell(
      #"exec "$0" setup --store file --key passphrase-fd:3 --client c 3<"$1""#, [phrase]
    ).exits(0, hiding: "korrekt")
    #expect(configuration?.contains("key = passphrase\n") == true)
  }

  @Test func `A variable that goes before the file and a missing client ID are warnings`() throws {
    try setup("--store", "keyring", with: ["LLAVERO_STORE": "file", "LLAVERO_KEY": "keyring"])
      .exits(0, saying: "LLAVERO_STORE in the environment goes before this store.", "No client ID set.")
  }

  @Test func `On a terminal setup asks, and repeats a question after an invalid answer`() throws {
    try tool.onTerminal(
      ["setup"],
      answer: { shown, _ in
        let question = shown.replacing("\r\n", with: "\n").split(separator: "\n").last ?? ""
        if question.hasPrefix("Store (keyring, file"), question.contains("[keyring]") {
          if shown.contains("Not a valid choice.") { return "file\n" }
          // A second question without that text is not answered.
          return shown.ranges(of: "Store (").count > 1 ? "\u{4}" : "papyrus\n"
        }
        if question.hasPrefix("Key (") { return "\n" }
        if question.hasPrefix("Client") { return "some-client\n" }
        return question.hasPrefix("Tenant") ? "\n" : nil
      }
    ).exits(0)
    #expect(
      configuration
        == "[llavero]\nstore = file\nkey = file:\(tool.files.path)/config/llavero/key\nclient = some-client\n"
    )
    try tool.onTerminal(["setup"], answer: { _, _ in "\u{4}" }).exits(5)
  }
}
