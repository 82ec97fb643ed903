import SecretService
import TestSupport

/// What the tool says where a keyring does otherwise than gnome-keyring.
@Suite(.timeLimit(.minutes(20)))
struct KeyringProviderTests {
  private static let item = FakeService.collection + "/1"
  private let none = FakeService.Answer.reply([.objectPaths([]), .objectPaths([])])
  private let unlocked = FakeService.Answer.reply([.objectPaths([item]), .objectPaths([])])
  private let locked = FakeService.Answer.reply([.objectPaths([]), .objectPaths([item])])

  @Test(.fault("confirm access"))
  func `A keyring that asks for each item exits with 3, and its setting is named`() throws {
    let prompt = FakeService.Answer.reply([.objectPaths([]), .objectPath(FakeService.prompt)])
    let service = try FakeService(["SearchItems": locked, "Unlock": prompt])
    try Tool(on: service.keyring).run(["list", "--groups", "--allow-plain-session"])
      .exits(3, saying: "ConfirmAccessItem", "--unlock")
  }

  @Test(.fault("confirm access"), .fault("session keys"))
  func `The doctor tries another session, and reports a keyring that asks for each item`() throws {
    let created = FakeService.Answer.reply([.objectPath(Self.item), .objectPath("/")])
    let service = try FakeService([
      "Collections": .reply([.variant(.objectPaths([FakeService.collection]))]),
      "CreateItem": .inTurn(.error("org.qtproject.QtDBus.Error.InvalidObjectPath"), then: created),
      "GetAll": .item(["Uuid": "1"]),
      "SetSecret": .reply([]), "Delete": .reply([.objectPath("/")]),
      "GetSecrets": .reply([
        .array(
          of: "{o(oayays)}",
          [
            .entry(
              .objectPath(Self.item),
              .tuple([
                .objectPath(FakeService.session), .bytes([]), .bytes(Array("second".utf8)),
                .string("text/plain"),
              ]))
          ])
      ]),
      // Those of other collections, what a failed call made, the probe's, another program's, twice that of what is gone,
      // and those of the groups.
      "SearchItems": [none, unlocked, unlocked, locked, none, none].reversed()
        .reduce(locked) { .inTurn($1, then: $0) },
      "Unlock": .reply([.objectPaths([]), .objectPath(FakeService.prompt)]),
    ])
    let result = try Tool(on: service.keyring).run(["doctor", "--allow-plain-session"])
    let lines = result.standardOutput.split(separator: "\n")
    let probe = try #require(lines.firstIndex { $0.contains("asks each time") }, "\(result.standardOutput)")
    #expect(lines[probe + 1].contains("ConfirmAccessItem"))
    #expect(service.calls.count { $0 == "Delete" } == 2)
    // The item has an attribute of KeePassXC's.
    let pace = service.keyring.directory + "/run/llavero/keepassxc-changes"
    #expect(FileManager.default.fileExists(atPath: pace))
    #expect(lines.contains { $0.hasPrefix("warning") && $0.contains("before a program may read") })
  }

  @Test func `Where a keyring prompts for every write, the doctor names the option that permits it`() throws {
    let created = FakeService.Answer.reply([.objectPath(Self.item), .objectPath("/")])
    let writes: [[String: FakeService.Answer]] = [
      ["CreateItem": .creationPrompt], ["CreateItem": created, "Delete": .removalPrompt],
    ]
    for write in writes {
      let service = try FakeService(write.merging(["SearchItems": none]) { $1 })
      try Tool(on: service.keyring).examine(["--allow-plain-session"]).exits(1)
        .finds("probe", "problem", saying: "Permit it, for other commands with --unlock too: ")
      #expect(!service.calls.contains("Prompt"))
    }
  }

  @Test(.fault("no display"), .enabled(if: KeyringProvider.kwallet.isInstalled, "kwalletd5 is not installed"))
  func `KWallet without a display makes --unlock exit with 5, with the reason`() throws {
    let tool = try Tool(on: PrivateKeyring(provider: .kwallet))
    try tool.keyring.restartDaemon(unlocked: false)
    try tool.run(["list", "--groups", "--unlock"]).exits(
      5, saying: "cannot ask for its password: there is no display")
    #expect(try tool.run(["list", "--groups"]).status == 3)
  }

  @Test(
    .fault("KWallet killed"), .enabled(if: KeyringProvider.kwallet.isInstalled, "kwalletd5 is not installed"))
  func `The doctor reports when KWallet writes`() throws {
    let report = try Tool(on: PrivateKeyring(provider: .kwallet)).run(["doctor"])
    #expect(report.standardOutput.contains("after five seconds without a change"))
  }

