package import CGLib
package import GLibSupport
import Glibc
import LibsoupOnDemand

/// An HTTP server for the processes that reach a socket of this machine: it accepts connections, reads one request on each, and
/// closes it after the response. None of them can block it, or make it keep much.
///
/// `@unchecked Sendable`: after `init`, touched on its own thread only.
package final class HTTPListener: @unchecked Sendable {
  package struct Limits: Sendable {
    /// The most connections at once. The others wait in the kernel's queue; where too many have sent nothing for a
    /// while, the processes that have the most of them lose one. Other users have half of the places at most.
    package var connections: Int
    /// How long a request may take to come.
    package var requestTime: Duration
    /// How long the response may take then, with its way.
    package var answerTime: Duration
    /// In bytes.
    package var maximumBodySize: Int

    package init(connections: Int, requestTime: Duration, answerTime: Duration, maximumBodySize: Int) {
      self.connections = connections
      self.requestTime = requestTime
      self.answerTime = answerTime
      self.maximumBodySize = maximumBodySize
    }
  }

  /// How long a connection may be idle while others wait for its place.
  private static let idleTime = Duration.seconds(1)
  /// So many descriptors are left to the rest of the program.
  private static let sparedDescriptors = 32
  /// How long to wait before the next try to accept, where there was no room.
  private static let pause = Duration.milliseconds(100)

  private let limits: Limits
  /// The header fields of every response, also of those that libsoup makes by itself.
  private let fields: [(name: String, value: String)]
  private let thread: MainLoopThread
  private var handle: (ListenerExchange) -> Void = { _ in }
  private var listening: [GObjectReference<GSocket>]
  private var sources: [UnsafeMutablePointer<GSource>] = []
  private var server: OpaquePointer?
  /// By the addresses that libsoup was told, which are objects of these connections alone.
  private var connections: [UnsafeMutableRawPointer: ListenerConnection] = [:]
  private var retry: ContextTimer?
  private var timer: ContextTimer?
  private var isClosed = false

  /// The sockets listen, and do not block; the header fields are those of every response.
  package init(
    _ sockets: [GObjectReference<GSocket>], limits: Limits, fields: [(name: String, value: String)],
    thread name: String
  ) {
    listening = sockets
    self.limits = limits
    self.fields = fields + [("Connection", "close")]
    thread = MainLoopThread(name: name)
  }

  /// Makes sure of libsoup, before any listener begins.
  package static func loadLibrary() throws(GLibError) {
    if let problem = llavero_libsoup_problem() {
      throw GLibError.unexplained.saying(String(cString: problem))
    }
  }

  /// Begins to accept, once. ``loadLibrary()`` comes before. `handle` responds to a request, at once or later. It is called on
  /// the listener's thread, and must not block.
  package func start(_ handle: @escaping @Sendable (ListenerExchange) -> Void) {
    thread.invoke { [self] in
      self.handle = handle
      guard let object = newObject(soup_server_get_type()) else { return }
      let server = OpaquePointer(object)
      self.server = server
      onSignal("request-started", of: object) { [weak self] arguments in
        if let message = g_value_get_object(arguments + 1) { self?.start(message) }
      }
      // `close` removes this handler before this object can end.
      soup_server_add_handler(
        server, nil,
        { _, message, path, _, data in
          guard let message, let path, let data else { return }
          Unmanaged<HTTPListener>.fromOpaque(data).takeUnretainedValue()
            .handle(message, path: String(cString: path))
        }, Unmanaged.passUnretained(self).toOpaque(), nil)
      acceptConnections()
    }
  }

  /// Runs `work` on the listener's thread. It must not block.
  package func run(_ work: @escaping @Sendable () -> Void) { thread.invoke(work) }

  /// Calls `action` once, unless the listener is closed or gets another timer before. For the listener's thread.
  package func setTimer(_ delay: Duration, _ action: @escaping () -> Void) {
    if !isClosed { timer = ContextTimer(after: delay, action) }
  }

  /// Closes the sockets and all connections.
  package func close() {
    // The work holds the thread, which must not end before.
    thread.invoke { [self] in
      guard !isClosed else { return }
      isClosed = true
      (retry, timer) = (nil, nil)
      stopAccepting()
      for socket in listening { g_socket_close(socket.pointer, nil) }
      listening = []
      if let server {
        soup_server_remove_handler(server, nil)
        soup_server_disconnect(server)
        g_object_unref(UnsafeMutableRawPointer(server))
      }
      server = nil
      for connection in connections.values { connection.shutDown() }
    }
  }

  private func acceptConnections() {
    guard sources.isEmpty, !isClosed else { return }
    for socket in listening {
      guard let source = g_socket_create_source(socket.pointer, G_IO_IN, nil) else { continue }
      g_source_set_callback(
        source, unsafeBitCast(connectionWaits, to: GSourceFunc.self), Unmanaged.passRetained(self).toOpaque(),
        { data in data.map { Unmanaged<HTTPListener>.fromOpaque($0).release() } })
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
    guard connections.count < limits.connections, canOpen(Self.sparedDescriptors) else {
      // If no connection can be closed now, one may be in a while; the source would call again at once.
      mostIdle?.shutDown()
      stopAccepting()
      retry = ContextTimer(after: Self.pause) { [weak self] in self?.acceptConnections() }
      return
    }
    guard let server, let socket = g_socket_accept(listener, nil, nil) else { return }
    defer { g_object_unref(socket) }
    let user = peerUser(g_socket_get_fd(socket))
    // Connections of other users beyond their share are closed at once: they must not delay this user's. So is one
    // whose peer has closed it: its user is not known any more.
    let isTooMuch =
      user.isOthers && connections.values.count(where: \.user.isOthers) >= limits.connections / 2
    guard !isTooMuch, user != .gone else {
      g_socket_close(socket, nil)
      return
    }
    guard let stream = g_socket_connection_factory_create_connection(socket),
      // libsoup asks a connection for addresses of the Internet, which one on a Unix socket has not.
      let address = g_inet_socket_address_new_from_string("127.0.0.1", 0)
    else { return }
    let (key, addressKey) = (UnsafeMutableRawPointer(stream), UnsafeMutableRawPointer(address))
    defer {
      g_object_unref(key)
      g_object_unref(addressKey)
    }
    let peer = SocketPeer(g_socket_get_fd(socket))
    let connection = ListenerConnection(key, peer: peer, user: user) { [self] in
      connections[addressKey] = nil
      acceptConnections()
    }
    // Called when libsoup is done with the connection.
    g_object_weak_ref(
      key.assumingMemoryBound(to: GObject.self),
      { data, _ in
        if let data { Unmanaged<ListenerConnection>.fromOpaque(data).takeRetainedValue().end() }
      }, Unmanaged.passRetained(connection).toOpaque())
    connections[addressKey] = connection
    connection.limit(to: limits.requestTime)
    soup_server_accept_iostream(server, key.assumingMemoryBound(to: GIOStream.self), address, address, nil)
  }

  /// The connection that has been silent for the longest time, among those of the user with the most of them.
  private var mostIdle: ListenerConnection? {
    let idle = connections.values.filter { $0.isIdle(for: Self.idleTime) }
    let counts = Dictionary(grouping: idle, by: \.peer?.process).mapValues(\.count)
    return idle.max {
      (counts[$0.peer?.process, default: 0], $1.start) < (counts[$1.peer?.process, default: 0], $0.start)
    }
  }

  private func connection(of message: OpaquePointer) -> ListenerConnection? {
    soup_server_message_get_remote_address(message).flatMap { connections[UnsafeMutableRawPointer($0)] }
  }

  private func start(_ object: gpointer) {
    let message = OpaquePointer(object)
    let headers = soup_server_message_get_response_headers(message)
    for (name, value) in fields { soup_message_headers_append(headers, name, value) }
    // libsoup would keep a body of any size.
    soup_message_body_set_accumulate(soup_server_message_get_request_body(message), 0)
    connection(of: message)?.body = []
    onSignal("got-chunk", of: object) { [weak self] arguments in
      guard let self, let chunk = g_value_get_boxed(arguments + 1) else { return }
      var count: gsize = 0
      let bytes = g_bytes_get_data(OpaquePointer(chunk), &count)
      connection(of: message)?.append(
        UnsafeRawBufferPointer(start: bytes, count: Int(count)), limit: limits.maximumBodySize)
    }
  }

  fileprivate func handle(_ message: OpaquePointer, path: String) {
    guard let connection = connection(of: message) else { return }
    let request = ListenerRequest(message, path: path, body: connection.body)
    let exchange = ListenerExchange(message, request, peer: connection.peer, user: connection.user)
    connection.exchange = exchange
    connection.limit(to: limits.answerTime)
    handle(exchange)
    exchange.awaitResponse()
  }
}

/// A connection, and how long it may stay. On the listener's thread only.
private final class ListenerConnection {
  let start = ContinuousClock.now
  let peer: SocketPeer?
  let user: PeerUser
  /// libsoup keeps it; a use after its end would reach another one.
  private let stream: UnsafeMutableRawPointer
  private var timer: ContextTimer?
  /// The request that came, and its response.
  var exchange: ListenerExchange?
  /// The body of the request; `nil` when it is larger than the limit.
  var body: [UInt8]? = []
  let end: () -> Void

  init(_ stream: UnsafeMutableRawPointer, peer: SocketPeer?, user: PeerUser, end: @escaping () -> Void) {
    self.stream = stream
    self.peer = peer
    self.user = user
    self.end = end
  }

  func limit(to time: Duration) {
    timer = ContextTimer(after: time) { [weak self] in self?.shutDown() }
  }

  func append(_ part: UnsafeRawBufferPointer, limit: Int) {
    guard let size = body?.count, size + part.count <= limit else { return body = nil }
    body?.append(contentsOf: part)
  }

  private var socket: UnsafeMutablePointer<GSocket>? {
    g_socket_connection_get_socket(stream.assumingMemoryBound(to: GSocketConnection.self))
  }

  /// Whether it has no whole request, and nothing that waits to be read. What was sent is not lost because this process
  /// is slow.
  func isIdle(for time: Duration) -> Bool {
    exchange == nil && .now - start >= time && g_socket_get_available_bytes(socket) == 0
  }

  /// Ends both directions; libsoup then meets the end and releases the connection.
  func shutDown() {
    g_socket_shutdown(socket, 1, 1, nil)
    // libsoup does not look at a connection whose response is waited for.
    exchange?.abandon()
  }
}

extension PeerUser {
  fileprivate var isOthers: Bool { if case .user(let user) = self { user != geteuid() } else { false } }
}

private let connectionWaits:
  @convention(c) (UnsafeMutablePointer<GSocket>?, GIOCondition, gpointer?) -> gboolean = { socket, _, data in
    if let socket, let data {
      Unmanaged<HTTPListener>.fromOpaque(data).takeUnretainedValue().accept(from: socket)
    }
    return 1
  }
