import Dispatch
import Glibc

/// A TCP connection to the listener whose bytes the test writes and reads.
final class RawClient: Sendable {
  private let descriptor: Int32

  /// Connects to `host`, `127.0.0.1` or `::1`.
  init?(_ port: UInt16, host: String = "127.0.0.1") {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found else { return nil }
    defer { freeaddrinfo(found) }
    descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, 0)
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    if connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) != 0 { return nil }
  }

  deinit { Glibc.close(descriptor) }

  func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count <= 0 { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// What the listener sends until it closes the connection.
  func readToEnd() async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "raw-client").async { [self] in
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
          let count = recv(descriptor, &buffer, buffer.count, 0)
          if count <= 0 { break }
          bytes += buffer[..<count]
        }
        continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
      }
    }
  }
}

/// Sends `request`, with `{port}` replaced and lines ended as HTTP wants it, and returns the answer.
func send(_ request: String, to port: UInt16, host: String = "127.0.0.1") async -> String {
  guard let client = RawClient(port, host: host) else { return "" }
  client.write(request.replacing("{port}", with: "\(port)").replacing("\n", with: "\r\n"))
  return await client.readToEnd()
}

/// A form as a browser posts it.
func form(
  _ body: String, path: String = "/", host: String = "localhost:{port}",
  type: String = "application/x-www-form-urlencoded", fields: String = "", length: Int? = nil
) -> String {
  """
  POST \(path) HTTP/1.1
  Host: \(host)
  Content-Type: \(type)
  Content-Length: \(length ?? body.utf8.count)
  \(fields)
  \(body)
  """
}

func status(_ answer: String) -> Int? {
  answer.prefixMatch(of: #/HTTP/1\.\d (\d+)\s/#).flatMap { Int($0.1) }
}
