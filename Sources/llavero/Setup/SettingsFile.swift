import GLibSupport
import Glibc

/// The configuration file, of which single settings are changed; everything else in it stays as it is, to the byte.
struct SettingsFile {
  /// The file itself, where its path is a link.
  let path: String
  private var text: KeyFileText
  private static let group = "llavero"

  /// - Throws: `Failure` where the environment names no directory, or the file cannot be read.
  init(environment: [String: String]) throws(Failure) {
    guard let path = Settings.path(environment: environment) else {
      throw Failure(
        "no_configuration", "The configuration has no directory: HOME is not set.", code: .usage,
        advice: "Set HOME or XDG_CONFIG_HOME.")
    }
    self.path = linkTarget(path)
    do throws(PrivateFileError) {
      text = KeyFileText(try readFile(path, limit: 1 << 20) ?? [])
    } catch {
      throw Failure("invalid_configuration", "The configuration cannot be read: \(error)", code: .usage)
    }
  }

  subscript(name: String) -> String? {
    (try? KeyFile(text.contents))?[Self.group][name]
  }

  /// Changes a setting where it stands, or adds it after the others.
  mutating func set(_ name: String, to value: String) {
    text.change(name, in: Self.group, sign: " = ") { _ in KeyFile.escaped(value) }
  }

  /// Puts the contents in the file's place, which only this user may read from then on. After an error it is as it was.
  func write() throws(Failure) {
    try writeFile(path, text.contents, mode: 0o600, advice: "XDG_CONFIG_HOME can name another directory.")
  }
}
