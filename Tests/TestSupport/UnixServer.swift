import Dispatch
import GLibSupport
import Glibc
import Synchronization

/// A server on a Unix socket whose answers the test writes byte by byte.
public final class UnixServer: Sendable {
  public let path: String
  private let listener: Int32
  private let log: Log

  private final class Log: Sendable {
    let connections = Mutex(0)
    let requests = Mutex<[String]>([])
  }

  public var connectionCount: Int { log.connections.withLock { $0 } }
  /// The heads of the requests that were read, in their order.
  public var requests: [String] { log.requests.withLock { $0 } }

  /// Makes the socket and starts to accept connections. `serve` runs on a thread of its own for each.
  public init(at path: String, _ serve: @escaping @Sendable (UnixConnection) -> Void) throws {
    self.path = path
    listener = try Self.socket(at: path)
    guard listen(listener, 128) == 0 else {
      throw SetUpFailure("listen at \(path): \(String(cString: strerror(errno)))")
    }
    let log = Log()
    self.log = log
    DispatchQueue(label: "unix-accept").async { [listener] in
      while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
        log.connections.withLock { $0 += 1 }
        DispatchQueue(label: "unix-connection").async {
          serve(UnixConnection(descriptor) { request in log.requests.withLock { $0.append(request) } })
          close(descriptor)
        }
      }
    }
  }

  /// Answers each request by what a closure says to its target: a status, more lines of the header, and the body.
  public convenience init(
    at path: String,
    answering answer: @escaping @Sendable (_ target: String) -> (status: Int, fields: String, body: String)
  ) throws {
    try self.init(at: path) { connection in
      while let request = connection.readRequest() {
        let words = request.split(separator: " ")
        let (status, fields, body) = answer(words.count > 1 ? String(words[1]) : "")
        guard
          connection.write(
            "HTTP/1.1 \(status) Text\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        else { return }
      }
    }
  }

  /// Makes a socket that nobody accepts connections at, as one is left behind by a process that was killed.
  public static func leaveBehind(at path: String) throws { close(try socket(at: path)) }

  private static func socket(at path: String) throws -> Int32 {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard withSocketAddress(of: path, { bind(descriptor, $0, $1) }) == 0 else {
      throw SetUpFailure("bind to \(path): \(String(cString: strerror(errno)))")
    }
    return descriptor
  }

  /// Takes no connection any more; the file stays.
  public func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  deinit {
    stop()
    close(listener)
  }
}

/// The server's end of a connection.
public final class UnixConnection: Sendable {
  private let descriptor: Int32
  private let note: @Sendable (String) -> Void

  fileprivate init(_ descriptor: Int32, _ note: @escaping @Sendable (String) -> Void) {
    self.descriptor = descriptor
    self.note = note
  }

  /// Reads a request without a body; nil at the end of the connection.
  public func readRequest() -> String? {
    var text = ""
    while !text.hasSuffix("\r\n\r\n") {
      guard let part = read() else { return nil }
      text += part
    }
    note(text)
    return text
  }

  /// What comes next; nil at the end of the connection.
  public func read() -> String? {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  /// False when the other side is gone.
  @discardableResult
  public func write(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
