import GLibSupport
import Glibc
import TokenCache

/// A configuration file with what it sets: the user's own, or one for all users of the machine.
struct ConfigurationFile {
  let path: String
  /// The user's own is 1, and a greater number goes after it.
  let rank: Int
  let values: [String: String]
  /// The names of clients under `[clients]`, by client ID.
  let clientNames: [String: String]

  /// The user's file, then those for all users, the most important first (XDG Base Directory Specification).
  ///
  /// - Throws: ``ConfigurationError`` for one that exists and cannot be used.
  static func all(environment: [String: String]) throws(ConfigurationError) -> [ConfigurationFile] {
    let own = Settings.path(environment: environment)
    let named = environment["XDG_CONFIG_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg"
    var files: [ConfigurationFile] = []
    if let own { files.append(try ConfigurationFile(own, home: environment["HOME"])) }
    let directories = named.split(separator: ":").map(String.init)
    for (index, directory) in directories.enumerated() where directory.hasPrefix("/") {
      let path = directory + "/llavero/config"
      if path != own {
        files.append(try ConfigurationFile(path, rank: index + 2, below: directory))
      }
    }
    return files
  }

  private init(
    _ path: String, rank: Int = 1, home: String? = nil, below directory: String = "/"
  ) throws(ConfigurationError) {
    (self.path, self.rank) = (path, rank)
    guard
      let contents = try Self.contents(of: path, isForAllUsers: rank > 1, home: home, below: directory)
    else {
      (values, clientNames) = ([:], [:])
      return
    }
    do throws(GLibError) {
      let file = try KeyFile(contents)
      values = file["llavero"].mapValues(\.trimmed)
      let names = file["clients"].map { ($0.lowercased(), $1.trimmed) }.filter { !$1.isEmpty }
      clientNames = Dictionary(names) { first, _ in first }
    } catch {
      // GLib's text calls it a key file, which is another thing here, and may quote a secret.
      throw ConfigurationError(
        invalid: "\(path) is invalid.",
        advice: "[llavero] stands above the settings, each of which is a line such as client = ID.")
    }
  }

  /// The value of a setting; `nil` where it is not set, or empty.
  subscript(setting: Setting) -> String? { values[setting.name].flatMap { $0.isEmpty ? nil : $0 } }

  private static func contents(
    of path: String, isForAllUsers: Bool, home: String?, below directory: String
  ) throws(ConfigurationError) -> [UInt8]? {
    if unsafe access(path, F_OK) != 0 {
      let code = errno
      if code == ENOENT, !leadsNowhere(path, below: directory) { return nil }
      // Without a home directory, or with one that this user may not enter, there is no configuration either.
      let hasNoHome = home.map { unsafe access($0 + "/.", X_OK) != 0 } ?? false
      if hasNoHome, [ENOENT, ENOTDIR, EACCES].contains(code) { return nil }
      throw ConfigurationError(
        invalid: "\(path) cannot be reached: \(systemReason(code)).",
        advice: "Show its directories, their owners and modes: namei -l \(shellQuoted(path))")
    }
    do throws(PrivateFileError) {
      return try readFile(path, limit: 1 << 20, refusingOtherWriters: isForAllUsers)
    } catch {
      guard case .notPrivate = error else {
        throw ConfigurationError(invalid: "The configuration cannot be read: \(error)")
      }
      // They would choose the server that others sign in at.
      throw ConfigurationError(
        invalid: "\(path) is not used: users other than its owner may change it.",
        advice: "sudo chmod go-w \(shellQuoted(path))")
    }
  }

  /// Whether the way to a missing file has a link to a directory that does not exist, such as one that is not mounted.
  /// Directories that are named for all users may be missing for this one.
  private static func leadsNowhere(_ path: String, below directory: String) -> Bool {
    var place = path
    while unsafe access(place, F_OK) != 0, place.count > directory.count {
      let target = linkTarget(place)
      guard target == place else {
        // The file itself may not be made yet.
        return unsafe access(place == path ? parentDirectory(of: target) : place, F_OK) != 0
      }
      place = parentDirectory(of: place)
    }
    return false
  }
}
