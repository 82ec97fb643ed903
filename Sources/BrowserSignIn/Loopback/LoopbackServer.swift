import CLibsoup
import GLibSupport

/// Accepts connections, and answers the requests on them.
///
/// `@unchecked Sendable`: after `init`, touched on the listener's thread only.
final class LoopbackServer: @unchecked Sendable {
  private static let maximumConnections = 16
  private static let connectionTime = Duration.seconds(10)
  /// How long the query mode waits for the browser to follow its redirect.
  private static let landingTime = Duration.seconds(1)

  private let rules: RedirectRules
  private var listening: [GObjectReference<GSocket>]
  private var sources: [UnsafeMutablePointer<GSource>] = []
  private var server: UnsafeMutablePointer<SoupServer>?
  private var connections: [UnsafeMutableRawPointer: LoopbackTimer] = [:]
  private var refusedAnswers = 0
  /// The one answer that counts, once it came.
  private var answer: [String: String]?
  /// Whether the browser has got the page about it.
  private var isDelivered = false
  private var isClosed = false
  private var landingTimer: LoopbackTimer?
  private var waiters: [LoopbackWaiter] = []

  init(
    _ sockets: LoopbackSockets, path: String, mode: LoopbackListener.Mode,
    isExpected: @escaping @Sendable ([String: String]) -> Bool
  ) {
    listening = sockets.sockets
    rules = RedirectRules(port: sockets.port, path: path, mode: mode, isExpected: isExpected)
  }

  func start() {
    guard let object = g_object_new_with_properties(soup_server_get_type(), 0, nil, nil) else { return }
    let server = UnsafeMutableRawPointer(object).assumingMemoryBound(to: SoupServer.self)
    self.server = server
    let me = Unmanaged.passUnretained(self).toOpaque()
    // `close` lets go of the server, and with it of these handlers, before this object can end.
    g_signal_connect_data(
      server, "request-started", unsafeBitCast(requestStarted, to: GCallback.self), me, nil,
      GConnectFlags(rawValue: 0))
    soup_server_add_handler(server, nil, requestArrived, me, nil)
    acceptConnections()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    stopAccepting()
    for socket in listening { g_socket_close(socket.pointer, nil) }
    listening = []
    if let server {
      g_signal_handlers_disconnect_matched(
        server, G_SIGNAL_MATCH_DATA, 0, 0, nil, nil, Unmanaged.passUnretained(self).toOpaque())
      soup_server_remove_handler(server, nil)
      soup_server_disconnect(server)
      g_object_unref(server)
    }
    server = nil
    for connection in connections.keys { shutDown(connection) }
    landingTimer = nil
    for waiter in waiters { waiter.finish(.failure(.cancelled)) }
    waiters = []
  }

  func add(
    _ waiter: LoopbackWaiter, timeout: Duration, completion: @escaping (LoopbackWaiter.Outcome) -> Void
  ) {
    if let answer, isDelivered { return completion(.success(answer)) }
    if isClosed { return completion(.failure(.cancelled)) }
    waiters.append(waiter)
    waiter.start(timeout: timeout) { [weak self] in
      .timedOut(refusedAnswers: self?.refusedAnswers ?? 0)
    } completion: { [weak self] outcome in
      self?.waiters.removeAll { $0 === waiter }
      completion(outcome)
    }
  }

  private func acceptConnections() {
    for socket in listening {
      guard let source = g_socket_create_source(socket.pointer, G_IO_IN, nil) else { continue }
      g_source_set_callback(
        source, unsafeBitCast(connectionWaits, to: GSourceFunc.self), Unmanaged.passRetained(self).toOpaque(),
        { data in data.map { Unmanaged<LoopbackServer>.fromOpaque($0).release() } })
      g_source_attach(source, g_main_context_get_thread_default())
      sources.append(source)
    }
  }

  private func stopAccepting() {
    for source in sources {
      g_source_destroy(source)
      g_source_unref(source)
    }
    sources = []
  }

