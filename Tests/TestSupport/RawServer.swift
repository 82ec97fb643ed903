import CGLib
import Dispatch
import GLibSupport
import Glibc
public import Testing

/// A server whose responses the test writes byte by byte: at a port of 127.0.0.1, over TLS if it has a certificate, or on a
/// Unix socket.
public final class RawServer: Sendable {
  /// 0 on a Unix socket.
  public let port: UInt16
  /// Empty at a port.
  public let path: String
  private let socket: GObjectReference<GSocket>
  private let cancellable = Cancellable(timeout: .seconds(600))
  private let connections = Watched(0)
  private let log = Watched<[(text: String, connection: Int)]>([])

  public var connectionCount: Int { connections.read(\.self) }
  /// The requests that were read, in their order.
  public var requests: [String] { numberedRequests.map(\.text) }
  /// The same, each with the number of its connection.
  public var numberedRequests: [(text: String, connection: Int)] { log.read(\.self) }

  /// Starts to accept connections at a free port. `serve` runs on a thread of its own for each.
  public convenience init(
    certificate: (path: String, key: String)?, offersHTTP2: Bool = false,
    _ serve: @escaping @Sendable (RawConnection) -> Void
  ) throws {
    let (socket, port) = try Self.listenAtFreePort()
    let identity = try certificate.map { files in
      try existing("a certificate from \(files.path)") {
        g_tls_certificate_new_from_files(files.path, files.key, $0)
      }
    }
    self.init(socket, port: port, path: "", identity, offersHTTP2: offersHTTP2, serve)
  }

  private static func listenAtFreePort() throws -> (socket: GObjectReference<GSocket>, port: UInt16) {
    let socket = try existing("a socket") {
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, $0)
    }
    let address = try existing("an address") { _ in g_inet_socket_address_new_from_string("127.0.0.1", 0) }
    do {
      _ = try withGError { g_socket_bind(socket.pointer, address.pointer, 1, $0) }
      _ = try withGError { g_socket_listen(socket.pointer, $0) }
    } catch {
      throw SetUpFailure("listen at 127.0.0.1: \(error)")
    }
    let local = try existing("the address of a socket") { g_socket_get_local_address(socket.pointer, $0) }
    let port = g_inet_socket_address_get_port(
      UnsafeMutableRawPointer(local.pointer).assumingMemoryBound(to: GInetSocketAddress.self))
    return (socket, port)
  }

  /// Makes the socket and starts to accept connections there.
  public convenience init(at path: String, _ serve: @escaping @Sendable (RawConnection) -> Void) throws {
    let descriptor = try Self.socket(at: path)
    guard listen(descriptor, 128) == 0, let socket = g_socket_new_from_fd(descriptor, nil) else {
      throw SetUpFailure("listen at \(path): \(String(cString: strerror(errno)))")
    }
    self.init(GObjectReference(taking: socket), port: 0, path: path, nil, offersHTTP2: false, serve)
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
        guard connection.answer(body, status: status, fields: fields) else { return }
      }
    }
  }

  private init(
    _ socket: GObjectReference<GSocket>, port: UInt16, path: String,
    _ identity: GObjectReference<GTlsCertificate>?, offersHTTP2: Bool,
    _ serve: @escaping @Sendable (RawConnection) -> Void
  ) {
    (self.port, self.path, self.socket) = (port, path, socket)
    // Without the server, which ends them.
    DispatchQueue(label: "raw-accept").async { [socket = self.socket, cancellable, connections, log] in
      while let client = g_socket_accept(socket.pointer, cancellable.pointer, nil) {
        let number = connections.change { count in
          count += 1
          return count
        }
        let client = GObjectReference(taking: client)
        DispatchQueue(label: "raw-connection").async {
          do {
            let connection = try RawConnection(
              client, identity, offersHTTP2: offersHTTP2, number: number, until: cancellable
            ) { request in log.change { $0.append((request, number)) } }
            guard let connection else { return }
            serve(connection)
            connection.close()
          } catch {
            Issue.record(error)
          }
        }
      }
    }
    StoppingServers.servers?.change { $0.append(self) }
  }

  /// Makes a socket that accepts no connections, as a killed process leaves it.
  public static func leaveBehind(at path: String) throws { close(try socket(at: path)) }

  private static func socket(at path: String) throws -> Int32 {
    let descriptor = newSocket(AF_UNIX)
    guard withSocketAddress(of: path, { bind(descriptor, $0, $1) }) == 0 else {
      throw SetUpFailure("bind to \(path): \(String(cString: strerror(errno)))")
    }
    return descriptor
  }

  /// Ends all connections, too; a socket's file stays.
  public func stop() {
    cancellable.cancel()
    g_socket_close(socket.pointer, nil)
  }

  deinit { stop() }
}

/// Keeps the raw servers of each test, and stops them when it ends.
public struct StoppingServers: SuiteTrait, TestTrait, TestScoping {
  @TaskLocal fileprivate static var servers: Watched<[RawServer]>?

  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    let servers = Watched<[RawServer]>([])
    defer { for server in servers.read(\.self) { server.stop() } }
    try await Self.$servers.withValue(servers, operation: body)
  }
}

