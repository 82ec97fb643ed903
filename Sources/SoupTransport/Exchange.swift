import CGLib
import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import LibsoupOnDemand

typealias ExchangeCall = BoundedCall<HTTPTransportResponse, HTTPTransportError>

/// One request and its response.
///
/// The call has the deadline and the cancellation, without a thread: libsoup reads as long as there is something to read,
/// and a server can keep it from its loop that way. Here the loop cancels, since libsoup crashes if that happens between
/// its steps.
///
/// `@unchecked Sendable`: after `init`, everything is used on the session's thread alone.
final class Exchange: @unchecked Sendable {
  private let message: SoupMessageReference
  private let request: HTTPTransportRequest
  private let call: ExchangeCall
  /// Receives the body's parts when they arrive; `nil` to collect them.
  private let receive: (@Sendable (Data) -> Bool)?
  private var stream: UnsafeMutablePointer<GInputStream>?
  private var isChunked = false
  private var informationalResponses = 0
  private var isFinished = false
  private var body: ResponseBody?

  init(
    _ message: SoupMessageReference, _ request: HTTPTransportRequest, _ call: ExchangeCall,
    deliveringTo receive: (@Sendable (Data) -> Bool)?
  ) {
    self.message = message
    self.request = request
    self.call = call
    self.receive = receive
  }

  deinit { if let stream { g_object_unref(stream) } }

  /// Sends the request.
  func start(in session: OpaquePointer) {
    if isFinished { return }
    if call.cancellable.isPastDeadline { return call.finish(.failure(.timedOut)) }
    connect("restarted", unsafeBitCast(restartedHandler, to: GCallback.self))
    connect("network-event", unsafeBitCast(networkEventHandler, to: GCallback.self))
    connect("got-informational", unsafeBitCast(informationalHandler, to: GCallback.self))
    connect("notify::status-code", unsafeBitCast(statusHandler, to: GCallback.self))
    soup_session_send_async(
      session, message.pointer, G_PRIORITY_DEFAULT, call.cancellable.pointer,
      { session, result, data in
        guard let session, let data else { return }
        let exchange = Unmanaged<Exchange>.fromOpaque(data).takeRetainedValue()
        exchange.headArrived(OpaquePointer(session), result)
      }, Unmanaged.passRetained(self).toOpaque())
  }

