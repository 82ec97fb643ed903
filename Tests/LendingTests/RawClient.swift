import Dispatch
import FoundationEssentials
import Glibc
import Lending

/// A connection to a lender whose bytes the test writes and reads.
final class RawClient: Sendable {
  private let descriptor: Int32

  init?(_ lender: Lender) {
    switch lender.address {
    case .socket(let path):
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      guard connect(descriptor, address) else { return nil }
    case .endpoint(let url, _):
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(url.port ?? 0).bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
      guard connect(descriptor, address) else { return nil }
    }
    var limit = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count <= 0 { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// What the lender sends until it closes the connection.
  func readToEnd() async -> Answer {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "raw-client").async { [self] in
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
          let count = recv(descriptor, &buffer, buffer.count, 0)
          if count <= 0 { break }
          bytes += buffer[..<count]
        }
        continuation.resume(returning: Answer(text: String(decoding: bytes, as: UTF8.self)))
      }
    }
  }
}

private func connect<Address>(_ descriptor: Int32, _ address: Address) -> Bool {
  withUnsafeBytes(of: address) { bytes in
    guard let start = bytes.baseAddress else { return false }
    return Glibc.connect(
      descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
  }
}
