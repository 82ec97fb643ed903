import CGLib

/// A key file: groups of keys and values, in the format of the Desktop Entry Specification.
package struct KeyFile: Sendable {
  package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private var groups: [String: [String: String]] = [:]

  /// - Throws: ``GLibError`` if the contents have another format.
  package init(_ contents: [UInt8]) throws(GLibError) {
    let file = g_key_file_new()
    defer { g_key_file_unref(file) }
    // Editors of Windows begin a file with this.
    let mark = contents.starts(with: KeyFile.byteOrderMark) ? KeyFile.byteOrderMark.count : 0
    _ = try withGError { error in
      contents[mark...].withUnsafeBytes { bytes in
        let text = bytes.bindMemory(to: CChar.self)
        return g_key_file_load_from_data(
          file, text.baseAddress, gsize(text.count), GKeyFileFlags(rawValue: 0), error)
      }
    }
    for group in strings(g_key_file_get_groups(file, nil)) {
      for key in strings(try withGError({ g_key_file_get_keys(file, group, nil, $0) })) {
        let value = try withGError { g_key_file_get_string(file, group, key, $0) }
        groups[group, default: [:]][key] = String(taking: value)
      }
    }
  }

  /// The keys of a group with their values.
  package subscript(group: String) -> [String: String] { groups[group] ?? [:] }

  /// Escapes a text for the value of a key ("Possible value types"). By scalar: a character may have an accent.
  package static func escaped(_ value: String) -> String {
    let escapes: [Unicode.Scalar: String] = ["\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"]
    let text = value.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    return text.hasPrefix(" ") ? "\\s" + text.dropFirst() : text
  }
}

/// Copies a `NULL`-terminated array of strings and frees it.
func strings(_ array: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?) -> [String] {
  defer { g_strfreev(array) }
  var strings: [String] = []
  while let string = array?[strings.count] { strings.append(String(cString: string)) }
  return strings
}