extension Trait where Self == StoppingServers {
  public static var stoppingServers: Self { StoppingServers() }
}

/// The server's end of a connection.
///
/// `@unchecked Sendable`: GIO's streams may be used by one thread that reads and one that writes.
public final class RawConnection: @unchecked Sendable {
  /// 1 for the server's first connection.
  public let number: Int
  private let socket: GObjectReference<GSocket>
  private let stream: GObjectReference<GIOStream>
  private let stopped: Cancellable
  private let note: @Sendable (String) -> Void

  /// `nil` where the client refuses TLS, such as for the certificate.
  fileprivate init?(
    _ socket: GObjectReference<GSocket>, _ identity: GObjectReference<GTlsCertificate>?, offersHTTP2: Bool,
    number: Int, until stopped: Cancellable, note: @escaping @Sendable (String) -> Void
  ) throws {
    self.number = number
    self.socket = socket
    self.stopped = stopped
    self.note = note
    guard let plain = g_socket_connection_factory_create_connection(socket.pointer) else {
      throw SetUpFailure("a connection has no stream")
    }
    let plainStream = UnsafeMutableRawPointer(plain).assumingMemoryBound(to: GIOStream.self)
    guard let identity else {
      stream = GObjectReference(taking: plainStream)
      return
    }
    defer { g_object_unref(plain) }
    stream = try existing("a connection over TLS") {
      g_tls_server_connection_new(plainStream, identity.pointer, $0)
    }
    let tls = UnsafeMutableRawPointer(stream.pointer)
    if offersHTTP2 {
      "h2".withCString { name in
        var names = [Optional(name), nil]
        g_tls_connection_set_advertised_protocols(tls.assumingMemoryBound(to: GTlsConnection.self), &names)
      }
    }
    if g_tls_connection_handshake(
      tls.assumingMemoryBound(to: GTlsConnection.self), stopped.pointer, nil) == 0
    {
      return nil
    }
  }

  /// Reads a request to the end of its header and of the body it announces; nil at the end of the connection.
  public func readRequest() -> String? {
    var bytes: [UInt8] = []
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.firstRange(of: "\r\n\r\n") {
        let announced = text.lowercased().firstMatch(of: /content-length: *(\d+)/).flatMap { Int($0.1) } ?? 0
        if text[end.upperBound...].utf8.count >= announced {
          note(text)
          return text
        }
      }
      guard let part = read() else { return nil }
      bytes += part
    }
  }

  public func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = g_input_stream_read(
      g_io_stream_get_input_stream(stream.pointer), &buffer, gsize(buffer.count),
      stopped.pointer, nil)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  /// False when the other side is gone.
  @discardableResult
  public func write(_ text: String) -> Bool { write(Array(text.utf8)) }

  @discardableResult
  public func write(_ bytes: [UInt8]) -> Bool {
    let output = g_io_stream_get_output_stream(stream.pointer)
    return g_output_stream_write_all(output, bytes, gsize(bytes.count), nil, stopped.pointer, nil) != 0
  }

  /// Answers a request with a whole body, and `fields`, more lines of the header.
  @discardableResult
  public func answer(_ body: String, status: Int = 200, fields: String = "") -> Bool {
    write("HTTP/1.1 \(status) Text\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  /// Writes past TLS.
  public func writeCleartext(_ text: String) {
    g_socket_send(socket.pointer, text, gsize(text.utf8.count), nil, nil)
  }

  public func close() { g_io_stream_close(stream.pointer, nil, nil) }

  /// Ends the connection as a dying process does: without TLS's close notification.
  public func drop() { g_socket_close(socket.pointer, nil) }

  /// Closes with a RST.
  public func reset() {
    resetsOnClose(g_socket_get_fd(socket.pointer))
    g_socket_close(socket.pointer, nil)
  }

  /// Joins this connection with one to `host` until either ends.
  public func tunnel(to host: String, port: UInt16) {
    guard let client = g_socket_client_new() else { return }
    defer { g_object_unref(client) }
    guard let connection = g_socket_client_connect_to_host(client, host, port, stopped.pointer, nil) else {
      return
    }
    defer { g_object_unref(connection) }
    let other = UnsafeMutableRawPointer(connection).assumingMemoryBound(to: GIOStream.self)
    write("HTTP/1.1 200 Connected\r\n\r\n")
    let flags = FLAG_G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET
    let group = DispatchGroup()
    for (from, to) in [(stream.pointer, other), (other, stream.pointer)] {
      nonisolated(unsafe) let (from, to) = (from, to)
      DispatchQueue(label: "raw-tunnel").async(group: group) { [self] in
        g_output_stream_splice(
          g_io_stream_get_output_stream(to), g_io_stream_get_input_stream(from), flags,
          stopped.pointer, nil)
        g_io_stream_close(to, nil, nil)
      }
    }
    group.wait()
  }
}

/// What GIO makes.
private func existing<T>(
  _ what: String, _ make: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> UnsafeMutablePointer<T>?
) throws -> GObjectReference<T> {
  do {
    if let object = try withGError(make) { return GObjectReference(taking: object) }
  } catch {
    throw SetUpFailure("\(what): \(error)")
  }
  throw SetUpFailure("\(what): \(GLibError.unexplained)")
}
