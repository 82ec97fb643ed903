import ArgumentParser
import GLibSupport
import TokenCache

/// Help and usage errors, rearranged from the argument parser's.
enum HelpText {
  /// A width in which the parser breaks no line: it breaks words, too.
  static let unbroken = 100_000

  /// The width of help: the terminal's, 80 columns at most. Examples need them all.
  static var columns: Int {
    let width = processEnvironment()["COLUMNS"].flatMap { Int($0) } ?? Terminal.output.width ?? 80
    return min(max(width, 40), 80)
  }

  /// The parser's help with a command's own options before those of titled groups, without those of `SharedOptions` unless
  /// hidden options are asked for, and with a synopsis that fits one line. Of the discussion, `--help` has the examples and
  /// "llavero help" all. What else the parser prints, such as a version or a completion script, is unchanged.
  static func arranged(_ text: String) -> String {
    let sections = (text.hasSuffix("\n") ? text.dropLast() : text[...]).split(separator: "\n\n").map(
      String.init)
    guard text.hasPrefix("OVERVIEW: "), let start = sections.firstIndex(where: { $0.hasPrefix("USAGE: ") })
    else { return text }
    var reference = Array(sections[(start + 1)...])
    if let own = reference.firstIndex(where: { $0.hasPrefix("OPTIONS:\n") }) {
      let first = reference.first?.hasPrefix("ARGUMENTS:\n") == true ? 1 : 0
      reference.insert(reference.remove(at: own), at: first)
    }
    reference = reference.map { $0.replacing(/^([A-Z ]+) SUBCOMMANDS:/) { "\($0.output.1):" } }
    var (overview, more) = (Array(sections[..<start]), [String]())
    let isShort = !showsHidden && processArguments.dropFirst().first != "help"
    let words = command(Array(processArguments.dropFirst())).path.dropFirst("llavero".count)
    if isShort {
      overview.removeAll { $0 != sections[0] && !$0.hasPrefix("Example") }
      if !words.isEmpty { more.append("llavero help\(words)") }
    }
    // "See 'llavero help <subcommand>' for detailed help."
    if let detail = reference.firstIndex(where: { $0.hasPrefix("  See '") }) {
      more += reference.remove(at: detail).split(separator: "'").dropFirst().prefix(1).map(String.init)
    }
    if !showsHidden, reference.contains(where: isShared) {
      reference.removeAll(where: isShared)
      more.append("llavero help options")
    }
    if !more.isEmpty { reference.append("More: " + more.joined(separator: ", ")) }
    if isShort { reference[reference.endIndex - 1] += "\nExit codes: llavero help" }
    let opening = (overview + [synopsis(sections[start])]).map { wrapped($0) }
    return (opening + wrappedRows(reference)).joined(separator: "\n\n")
  }

  private static let showsHidden = processOptions.contains("--help-hidden")

  /// The sections of `SharedOptions`.
  private static let sharedSections: [String] = {
    let help: String = SharedOptions.helpMessage(includeHidden: showsHidden, columns: unbroken)
    let sections: [String] = help.split(separator: "\n\n").map { String($0) }
    return sections.filter { $0.prefixMatch(of: /[A-Z]+ OPTIONS:/) != nil }
  }()

  private static func isShared(_ section: String) -> Bool {
    sharedSections.contains { $0.prefix { $0 != "\n" } == section.prefix { $0 != "\n" } }
  }

  /// A topic of "llavero help" that is no command; `nil` for a command, of which the parser has the help.
  ///
  /// - Throws: `Failure` for words that name neither.
  static func topic(_ arguments: ArraySlice<String>) throws(Failure) -> String? {
    let words = arguments.filter { !$0.hasPrefix("-") }
    if let topic = words.first.flatMap(Topic.init(rawValue:)), words.count == 1 {
      let sections =
        switch topic {
        case .options: sharedSections
        case .settings: settings
        }
      return wrappedRows(sections).joined(separator: "\n\n")
    }
    guard let word = command(words).rest.first else { return nil }
    throw usageError("Unexpected argument '\(word)'", in: words)
  }

  private enum Topic: String, CaseIterable { case options, settings }

  private static var settings: [String] {
    let rows = Setting.all.map { "  \($0.name)".padded(to: labelWidth) + "\($0.variable): \($0.help)" }
    return [
      """
      Each can be an option of its name where a command has one, an environment variable, or a line such as \
      "client = YOUR-APP-ID" under [llavero] in ~/.config/llavero/config, or for all users in \
      /etc/xdg/llavero/config. The first of these counts.
      """, (["SETTINGS:"] + rows).joined(separator: "\n"),
    ]
  }

  /// The width of the parser's labels.
  private static let labelWidth = 26

  /// Sections of options or commands. Their texts begin in one column, behind the longest label that the parser's column holds.
  private static func wrappedRows(_ sections: [String]) -> [String] {
    let rows = sections.map { section in
      section.replacing("\n" + String(repeating: " ", count: labelWidth), with: "\t")
        .split(separator: "\n").map { labelled(String($0)) }
    }
    let widths = rows.joined().compactMap { $0.label?.count }
    let column = (widths.filter { $0 <= labelWidth }.max() ?? labelWidth) + 2
    return rows.map { section in
      section.map { wrappedRow($0.label, $0.text, column) }.joined(separator: "\n")
    }
  }

