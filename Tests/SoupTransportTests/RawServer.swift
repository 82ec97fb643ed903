import CLibsoup
import Dispatch
import GLibSupport
import Glibc
import Synchronization

/// A server whose answers are written byte by byte by the test, over TLS if it is given a certificate.
final class RawServer: @unchecked Sendable {
  private let socket: GObjectReference<GSocket>
  private let cancellable = Cancellable(timeout: .seconds(120))
  private let counter = Mutex(0)
  let port: UInt16

  var connectionCount: Int { counter.withLock { $0 } }

  /// Starts to accept connections. `serve` runs on a thread of its own for each.
  init(
    _ files: TestCertificates.Files? = TestCertificates.shared.good, http2: Bool = false,
    _ serve: @escaping @Sendable (RawConnection) -> Void
  ) {
    let socket = existing(
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, nil))
    let address = existing(g_inet_socket_address_new_from_string("127.0.0.1", 0))
    g_socket_bind(socket, address, 1, nil)
    g_object_unref(UnsafeMutableRawPointer(address))
    g_socket_listen(socket, nil)
    let local = UnsafeMutableRawPointer(existing(g_socket_get_local_address(socket, nil)))
    port = g_inet_socket_address_get_port(local.assumingMemoryBound(to: GInetSocketAddress.self))
    g_object_unref(local)
    self.socket = GObjectReference(taking: socket)
    let identity = files.map {
      GObjectReference(taking: existing(g_tls_certificate_new_from_files($0.certificate, $0.key, nil)))
    }
    DispatchQueue(label: "raw-accept").async { [self] in
      while let client = g_socket_accept(self.socket.pointer, cancellable.pointer, nil) {
        let number = counter.withLock { count in
          count += 1
          return count
        }
        let client = GObjectReference(taking: client)
        DispatchQueue(label: "raw-connection").async {
          if let connection = RawConnection(
            client, identity, http2: http2, number: number, until: self.cancellable)
          {
            serve(connection)
            connection.close()
          }
        }
      }
    }
  }

  /// Ends all connections, too.
  func stop() {
    cancellable.cancel()
    g_socket_close(socket.pointer, nil)
  }
}

/// The server's end of a connection.
final class RawConnection: @unchecked Sendable {
  /// 1 for the server's first connection.
  let number: Int
  private let socket: GObjectReference<GSocket>
  private let stream: GObjectReference<GIOStream>
  private let stopped: Cancellable

  fileprivate init?(
    _ socket: GObjectReference<GSocket>, _ identity: GObjectReference<GTlsCertificate>?, http2: Bool,
    number: Int, until stopped: Cancellable
  ) {
    self.number = number
    self.socket = socket
    self.stopped = stopped
    let plain = existing(g_socket_connection_factory_create_connection(socket.pointer))
    let plainStream = UnsafeMutableRawPointer(plain).assumingMemoryBound(to: GIOStream.self)
    guard let identity else {
      stream = GObjectReference(taking: plainStream)
      return
    }
    defer { g_object_unref(plain) }
    let tls = UnsafeMutableRawPointer(
      existing(g_tls_server_connection_new(plainStream, identity.pointer, nil)))
    stream = GObjectReference(taking: tls.assumingMemoryBound(to: GIOStream.self))
    if http2 {
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
  func readRequest() -> String? {
    var bytes: [UInt8] = []
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.firstRange(of: "\r\n\r\n") {
        let announced = text.lowercased().firstMatch(of: /content-length: *(\d+)/).flatMap { Int($0.1) } ?? 0
        if text[end.upperBound...].utf8.count >= announced { return text }
      }
      guard let part = read() else { return nil }
      bytes += part
    }
  }

  func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = g_input_stream_read(
      g_io_stream_get_input_stream(stream.pointer), &buffer, gsize(buffer.count),
      stopped.pointer, nil)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  /// False when the other side is gone.
  @discardableResult
  func write(_ text: String) -> Bool { write(Array(text.utf8)) }

  @discardableResult
  func write(_ bytes: [UInt8]) -> Bool {
    let output = g_io_stream_get_output_stream(stream.pointer)
    return g_output_stream_write_all(output, bytes, gsize(bytes.count), nil, stopped.pointer, nil) != 0
  }

  /// Writes past TLS.
  func writeCleartext(_ text: String) {
    g_socket_send(socket.pointer, text, gsize(text.utf8.count), nil, nil)
  }

  func close() { g_io_stream_close(stream.pointer, nil, nil) }

  /// Ends the connection as a process that dies does: without TLS's farewell.
  func drop() { g_socket_close(socket.pointer, nil) }

  /// Closes with a RST.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      g_socket_get_fd(socket.pointer), SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    g_socket_close(socket.pointer, nil)
  }

  /// Joins this connection with one to `host` until either ends.
  func tunnel(to host: String, port: UInt16) {
    let client = existing(g_socket_client_new())
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

private func existing<T>(_ object: T?) -> T {
  guard let object else { fatalError("no server for the test") }
  return object
}
