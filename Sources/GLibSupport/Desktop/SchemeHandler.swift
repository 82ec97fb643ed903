import CGLib
import Glibc

/// The program that the desktop starts with the addresses of a scheme.
package struct SchemeHandler: Equatable, Sendable {
  /// The name of its desktop file, such as `org.example.mail.desktop`.
  package let id: String
  /// What its desktop file has it started with, without the field codes, and without Flatpak's marks around files.
  package let command: [String]

  package init(id: String, command: [String]) {
    self.id = id
    self.command = command
  }

  /// Asks GIO, which reads the lists of "Association between MIME types and applications". Blocks for as long as the
  /// files of the desktop take to be read.
  ///
  /// - Returns: `nil` where no program that is there claims the scheme.
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
    return resolved(program) == resolved(executable)
  }
}

/// A command from its program on: without `env`, and the variables that it sets.
package func withoutEnv(_ command: [String]) -> ArraySlice<String> {
  guard command.first?.split(separator: "/").last == "env" else { return command[...] }
  return command.dropFirst().drop { $0.contains("=") }
}

/// Takes the value of an `Exec` key apart (Desktop Entry Specification, "The Exec key").
///
/// - Returns: The words without the field codes; `nil` for what is none.
package func words(ofExec value: String) -> [String]? {
  var words: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
  guard g_shell_parse_argv(value, nil, &words, nil) != 0 else { return nil }
  return strings(words).filter { $0.count != 2 || $0.first != "%" || $0 == "%%" }
    .map { $0.replacing("%%", with: "%") }
}

private func resolved(_ path: String) -> String {
  guard let real = realpath(path, nil) else { return path }
  defer { free(real) }
  return String(cString: real)
}
