import CGTK

/// What a program keeps over starts, in a file of the user's state (XDG Base Directory Specification). Where it cannot be read or
/// written, nothing is kept.
public struct StateFile: Sendable {
  private static let group = "state"
  private let directory: String
  private let name: String

  /// - Parameters:
  ///   - program: The directory of the program's files.
  ///   - name: The file's name.
  public init(of program: String, _ name: String) {
    (directory, self.name) = (String(cString: g_get_user_state_dir()) + "/" + program, name)
  }

  /// The values by their names.
  public func read() -> [String: String] {
    let file = g_key_file_new()
    defer { g_key_file_unref(file) }
    var values: [String: String] = [:]
    guard g_key_file_load_from_file(file, path, GKeyFileFlags(rawValue: 0), nil) != 0,
      let keys = g_key_file_get_keys(file, Self.group, nil, nil)
    else { return values }
    defer { g_strfreev(keys) }
    var index = 0
    while let key = keys[index] {
      if let value = g_key_file_get_string(file, Self.group, key, nil) {
        values[String(cString: key)] = String(cString: value)
        g_free(value)
      }
      index += 1
    }
    return values
  }

  /// Replaces all values.
  public func write(_ values: [String: String]) {
    let file = g_key_file_new()
    defer { g_key_file_unref(file) }
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      g_key_file_set_string(file, Self.group, key, value)
    }
    g_mkdir_with_parents(directory, 0o700)
    g_key_file_save_to_file(file, path, nil)
  }

  private var path: String { directory + "/" + name }
}
