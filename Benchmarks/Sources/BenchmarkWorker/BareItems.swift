import BareCalls
import Glibc

/// Items that plain calls work on. Those of `create` are many; the last of them is read and written.
final class BareItems {
  private static let group = "org.llavero.bare"
  private var isConnected = false
  private var last: (path: UnsafeMutablePointer<CChar>, secret: [UInt8])?

  private func connect() {
    if !isConnected { bare_connect() }
    isConnected = true
  }

  /// Makes an item of each secret.
  func create(_ secrets: [[UInt8]]) {
    connect()
    for (number, secret) in secrets.enumerated() {
      let path = secret.withUnsafeBytes { bytes in
        bare_create(
          Self.group, "\(number)", bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
      }
      if let path { last = (path, secret) }
    }
  }

  /// Reads the last item that was made, and writes it.
  func getAndSet() {
    guard let last else { exit(64) }
    last.secret.withUnsafeBytes { bytes in
      bare_get_and_set(last.path, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
  }

  /// Reads all items of a group.
  func readAll(_ group: String) {
    connect()
    guard bare_read_all(group) > 0 else { exit(70) }
  }
}
