import TestSupport

/// `llavero scheme`, with directories of its own instead of the user's.
@Suite(.timeLimit(.minutes(20)))
struct SchemeTests {
  private static let scheme = "msauth.org.example.mail"
  private let home: TemporaryDirectory
  private let program: String

  init() throws {
    home = try TemporaryDirectory()
    for name in ["data/applications", "config", "run", "none"] { try home.directory(name) }
    program = try home.file("mail", "#!/bin/sh\n", mode: 0o755)
    chmod(home.path + "/run", 0o700)
  }

  private var environment: [String: String] {
    [
      "PATH": "/usr/bin:/bin", "HOME": home.path, "XDG_DATA_HOME": home.path + "/data",
      "XDG_CONFIG_HOME": home.path + "/config", "XDG_RUNTIME_DIR": home.path + "/run",
      "XDG_DATA_DIRS": home.path + "/none", "XDG_CONFIG_DIRS": home.path + "/none",
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent",
    ]
  }

  private func run(_ arguments: String...) throws -> Child.Result {
    try Child.run(Tool.path, ["scheme"] + arguments, environment: environment)
  }

  private func list() throws -> JSONValue {
    try #require(try run("list", "--json").exits(0, errors: "").json["schemes"])
  }

  private func desktopFile(_ scheme: String = scheme) -> String {
    "data/applications/llavero-scheme-\(scheme).desktop"
  }

  /// The handler of the scheme, as the desktop's own tool reports it.
  private func handler() throws -> String {
    try Child.run(
      "xdg-mime", ["query", "default", "x-scheme-handler/\(Self.scheme)"], environment: environment
    )
    .standardOutput.split(separator: "\n").joined()
  }

  @Test func `An installed scheme is handled by the program, and listed`() throws {
    let result = try run("install", "\(Self.scheme)://auth", program, "--json").exits(0)
    #expect(try result.json.keys == ["arguments", "path", "program", "scheme"])
    #expect(try handler() == "llavero-scheme-\(Self.scheme).desktop")
    let listed = try list()
    #expect(listed.strings("scheme") == [Self.scheme] && listed.strings("program") == [program])
    #expect(listed.strings("state") == ["ok"])
    #expect(try run("list").standardOutput.contains(Self.scheme))
    #expect(try run().standardOutput == run("list").standardOutput)
    #expect(try run("--json").json == run("list", "--json").json)
    // Once more, for another place of the program.
    #expect(try run("install", Self.scheme.uppercased(), "/bin/true").status == 0)
    #expect(try list().strings("program") == ["/bin/true"])
    #expect(try home.contents("config/mimeapps.list").split(separator: "\n").count == 2)
    #expect(try home.contents(desktopFile()).contains("\nName=true\n"))
  }

  @Test func `The desktop starts the program with exactly the given arguments`() throws {
    let fifo = home.path + "/words"
    try #require(mkfifo(fifo, 0o600) == 0)
    let odd = try home.program("A \"mail\" $HOME `x`", "#!/bin/sh\nprintf '%s|' \"$@\" >'\(fifo)'\n")
    let words = [
      "a b", "it's", "\"", "\\", "$HOME", "`id`", "%u", "%%", "", "c;d&e|f", "~*?#()<>", "ä", "\"\u{301}",
      "\\\u{301}",
    ]
    try Child.run(
      Tool.path, ["scheme", "install", Self.scheme, odd, "--name", "Mail \\ %c", "--"] + words,
      environment: environment
    ).exits(0)
    let address = "\(Self.scheme)://auth?code=1&state=a%20b"
    // What it starts inherits its streams, and would hold a pipe open.
    try #require(try Child("gio", ["open", address], environment: environment).wait() == 0)
    let heard = try Child.run("cat", [fifo], environment: environment).standardOutput
    #expect(heard == (words + [address]).map { $0 + "|" }.joined())
    #expect(try list().strings("program") == [odd])
    #expect(try list()[0]?["arguments"]?.arrayValue?.compactMap(\.stringValue) == words)
  }

  /// Makes another handler that the user may have chosen.
  private func addOther() throws {
    try home.file(
      "data/applications/org.example.other.desktop",
      "[Desktop Entry]\nType=Application\nName=Other\nExec=/bin/true %u\n")
  }

  /// Expects that there is neither a list nor a desktop file.
  private func expectNothingWritten() throws {
    for directory in ["/config", "/data/applications"] {
      #expect(try FileManager.default.contentsOfDirectory(atPath: home.path + directory).isEmpty)
    }
  }

