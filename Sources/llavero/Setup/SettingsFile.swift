import FoundationEssentials
import GLibSupport
import Glibc
import TokenCache

/// The configuration file, of which single settings are changed; everything else in it stays as it is, to the byte.
struct SettingsFile {
  /// The file itself, where its path is a link.
  let path: String
  private var lines: [String]
  private let group = "[llavero]"

  /// - Throws: `Failure.Message` where the environment names no directory, or the file cannot be read.
  init(environment: [String: String]) throws(Failure.Message) {
    guard let path = Settings.path(environment: environment) else {
      throw Failure.Message(
        code: .usage, name: "no_configuration",
        message: "The configuration has no directory: HOME is not set.",
        advice: "Set HOME or XDG_CONFIG_HOME.")
    }
    self.path = linkTarget(path)
    do throws(PrivateFileError) {
      let text = String(decoding: try readFile(path, limit: 1 << 20) ?? [], as: UTF8.self)
      lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    } catch {
      throw Failure.Message(
        code: .usage, name: "invalid_configuration", message: "The configuration cannot be read: \(error)")
    }
  }

  var text: String { lines.joined(separator: "\n") }

  /// A setting's value as the file has it.
  subscript(name: String) -> String? {
    (try? KeyFile(Array(text.utf8)))?["llavero"][name]
  }

  /// Changes a setting where it stands, or adds it after the others.
  mutating func set(_ name: String, to value: String) {
    let line = "\(name) = \(KeyFile.escaped(value))"
    guard let start = lines.lastIndex(where: { $0.trimmed == group }) else {
      if lines.last?.isEmpty == true { lines.removeLast() }
      if !lines.isEmpty { lines.append("") }
      lines += [group, line, ""]
      return
    }
    let end = lines[(start + 1)...].firstIndex { $0.trimmed.hasPrefix("[") } ?? lines.endIndex
    // Of two lines with one name the later one counts.
    if let old = lines[start..<end].lastIndex(where: { $0.name == name }) {
      lines[old] = line
    } else {
      let last = lines[start..<end].lastIndex { !$0.trimmed.isEmpty } ?? start
      lines.insert(line, at: last + 1)
      if last + 2 == lines.endIndex { lines.append("") }
    }
  }

  /// Puts the contents in the file's place, which only this user may read from then on. After an error it is as it was.
  func write() throws(Failure.Message) {
    try writeFile(
      path, Array(text.utf8), mode: 0o600, advice: "XDG_CONFIG_HOME can name another directory.")
  }
}

/// The target of a path's symbolic links, which need not exist: replacing it keeps the link.
func linkTarget(_ path: String) -> String {
  var path = path
  // As many links as the kernel follows.
  for _ in 0..<40 {
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
    path = target.hasPrefix("/") ? target : "\(parentDirectory(of: path))/\(target)"
  }
  return path
}

extension String {
  /// The name that a line sets; `nil` of a comment.
  fileprivate var name: String? {
    guard !trimmed.hasPrefix("#"), let end = firstIndex(of: "=") else { return nil }
    return String(self[..<end]).trimmed
  }
}
