import CGLib
import CLibsoup
import GLibSupport
import Glibc
import Synchronization

/// An HTTPS server on the loopback addresses, on libsoup, and the state that it responds from.
///
/// `@unchecked Sendable`: `port` is set before it is read; `server` and `delayed` are used on the main loop's thread only.
final class LabServer: @unchecked Sendable {
  static let maximumBodySize = 1 << 20

  let state: Mutex<LabState>
  private(set) var port = 0
  private let thread = MainLoopThread(name: "entra-lab")
  private var server: GObjectReference<SoupServer>?
  /// The delayed responses by their messages, which are retained meanwhile.
  private var delayed: [OpaquePointer: (reply: LabReply, timer: ContextTimer)] = [:]

  init(_ state: LabState) { self.state = Mutex(state) }

  /// Listens on 127.0.0.1 and ::1 at one port, any free one for port 0. `certificate` is PEM with its key.
  func start(port: UInt16, certificate: String) async throws(GLibError) {
    let result: Result<Void, GLibError> = await withCheckedContinuation { continuation in
      thread.invoke { [self] in
        continuation.resume(
          returning: Result { () throws(GLibError) in try listen(port: port, certificate: certificate) })
      }
    }
    try result.get()
  }

  private func listen(port: UInt16, certificate: String) throws(GLibError) {
    let pair = try withGError { g_tls_certificate_new_from_pem(certificate, -1, $0) }
    defer { g_object_unref(pair) }
    // Signed requests have the path as it was sent.
    guard let object = newObject(soup_server_get_type(), [("raw-paths", .boolean(true))]) else {
      throw .unexplained
    }
    let server = GObjectReference(taking: object.assumingMemoryBound(to: SoupServer.self))
    soup_server_set_tls_certificate(server.pointer, pair)
    soup_server_add_early_handler(
      server.pointer, nil, { _, message, _, _, _ in refuseLargeBody(of: message) }, nil, nil)
    soup_server_add_handler(
      server.pointer, nil,
      { _, message, path, _, data in
        guard let message, let data else { return }
        Unmanaged<LabServer>.fromOpaque(data).takeUnretainedValue().handle(message, path: path)
      }, Unmanaged.passRetained(self).toOpaque(),
      { data in data.map { Unmanaged<LabServer>.fromOpaque($0).release() } })
    _ = try withGError {
      soup_server_listen_local(server.pointer, guint(port), SOUP_SERVER_LISTEN_HTTPS, $0)
    }
    let uris = soup_server_get_uris(server.pointer)
    self.port = uris?.pointee.data.map { Int(g_uri_get_port(OpaquePointer($0))) } ?? Int(port)
    g_slist_free_full(uris) { uri in uri.map { g_uri_unref(OpaquePointer($0)) } }
    self.server = server
  }

  private func handle(_ message: OpaquePointer, path: UnsafePointer<CChar>?) {
    let request = LabRequest(message, path: path, port: port)
    let reply = state.withLock { $0.respond(to: request) }
    if reply.endsDelays { sendDelayedResponses() }
    guard reply.delay > .zero else { return send(reply, to: message) }
    soup_server_message_pause(message)
    g_object_ref(UnsafeMutableRawPointer(message))
    let timer = ContextTimer(after: reply.delay) { [weak self] in self?.endDelay(of: message) }
    delayed[message] = (reply, timer)
  }

  private func endDelay(of message: OpaquePointer) {
    guard let reply = delayed.removeValue(forKey: message)?.reply else { return }
    send(reply, to: message)
    if reply.connection == nil { soup_server_message_unpause(message) }
    g_object_unref(UnsafeMutableRawPointer(message))
  }

  func sendDelayedResponses() {
    thread.invoke { [self] in
      for message in delayed.keys { endDelay(of: message) }
    }
  }

  /// Stops listening and closes all connections. To be called once.
  func stop() async {
    await withCheckedContinuation { continuation in
      thread.invoke { [self] in
        soup_server_disconnect(server?.pointer)
        server = nil
        for message in delayed.keys { g_object_unref(UnsafeMutableRawPointer(message)) }
        delayed = [:]
        continuation.resume()
      }
    }
  }
}

