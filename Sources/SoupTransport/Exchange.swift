import CGLib
import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import LibsoupOnDemand

/// One request and its response.
///
/// The call has the deadline and the cancellation. Here the loop cancels, since libsoup crashes if that happens between its
/// steps.
///
/// `@unchecked Sendable`: after `init`, everything is used on the session's thread alone.
final class Exchange: @unchecked Sendable {
  let message: OpaquePointer
  /// The host and the port, if one was given, or the socket; for error texts.
  let host: String
  let route: Route
  private let isIdempotent: Bool
  private var isConnectionUsed = true
  /// Whether it may go over another connection after ``HTTPTransportError/connectionLost(_:)``: it met the end of one that was
  /// used before, without a response.
  private(set) var mayUseAnother = false
  private let request: HTTPTransportRequest
  private let call: BoundedCall<HTTPTransportResponse, HTTPTransportError>
  /// Receives the body's parts when they arrive; `nil` to collect them.
  private let receive: (@Sendable (Data) -> Bool)?
  private var handlers: [gulong] = []
  private var stream: UnsafeMutablePointer<GInputStream>?
  private var isChunked = false
  /// Whether a TLS connection that is being made is the proxy's.
  private(set) var isNegotiatingWithProxy = false
  private var informationalResponses = 0
  private var isFinished = false
  private var body: ResponseBody?

  init(
    _ request: HTTPTransportRequest, on route: Route, needsNewConnection: Bool = false,
    deliveringTo receive: (@Sendable (Data) -> Bool)?
  ) throws(HTTPTransportError) {
    let head = request.head
    guard head.scheme?.lowercased() == route.scheme else {
      throw .invalidRequest("Invalid scheme \(head.scheme ?? "(none)"): expected \(route.scheme).")
    }
    guard let authority = head.authority, isWritable(authority, except: "/?#@\\"),
      let path = head.path, path.hasPrefix("/"), isWritable(path, except: "#"), head.method != .connect
    else { throw .invalidRequest("Invalid URL: expected a host without a user name, and an escaped path.") }
    let own = ["host", "content-length", "transfer-encoding", "connection"]
    if let field = head.headerFields.first(where: { own.contains($0.name.canonicalName) }) {
      throw .invalidRequest("The header field \(field.name) is set by the transport.")
    }
    let flags = GUriFlags(
      rawValue: FLAG_G_URI_FLAGS_HAS_PASSWORD.rawValue | FLAG_G_URI_FLAGS_ENCODED_PATH.rawValue
        | FLAG_G_URI_FLAGS_ENCODED_QUERY.rawValue | FLAG_G_URI_FLAGS_SCHEME_NORMALIZE.rawValue)
    guard let uri = g_uri_parse("\(route.scheme)://\(authority)\(path)", flags, nil) else {
      throw .invalidRequest("Invalid host or path.")
    }
    defer { g_uri_unref(uri) }
    guard g_uri_get_host(uri).map({ $0.pointee != 0 }) == true,
      let message = soup_message_new_from_uri(head.method.rawValue, uri)
    else { throw .invalidRequest("Invalid host.") }
    self.message = message
    self.request = request
    self.route = route
    self.receive = receive
    call = BoundedCall(timeout: request.timeout, onCancel: .cancelled, onTimeout: .timedOut)
    host = route.unixSocket?.path ?? authority
    isIdempotent = head.method.isIdempotent || request.isRepeatable
    soup_message_add_flags(message, SOUP_MESSAGE_NO_REDIRECT)
    soup_message_add_flags(
      message, isIdempotent && !needsNewConnection ? SOUP_MESSAGE_IDEMPOTENT : SOUP_MESSAGE_NEW_CONNECTION)
    soup_message_add_flags(message, SOUP_MESSAGE_COLLECT_METRICS)
    // Challenges are not answered: the caller gets the 401. With this feature a session reads a 401 to its end by itself,
    // which it does not find if the chunks are decoded here.
    soup_message_disable_feature(message, soup_auth_manager_get_type())
    setBody()
    let fields = soup_message_get_request_headers(message)
    for field in head.headerFields { soup_message_headers_append(fields, field.name.rawName, field.value) }
    if head.headerFields[.acceptEncoding] == nil {
      soup_message_headers_append(fields, "Accept-Encoding", "gzip")
    }
  }

  deinit {
    if let stream { g_object_unref(stream) }
    g_object_unref(UnsafeMutableRawPointer(message))
  }

  /// Sends the request, and returns the response.
  func response(on thread: SoupSessionThread) async throws(HTTPTransportError) -> HTTPTransportResponse {
    try await call.run(abandon: { [self] in thread.run { _ in self.finish(.failure(.cancelled)) } }) { _ in
      thread.run { [self] in start(in: $0) }
    }
  }

