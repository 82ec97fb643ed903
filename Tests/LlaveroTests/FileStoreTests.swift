import LabSupport

/// The commands on the store of encrypted files.
@Suite(.timeLimit(.minutes(20)))
struct FileStoreTests {
  private let tool: Tool
  private let key: String
  private let passphrase: [String: String?] = ["LLAVERO_KEY": "passphrase"]

  init() throws {
    tool = try Tool {
      ["XDG_DATA_HOME": $0.path, "LLAVERO_STORE": "file", "LLAVERO_KEY": "file:" + (try $0.keyFile())]
    }
    key = "file:\(tool.files.path)/key"
  }

  private var group: SealedGroup { SealedGroup(of: tool) }

  @Test func `Every command works on a file store, and leaves the keyring alone`() throws {
    try tool.expectCommandsToWork(besideKeyring: ["LLAVERO_STORE": nil, "LLAVERO_KEY": nil]) {
      let groups = try tool.json("list", "--groups")["groups"]
      #expect(groups?.strings("group") == [tool.group])
    }
    #expect(try tool("list", "--groups").standardError.contains("No keychain group"))
  }

  @Test func `The command line goes before the environment, and that before the configuration`() throws {
    try tool.files.file("config/llavero/config", "[llavero]\nstore = file\nkey = \(key)\n")
    let unset: [String: String?] = ["LLAVERO_STORE": nil, "LLAVERO_KEY": nil]
    let configured = unset.merging(["XDG_CONFIG_HOME": tool.files.path + "/config"]) { $1 }
    #expect(try tool("import", "-", input: Sample.cache, with: configured).status == 0)
    #expect(try tool("list", "--store", "file", "--key", key, with: unset).status == 0)
    #expect(try group.shards().count == 3)
    try tool("list", "--key", "keyring", with: configured).exits(1, saying: "--key file:PATH")
  }

  @Test func `A token that git refuses is removed, with a passphrase that can be read once`() throws {
    let secret = try tool.files.file("passphrase", "correct horse")
    func run(_ arguments: [String], input: String = "") throws -> Child.Result {
      try tool.shell(
        #"exec 4<&0; cat "$SECRET" | { exec 3<&0 0<&4; exec "$0" "$@"; }"#, tool.inGroup(arguments),
        input: input, with: ["LLAVERO_KEY": "passphrase-fd:3", "SECRET": secret, "LLAVERO_BROKER": "auto"])
    }
    try run(["import", "-"], input: Sample.cache).exits(0)
    try run(
      ["git-credential", "erase", "--client", Sample.mail],
      input: "protocol=https\nhost=dev.azure.com\npassword=secret-at-valid\n\n"
    ).exits(0, errors: "")
    #expect(try run(["list", "--json"]).json["records"]?.arrayValue?.count == 9)
  }

  @Test func `A passphrase ends before its line does, whatever ends that`() throws {
    let texts = ["correct horse", "correct horse\n", "correct horse\r\n", "correct horse\r"]
    for (number, text) in texts.enumerated() {
      let file = try tool.files.file("phrase-\(number)", text)
      let arguments = number == 0 ? ["import", "-"] : ["list"]
      try tool.shell(
        #"exec "$0" "$@" 3<"$PHRASE""#, tool.inGroup(arguments), input: Sample.cache,
        with: ["LLAVERO_KEY": "passphrase-fd:3", "PHRASE": file]
      ).exits(number < 3 ? 0 : 1)
    }
  }

