import FoundationEssentials
import GLibSupport
import Glibc

/// The user's list of handlers for content types and schemes (XDG Association between MIME types and applications).
enum SchemeDefaults {
  private static let limit = 16 << 20

  /// Puts a scheme's desktop file before all others, or removes it. Earlier handlers stay behind it, and are used again
  /// when it is removed; the rest of the file is unchanged, to the byte. After an error nothing is changed.
  static func change(_ scheme: String, isInstalled: Bool) throws(Failure) {
    let path = linkTarget("\(DesktopDirectories.configuration)/mimeapps.list")
    let old: [UInt8]
    do {
      old = try readFile(path, limit: limit) ?? []
      _ = try KeyFile(old)
    } catch {
      throw Failure(
        "unreadable", "\(path) cannot be read and is unchanged: \(error)",
        advice: "Fix it, and run the command again.")
    }
    let own = SchemeHandler.ownID(of: scheme)
    var text = KeyFileText(old)
    text.change("x-scheme-handler/\(scheme)", in: "Default Applications", sign: "=") { value in
      let others = value.split(separator: ";", omittingEmptySubsequences: false).filter { $0 != own }
        .joined(separator: ";")
      return isInstalled ? "\(own);\(others)" : others
    }
    let new = text.contents
    guard new != old else { return }
    if new.isEmpty { return try removeFile(path) }
    try writeFile(path, new, mode: FileStatus(path)?.mode ?? 0o644)
  }

  /// Checks that the user's lists are regular files: GLib would wait for a writer of a pipe.
  static func checkLists() throws(Failure) {
    let desktops = (processEnvironment()["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":")
    let names =
      ["mimeapps.list", "defaults.list", "mimeinfo.cache"]
      + desktops.map { $0.lowercased() + "-mimeapps.list" }
    for directory in [DesktopDirectories.configuration, DesktopDirectories.applications] {
      for path in names.map({ "\(directory)/\($0)" }) {
        do throws(PrivateFileError) {
          _ = try readFile(path, limit: limit)
        } catch {
          if case .notRegular = error {
            throw Failure("unreadable", "\(error)", advice: "Remove it, and run the command again.")
          }
        }
      }
    }
  }
}