private func refuseLargeBody(of message: OpaquePointer?) {
  let headers = soup_server_message_get_request_headers(message)
  let isChunked = soup_message_headers_get_encoding(headers) == SOUP_ENCODING_CHUNKED
  let isLarge = soup_message_headers_get_content_length(headers) > LabServer.maximumBodySize
  guard isChunked || isLarge else { return }
  soup_message_body_set_accumulate(soup_server_message_get_request_body(message), 0)
  soup_server_message_set_status(message, isLarge ? 413 : 411, nil)
}

private func send(_ reply: LabReply, to message: OpaquePointer) {
  if let connection = reply.connection { return breakConnection(of: message, connection, reply) }
  let headers = soup_server_message_get_response_headers(message)
  for (name, value) in reply.headers {
    soup_message_headers_replace(headers, name, value)
  }
  soup_server_message_set_status(message, guint(reply.status), nil)
  if reply.body.isEmpty { return }
  let bytes = g_bytes_new(reply.body, gsize(reply.body.count))
  soup_message_body_append_bytes(soup_server_message_get_response_body(message), bytes)
  g_bytes_unref(bytes)
}

/// Takes the connection from libsoup, sends the fault's bytes, and closes the socket without ending TLS.
private func breakConnection(
  of message: OpaquePointer, _ connection: LabFault.Connection, _ reply: LabReply
) {
  guard let socket = soup_server_message_get_socket(message) else { return }
  g_object_ref(socket)
  defer { g_object_unref(socket) }
  guard let stream = soup_server_message_steal_connection(message) else { return }
  defer { g_object_unref(stream) }
  let bytes: [UInt8]
  switch connection {
  case .drop, .reset: bytes = []
  case .garbage: bytes = Array("SSH-2.0-OpenSSH_9.2\r\n\0\u{1}\r\n\r\n".utf8)
  case .truncate:
    let type = reply.headers["Content-Type"] ?? "application/json"
    let head =
      "HTTP/1.1 \(reply.status) Truncated\r\nContent-Type: \(type)\r\n"
      + "Content-Length: \(reply.body.count)\r\n\r\n"
    bytes = Array(head.utf8) + reply.body.prefix(reply.body.count / 2)
  }
  if !bytes.isEmpty {
    // Limits how long a client that does not read blocks the whole lab.
    g_socket_set_timeout(socket, 5)
    g_output_stream_write_all(g_io_stream_get_output_stream(stream), bytes, gsize(bytes.count), nil, nil, nil)
  }
  if connection == .reset {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(g_socket_get_fd(socket), SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }
  g_socket_close(socket, nil)
}

extension LabRequest {
  fileprivate init(_ message: OpaquePointer, path: UnsafePointer<CChar>?, port: Int) {
    let uri = soup_server_message_get_uri(message)
    method = soup_server_message_get_method(message).map { String(cString: $0) } ?? ""
    encodedPath = path.map { String(cString: $0) } ?? "/"
    self.path = percentDecode(encodedPath)
    query = Parameters(g_uri_get_query(uri).map { String(cString: $0) } ?? "")

    var headers: [String: String] = [:]
    var iterator = SoupMessageHeadersIter()
    soup_message_headers_iter_init(&iterator, soup_server_message_get_request_headers(message))
    var (name, value): (UnsafePointer<CChar>?, UnsafePointer<CChar>?)
    while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
      guard let name, let value else { continue }
      headers[String(cString: name).lowercased(), default: ""] += ", " + String(cString: value)
    }
    headers = headers.mapValues { String($0.dropFirst(2)) }
    self.headers = headers

    let flat = soup_message_body_flatten(soup_server_message_get_request_body(message))
    defer { g_bytes_unref(flat) }
    var count: gsize = 0
    let start = g_bytes_get_data(flat, &count)
    body = start.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(count))) } ?? []
    let isForm = headers["content-type"]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
    form = Parameters(isForm ? String(decoding: body, as: UTF8.self) : "")

    let host = headers["host"] ?? ""
    // A URL leaves out the default port.
    let suffix = port == 443 ? "" : ":\(port)"
    let known = ["localhost", "127.0.0.1", "[::1]"].map { $0 + suffix }
    base = "https://" + (known.contains(host) ? host : known[0])
  }
}