  fileprivate func accept(from listener: UnsafeMutablePointer<GSocket>) {
    guard let server, let socket = g_socket_accept(listener, nil, nil) else { return }
    defer { g_object_unref(socket) }
    guard let connection = g_socket_connection_factory_create_connection(socket) else { return }
    let key = UnsafeMutableRawPointer(connection)
    defer { g_object_unref(key) }
    // Says when libsoup is done with the connection.
    g_object_weak_ref(
      key.assumingMemoryBound(to: GObject.self),
      { data, connection in
        guard let data, let connection else { return }
        Unmanaged<LoopbackServer>.fromOpaque(data).takeRetainedValue().connectionEnded(connection)
      }, Unmanaged.passRetained(self).toOpaque())
    connections[key] = LoopbackTimer(after: Self.connectionTime) { [weak self] in self?.shutDown(key) }
    // The others wait in the kernel's queue: a page that opens many connections must not keep the browser out.
    if connections.count >= Self.maximumConnections { stopAccepting() }
    let (local, remote) = (g_socket_get_local_address(socket, nil), g_socket_get_remote_address(socket, nil))
    soup_server_accept_iostream(server, key.assumingMemoryBound(to: GIOStream.self), local, remote, nil)
    if let local { g_object_unref(UnsafeMutableRawPointer(local)) }
    if let remote { g_object_unref(UnsafeMutableRawPointer(remote)) }
  }

  private func connectionEnded(_ connection: UnsafeMutablePointer<GObject>) {
    connections[UnsafeMutableRawPointer(connection)] = nil
    if sources.isEmpty, !isClosed { acceptConnections() }
  }

  /// Ends both directions; libsoup then meets the end and lets go of the connection.
  private func shutDown(_ connection: UnsafeMutableRawPointer) {
    let socket = g_socket_connection_get_socket(connection.assumingMemoryBound(to: GSocketConnection.self))
    g_socket_shutdown(socket, 1, 1, nil)
  }

  /// Gives `message` its answer.
  fileprivate func handle(_ message: OpaquePointer, _ request: LoopbackRequest) {
    switch rules.verdict(request) {
    case .refused(let refusal):
      reply(message, refusal)
    case .landing:
      guard let answer else { return reply(message, .refusal(404, "There is nothing here.")) }
      reply(message, .end(answer)) { $0.deliver() }
    case .unexpected:
      refusedAnswers += 1
      reply(
        message, .refusal(400, "This answer belongs to another sign-in. Start again from the application."))
    case .answer(let parameters):
      guard answer == nil else { return reply(message, .alreadyUsed) }
      answer = parameters
      if rules.mode == .formPost {
        reply(message, .end(parameters)) { $0.deliver() }
      } else {
        let redirect = LoopbackAnswer(status: 303, fields: [("Location", rules.landingPath)], page: "")
        reply(message, redirect) { server in
          server.landingTimer = LoopbackTimer(after: Self.landingTime) { [weak server] in server?.deliver() }
        }
      }
    }
  }

  private func deliver() {
    guard let answer, !isDelivered, !isClosed else { return }
    isDelivered = true
    landingTimer = nil
    for waiter in waiters { waiter.finish(.success(answer)) }
  }

  /// Answers; `sent` is called when the kernel has taken the answer, or when the browser is gone.
  private func reply(
    _ message: OpaquePointer, _ answer: LoopbackAnswer, sent: ((LoopbackServer) -> Void)? = nil
  ) {
    soup_server_message_set_status(message, answer.status, nil)
    let fields = soup_server_message_get_response_headers(message)
    for (name, value) in answer.fields { soup_message_headers_append(fields, name, value) }
    let page = Array(answer.page.utf8)
    soup_server_message_set_response(
      message, "text/html; charset=utf-8", SOUP_MEMORY_COPY,
      page.withUnsafeBytes { $0.bindMemory(to: CChar.self).baseAddress }, gsize(page.count))
    guard let sent else { return }
    let box = Unmanaged.passRetained(SentHandler { [weak self] in if let self { sent(self) } })
    g_signal_connect_data(
      UnsafeMutableRawPointer(message), "finished", unsafeBitCast(messageFinished, to: GCallback.self),
      box.toOpaque(), { data, _ in data.map { Unmanaged<SentHandler>.fromOpaque($0).release() } },
      GConnectFlags(rawValue: 0))
  }
}

