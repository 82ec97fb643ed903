import CLibsecret

/// The SHA-256 digest of the text's UTF-8 bytes, in lower-case hexadecimal.
package func sha256Hex(_ text: String) -> String {
  sha256Hex(Array(text.utf8))
}

/// The SHA-256 digest of `bytes`, in lower-case hexadecimal.
package func sha256Hex(_ bytes: [UInt8]) -> String {
  guard let hex = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes, gsize(bytes.count)) else { return "" }
  defer { g_free(hex) }
  return String(cString: hex)
}
