import FoundationEssentials
import GLibSupport
import Glibc

/// The user's list of handlers for content types and schemes (XDG Association between MIME types and applications).
enum SchemeDefaults {
  private static let limit = 16 << 20

  /// Puts a scheme's desktop file before all others, or removes it. Earlier handlers stay behind it, and are used again
  /// when it is removed; the rest of the file is unchanged, to the byte. After an error nothing is changed.
  static func change(_ scheme: String, isInstalled: Bool) throws(Failure.Message) {
    let path = linkTarget("\(DesktopDirectories.configuration)/mimeapps.list")
    let old: String
    do {
      let contents = try readFile(path, limit: limit) ?? []
      _ = try KeyFile(contents)
      guard let text = String(validating: contents, as: UTF8.self) else { throw GLibError.unexplained }
      old = text
    } catch {
      throw Failure.Message(
        name: "unreadable", message: "\(path) cannot be read and is unchanged: \(error)",
        advice: "Fix it, and run the command again.")
    }
    let new = changed(
      old, key: "x-scheme-handler/\(scheme)", own: SchemeHandler.ownID(of: scheme), isFirst: isInstalled)
    guard new != old else { return }
    if new.isEmpty { return try removeFile(path) }
    try writeFile(path, Array(new.utf8), mode: FileStatus(path)?.mode ?? 0o644)
  }

  /// Returns the text with `own` first in the list of a key, or without it. A key without a value is removed, and a group
  /// without keys.
  static func changed(_ text: String, key: String, own: String, isFirst: Bool) -> String {
    let header = "[Default Applications]"
    // By bytes, since "\r\n" is one character.
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    let start = lines.firstIndex { $0.hasPrefix(header) }
    let end =
      start.flatMap { start in lines[(start + 1)...].firstIndex { $0.hasPrefix("[") } } ?? lines.endIndex
    let place = start.flatMap { start in
      lines[start..<end].firstIndex { $0.prefix { $0 != "=" && $0 != " " } == key && $0.contains("=") }
    }
    let line = place.map { lines[$0] } ?? ""
    let value = line.drop { $0 != "=" }.dropFirst().drop { $0 == " " }
    let others = value.split(separator: ";", omittingEmptySubsequences: false).filter { $0 != own }
      .joined(separator: ";")
    let isLeft = isFirst || !others.isEmpty
    switch (place, start) {
    case (let place?, _) where isLeft:
      lines[place] = "\(line.dropLast(value.count))\(isFirst ? own + ";" : "")\(others)"
    case (let place?, let start?):
      lines.remove(at: place)
      if end == start + 2 || lines[(start + 1)..<(end - 1)].allSatisfy(\.isEmpty) { lines.remove(at: start) }
    case (nil, let start?) where isFirst: lines.insert("\(key)=\(own);", at: start + 1)
    case (nil, nil) where isFirst:
      // The last line follows the last line break, and is empty in most files.
      let isWhole = lines.last?.isEmpty ?? true
      lines.insert(contentsOf: [header, "\(key)=\(own);"], at: lines.endIndex - (isWhole ? 1 : 0))
      if !isWhole { lines.append("") }
    default: break
    }
    return lines.joined(separator: "\n")
  }

  /// Checks that the user's lists are regular files: GLib would wait for a writer of a pipe.
  static func checkLists() throws(Failure.Message) {
    let desktops = (processEnvironment()["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":")
    let names =
      ["mimeapps.list", "defaults.list", "mimeinfo.cache"]
      + desktops.map { $0.lowercased() + "-mimeapps.list" }
    for directory in [DesktopDirectories.configuration, DesktopDirectories.applications] {
      for path in names.map({ "\(directory)/\($0)" }) {
        do throws(PrivateFileError) {
          _ = try readFile(path, limit: limit)
        } catch {
          guard case .notRegular = error else { continue }
          throw Failure.Message(
            name: "unreadable", message: "\(error)", advice: "Remove it, and run the command again.")
        }
      }
    }
  }
}