  @Test func `A file store can be in any directory, also a relative one`() throws {
    let other = tool.files.path + "/other/store"
    #expect(try tool("import", "-", "--store", "file:\(other)", input: Sample.cache).status == 0)
    #expect(try tool.json("list", "--store", "file:" + other)["records"]?.arrayValue?.count == 10)
    #expect(FileManager.default.fileExists(atPath: "\(other)/groups/\(tool.group)/manifest.sealed"))
    #expect(!FileManager.default.fileExists(atPath: tool.files.path + "/llavero"))
    #expect(mode(of: other) == 0o700)
    try tool.shell(#"cd "$1/other" && exec "$0" list --groups --store file:./store"#, [tool.files.path])
      .exits(0, showing: tool.group)
    let variable = try tool("list", "--json", with: ["LLAVERO_STORE": "file:" + other])
    #expect(try variable.json["records"]?.arrayValue?.count == 10)
    // The advice is for the same store.
    try tool("list", "--store", "file:" + other, "--key", "keyring").exits(1)
    #expect(try tool.examine(["--store", "file:" + other]).text("sealed_files").contains(other))
  }

  @Test func `Advice about a directory that was named does not name the variable of the default one`() throws
  {
    let other = try tool.files.directory("other")
    chmod(other, 0o755)
    try tool("import", "-", "--store", "file:" + other, input: Sample.cache).exits(
      1, saying: other, hiding: "XDG_DATA_HOME")
    chmod(tool.files.path, 0o755)
    defer { chmod(tool.files.path, 0o700) }
    try tool.files.directory("llavero/sealed")
    chmod(tool.files.path + "/llavero/sealed", 0o755)
    try tool("import", "-", input: Sample.cache).exits(1, saying: "XDG_DATA_HOME")
  }

  @Test(arguments: [
    ["--store", "papyrus"], ["--store", "file:"], ["--store", "etcd"], ["--store", "etcd+https://"],
    ["--store", "etcd+https://me:hunter2@etcd.example.com/x"],
  ])
  func `An invalid address exits with 2, and is not quoted`(_ arguments: [String]) throws {
    try tool(["list"] + arguments).exits(2, saying: "--store", hiding: "hunter2")
  }

  @Test func `A store without a key and an invalid key exit with 2`() throws {
    let error = try tool("list", "--json", with: ["LLAVERO_KEY": nil]).exits(2, code: "key_required").error
    #expect(error?["advice"]?.stringValue?.contains("passphrase-fd:N") == true)
    // The advice is for the same store.
    for address in ["file:\(tool.files.path)/other", "etcd+https://etcd.example.com:2379/ours"] {
      try tool("list", "--store", address, with: ["LLAVERO_KEY": nil]).exits(
        2, saying: "\"llavero setup --store \(address)\"")
    }
    // A user may put the passphrase itself there.
    try tool("list", with: ["LLAVERO_KEY": "hunter2"]).exits(2, hiding: "hunter2")
    for key in [
      "", "passphrase:secret", "passphrase-fd:", "passphrase-fd:x", "file:", "credential:", "keyring:x",
      "portal:x",
    ] {
      #expect(try tool("list", "--key", key).status == 2, "\(key)")
    }
    #expect(try tool("rekey", with: ["LLAVERO_STORE": nil]).status == 2)
  }

  @Test func `A damaged file is named with advice, and doctor --fix removes it`() throws {
    try tool.load()
    let path = try #require(try group.shards().first)
    let bytes = try group.damage(path)
    try tool("list").exits(0, saying: "was damaged: its check sum", "doctor --fix")
    #expect(try tool("export").status == 1)
    #expect(try tool.run(["doctor", "--fix", "--yes"]).standardOutput.contains("It was removed."))
    #expect(try tool("export").status == 0)
    try bytes.write(to: URL(filePath: path))
    #expect(try tool("list", "--json").json["problems"]?.strings("kind") == ["damaged"])
  }

  @Test(.fault("signal asking")) func `A passphrase is asked for without being shown`() throws {
    let cache = try tool.files.file("cache.json", Sample.cache)
    let made = try tool.onTerminal(
      "import", cache, answering: ["korrekt", "korrekt"], with: passphrase
    ).exits(0)
    #expect(!made.text.contains("korrekt"))
    // The cost of trying a passphrase.
    let keys = try Data(contentsOf: URL(filePath: tool.files.path + "/llavero/sealed/keys"))
    #expect(Array(keys[36..<48]) == [0, 0, 0, 17, 0, 0, 0, 8, 0, 0, 0, 1])
    try tool.onTerminal("status", answering: ["korrekt"], with: passphrase).exits(
      0, saying: "bob@contoso.example", hiding: "korrekt")
    try tool.onTerminal("status", answering: ["falsch"], with: passphrase)
      .exits(1, saying: "is not the one it was sealed with")
    let interrupted = try tool.onTerminal("status", answering: ["kor\u{3}"], with: passphrase).exits(5)
    #expect(interrupted.text.contains("was cancelled") && interrupted.echoes)
    try tool.onTerminal("status", answering: ["\u{4}"], with: passphrase).exits(5)
    try tool("status", with: passphrase).exits(3, saying: "passphrase-fd:3 3< FILE")
  }

  @Test(
    .fault("signal asking"), arguments: ["list --json", "logout --browser"], [SIGINT, SIGTERM, SIGHUP])
  func `A signal at the question for a passphrase leaves a terminal that shows what is typed`(
    command: String, signal: Int32
  ) throws {
    // The second may have a request under way, which an interruption lets come to its end.
    let passphrase = passphrase.merging([
      "LLAVERO_CLIENT_ID": LabApps.plain,
      "LLAVERO_AUTHORITY": "https://localhost:\(ReservedPort.refusing.number)/common",
    ]) { $1 }
    let secret = try tool.files.file("passphrase", "korrekt")
    try tool.shell(
      #""$0" import - --group "$GROUP" --key passphrase-fd:9 9<"$1""#, [secret], input: Sample.cache,
      with: passphrase
    ).required()
    let words = command.words
    let end = try tool.onTerminal(words[0], words[1], answering: ["kor\u{1}"], with: passphrase) {
      kill($0, signal)
    }
    #expect(end.echoes)
    if signal == SIGINT || command.hasPrefix("logout") {
      #expect(end.status == 5, "\(end)")
    } else {
      // What setsid says of a program that a signal has ended.
      #expect(end.text.contains("did not exit normally"), "\(end)")
    }
  }

  @Test(.fault("group open")) func `list --groups shows the groups beside one that cannot be read`() throws {
    try tool.load()
    let other = tool.group + ".other"
    try tool.run(["import", "-", "--group", other], input: Sample.cache).exits(0)
    chmod(group.path, 0o755)
    let result = try tool("list", "--groups", "--json").exits(1, code: "unavailable")
    #expect(try result.json["groups"]?.strings("group") == [other])
    try tool("list", "--groups").exits(1, showing: other, saying: "chmod")
  }

  @Test(.fault("others by then"))
  func `Entries that became unreadable after the question are asked about, too`() throws {
    try tool.load()
    let shards = try group.shards()
    let first = try Data(contentsOf: URL(filePath: shards[0]))
    try group.damage()
    // What is repaired by then counts as fixed.
    try tool.onTerminal("doctor", "--fix", answering: ["y"]) { _ in
      try first.write(to: URL(filePath: shards[0]))
    }.exits(0, saying: "fixed", hiding: "It was removed.")
    try group.damage()
    let intact = try Data(contentsOf: URL(filePath: shards[1]))
    let screening = try tool.onTerminal("doctor", "--fix", answering: ["y", "n"]) { [group] _ in
      try intact.write(to: URL(filePath: shards[1]))
      try group.damage(shards[1])
    }
    #expect(screening.status == 5, "\(screening)")
    #expect(screening.text.contains("Remove 1 item") && screening.text.contains("Remove 2 items"))
    #expect(try group.shards() == shards)
    try tool.onTerminal("doctor", "--fix", answering: ["y"]).exits(0)
    #expect(try group.shards() == Array(shards.dropFirst(2)))
  }

  @Test func `Two passphrases that differ make no store`() throws {
    let cache = try tool.files.file("cache.json", Sample.cache)
    let made = try tool.onTerminal(
      "import", cache, answering: ["one", "other"], with: passphrase
    ).exits(1)
    #expect(made.text.contains("differ"))
    #expect(!FileManager.default.fileExists(atPath: tool.files.path + "/llavero/sealed/keys"))
  }

  @Test func `rekey puts a passphrase in place of the key file`() throws {
    try tool.load()
    let secret = try tool.files.file("passphrase", "secret\n")
    func withPassphrase(_ command: String) throws -> Child.Result {
      try tool.shell(#""$0" \#(command) 9<"$1""#, [secret])
    }
    let rekeyed = try withPassphrase("rekey --new-key passphrase-fd:9 --json").exits(0)
    #expect(try rekeyed.json["resealed"]?.numberValue == 4)
    #expect(try rekeyed.json["left"]?.numberValue == 0)
    #expect(try tool("list").status == 1)
    try withPassphrase("status --key passphrase-fd:9 --group $GROUP").exits(
      0, showing: "bob@contoso.example")
    #expect(try tool("status", "--key", "passphrase-fd:9").status == 1)
  }

  @Test(.fault("side options"))
  func `rekey makes the file of a new key, and says what the old one still opens`() throws {
    let absent = "file:\(tool.files.path)/absent.key"
    let short = "file:" + (try tool.files.file("short.key", "short", mode: 0o600))
    _ = try tool.run(["rekey", "--new-key", absent])
    for path in ["absent.key", "llavero/sealed/keys"] {
      #expect(access("\(tool.files.path)/\(path)", F_OK) != 0)
    }
    try tool.load()
    try tool.run(["rekey", "--key", short, "--new-key", key])
      .exits(1, saying: "too short", "--key says where the key comes from")
    try tool.run(["rekey", "--new-key", short])
      .exits(1, saying: "too short", "--new-key says where the key comes from")
    try tool.run(["rekey"]).exits(
      0, showing: "\(key) still opens the store", "llavero rekey --new-key \(key).new")
    let kept = try tool.run(["rekey", "--json"]).exits(0).json
    #expect(kept["key"] == .string(key) && kept["old_key"] == nil && kept["key_file"] == nil)
    let new = "file:\(tool.files.path)/new.key"
    try tool.run(["rekey", "--new-key", new]).exits(
      0, showing: "Made the key file \(tool.files.path)/new.key.",
      "The old key, \(key), opens this store no longer")
    #expect(try tool("list").status == 1)
    #expect(try tool("list", "--key", new).status == 0)
    let back = try tool.run(["rekey", "--key", new, "--new-key", key, "--json"]).exits(0).json
    #expect(back["old_key"] == .string(new) && back["key_file"] == nil)
  }

  @Test(.enabled(if: access("/usr/bin/strace", X_OK) == 0, "strace is not installed"))
  func `rekey says where it is unknown whether the new key is on the disk`() throws {
    try tool.load()
    // The first fsync of the thread is that of the new file, the second that of its directory.
    let trace = "strace -f -qq -o /dev/null -e trace=fsync -e inject=fsync:error=EIO:when=2"
    // A sanitizer cannot look for leaks in a process that is traced.
    let result = try tool.shell(#"exec \#(trace) "$0" rekey"#, with: ["ASAN_OPTIONS": "detect_leaks=0"])
    #expect(result.status != 0)
    #expect(result.standardError.contains("may or may not have been applied"), "\(result.standardError)")
    #expect(!result.standardError.contains("unchanged"))
  }

  @Test(.fault("rekey config"))
  func `A configuration that names the old key names the new one after rekey`() throws {
    let text = "[llavero]\nstore = file\nkey = \(key)\nscope = Mail.Read\n"
    let configuration = try tool.files.file("config/llavero/config", text)
    let configured: [String: String?] = [
      "XDG_CONFIG_HOME": tool.files.path + "/config", "LLAVERO_STORE": nil, "LLAVERO_KEY": nil,
    ]
    #expect(try tool("import", "-", input: Sample.cache, with: configured).status == 0)
    let new = "file:" + (try tool.files.keyFile("new", of: "n"))
    try tool.run(["rekey", "--new-key", new], with: configured).exits(
      0, showing: "\(configuration) now names the new key.")
    #expect(try tool.files.contents("config/llavero/config") == text.replacing(key, with: new))
    #expect(try tool("list", with: configured).status == 0)

    // A key that is named in another way is reported, and an old key is not asked for again.
    let named = try tool.run(["rekey", "--key", new, "--new-key", key])
    #expect(named.standardOutput.contains("--key \(key)"))
    #expect(!named.standardError.contains("LLAVERO_KEY"))
    #expect(try tool.files.contents("config/llavero/config").contains(new))
    try tool("list", with: configured).exits(1, saying: "after a change of keys, the new one")
    try tool.run(["rekey", "--new-key", new], with: ["LLAVERO_KEY": key])
      .exits(0, saying: "warning: LLAVERO_KEY in the environment names another key")
    let report = try tool.run(["rekey", "--new-key", key, "--json"], with: ["LLAVERO_KEY": new]).exits(0).json
    #expect(report["warnings"]?[0]?.stringValue?.hasPrefix("LLAVERO_KEY in the environment") == true)
  }

  @Test(.fault("other keys")) func `Where another store's keys are, rekey advises what helps`() throws {
    try tool.load()
    let keys = tool.files.path + "/llavero/sealed/keys"
    let elsewhere = try TemporaryDirectory()
    let place: [String: String?] = ["XDG_DATA_HOME": elsewhere.path]
    #expect(try tool("import", "-", input: Sample.cache, with: place).status == 0)
    try FileManager.default.removeItem(atPath: keys)
    try FileManager.default.copyItem(atPath: elsewhere.path + "/llavero/sealed/keys", toPath: keys)
    try tool.run(["rekey"]).exits(0, saying: "clear --all", hiding: "doctor --fix")
    #expect(try tool("clear", "--all", "--yes").status == 0)
    try tool.run(["rekey"]).exits(0, errors: "")
  }

  @Test(.fault("other keys"))
  func `The advice of rekey names its store, the new key, and any of the store's groups`() throws {
    let (ours, theirs) = (tool.files.path + "/ours", tool.files.path + "/theirs")
    let other = tool.group + ".other"
    for directory in [ours, theirs] {
      try tool.run(["import", "-", "--group", other, "--store", "file:" + directory], input: Sample.cache)
        .required()
    }
    try FileManager.default.removeItem(atPath: ours + "/keys")
    try FileManager.default.copyItem(atPath: theirs + "/keys", toPath: ours + "/keys")
    try tool.run(["rekey", "--store", "file:" + ours]).exits(
      0, saying: "llavero list --groups --store file:\(ours)",
      "llavero clear --all --group GROUP --store file:\(ours)")
    let shard = ShardID(homeAccountID: Sample.alice, group: try KeychainGroup(other))
    try group.damage("\(theirs)/groups/\(other)/\(shard).sealed")
    let new = "file:" + (try tool.files.keyFile("new", of: "n"))
    try tool.run(["rekey", "--store", "file:" + theirs, "--new-key", new]).exits(
      0, saying: "llavero list --groups --store file:\(theirs) --key \(new)",
      "llavero doctor --fix --store file:\(theirs) --key \(new)")
    // One that has other keys.
    let file = "groups/\(other)/\(shard).sealed"
    try FileManager.default.removeItem(atPath: "\(theirs)/\(file)")
    try FileManager.default.copyItem(atPath: "\(ours)/\(file)", toPath: "\(theirs)/\(file)")
    try tool.run(["rekey", "--store", "file:" + theirs, "--key", new]).exits(
      0, saying: "warning: 1 file cannot be opened with the store's keys", hiding: "the old key was kept")
  }

  @Test(.fault("manifest"), arguments: [true, false])
  func `Without the manifest no command takes what is there for present or for nothing`(
    isEmptied: Bool
  ) throws {
    try tool.load()
    let manifest = "\(group.path)/manifest.sealed"
    try FileManager.default.removeItem(atPath: manifest)
    if isEmptied {
      try FileManager.default.moveItem(atPath: tool.files.file("m", mode: 0o600), toPath: manifest)
    }
    let client = [
      "--client", Sample.mail, "--authority", "https://localhost:\(ReservedPort.refusing.number)/tenant",
    ]
    for command in [["token"] + client, ["status"] + client, ["export"], ["logout"] + client] {
      try tool(command).exits(1, saying: "manifest.sealed", hiding: "secret-")
    }
    #expect(try tool("list").standardError.contains("manifest.sealed"))
    #expect(try tool("import", "-", input: Sample.cache.replacing("0a0a0a0a", with: "0c0c0c0c")).status == 1)
    let before = try group.shards()
    try tool.onTerminal("doctor", "--fix", columns: 200, typing: "n\n")
      .exits(5, saying: "Accept that in \(tool.group)? [y/N]")
    let fixed = try tool.run(["doctor", "--fix", "--yes"]).standardOutput
    #expect(
      fixed.contains("manifest.sealed") && fixed.contains("It was accepted.")
        && !fixed.contains("It was removed."))
    #expect(try group.shards() == before)
    #expect(try tool("export").json.secrets.contains("secret-at-valid"))
  }

  @Test(.fault("manifest")) func `What opens is not removed without a word`() throws {
    try tool.load()
    let before = try group.shards().map { ($0, try Data(contentsOf: URL(filePath: $0))) }
    #expect(try tool("import", "-", input: Sample.later).status == 0)
    for (path, bytes) in before { try bytes.write(to: URL(filePath: path)) }
    let names = before.map { $0.0.split(separator: "/").last.map(String.init) ?? "" }
    let done = try tool.run(["doctor", "--fix", "--yes"])
    let older = done.standardOutput.split(separator: "\n").filter { $0.contains("It was removed.") }
    #expect(older.count == 2)
    #expect(older.allSatisfy { line in names.contains { line.contains($0) } })
    #expect(
      older.allSatisfy { $0.contains("older version of itself") && $0.contains("opens with the store's key") }
    )
  }
}