private final class SentHandler {
  let run: () -> Void
  init(run: @escaping () -> Void) { self.run = run }
}

/// Collects a request's body up to the limit. libsoup would take one of any size.
private final class LimitedBody {
  var bytes: [UInt8] = []
  var isTooLarge = false

  func append(_ part: UnsafeRawBufferPointer) {
    isTooLarge = isTooLarge || bytes.count + part.count > LoopbackRequest.maximumBodySize
    if isTooLarge { bytes = [] } else { bytes += part }
  }
}

private let bodyKey = "llavero-body"

private typealias ConnectionHandler =
  @convention(c) (
    UnsafeMutablePointer<GSocket>?, GIOCondition, gpointer?
  ) -> gboolean

private let connectionWaits: ConnectionHandler = { socket, _, data in
  if let socket, let data {
    Unmanaged<LoopbackServer>.fromOpaque(data).takeUnretainedValue().accept(from: socket)
  }
  return 1
}

private typealias StartedHandler =
  @convention(c) (
    UnsafeMutablePointer<SoupServer>?, OpaquePointer?, gpointer?
  ) -> Void

private let requestStarted: StartedHandler = { _, message, _ in
  guard let message else { return }
  let fields = soup_server_message_get_response_headers(message)
  for (name, value) in LoopbackAnswer.fields { soup_message_headers_append(fields, name, value) }
  soup_message_body_set_accumulate(soup_server_message_get_request_body(message), 0)
  let body = Unmanaged.passRetained(LimitedBody()).toOpaque()
  g_object_set_data_full(
    UnsafeMutableRawPointer(message).assumingMemoryBound(to: GObject.self), bodyKey, body,
    { data in data.map { Unmanaged<LimitedBody>.fromOpaque($0).release() } })
  g_signal_connect_data(
    UnsafeMutableRawPointer(message), "got-chunk", unsafeBitCast(chunkArrived, to: GCallback.self), body, nil,
    GConnectFlags(rawValue: 0))
}

private typealias ChunkHandler = @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void

private let chunkArrived: ChunkHandler = { _, chunk, data in
  guard let chunk, let data else { return }
  var count: gsize = 0
  let bytes = g_bytes_get_data(chunk, &count)
  Unmanaged<LimitedBody>.fromOpaque(data).takeUnretainedValue()
    .append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
}

private let requestArrived: SoupServerCallback = { _, message, path, _, data in
  guard let message, let path, let data else { return }
  let object = UnsafeMutableRawPointer(message).assumingMemoryBound(to: GObject.self)
  let body = g_object_get_data(object, bodyKey).map {
    Unmanaged<LimitedBody>.fromOpaque($0).takeUnretainedValue()
  }
  var fields: [String: String] = [:]
  var iterator = SoupMessageHeadersIter()
  soup_message_headers_iter_init(&iterator, soup_server_message_get_request_headers(message))
  var name: UnsafePointer<CChar>?
  var value: UnsafePointer<CChar>?
  while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
    guard let name, let value else { continue }
    let (key, text) = (String(cString: name).lowercased(), String(cString: value))
    fields[key] = fields[key].map { "\($0), \(text)" } ?? text
  }
  let uri = soup_server_message_get_uri(message)
  let request = LoopbackRequest(
    method: soup_server_message_get_method(message).map { String(cString: $0) } ?? "",
    targetHost: g_uri_get_host(uri).map { String(cString: $0) } ?? "",
    path: String(cString: path),
    query: g_uri_get_query(uri).map { String(cString: $0) },
    fields: fields, body: body?.bytes ?? [], bodyIsTooLarge: body?.isTooLarge ?? false)
  Unmanaged<LoopbackServer>.fromOpaque(data).takeUnretainedValue().handle(message, request)
}

private typealias FinishedHandler = @convention(c) (OpaquePointer?, gpointer?) -> Void

private let messageFinished: FinishedHandler = { _, data in
  if let data { Unmanaged<SentHandler>.fromOpaque(data).takeUnretainedValue().run() }
}