  /// Sets the body, again before each repetition: libsoup has consumed the first one.
  private func setBody() {
    guard let body = request.body else { return }
    let bytes = body.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
    defer { g_bytes_unref(bytes) }
    soup_message_set_request_body_from_bytes(message, nil, bytes)
  }

  private func start(in session: OpaquePointer) {
    if isFinished { return }
    if call.cancellable.isPastDeadline { return call.finish(.failure(.timedOut)) }
    // They hold this object until it has finished.
    let object = UnsafeMutableRawPointer(message)
    handlers = [
      onSignal("restarted", of: object) { [self] _ in messageRestarts() },
      onSignal("network-event", of: object) { [self] in networkEvent($0) },
      onSignal("got-informational", of: object) { [self] _ in informationalResponseArrived() },
      onSignal("notify::status-code", of: object) { [self] _ in headWasRead() },
    ]
    soup_session_send_async(
      session, message, G_PRIORITY_DEFAULT, call.cancellable.pointer,
      { session, result, data in
        guard let session, let data else { return }
        let exchange = Unmanaged<Exchange>.fromOpaque(data).takeRetainedValue()
        exchange.headArrived(OpaquePointer(session), result)
      }, Unmanaged.passRetained(self).toOpaque())
  }

  /// Ends the exchange; only the first outcome counts.
  private func finish(_ outcome: Result<HTTPTransportResponse, HTTPTransportError>) {
    guard !isFinished else { return }
    isFinished = true
    call.finish(outcome)
    if case .failure = outcome { call.cancellable.cancel() }
    body = nil
    for handler in handlers { g_signal_handler_disconnect(UnsafeMutableRawPointer(message), handler) }
    handlers = []
  }

  /// Ends the exchange while the stream is not being read.
  private func end(_ outcome: Result<HTTPTransportResponse, HTTPTransportError>) {
    finish(outcome)
    closeStream()
  }

  private func headArrived(_ session: OpaquePointer, _ result: OpaquePointer?) {
    do {
      stream = try withGError { soup_session_send_finish(session, result, $0) }
    } catch {
      mayUseAnother = isConnectionUsed && isIdempotent && status == 0
      return finish(.failure(transportError(error)))
    }
    guard !isFinished else { return closeStream() }
    guard cameFromServer else {
      return end(.failure(proxyRefusal))
    }
    body = ResponseBody(
      of: host, isChunked: isChunked, announced: announcedBodySize, encoding: contentEncoding,
      limit: request.maximumBodySize)
    readMore()
  }

  private func readMore() {
    g_input_stream_read_bytes_async(
      stream, 65536, G_PRIORITY_DEFAULT, call.cancellable.pointer,
      { _, result, data in
        guard let data else { return }
        Unmanaged<Exchange>.fromOpaque(data).takeRetainedValue().partArrived(result)
      }, Unmanaged.passRetained(self).toOpaque())
  }

  private func partArrived(_ result: OpaquePointer?) {
    let part: OpaquePointer?
    do {
      part = try withGError { g_input_stream_read_bytes_finish(stream, result, $0) }
    } catch {
      return end(.failure(transportError(error)))
    }
    defer { g_bytes_unref(part) }
    guard !isFinished else { return closeStream() }
    var count: gsize = 0
    let bytes = UnsafeRawBufferPointer(start: g_bytes_get_data(part, &count), count: Int(count))
    do throws(HTTPTransportError) {
      if bytes.isEmpty {
        try body?.end()
      } else {
        try body?.append(bytes)
      }
    } catch {
      return end(.failure(error))
    }
    var wantsMore = true
    if let receive, let part = body?.take(), !part.isEmpty { wantsMore = receive(part) }
    guard let body, body.isComplete || !wantsMore else { return readMore() }
    end(.success(HTTPTransportResponse(responseHead, body: body.decoded)))
  }

  /// Returns the connection to libsoup, or closes it if the body was not read completely.
  private func closeStream() {
    guard let stream else { return }
    self.stream = nil
    g_input_stream_close_async(stream, G_PRIORITY_DEFAULT, nil, nil, nil)
    g_object_unref(stream)
  }

  /// libsoup restarts on another connection: after an idle one was closed, and after status 421.
  private func messageRestarts() {
    guard isIdempotent else {
      return finish(
        .failure(.connectionLost("\(host) did not accept the request, which is not repeated automatically.")))
    }
    setBody()
  }