  @Test(.fault("quiet end"))
  func `A keyring that ends while a session is opened leaves only the tool's message`() throws {
    let service = try FakeService(["OpenSession": .error("org.freedesktop.DBus.Error.NoReply")])
    let result = try Tool(on: service.keyring).run(["list", "--groups"]).exits(1)
    #expect(result.standardError.hasPrefix("llavero: ") && !result.standardError.contains("CRITICAL"))
  }

  @Test(
    .fault("empty items"),
    arguments: [["clear", "--all", "--yes"], ["doctor", "--fix"]])
  func `A group with only an empty item left can be removed`(command: [String]) async throws {
    // The doctor opens several sessions, after which gnome-keyring 42.1 may end by itself; the bus starts it again.
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try await tool.create(shard: "0123456789abcdef", secret: "")
    #expect(try tool("list", "--groups").standardOutput.contains(tool.group))
    try tool.run(command[0] == "doctor" ? command : tool.inGroup(command)).exits(0)
    #expect(try await tool.items().isEmpty)
    #expect(try !tool("list", "--groups").standardOutput.contains(tool.group))
  }

  @Test(
    .requirement("R2.3"),
    .fault("KWallet killed"), .enabled(if: KeyringProvider.kwallet.isInstalled, "kwalletd5 is not installed"),
    arguments: [["clear", "--all", "--yes"], ["doctor", "--fix", "--yes"]])
  func `What KWallet brings back after it was removed is removed again, and no item of another program`(
    command: [String]
  ) async throws {
    let tool = try Tool(on: PrivateKeyring(provider: .kwallet))
    let keyring = tool.keyring
    try tool.load()
    try keyring.closeWallet()
    try keyring.startDaemon()
    #expect(try tool("clear", "--all", "--yes").exits(0).standardError.contains("not on the disk yet"))
    try keyring.restartDaemon()
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    let collection = try await client.collection().path
    try await client.unlock(collection)
    func labels() async throws -> [String] {
      try await client.perform { (connection, cancellable) throws(SecretServiceError) in
        var labels: [String] = []
        for path in try connection.items(of: collection, cancellable) {
          if let item = try connection.item(path, cancellable) { labels.append(item.label) }
        }
        return labels.sorted()
      }
    }
    let count = try await labels().count
    #expect(count > 0)
    // Where the keys of a session differ, reading opens another, and KWallet would refuse an item.
    _ = try await client.perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.secrets(of: connection.items(of: collection, cancellable), cancellable)
    }
    let others = ["Another program's", "Llavero: \(tool.group) (01234567)", "Llavero: notes"]
    for label in others {
      _ = try await client.create(
        label: label, attributes: [:], secret: SecretBytes(copying: Array(Sample.alices.utf8)), in: collection
      )
    }
    let report = try tool.examine().exits(1)
    #expect(report.text("groups").contains("\(count) items that were removed, and are back"))
    try tool.run(command[0] == "doctor" ? command : tool.inGroup(command)).exits(0)
    #expect(try await labels() == others.sorted())
  }

  @Test(
    .fault("no collection"),
    arguments: [
      ("org.kde.kwalletd5", "offers no wallet", "log out and in"),
      ("org.keepassxc.KeePassXC.MainWindow", "exposes no database", "expose a group"),
    ])
  func `A missing collection is explained by the keyring's kind`(
    name: String, message: String, advice: String
  ) throws {
    let service = try FakeService(
      ["ReadAlias": .reply([.objectPath("/")])], names: ["org.freedesktop.secrets", name])
    let tool = try Tool(on: service.keyring)
    try tool.run(["list", "--groups", "--allow-plain-session"]).exits(1, saying: message, advice)
    try tool.examine(["--allow-plain-session"]).finds("collection", "problem", saying: message, advice)
  }

  @Test(.fault("no collection"))
  func `A keyring without a collection makes one with --unlock, which says what it waits for`() throws {
    let service = try FakeService([
      "ReadAlias": .reply([.objectPath("/")]), "SearchItems": none,
      "CreateCollection": .reply([.objectPath("/"), .objectPath(FakeService.prompt)]),
    ])
    let tool = try Tool(on: service.keyring)
    let arguments = ["list", "--groups", "--allow-plain-session"]
    try tool.run(arguments).exits(1, saying: "no collection named default", "--unlock")
    #expect(!service.calls.contains("CreateCollection"))
    service.setAnswer(
      "Prompt",
      .computed { [weak service] _ in
        service?.setAnswer("ReadAlias", .reply([.objectPath(FakeService.collection)]))
        return .completion(.objectPath(FakeService.collection))
      })
    for arguments in [arguments, ["doctor", "--allow-plain-session"]] {
      service.setAnswer("ReadAlias", .reply([.objectPath("/")]))
      let result = try tool.run(arguments + ["--unlock"])
      #expect(result.standardError.contains("asks for the password of a new collection"))
      #expect(result.standardError.contains("Ctrl-C ends the wait"))
      #expect(!(result.standardOutput + result.standardError).contains("no collection"))
    }
    #expect(service.calls.count { $0 == "CreateCollection" } == 2)
  }

  @Test(.fault("prompt hangs"))
  func `--unlock names the collection whose password it waits for`() throws {
    let service = try FakeService([
      "Locked": .reply([.variant(.boolean(true))]), "SearchItems": none,
      "Unlock": .reply([.objectPaths([]), .objectPath(FakeService.prompt)]),
      "Prompt": .computed { _ in .completion(.objectPaths([FakeService.collection])) },
    ])
    let tool = try Tool(on: service.keyring)
    let arguments = ["list", "--groups", "--allow-plain-session", "--unlock"]
    let error = try tool.run(arguments).standardError
    #expect(error.hasPrefix("The keyring asks for the password of Fake, in a window of its own."), "\(error)")
    #expect(try !tool.run(arguments + ["--quiet"]).standardError.contains("asks for"))
    service.setAnswer("Locked", .reply([.variant(.boolean(false))]))
    service.setAnswer("SearchItems", locked)
    #expect(try tool.run(arguments).standardError.contains("asks for permission to read the items"))
  }

  @Test(.fault("KeePassXC saves"))
  func `Commands in turn leave KeePassXC time to save`() throws {
    let service = try FakeService([
      "SearchItems": none, "CreateItem": .creationPrompt, "Prompt": .completion(.objectPath(Self.item)),
      "GetSecrets": .secrets([:]),
    ])
    let tool = try Tool(on: service.keyring)
    // Times to come are from before the last start of the system.
    let directory = service.keyring.directory + "/run/llavero"
    #expect(mkdir(directory, 0o700) == 0)
    try PrivateKeyring.write(String(repeating: "\u{7f}", count: 16), to: directory + "/keepassxc-changes")
    #expect(chmod(directory + "/keepassxc-changes", 0o600) == 0)
    let start = ContinuousClock.now
    var count = 0
    while count < 5 || ContinuousClock.now - start < .milliseconds(400) {
      let cache = Sample.cache([Sample.account("\(count).t", "u\(count)@contoso.com")])
      try tool(["import", "-", "--unlock", "--allow-plain-session"], input: cache).exits(0)
      count += 1
    }
    service.expectBursts(ofAtLeast: count)
  }

  @Test(.fault("other collection"))
  func `Where no account is signed in, the collection is named in which the group was last written`() throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    // One without a password is open from the start.
    try keyring.makePlaintextCollection("other")
    try keyring.startDaemon()
    let tool = try Tool(on: keyring)
    let client = ["--client", Sample.mail]
    #expect(try !tool(["token"] + client).exits(3).standardError.contains("--collection"))
    try tool(["import", "-", "--collection", "other"], input: Sample.cache).exits(0)
    try tool(["token"] + client).exits(
      3, saying: "last written in the collection other", "--collection other")
    #expect(try tool("list").exits(0).standardError.contains("--collection other"))
    try tool.examine(with: ["LLAVERO_GROUP": tool.group])
      .finds("collection", "ok", "warning", saying: "--collection other")
    #expect(try !tool(["token", "--collection", "other"] + client).standardError.contains("last written"))
  }

  @Test(.fault("runtime dir"))
  func `A runtime directory that does not exist is named at once`() throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    let tool = try Tool(on: keyring)
    let missing = tool.files.path + "/missing"
    try tool.run(["list", "--groups"], with: ["XDG_RUNTIME_DIR": missing])
      .exits(1, saying: "XDG_RUNTIME_DIR names \(missing), which does not exist", "Unset XDG_RUNTIME_DIR")
    try tool.examine(with: ["XDG_RUNTIME_DIR": missing])
      .finds("lock_directory", "problem", saying: missing, "does not exist")
      .finds("secret_service", "problem", saying: missing)
    try keyring.startDaemon()
    try tool("import", "-", input: Sample.cache, with: ["XDG_RUNTIME_DIR": missing])
      .exits(1, saying: "Set XDG_RUNTIME_DIR to a directory of your own that exists")
  }
}
