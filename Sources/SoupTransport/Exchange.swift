import CLibsoup
import FoundationEssentials
import GLibSupport
import HTTPTransport
import HTTPTypes

/// One request and its answer.
///
/// `@unchecked Sendable`: after `init`, everything is touched on the session's thread alone.
final class Exchange: @unchecked Sendable {
  typealias Outcome = Result<HTTPTransportResponse, HTTPTransportError>

  private let message: SoupMessageReference
  private let body: Data?
  private let maximumBodySize: Int
  private let cancellable: Cancellable
  private var timer: UnsafeMutablePointer<GSource>?
  private var stream: UnsafeMutablePointer<GInputStream>?
  private var received = Data()
  private var isFinished = false
  /// The outcome of an exchange that was cancelled before it began.
  private var early: Outcome?
  private var completion: ((Outcome) -> Void)?

  init(_ request: HTTPTransportRequest) throws(HTTPTransportError) {
    message = try SoupMessageReference(request)
    body = request.body
    maximumBodySize = request.maximumBodySize
    cancellable = Cancellable(timeout: request.timeout)
  }

  deinit {
    if let stream { g_object_unref(stream) }
  }

  /// Sends the request. `completion` is called once.
  func start(in session: UnsafeMutablePointer<SoupSession>, completion: @escaping (Outcome) -> Void) {
    if let early { return completion(early) }
    if cancellable.isPastDeadline { return completion(.failure(.timedOut)) }
    self.completion = completion
    startTimer()
    connect("restarted", unsafeBitCast(restarted, to: GCallback.self))
    connect("network-event", unsafeBitCast(connectionAdvanced, to: GCallback.self))
    soup_session_send_async(
      session, message.pointer, G_PRIORITY_DEFAULT, cancellable.pointer,
      { session, result, data in
        guard let session, let data else { return }
        let exchange = Unmanaged<Exchange>.fromOpaque(data).takeRetainedValue()
        exchange.headArrived(
          UnsafeMutableRawPointer(session).assumingMemoryBound(to: SoupSession.self), result)
      }, Unmanaged.passRetained(self).toOpaque())
  }

  /// Ends the exchange; only the first outcome counts.
  func finish(_ outcome: Outcome) {
    guard !isFinished else { return }
    isFinished = true
    received = Data()
    stopTimer()
    if case .failure = outcome { cancellable.cancel() }
    g_signal_handlers_disconnect_matched(
      UnsafeMutableRawPointer(message.pointer), G_SIGNAL_MATCH_DATA, 0, 0, nil, nil,
      Unmanaged.passUnretained(self).toOpaque())
    guard let completion else {
      early = outcome
      return
    }
    self.completion = nil
    completion(outcome)
  }

  /// Connects a handler, which holds this object.
  private func connect(_ signal: String, _ handler: GCallback) {
    g_signal_connect_data(
      UnsafeMutableRawPointer(message.pointer), signal, handler, Unmanaged.passRetained(self).toOpaque(),
      { data, _ in data.map { Unmanaged<Exchange>.fromOpaque($0).release() } }, GConnectFlags(rawValue: 0))
  }

  private func startTimer() {
    let timer = g_timeout_source_new(guint(cancellable.remainingMilliseconds))
    g_source_set_callback(
      timer,
      { data in
        if let data { Unmanaged<Exchange>.fromOpaque(data).takeUnretainedValue().finish(.failure(.timedOut)) }
        return 0
      }, Unmanaged.passRetained(self).toOpaque(),
      { data in data.map { Unmanaged<Exchange>.fromOpaque($0).release() } })
    g_source_attach(timer, g_main_context_get_thread_default())
    self.timer = timer
  }

  private func stopTimer() {
    guard let timer else { return }
    self.timer = nil
    g_source_destroy(timer)
    g_source_unref(timer)
  }

  private func headArrived(_ session: UnsafeMutablePointer<SoupSession>, _ result: OpaquePointer?) {
    do {
      stream = try withGError { soup_session_send_finish(session, result, $0) }
    } catch {
      return finish(.failure(message.transportError(error)))
    }
    guard !isFinished else { return closeStream() }
    guard message.cameOverTLS else {
      finish(
        .failure(.cannotConnect("The proxy refused the way to \(message.host): status \(message.status).")))
      return closeStream()
    }
    readMore()
  }

  private func readMore() {
    g_input_stream_read_bytes_async(
      stream, 65536, G_PRIORITY_DEFAULT, cancellable.pointer,
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
      finish(.failure(message.transportError(error)))
      return closeStream()
    }
    defer { g_bytes_unref(part) }
    guard !isFinished else { return closeStream() }
    var count: gsize = 0
    guard let bytes = g_bytes_get_data(part, &count), count > 0 else { return bodyEnded() }
    guard received.count + Int(count) <= maximumBodySize else {
      finish(.failure(.responseTooLarge(limit: maximumBodySize)))
      return closeStream()
    }
    received.append(bytes.assumingMemoryBound(to: UInt8.self), count: Int(count))
    readMore()
  }

  private func bodyEnded() {
    closeStream()
    guard message.bodyIsComplete else {
      return finish(
        .failure(.connectionLost("\(message.host) closed the connection in the middle of its answer.")))
    }
    finish(.success(HTTPTransportResponse(message.responseHead, body: received)))
  }

  /// Gives the connection back, or closes it if the body was not read to its end.
  private func closeStream() {
    guard let stream else { return }
    self.stream = nil
    g_input_stream_close_async(stream, G_PRIORITY_DEFAULT, nil, nil, nil)
    g_object_unref(stream)
  }

  /// libsoup begins again on another connection: after the death of an idle one, and after status 421.
  fileprivate func messageRestarts() {
    guard message.isIdempotent else {
      return finish(
        .failure(
          .connectionLost(
            "\(message.host) did not take the request, which is not sent a second time unasked.")))
    }
    message.setBody(body)
  }
}

private typealias RestartedHandler = @convention(c) (OpaquePointer?, gpointer?) -> Void

private let restarted: RestartedHandler = { _, data in
  if let data { Unmanaged<Exchange>.fromOpaque(data).takeUnretainedValue().messageRestarts() }
}

private typealias NetworkEventHandler =
  @convention(c) (
    OpaquePointer?, GSocketClientEvent, UnsafeMutablePointer<GIOStream>?, gpointer?
  ) -> Void

/// Makes an end of the connection without TLS's own farewell an error; libsoup lets anybody on the way cut off an
/// answer that carries no length (RFC 8446 section 6.1).
private let connectionAdvanced: NetworkEventHandler = { _, event, stream, _ in
  guard event == G_SOCKET_CLIENT_TLS_HANDSHAKING, let stream else { return }
  let connection = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GTlsConnection.self)
  g_tls_connection_set_require_close_notify(connection, 1)
}
