import FoundationEssentials
import GLibSupport
import Glibc

/// The desktop file that makes a program the handler of a scheme (Desktop Entry Specification).
struct SchemeEntry {
  let scheme: String
  let program: String
  let arguments: [String]
  /// The name that the desktop shows.
  let name: String

  /// Only files with this key are changed. Its value is the scheme.
  private static let mark = "X-Llavero-Scheme"
  private static let group = "Desktop Entry"
  private static let limit = 1 << 20

  static func path(of scheme: String) -> String {
    "\(DesktopDirectories.applications)/\(SchemeHandler.ownID(of: scheme))"
  }

  /// The schemes with a file of the tool's name.
  static var installed: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: DesktopDirectories.applications)) ?? []
    let (start, end) = (SchemeHandler.ownID(of: "\u{0}").split(separator: "\u{0}")[0], ".desktop")
    return names.filter { $0.hasPrefix(start) && $0.hasSuffix(end) }
      .map { String($0.dropFirst(start.count).dropLast(end.count)) }.sorted()
  }

  var text: String {
    """
    [Desktop Entry]
    Type=Application
    Name=\(KeyFile.escaped(name))
    Comment=Receives the response of a sign-in from the browser
    Exec=\(KeyFile.escaped(([program] + arguments).map(Self.quoted).joined(separator: " "))) %u
    Terminal=false
    NoDisplay=true
    MimeType=x-scheme-handler/\(scheme);
    \(Self.mark)=\(scheme)

    """
  }

  /// Quotes a word of the Exec key, only where it must: xdg-open does not understand quotes.
  private static func quoted(_ word: String) -> String {
    let text = replaced(word, ["%": "%%"])
    guard word.isEmpty || word.unicodeScalars.contains(where: { reserved.contains($0) }) else { return text }
    return "\"" + replaced(text, ["\"": "\\\"", "`": "\\`", "$": "\\$", "\\": "\\\\"]) + "\""
  }

  private static let reserved = Set(" \t\n\"'\\><~|&;$*?#()`".unicodeScalars)

  /// By scalars, since a character may be one of these with an accent.
  private static func replaced(_ text: String, _ replacements: [Unicode.Scalar: String]) -> String {
    text.unicodeScalars.map { replacements[$0] ?? String($0) }.joined()
  }
}

extension SchemeEntry {
  /// Reads the entry of a scheme; `nil` without one. The file of another user is an error.
  init?(existing scheme: String) throws(Failure) {
    let path = Self.path(of: scheme)
    guard FileStatus(path) != nil else { return nil }
    let contents: [UInt8]?
    do throws(PrivateFileError) {
      contents = try readPrivateFile(path, limit: Self.limit, openToOthers: true)
    } catch {
      throw Failure("unreadable", "\(error)")
    }
    let keys = contents.flatMap { try? KeyFile($0) }?[Self.group] ?? [:]
    guard keys[Self.mark] == scheme else {
      throw Failure(
        "exists", "\(path) already exists and was not written by \"llavero scheme install\".",
        advice: "Check which program wrote it, and remove it if it is not needed.")
    }
    let command = keys["Exec"].flatMap(words(ofExec:)) ?? []
    self.scheme = scheme
    program = command.first ?? ""
    arguments = Array(command.dropFirst())
    name = keys["Name"] ?? ""
  }
}
