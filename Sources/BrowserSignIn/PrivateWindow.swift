import CGLib
import GLibSupport

/// How browsers are asked for a private window.
enum PrivateWindow {
  /// A switch, and how the names of the programs begin that understand it: those of Debian, of the makers' own packages,
  /// and of Flatpak and Snap.
  private static let families: [(option: String, programs: [String])] = [
    (
      "--private-window",
      ["firefox", "org.mozilla.firefox", "librewolf", "io.gitlab.librewolf", "waterfox", "icecat", "floorp"]
    ),
    (
      "--incognito",
      [
        "chromium", "org.chromium.chromium", "google-chrome", "com.google.chrome", "brave",
        "com.brave.browser",
        "vivaldi", "com.vivaldi.vivaldi",
      ]
    ),
    ("--inprivate", ["microsoft-edge", "com.microsoft.edge"]),
    ("--private", ["opera", "com.opera.opera"]),
    ("--incognito-mode", ["epiphany", "org.gnome.epiphany"]),
  ]

  /// Adds the switch to a command, before the address.
  ///
  /// - Parameter command: What starts a browser, perhaps by way of `env` or `flatpak run`, with `%s` for the address.
  /// - Returns: `nil` when no browser of the list is in it.
  static func command(asking command: [String]) -> [String]? {
    let names = command.map { $0.split(separator: "/").last?.lowercased() ?? "" }
    let family = families.first { family in
      names.contains { name in family.programs.contains(where: name.hasPrefix) }
    }
    guard let family, let place = command.firstIndex(where: { $0.contains("%s") }) else { return nil }
    return command[..<place] + [family.option] + command[place...]
  }
}

/// The command of the browser that the desktop has for https, without places for addresses. Blocks while the desktop's
/// files are read.
func desktopBrowser() -> [String]? {
  GIOTypes.register()
  guard let application = g_app_info_get_default_for_uri_scheme("https") else { return nil }
  defer { g_object_unref(UnsafeMutableRawPointer(application)) }
  var words: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
  guard let line = g_app_info_get_commandline(application), g_shell_parse_argv(line, nil, &words, nil) != 0
  else { return nil }
  defer { g_strfreev(words) }
  var command: [String] = []
  while let word = words?[command.count] { command.append(String(cString: word)) }
  // Field codes (Desktop Entry Specification), and Flatpak's marks around files.
  return command.filter { !($0.count == 2 && $0.hasPrefix("%")) && !["@@", "@@u"].contains($0) }
}
