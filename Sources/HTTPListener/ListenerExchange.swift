import CGLib
package import GLibSupport
import LibsoupOnDemand

/// A request, and the way to respond to it. To be used on the listener's thread.
///
/// `@unchecked Sendable`: other threads only carry it back to that one.
package final class ListenerExchange: @unchecked Sendable {
  package let request: ListenerRequest
  /// The process that sent it, where the kernel tells.
  package let peer: SocketPeer?
  /// The user of that process.
  package let user: PeerUser
  /// `nil` when libsoup is done with it.
  private var message: OpaquePointer?
  private var isAnswered = false
  private var isPaused = false
  private var sent: (() -> Void)?

  init(_ message: OpaquePointer, _ request: ListenerRequest, peer: SocketPeer?, user: PeerUser) {
    self.message = message
    self.request = request
    (self.peer, self.user) = (peer, user)
    g_signal_connect_data(
      UnsafeMutableRawPointer(message), "finished", unsafeBitCast(messageFinished, to: GCallback.self),
      Unmanaged.passRetained(self).toOpaque(),
      // libsoup releases a request without finishing it when its server ends.
      { data, _ in data.map { Unmanaged<ListenerExchange>.fromOpaque($0).takeRetainedValue().end() } },
      GConnectFlags(rawValue: 0))
  }

  /// Sends the response; does nothing the second time, or when the connection is gone. `sent` is called when the kernel has
  /// taken it, or when the other side is gone.
  package func reply(_ response: ListenerResponse, sent: (() -> Void)? = nil) {
    guard let message, !isAnswered else { return }
    isAnswered = true
    self.sent = sent
    soup_server_message_set_status(message, response.status, nil)
    let fields = soup_server_message_get_response_headers(message)
    for (name, value) in response.fields { soup_message_headers_append(fields, name, value) }
    soup_server_message_set_response(
      message, response.contentType, SOUP_MEMORY_COPY,
      response.body.withUnsafeBytes { $0.bindMemory(to: CChar.self).baseAddress }, gsize(response.body.count))
    resume()
  }

  /// Lets libsoup wait where there is no response yet.
  func awaitResponse() {
    guard let message, !isAnswered else { return }
    isPaused = true
    soup_server_message_pause(message)
  }

  /// Lets libsoup meet the end of a connection.
  func abandon() {
    isAnswered = true
    resume()
  }

  private func resume() {
    guard isPaused, let message else { return }
    isPaused = false
    soup_server_message_unpause(message)
  }

  fileprivate func end() {
    message = nil
    sent?()
    sent = nil
  }
}

private let messageFinished: @convention(c) (OpaquePointer?, gpointer?) -> Void = { _, data in
  if let data { Unmanaged<ListenerExchange>.fromOpaque(data).takeUnretainedValue().end() }
}
