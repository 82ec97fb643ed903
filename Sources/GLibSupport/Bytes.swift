import CGLib
import Glibc

/// The SHA-256 digest of the text's UTF-8 bytes, in lower-case hexadecimal.
package func sha256Hex(_ text: String) -> String {
  let size = gssize(text.utf8.count)
  return String(taking: g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, size)) ?? ""
}

/// The SHA-256 digest of `bytes`: 32 bytes.
package func sha256(_ bytes: [UInt8]) -> [UInt8] {
  guard let checksum = g_checksum_new(G_CHECKSUM_SHA256) else { return [] }
  defer { g_checksum_free(checksum) }
  g_checksum_update(checksum, bytes, gssize(bytes.count))
  var digest = [UInt8](repeating: 0, count: 32)
  var size = gsize(digest.count)
  g_checksum_get_digest(checksum, &digest, &size)
  return digest
}

/// Bytes as lower-case hexadecimal digits.
package func hex(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// Unpredictable bytes, for example for keys.
package func randomBytes(_ count: Int) -> [UInt8] {
  (0..<count).map { _ in .random(in: 0...255) }
}

/// Overwrites a secret in a way that the compiler does not optimize out.
package func wipe(_ bytes: inout [UInt8]) {
  bytes.withUnsafeMutableBytes { bytes in
    if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
  }
}

/// Removes the LF or CR LF that programs write after a secret.
package func removeLineEnd(_ bytes: inout [UInt8]) {
  guard bytes.last == UInt8(ascii: "\n") else { return }
  bytes.removeLast()
  if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
}
