import Foundation
import TestSupport

/// Help, usage errors, --quiet and completion.
@Suite(.timeLimit(.minutes(20)))
struct HelpTests {
  private struct Command {
    let words: [String]
    let options: Set<String>
    let discussion: String
    let isShown: Bool

    /// The command and those below it, out of what the program says of itself.
    static func all(in dump: JSONValue, after words: [String] = []) -> [Command] {
      let commands = (dump["subcommands"]?.arrayValue ?? []).filter { $0["commandName"] != "help" }
      let names = (dump["arguments"]?.arrayValue ?? []).flatMap { $0["names"]?.arrayValue ?? [] }
      return [
        Command(
          words: words, options: Set(names.compactMap { $0["name"]?.stringValue }),
          discussion: dump["discussion"]?.stringValue ?? "",
          isShown: dump["shouldDisplay"] != .bool(false))
      ]
        + commands.flatMap { all(in: $0, after: words + [$0["commandName"]?.stringValue ?? ""]) }
    }

    /// The lines of its examples.
    var examples: [String] {
      let lines = discussion.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      guard let start = lines.firstIndex(where: { ["Example:", "Examples:"].contains($0) }) else { return [] }
      return Array(lines[(start + 1)...].prefix { !$0.isEmpty })
    }
  }

  /// Read once: in a debug build the program takes a second to describe itself.
  private static let commands = Result {
    let dump = try Tool().run(["--experimental-dump-help"]).exits(0).json
    return Command.all(in: try #require(dump["command"]))
  }

  private let tool: Tool
  private let commands: [Command]

  init() throws {
    tool = try Tool()
    commands = try Self.commands.get()
    try #require(commands.count > 20)
  }

  private func help(of words: [String], columns: Int = 80) throws -> [String] {
    try tool.run(words + ["--help"], with: ["COLUMNS": "\(columns)"]).exits(0).standardOutput
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  @Test func `The help of every command fits 80 columns, and has its examples and words in one piece`() throws
  {
    for (number, command) in commands.enumerated() {
      let lines = try help(of: command.words, columns: number.isMultiple(of: 4) ? 200 : 80)
      for line in lines where line.count > 80 { Issue.record("\(command.words): \(line)") }
      for example in command.examples where !lines.contains(example) {
        Issue.record("\(command.words) breaks: \(example)")
      }
      let narrow = try help(of: command.words, columns: 60)
      for lines in [lines, narrow] { #expect(lines.count <= 40, "\(command.words) \(lines.count)") }
      func words(_ lines: [String]) -> [Substring] { lines.flatMap { $0.split(separator: " ") } }
      #expect(words(narrow) == words(lines))
      // No flag is on without being named: help would end with "(default: true)".
      #expect(!words(lines).contains("true)"), "\(command.words)")
    }
    // A paragraph goes on at its margin, and an example behind it. The first line fits exactly.
    let setup = try help(of: ["setup"], columns: 57).joined(separator: "\n")
    let overview = "OVERVIEW: Choose store, key, client and tenant, try them,\nand write the configuration.\n"
    #expect(setup.hasPrefix(overview) && setup.contains("--tenant contoso.com\n    < /dev/null\n"))
    // Texts stand two columns behind the longest label.
    let rows = try help(of: ["logout"]).compactMap { $0.wholeMatch(of: /((  -.*?\S)  +)\S.*/)?.output }
    let longest = rows.map { $0.2.count }.max() ?? 0
    #expect(rows.count > 5 && rows.allSatisfy { $0.1.count == longest + 2 }, "\(rows)")
    let options = try tool.run(["help", "options"], with: ["COLUMNS": "60"]).exits(
      0, showing: "etcd+https://HOST:PORT,HOST:PORT/PREFIX")
    let broken = options.standardOutput.split(separator: "\n")
    #expect(broken.allSatisfy { $0.count <= 60 })
    // A text with a word that is too long to stand beside its label stands below it.
    let below = broken.first { $0.contains("etcd+https://HOST:PORT,") }
    #expect(below?.prefix { $0 == " " }.count == 6, "\(broken)")
  }

  @Test func `A command's own options come before those of the store and the broker`() throws {
    for words in [["token"], ["status"], ["login"], ["list"]] {
      let titles = try help(of: words).filter { $0.hasSuffix(":") && $0 == $0.uppercased() }
      let own = try #require(titles.firstIndex(of: "OPTIONS:"), "\(words) \(titles)")
      #expect(titles[..<own].allSatisfy { ["USAGE:", "ARGUMENTS:"].contains($0) }, "\(words) \(titles)")
      #expect(titles[(own + 1)...].isEmpty, "\(words) \(titles)")
    }
    let titles = try help(of: ["export"]).filter { $0.hasSuffix(":") && $0 == $0.uppercased() }
    #expect(titles.prefix(2) == ["ARGUMENTS:", "OPTIONS:"], "\(titles)")
    let shared = ["CLIENT OPTIONS:", "STORE OPTIONS:", "BROKER OPTIONS:"]
    for (arguments, titles) in [
      (["token", "--help-hidden"], ["OPTIONS:"] + shared), (["help", "options"], shared),
    ] {
      let help = try tool.run(arguments).exits(0).standardOutput.split(separator: "\n").map(String.init)
      #expect(help.filter { $0.hasSuffix("OPTIONS:") } == titles)
    }
    for name in ["login", "logout"] { try tool.run([name, "--from", "off"]).exits(2, saying: "'--from'") }
    // Of the text, --help has the examples and "llavero help" all.
    #expect(try !help(of: ["token"]).contains { $0.hasPrefix("JSON: ") })
    let ends = [
      ([], "More: llavero help <subcommand>"), (["token"], "More: llavero help token, llavero help options"),
      (["shim"], "More: llavero help shim, llavero help shim <subcommand>"),
    ]
    for (words, more) in ends {
      #expect(try help(of: words).suffix(3) == [more, "Exit codes: llavero help", ""])
    }
    try tool.run(["help", "token"]).exits(0, showing: "JSON: access_token")
    try tool.run(["help"]).exits(0, showing: "  3  action required")
    try tool.run(["help", "settings"]).exits(0, showing: "LLAVERO_GRAPH_URL: URL of Microsoft Graph")
    #expect(try help(of: ["get"]).contains("USAGE: llavero get [<options>] <path>"))
  }

  @Test func `Eighteen commands are shown`() throws {
    let shown = commands.filter { $0.words.count == 1 && $0.isShown }.flatMap(\.words)
    #expect(
      shown == [
        "login", "logout", "status", "token", "get", "lend", "git-credential", "shim", "list", "show",
        "clear",
        "import", "export", "adopt", "setup", "rekey", "doctor", "scheme",
      ])
  }

  @Test(arguments: [
    (["tokn"], "Unknown command 'tokn'.", "Did you mean token?"),
    (["stauts", "--json-not"], "Unknown command 'stauts'.", "Did you mean status?"),
    (["doc"], "Unknown command 'doc'.", "Did you mean doctor?"),
    (["help", "tokn"], "Unknown command 'tokn'.", "Did you mean token?"),
    (["help", "token", "x", "y"], "Unexpected argument 'x'.", #"See "llavero token --help"."#),
    (["scheme", "instal"], "Unknown command 'instal'.", "Did you mean install?"),
    (["frobnicate"], "Unknown command 'frobnicate'.", #"See "llavero --help"."#),
    // The first of two, more letters in another order, and too few of them.
    (["lo"], "Unknown command 'lo'.", "Did you mean login?"),
    (["xeprot"], "Unknown command 'xeprot'.", "Did you mean export?"),
    (["gxx"], "Unknown command 'gxx'.", #"See "llavero --help"."#),
    (["l"], "Unknown command 'l'.", #"See "llavero --help"."#),
    (["token", "--forse-refresh"], "Unknown option '--forse-refresh'.", "Did you mean --force-refresh?"),
    (["login", "--from", "off"], "Unknown option '--from'.", #"See "llavero login --help"."#),
    (["token", "--claims", "x"], "Invalid value for '--claims <claims>': expected JSON", "token --help"),
    (["list", "--nonsense"], "Unknown option '--nonsense'.", #"See "llavero list --help"."#),
    (["show"], "Missing expected argument '<id>'.", #"See "llavero show --help"."#),
    (
      ["token", "--output", "xml"],
      """
      The value 'xml' is invalid for '--output <format>'. Please provide one of the following: \
      bare, json, header, az, azd, exec-credential.
      """,
      "llavero token --help"
    ),
  ])
  func `A usage error is two lines: what is wrong, and what helps`(
    arguments: [String], message: String, hint: String
  ) throws {
    let lines = try tool.run(arguments).exits(2).standardError.split(separator: "\n").map(String.init)
    #expect(lines.count == 2, "\(lines)")
    #expect(lines.first?.hasPrefix("llavero: " + message) == true, "\(lines)")
    #expect(lines.last?.contains(hint) == true, "\(lines)")
  }

  @Test func `Each command and option that a document, message or comment names exists`() throws {
    // "llavero keys" and "llavero portal" are info of HKDF.
    let mention = /(?:[`"(]|^ *(?:sudo )?|\| )llavero (?!help|keys|portal)(-?-?[a-z][^`"\\\n|;)>$]*)/
      .anchorsMatchLineEndings()
    let root = SharedFiles.repository
    let paths = try ["Documentation", "Sources", "Desktop/Sources"].flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: root.path + "/" + folder).map { folder + "/" + $0 }
    }
    var count = 0
    for path in paths + ["README.md", "SECURITY.md", "CONTRIBUTING.md"]
    where path.hasSuffix(".md") || path.hasSuffix(".swift") {
      let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        .replacing("\\\"", with: "\"").replacing(/\\\n */, with: "")
      for match in text.matches(of: mention) {
        count += 1
        var command = try #require(commands.first)
        for word in match.1.split(separator: " ").prefix(while: { $0 != "--" }) {
          if let option = word.prefixMatch(of: /--?([a-z-]+)/)?.1 {
            let isKnown = command.options.contains(String(option)) || option.hasSuffix("completion-script")
            #expect(isKnown, "\(path): \(match.1)")
          } else if let below = commands.first(where: { $0.words == command.words + [String(word)] }) {
            command = below
          }
        }
        #expect(!command.words.isEmpty || match.1.hasPrefix("-"), "\(path): \(match.1)")
      }
    }
    #expect(count > 300)
  }

  @Test func `Every command can be quiet`() throws {
    for command in commands where command.isShown && command.words.count == 1 {
      let help = try help(of: command.words).joined(separator: "\n")
      #expect(help.contains("-q, --quiet") || help.contains("<subcommand>"), "\(command.words)")
    }
    for flag in ["-q", "-qq"] { #expect(try tool("list", flag).exits(0).standardError.isEmpty) }
    #expect(try tool("list").standardError.contains("No records"))
    try tool("show", "nothing", "--quiet").exits(1, saying: "llavero: ")
  }

  /// What a shell offers for the word after an option.
  private func candidates(
    _ command: String, _ option: String, of other: Tool? = nil, with changes: [String: String?] = [:]
  ) throws -> [String] {
    let tool = other ?? self.tool
    let words = ["llavero", command, "--group", tool.group, option, ""]
    let result = try tool.run(
      ["---completion", command, "--", option, "5", "0"] + words,
      with: changes.merging(["SAP_SHELL": "bash"]) { $1 })
    #expect(result.standardError.isEmpty, "\(result.standardError)")
    return result.standardOutput.split(separator: "\n").map(String.init)
  }

  @Test func `Account names and groups are completed`() throws {
    try tool.load()
    for command in ["token", "clear"] {
      #expect(try candidates(command, "--account").contains("bob@contoso.example"))
    }
    #expect(try candidates("list", "--group").contains(tool.group))
    // Also beside a setting that this version does not know.
    try tool.configure("[llavero]\nunknown = x\n")
    let configured: [String: String?] = ["XDG_CONFIG_HOME": tool.files.path]
    #expect(try candidates("token", "--account", with: configured).contains("bob@contoso.example"))
    // Also while the word is no group's name yet.
    let words = ["llavero", "list", "--group", "c"]
    try tool.run(
      ["---completion", "list", "--", "--group", "3", "1"] + words, with: ["SAP_SHELL": "bash"]
    ).exits(0, showing: tool.group)
  }

  @Test func `In bash, which splits words at colons and at signs, the whole words count`() throws {
    try tool.load()
    func completions(_ words: String, of line: String) throws -> [String] {
      let script = #"""
        eval "$("$0" --generate-completion-script bash)"
        llavero() { "$0" "$@"; }
        COMP_WORDS=($1) COMP_LINE="$2" COMP_POINT=${#2}
        [ "${2: -1}" = " " ] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _llavero_whole_words llavero "${COMP_WORDS[COMP_CWORD]}"
        printf '%s\n' "${COMPREPLY[@]}"
        """#
      return try Child.run(
        "bash", ["--norc", "-c", script, Tool.path, words, line], environment: tool.environment()
      ).exits(0).standardOutput.split(separator: "\n").map(String.init)
    }
    #expect(
      try completions(
        "llavero status --account alice @ contoso.example --js",
        of: "llavero status --account alice@contoso.example --js") == ["--json"])
    #expect(
      try completions(
        "llavero token --group \(tool.group) --account bob @ con",
        of: "llavero token --group \(tool.group) --account bob@con") == ["contoso.example"])
    #expect(
      try completions(
        "llavero token --group = \(tool.group) --account = bob @ con",
        of: "llavero token --group=\(tool.group) --account=bob@con") == ["contoso.example"])
    for option in ["--store ", "--store="] {
      let words = "llavero list \(option.replacing("=", with: " = "))file : /proc/nonexistent --group"
      #expect(
        try completions(words, of: "llavero list \(option)file:/proc/nonexistent --group ").isEmpty)
    }
    // The cursor stands before another word.
    let script = #"""
      eval "$("$0" --generate-completion-script bash)"
      COMP_WORDS=(llavero token --output --json) COMP_LINE="llavero token --output  --json"
      COMP_CWORD=3 COMP_POINT=23
      _llavero_whole_words llavero "" --output
      printf '%s\n' "${COMPREPLY[@]}"
      """#
    try Child.run("bash", ["--norc", "-c", script, Tool.path], environment: tool.environment())
      .exits(0, showing: "bare\n")
  }

  @Test func `Completion offers ids, forms of values, and commands after help`() throws {
    try tool.load()
    let records = try tool("list", "--json").exits(0).json["records"]?.arrayValue ?? []
    let ids = try candidates("show", "positional@0")
    #expect(!ids.isEmpty)
    #expect(ids.sorted() == records.compactMap { $0["id"]?.stringValue }.sorted())
    #expect(try candidates("list", "--store") == ["keyring", "file", "file:", "etcd+https://"])
    let keys = ["passphrase", "passphrase-fd:", "file:", "credential:", "keyring"]
    #expect(try candidates("list", "--key") == keys + ["portal"])
    #expect(try candidates("list", "--etcd-password") == keys)
    let script = #"""
      cd /proc/self && eval "$("$0" --generate-completion-script bash)"
      llavero() { "$0" "$@"; }
      COMP_WORDS=(llavero $1 "$2") COMP_LINE="llavero $1 $2" COMP_POINT=${#COMP_LINE}
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _llavero_whole_words llavero "$2" "${COMP_WORDS[COMP_CWORD - 1]}"
      printf '%s\n' "${COMPREPLY[@]}"
      """#
    for (command, start, found) in [
      ("help", "tok", "token"), ("help", "opt", "options"), ("help scheme", "ins", "install"),
      ("help shim", "rem", "remove"), ("import", "azure-identity-pyth", "azure-identity-python"),
      ("export", "fil", "file:"),
    ] {
      let result = try Child.run(
        "bash", ["--norc", "-c", script, Tool.path, command, start], environment: tool.environment())
      result.exits(0, showing: found + "\n")
    }
  }

  @Test func `Completion offers no name that a shell would expand`() throws {
    // Or that the tool would take for an option.
    for name in ["o'brien@contoso.example", "-bob@contoso.example"] {
      let tool = try Tool()
      try tool.load([
        Sample.account(Sample.alice, "$(touch${IFS}pwned)@x"), Sample.account(Sample.bob, name),
        Sample.refreshToken("a", Sample.alice, Sample.mail),
        Sample.refreshToken("b", Sample.bob, Sample.mail),
      ])
      #expect(try candidates("token", "--account", of: tool).sorted() == [Sample.alice, Sample.bob])
    }
  }

  @Test func `The caches that can be adopted are completed`() throws {
    let names = try tool.run(
      ["---completion", "adopt", "--", "positional@0", "2", "0", "llavero", "adopt", ""],
      with: ["SAP_SHELL": "bash"]
    ).exits(0, showing: "azure-cli\n")
    #expect(!names.standardOutput.contains("azure-cli-keyring"))
  }

  @Test func `A completion is silent where the store cannot be read without a prompt`() throws {
    let tool = try Tool(on: PrivateKeyring())
    try tool.load()
    #expect(try candidates("token", "--account", of: tool).contains("bob@contoso.example"))
    try tool.keyring.lockCollection()
    let prompter = try FakeService.silentPrompter(on: tool.keyring)
    let stores: [[String: String?]] = [
      [:], ["LLAVERO_STORE": "file", "LLAVERO_KEY": "passphrase", "XDG_DATA_HOME": tool.files.path],
      ["LLAVERO_STORE": "nonsense"], ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent"],
    ]
    for changes in stores {
      #expect(try candidates("token", "--account", of: tool, with: changes) == [], "\(changes)")
    }
    #expect(prompter.calls.isEmpty)
  }
}
