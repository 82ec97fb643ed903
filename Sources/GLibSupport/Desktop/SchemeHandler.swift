import CGLib
import Glibc

/// The program that is registered for a URI scheme on the desktop.
package struct SchemeHandler: Equatable, Sendable {
  /// The name of its desktop file, for example `org.example.mail.desktop`.
  package let id: String
  /// The command in its desktop file, without field codes and without Flatpak's marks around files.
  package let command: [String]

  package init(id: String, command: [String]) {
    self.id = id
    self.command = command
  }

  /// Finds the handler with GIO, which reads the lists of "Association between MIME types and applications". Blocks
  /// while it reads the desktop's files.
  ///
  /// - Returns: `nil` if no installed program handles the scheme.
  package init?(of scheme: String) {
    GIOTypes.register()
    guard let application = g_app_info_get_default_for_uri_scheme(scheme) else { return nil }
    defer { g_object_unref(UnsafeMutableRawPointer(application)) }
    id = g_app_info_get_id(application).map { String(cString: $0) } ?? ""
    let exec = g_app_info_get_commandline(application).flatMap { words(ofExec: String(cString: $0)) } ?? []
    command = exec.filter { !["@@", "@@u"].contains($0) }
  }

  /// The name of the desktop file that `llavero scheme` writes for a scheme.
  package static func ownID(of scheme: String) -> String { "llavero-scheme-\(scheme).desktop" }

  /// Whether the handler runs this program, perhaps by way of `env`.
  package func runs(_ executable: String) -> Bool {
    guard let program = withoutEnv(command).first.flatMap(programFile) else { return false }
    return withoutLinks(program) == withoutLinks(executable)
  }
}

/// The command without a leading `env` and the variables that it sets.
package func withoutEnv(_ command: [String]) -> ArraySlice<String> {
  guard command.first?.split(separator: "/").last == "env" else { return command[...] }
  return command.dropFirst().drop { $0.contains("=") }
}

/// Splits the value of an `Exec` key (Desktop Entry Specification, "The Exec key").
///
/// - Returns: The words without field codes; `nil` if the value is invalid.
package func words(ofExec value: String) -> [String]? {
  var words: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
  guard g_shell_parse_argv(value, nil, &words, nil) != 0 else { return nil }
  return strings(words).filter { $0.count != 2 || $0.first != "%" || $0 == "%%" }
    .map { $0.replacing("%%", with: "%") }
}

/// The user's desktop settings (XDG Base Directory Specification). GLib reads the environment once per process.
package enum DesktopDirectories {
  /// `$XDG_DATA_HOME/applications`, with the user's own desktop files.
  package static var applications: String { String(cString: g_get_user_data_dir()) + "/applications" }

  /// `$XDG_CONFIG_HOME`.
  package static var configuration: String { String(cString: g_get_user_config_dir()) }
}