  /// The label of a row and its text, which the parser put on a line of its own, now behind a tab, where the label is long.
  private static func labelled(_ row: String) -> (label: String?, text: String) {
    if let tab = row.firstIndex(of: "\t") {
      return (String(row[..<tab]), String(row[row.index(after: tab)...]))
    }
    guard row.hasPrefix("  ") else { return (nil, row) }
    return ("  " + String(row.prefix(labelWidth)).trimmed, String(row.dropFirst(labelWidth)))
  }

  /// A label and its text, which stands below it where a word of it is too long to stand beside it.
  private static func wrappedRow(_ label: String?, _ text: String, _ column: Int) -> String {
    guard let label else { return wrapped(text) }
    let longest = text.split { $0 == " " }.reduce(0) { max($0, $1.count) }
    let indent = column + longest > columns ? 6 : column
    let lines = wrapped(String(repeating: " ", count: indent) + text, indent: indent)
    return label.count < indent ? label + lines.dropFirst(label.count) : label + "\n" + lines
  }

  /// Lines in the width of help, broken at spaces alone. What follows of an indented line is indented further.
  private static func wrapped(_ text: String, indent: Int? = nil) -> String {
    text.split(separator: "\n").map { wrappedLine(String($0), indent: indent) }.joined(separator: "\n")
  }

  private static func wrappedLine(_ line: String, indent: Int?) -> String {
    let start = String(line.prefix { $0 == " " })
    let next = String(repeating: " ", count: indent ?? (start.isEmpty ? 0 : start.count + 2))
    let words = line.dropFirst(start.count).split(separator: " ", omittingEmptySubsequences: false)
    var lines: [String] = []
    var current = start + words[0]
    for word in words.dropFirst() {
      if current.count + 1 + word.count > columns {
        lines.append(current)
        current = next + word
      } else {
        current += " " + word
      }
    }
    return (lines + [current]).joined(separator: "\n")
  }

  /// What may follow "llavero help", and the commands that may follow that.
  static var topics: [(name: String, below: [String])] {
    command([]).names.map { ($0, command([$0]).names) } + Topic.allCases.map { ($0.rawValue, []) }
  }

  /// The command that arguments name, as it is typed, the arguments that follow it, and the commands below it that help shows.
  private static func command(
    _ arguments: [String]
  ) -> (path: String, rest: ArraySlice<String>, names: [String]) {
    var (path, rest) = ("llavero", arguments[...])
    // Closures: Swift 6.3 crashes over key paths of metatypes.
    var commands = Llavero.configuration.subcommands.map { $0.configuration }
    while let command = commands.first(where: { $0.commandName == rest.first }) {
      path += " " + rest.removeFirst()
      commands = command.subcommands.map { $0.configuration }
    }
    return (path, rest, commands.filter(\.shouldDisplay).compactMap(\.commandName))
  }

  /// The usage line without its options, of which there may be too many for one line.
  private static func synopsis(_ usage: String) -> String {
    let parts = usage.wholeMatch(of: /(USAGE: llavero(?: [a-z-]+)*)(.*)/)
    guard let (_, command, arguments) = parts?.output, !arguments.hasSuffix("<subcommand>") else {
      return usage
    }
    return command + " [<options>]" + arguments.replacing(/(?: \[-[^\]]*\])|(?: \[?<options>\]?)/, with: "")
  }

  /// An error in a command line: one line, and another with a suggestion or the help's command. The message is the
  /// argument parser's, and the arguments are without the program.
  static func usageError(_ message: String, in arguments: [String]) -> Failure {
    let (path, rest, names) = command(arguments)
    var text = oneLine(message)
    var hint: String?
    if let match = text.firstMatch(of: /'([^']*)'(\.? Did you mean '(.*?)'\?)/) {
      // The parser suggests names that are not like the mistyped one, too.
      hint = suggestion(for: String(match.output.1), among: [String(match.output.3)]).map {
        "Did you mean \($0)?"
      }
      text.removeSubrange(match.output.2.startIndex..<match.output.2.endIndex)
    }
    if let word = rest.first, !word.hasPrefix("-"), !names.isEmpty {
      text = "Unknown command '\(word)'"
      hint = suggestion(for: word, among: names).map { "Did you mean \($0)?" }
    }
    if !text.hasSuffix(".") { text += "." }
    return Failure("usage", text, code: .usage, advice: hint ?? "See \"\(path) --help\".")
  }

  /// The parser lists values, and alternatives, on lines of their own.
  private static func oneLine(_ message: String) -> String {
    let lines = message.split(separator: "\n").map { $0.trimmingPrefix(while: \.isWhitespace) }
    let values = lines.filter { $0.hasPrefix("- ") }.map { $0.dropFirst(2) }.joined(separator: ", ")
    return lines.filter { !$0.hasPrefix("- ") }.joined(separator: " ") + (values.isEmpty ? "" : " " + values)
  }

  /// The name that a mistyped one stands for; `nil` where none is like it.
  private static func suggestion(for word: String, among names: [String]) -> String? {
    if let name = names.first(where: { word.count > 1 && $0.hasPrefix(word) }) { return name }
    let limit = max(1, word.count / 3)
    return names.map { (name: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
      .min { $0.distance < $1.distance }?.name
  }

  /// How many letters of the longer word have no match, in order, in the other.
  private static func distance(_ one: String, _ other: String) -> Int {
    let difference = one.difference(from: other)
    return max(difference.insertions.count, difference.removals.count)
  }
}