  private func networkEvent(_ arguments: UnsafePointer<GValue>) {
    isConnectionUsed = false
    guard let connection = g_value_get_object(arguments + 2)?.assumingMemoryBound(to: GTlsConnection.self)
    else { return }
    // The stream of the latter two events is that of TLS with the server.
    switch GSocketClientEvent(rawValue: UInt32(g_value_get_enum(arguments + 1))) {
    case G_SOCKET_CLIENT_PROXY_NEGOTIATING: isNegotiatingWithProxy = true
    case G_SOCKET_CLIENT_TLS_HANDSHAKING:
      isNegotiatingWithProxy = false
      // An end of the connection without TLS's close_notify is an error. Otherwise anyone on the network could truncate a
      // response without a length (RFC 8446 section 6.1).
      g_tls_connection_set_require_close_notify(connection, 1)
      // Not HTTP/2. libsoup has no option for it until 3.4.
      "http/1.1".withCString { name in
        var names = [Optional(name), nil]
        g_tls_connection_set_advertised_protocols(connection, &names)
      }
    case G_SOCKET_CLIENT_TLS_HANDSHAKED:
      // Nothing was sent yet, and libsoup drops the connection of a request that is cancelled here. GIO resumes the TLS sessions
      // of all transports of the process, whatever each trusts: it verifies the certificate, and ignores the outcome.
      let problems = g_tls_connection_get_peer_certificate_errors(connection)
      if problems.rawValue != 0 { return finish(.failure(.untrustedServer(certificateProblem(problems)))) }
      // GnuTLS does not check the certificate's purpose.
      if isForServers(g_tls_connection_get_peer_certificate(connection)) { return }
      finish(.failure(.untrustedServer("The certificate of \(host) is not for a server.")))
    default: break
    }
  }

  /// Limits them: libsoup would read as long as they arrive.
  private func informationalResponseArrived() {
    informationalResponses += 1
    guard informationalResponses > 100 else { return }
    finish(.failure(.malformedResponse("\(host) sends endless informational responses.")))
  }

  /// Takes over the chunks of the body from libsoup, which accepts truncated ones (to 3.4), when the head is known and the
  /// reader of the body is not made yet. libsoup then returns their sizes, too, and does not reuse the connection.
  private func headWasRead() {
    let fields = soup_message_get_response_headers(message)
    isChunked =
      !request.isSelfDelimiting && hasBody
      && soup_message_headers_get_encoding(fields) == SOUP_ENCODING_CHUNKED
    if isChunked { soup_message_headers_set_encoding(fields, SOUP_ENCODING_EOF) }
  }
}

/// What libsoup says about the message.
extension Exchange {
  /// False for the response of a proxy that refused the tunnel: no server has sent a certificate.
  private var cameFromServer: Bool { route.isPlaintext || cameOverTLS }

  /// Whether the server has sent a certificate.
  var cameOverTLS: Bool { soup_message_get_tls_peer_certificate(message) != nil }

  /// Whether the header exceeds libsoup's limit of 64 KiB.
  var headerIsTooLarge: Bool {
    soup_message_get_metrics(message).map(soup_message_metrics_get_response_header_bytes_received) ?? 0
      > 1 << 16
  }

  var status: Int { Int(soup_message_get_status(message)) }

  private var responseHead: HTTPResponse {
    var fields = HTTPFields()
    var iterator = SoupMessageHeadersIter()
    soup_message_headers_iter_init(&iterator, soup_message_get_response_headers(message))
    var name: UnsafePointer<CChar>?
    var value: UnsafePointer<CChar>?
    while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
      if let name, let value, let fieldName = HTTPField.Name(String(cString: name)) {
        fields.append(HTTPField(name: fieldName, value: String(cString: value)))
      }
    }
    return HTTPResponse(status: .init(code: min(max(status, 100), 999)), headerFields: fields)
  }

  /// The body's compression by the header.
  private var contentEncoding: ContentEncoding {
    let field = soup_message_headers_get_list(soup_message_get_response_headers(message), "Content-Encoding")
    return ContentEncoding(field.map { String(cString: $0) })
  }

  /// The body's length by the header. libsoup does not check it when the server closes the connection.
  private var announcedBodySize: Int? {
    hasBody ? Int(soup_message_headers_get_content_length(soup_message_get_response_headers(message))) : nil
  }

  /// Whether a response with this status, to a request of this method, has a body (RFC 9112 section 6.3).
  private var hasBody: Bool {
    status >= 200 && status != 204 && status != 304
      && soup_message_get_method(message).map { String(cString: $0) } != "HEAD"
  }
}

/// Whether the text has only visible ASCII characters, without those that would end this part of a URL.
private func isWritable(_ text: String, except reserved: String) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !reserved.utf8.contains($0) }
}

extension HTTPRequest.Method {
  /// RFC 9110 section 9.2.2, without DELETE: the response to a second one is that there is nothing.
  fileprivate var isIdempotent: Bool {
    [.get, .head, .options, .put, .trace].contains(self)
  }
}
