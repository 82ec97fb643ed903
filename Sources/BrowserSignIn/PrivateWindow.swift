import GLibSupport

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

  /// Adds the switch to a command, and the address right after it: there are browsers that take the next word for the
  /// switch's value. The command starts a browser, perhaps by way of `env` or `flatpak run`, with `%s` for the address;
  /// without that, both stand right after the word that names the browser. `nil` for a browser that is not in the list.
  static func command(asking command: [String]) -> [String]? {
    for place in withoutEnv(command).indices {
      let name = command[place].split(separator: "/").last?.lowercased() ?? ""
      guard let family = families.first(where: { $0.programs.contains(where: name.hasPrefix) }) else {
        continue
      }
      if let address = command.firstIndex(where: { $0.contains("%s") }) {
        return Array(command[..<address]) + [family.option] + command[address...]
      }
      return Array(command[...place]) + [family.option, "%s"] + command[(place + 1)...]
    }
    return nil
  }
}