  @Test(.fault("odd desktop")) func `A removal restores the list to the byte`() throws {
    try addOther()
    let before = """
      # Mine
      [Added Associations]
      text/plain=a.desktop;b.desktop;

      [Default Applications]
      # And this
      x-scheme-handler/\(Self.scheme)=org.example.other.desktop;
      text/html=browser.desktop

      """
    let file = try home.file("config/real.list", before, mode: 0o640)
    let link = home.path + "/config/mimeapps.list"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.list")
    #expect(try handler() == "org.example.other.desktop")

    try run("install", Self.scheme, program, "--json").exits(1, code: "taken")
    #expect(try home.contents("config/mimeapps.list") == before)

    #expect(try run("install", "--replace", Self.scheme, program).status == 0)
    #expect(try handler() == "llavero-scheme-\(Self.scheme).desktop")
    #expect(try list().strings("state") == ["ok"])
    try run("remove", Self.scheme, "--json").exits(0)
    #expect(try home.contents("config/mimeapps.list") == before)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.list")
    #expect(mode(of: file) == 0o640)
    #expect(!FileManager.default.fileExists(atPath: home.path + "/" + desktopFile()))
    #expect(try handler() == "org.example.other.desktop")
    try run("remove", Self.scheme).exits(1, saying: "not installed")
  }

