import ArgumentParser
import GLibSupport

/// Help and usage errors, rearranged from the argument parser's.
enum HelpText {
  /// The width of help: the terminal's, 80 columns at most. Examples need them all.
  static var columns: Int {
    let width = processEnvironment()["COLUMNS"].flatMap { Int($0) } ?? Terminal.output.width ?? 80
    return min(max(width, 40), 80)
  }

  /// The parser's help with a command's own options before those of titled groups, and a synopsis that fits one line. What
  /// else it prints, such as a version or a completion script, is unchanged.
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
    return (sections[..<start] + [synopsis(sections[start])] + reference).joined(separator: "\n\n")
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
    var (path, rest) = ("llavero", arguments[...])
    // Closures: Swift 6.3 crashes over key paths of metatypes.
    var commands = Llavero.configuration.subcommands.map { $0.configuration }
    while let command = commands.first(where: { $0.commandName == rest.first }) {
      path += " " + rest.removeFirst()
      commands = command.subcommands.map { $0.configuration }
    }
    let names = commands.filter(\.shouldDisplay).compactMap(\.commandName)
    var text = oneLine(message)
    var hint: String?
    if let suggestion = text.firstMatch(of: /\.? Did you mean '(.*?)'\?/) {
      hint = "Did you mean \(suggestion.output.1)?"
      text.replaceSubrange(suggestion.range, with: "")
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
