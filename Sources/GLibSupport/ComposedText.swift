import CGLib

extension String {
  /// The text in Unicode's normalization form C: equal texts have equal bytes.
  package var composed: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    // GLib takes a NUL for the end.
    return split(separator: "\0", omittingEmptySubsequences: false).map { part in
      guard let text = g_utf8_normalize(String(part), -1, G_NORMALIZE_NFC) else { return String(part) }
      defer { g_free(text) }
      return String(cString: text)
    }.joined(separator: "\0")
  }
}