  @Test(.fault("json warning")) func `A warning is a member of the JSON`() throws {
    let result = try run("install", "msauth.org.example.mail2", program, "--json").exits(0, errors: "")
    #expect(try result.json["warnings"]?.arrayValue?.count == 1)
    #expect(
      try run("install", "msauth.org.example.mail2", program).standardError.hasPrefix("warning: xdg-open"))
  }

  @Test func `A removal leaves no files behind`() throws {
    // The longest that is accepted.
    let scheme = String(repeating: "a", count: 200)
    #expect(try run("install", scheme, program).status == 0)
    #expect(try run("remove", scheme).status == 0)
    try expectNothingWritten()
    #expect(try list() == .array([]))
  }

  @Test(
    .fault("bare scheme"),
    arguments: [
      "http", "HTTPS", "mailto:", "file:///", "javascript", "tel", "ssh", "x-y z", "1abc", "-a", "", "a/b",
      "ä.b",
      "ms-settings", "chrome-extension", "msauth.", "msauth.://auth", String(repeating: "a", count: 201),
    ].abbreviated)
  func `A reserved scheme is a usage error, and nothing is written`(_ scheme: Named<String>) throws {
    let scheme = scheme.value
    try run("install", "--", scheme, program).exits(2)
    try expectNothingWritten()
  }

  @Test func `A program that cannot be started is a usage error`() throws {
    let plain = try home.file("plain")
    let unfit = try ["a=b", "100%"].map { try home.file($0, mode: 0o755) }
    for program in [plain, "/proc/nonexistent", home.path, ""] + unfit {
      #expect(try run("install", Self.scheme, program).status == 2)
    }
    #expect(try run("install", Self.scheme, program, "--name", "a\nExec=x").status == 2)
  }

  @Test(.fault("odd desktop")) func `A foreign desktop file is not changed`() throws {
    let foreign = "[Desktop Entry]\nType=Application\nName=Mine\nExec=/bin/true\n"
    try home.file(desktopFile(), foreign)
    for arguments in [["install", "--replace", Self.scheme, program], ["remove", Self.scheme]] {
      try Child.run(Tool.path, ["scheme"] + arguments, environment: environment).exits(
        1, saying: "already exists")
    }
    #expect(try home.contents(desktopFile()) == foreign)
    #expect(try list() == .array([]))
  }

  @Test(
    .fault("odd desktop"),
    arguments: [
      "", "[Default Applications]\nx-scheme-handler/a.b=o.desktop\n", "[A]\nx=y", "[A]\nx=y\n\n",
      "# Mine\n[Default Applications]\n\n# And\ntext/html=b.desktop;\n\n[A]\nx-scheme-handler/a.b=c.desktop;\n",
      "[Default Applications]\nx-scheme-handler/a.bc=o.desktop;p.desktop;\nx-scheme-handler/a.b=o.desktop;p.desktop;",
      "[Default Applications]\r\ntext/html=b.desktop\r\n", "[Default Applications]\ntext/html=b.desktop",
      "[Default Applications]\nx-scheme-handler/a.b = o.desktop\n",
      "[Default Applications]\nx-scheme-handler/a.b=o.desktop\nx-scheme-handler/a.b=p.desktop\n",
      "[Default Applications]\nx-scheme-handler/a.b=o.desktop\n[A]\n[Default Applications]\ntext/html=b.desktop\n",
    ])
  func `Any list of the user is unchanged after an installation and a removal`(_ list: String) throws {
    if !list.isEmpty { try home.file("config/mimeapps.list", list) }
    #expect(try run("install", "--replace", "a.b", program).status == 0)
    #expect(try self.list().strings("state") == ["ok"])
    #expect(try run("remove", "a.b").status == 0)
    #expect(((try? home.contents("config/mimeapps.list")) ?? "") == (list == "[A]\nx=y" ? list + "\n" : list))
  }

  @Test(.fault("odd desktop")) func `An invalid list of the user is not changed`() throws {
    try home.file("config/mimeapps.list", "not a list\n")
    #expect(try run("install", Self.scheme, program).status == 1)
    #expect(try home.contents("config/mimeapps.list") == "not a list\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path + "/data/applications").isEmpty)
  }

  @Test(
    .fault("list is pipe"),
    arguments: ["config/mimeapps.list", "data/applications/mimeapps.list", "config/gnome-mimeapps.list"])
  func `A list that is a pipe does not block`(list: String) throws {
    #expect(mkfifo(home.path + "/" + list, 0o600) == 0)
    for arguments in [["install", Self.scheme, program], ["list"]] {
      try Child.run(
        "timeout", ["600", Tool.path, "scheme"] + arguments,
        environment: environment.merging(["XDG_CURRENT_DESKTOP": "GNOME"]) { $1 }
      ).exits(1, saying: home.path + "/" + list)
    }
  }

  @Test(.fault("dangling link"))
  func `A list that is a link stays one, also without a target`() throws {
    try home.directory("dotfiles")
    #expect(symlink("../dotfiles/mimeapps.list", home.path + "/config/mimeapps.list") == 0)
    #expect(try run("install", Self.scheme, program).status == 0)
    #expect(
      (try? FileManager.default.destinationOfSymbolicLink(atPath: home.path + "/config/mimeapps.list"))
        == "../dotfiles/mimeapps.list")
    #expect(try home.contents("dotfiles/mimeapps.list").contains(Self.scheme))
  }

  @Test(.fault("chosen since"))
  func `A later choice of the user is only replaced with --replace`() throws {
    try addOther()
    #expect(try run("install", Self.scheme, program).status == 0)
    let list = """
      [Default Applications]
      x-scheme-handler/\(Self.scheme)=org.example.other.desktop;llavero-scheme-\(Self.scheme).desktop

      """
    try home.file("config/mimeapps.list", list)
    #expect(
      try run("install", Self.scheme, program).standardError.contains(
        "another handler: org.example.other.desktop"))
    #expect(try home.contents("config/mimeapps.list") == list)
    #expect(try self.list().strings("state") == ["other_handler"])
    // Its name may stand without a semicolon, as xdg-mime writes it.
    #expect(try run("remove", Self.scheme).status == 0)
    #expect(try !home.contents("config/mimeapps.list").contains("llavero"))
  }

  @Test func `A missing program and another handler are listed`() throws {
    #expect(try run("install", Self.scheme, program, "an-argument").status == 0)
    for (width, widths) in [(49, [20, 5, 20]), (50, [20, 5, 21])] {
      let lines = try Tool().onTerminal(["scheme"], columns: width, with: environment) { _, _ in nil }
        .exits(0, hiding: "\u{1B}[33m").lines
      #expect(lines.last == Screening.row([Self.scheme, "ok", program + " an-argument"], widths), "\(lines)")
    }
    unlink(program)
    #expect(try list().strings("state") == ["program_missing"])
    try home.file("config/mimeapps.list")
    try home.file("mail", mode: 0o755)
    #expect(try list().strings("state") == ["other_handler"])
  }

  @Test(.fault("many schemes")) func `Concurrent installations are all kept`() async throws {
    let schemes = (0..<8).map { "org.example.app" + String(repeating: "x", count: $0) }
    let statuses = try await atOnce(schemes) { scheme in try run("install", scheme, program).status }
    #expect(statuses.allSatisfy { $0 == 0 })
    #expect(try list().strings("state") == schemes.map { _ in "ok" })
  }
}
