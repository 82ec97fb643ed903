import CLibsecret

/// The SHA-256 of a text's UTF-8 bytes, in lower-case hexadecimal digits.
package func sha256Hex(_ text: String) -> String {
  var text = text
  return text.withUTF8 { bytes in
    guard let digits = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes.baseAddress, gsize(bytes.count))
    else { return "" }
    defer { g_free(digits) }
    return String(cString: digits)
  }
}
