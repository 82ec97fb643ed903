import Glibc

/// Overwrites bytes that were a secret, which the compiler does not leave out.
package func wipe(_ bytes: inout [UInt8]) {
  bytes.withUnsafeMutableBytes { bytes in
    if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
  }
}