  /// Ends the exchange; only the first outcome counts.
  func finish(_ outcome: Result<HTTPTransportResponse, HTTPTransportError>) {
    guard !isFinished else { return }
    isFinished = true
    call.finish(outcome)
    if case .failure = outcome { call.cancellable.cancel() }
    body = nil
    g_signal_handlers_disconnect_matched(
      UnsafeMutableRawPointer(message.pointer), FLAG_G_SIGNAL_MATCH_DATA, 0, 0, nil, nil,
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// Ends the exchange while the stream is not being read.
  private func end(_ outcome: Result<HTTPTransportResponse, HTTPTransportError>) {
    finish(outcome)
    closeStream()
  }

  /// Connects a handler, which holds this object.
  private func connect(_ signal: String, _ handler: GCallback) {
    g_signal_connect_data(
      UnsafeMutableRawPointer(message.pointer), signal, handler, Unmanaged.passRetained(self).toOpaque(),
      { data, _ in data.map { Unmanaged<Exchange>.fromOpaque($0).release() } }, GConnectFlags(rawValue: 0))
  }

  private func headArrived(_ session: OpaquePointer, _ result: OpaquePointer?) {
    do {
      stream = try withGError { soup_session_send_finish(session, result, $0) }
    } catch {
      return finish(.failure(message.transportError(error)))
    }
    guard !isFinished else { return closeStream() }
    guard message.cameFromServer else {
      return end(
        .failure(
          .cannotConnect("The proxy refused the connection to \(message.host): status \(message.status).")))
    }
    body = ResponseBody(
      isChunked: isChunked, announced: message.announcedBodySize, encoding: message.contentEncoding,
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
      return end(.failure(message.transportError(error)))
    }
    defer { g_bytes_unref(part) }
    guard !isFinished else { return closeStream() }
    var count: gsize = 0
    let bytes = UnsafeRawBufferPointer(start: g_bytes_get_data(part, &count), count: Int(count))
    do throws(ResponseBody.Problem) {
      if bytes.isEmpty {
        try body?.end()
      } else {
        try body?.append(bytes)
      }
    } catch {
      return end(.failure(message.transportError(error, limit: request.maximumBodySize)))
    }
    var wantsMore = true
    if let receive, let part = body?.take(), !part.isEmpty { wantsMore = receive(part) }
    guard let body, body.isComplete || !wantsMore else { return readMore() }
    end(.success(HTTPTransportResponse(message.responseHead, body: body.decoded)))
  }

  /// Returns the connection to libsoup, or closes it if the body was not read completely.
  private func closeStream() {
    guard let stream else { return }
    self.stream = nil
    g_input_stream_close_async(stream, G_PRIORITY_DEFAULT, nil, nil, nil)
    g_object_unref(stream)
  }

  /// libsoup restarts on another connection: after an idle one was closed, and after status 421.
  fileprivate func messageRestarts() {
    guard message.isIdempotent else {
      return finish(
        .failure(
          .connectionLost(
            "\(message.host) did not accept the request, which is not repeated automatically.")))
    }
    message.setBody(request.body)
  }

  /// Checks the certificate's purpose, which GnuTLS does not. Nothing was sent yet, and libsoup drops the connection of a
  /// request that is cancelled here: over HTTP/2 the header is sent before the message's own signals.
  fileprivate func handshakeEnded(_ connection: UnsafeMutablePointer<GTlsConnection>) {
    guard isForServers(g_tls_connection_get_peer_certificate(connection)) else {
      return finish(.failure(.untrustedServer("The certificate of \(message.host) is not for a server.")))
    }
  }

  /// Limits them: libsoup would read as long as they arrive.
  fileprivate func informationalResponseArrived() {
    informationalResponses += 1
    guard informationalResponses > 100 else { return }
    finish(.failure(.malformedResponse("\(message.host) sends endless informational responses.")))
  }

  /// Takes over the chunks of the body from libsoup, which accepts truncated ones (to 3.4), when the head is known and the
  /// reader of the body is not made yet.
  fileprivate func headWasRead() { isChunked = !request.isSelfDelimiting && message.takeOverChunks() }
}

private typealias MessageHandler = @convention(c) (OpaquePointer?, gpointer?) -> Void

private let restartedHandler: MessageHandler = { _, data in
  if let data { Unmanaged<Exchange>.fromOpaque(data).takeUnretainedValue().messageRestarts() }
}

private let informationalHandler: MessageHandler = { _, data in
  if let data { Unmanaged<Exchange>.fromOpaque(data).takeUnretainedValue().informationalResponseArrived() }
}

private typealias NotifyHandler = @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void

private let statusHandler: NotifyHandler = { _, _, data in
  if let data { Unmanaged<Exchange>.fromOpaque(data).takeUnretainedValue().headWasRead() }
}

private typealias NetworkEventHandler =
  @convention(c) (
    OpaquePointer?, GSocketClientEvent, UnsafeMutablePointer<GIOStream>?, gpointer?
  ) -> Void

private let networkEventHandler: NetworkEventHandler = { _, event, stream, data in
  guard let stream, let data else { return }
  let exchange = Unmanaged<Exchange>.fromOpaque(data).takeUnretainedValue()
  // The stream of these two events is that of TLS.
  let connection = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GTlsConnection.self)
  // An end of the connection without TLS's close_notify is an error. Otherwise anyone on the network could truncate a response
  // without a length (RFC 8446 section 6.1).
  if event == G_SOCKET_CLIENT_TLS_HANDSHAKING { g_tls_connection_set_require_close_notify(connection, 1) }
  if event == G_SOCKET_CLIENT_TLS_HANDSHAKED { exchange.handshakeEnded(connection) }
}
