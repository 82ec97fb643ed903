import CGLib
import Glibc

/// A file of groups with keys and values, as the Desktop Entry Specification has them.
package struct KeyFile: Sendable {
  private var groups: [String: [String: String]] = [:]

  /// - Returns: `nil` where there is no such file, or none that this user may come near.
  /// - Throws: ``GLibError`` when the file cannot be read or is in another format.
  package init?(path: String) throws(GLibError) {
    // Most people have none, and an error of GLib's takes long to make.
    if access(path, F_OK) != 0, [ENOENT, ENOTDIR, EACCES].contains(errno) { return nil }
    let file = g_key_file_new()
    defer { g_key_file_unref(file) }
    _ = try withGError { g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, $0) }
    for group in strings(g_key_file_get_groups(file, nil)) {
      for key in strings(try withGError({ g_key_file_get_keys(file, group, nil, $0) })) {
        guard let value = try withGError({ g_key_file_get_string(file, group, key, $0) }) else { continue }
        groups[group, default: [:]][key] = String(cString: value)
        g_free(value)
      }
    }
  }

  /// The keys of a group with their values.
  package subscript(group: String) -> [String: String] { groups[group] ?? [:] }
}

/// Takes over a `NULL`-terminated array of strings.
func strings(_ array: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?) -> [String] {
  defer { g_strfreev(array) }
  var strings: [String] = []
  while let string = array?[strings.count] { strings.append(String(cString: string)) }
  return strings
}
