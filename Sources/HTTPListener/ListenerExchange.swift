import CGLib
package import GLibSupport
import LibsoupOnDemand

/// A request, and the way to answer it. To be used on the listener's thread.
///
/// `@unchecked Sendable`: other threads only carry it back to that one.
package final class ListenerExchange: @unchecked Sendable {
  package let request: ListenerRequest
  /// Who asks, where the kernel tells.
  package let peer: SocketPeer?
  /// Whose process asks.
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
      // libsoup lets go of a request without finishing it when its server ends.
      { data, _ in data.map { Unmanaged<ListenerExchange>.fromOpaque($0).takeRetainedValue().end() } },
      GConnectFlags(rawValue: 0))
  }

  /// Answers; does nothing the second time, or when the connection is gone.
  ///
  /// - Parameters:
  ///   - answer: The answer.
  ///   - sent: Called when the kernel has taken it, or when the other side is gone.
  package func reply(_ answer: ListenerAnswer, sent: (() -> Void)? = nil) {
    guard let message, !isAnswered else { return }
    isAnswered = true
    self.sent = sent
    soup_server_message_set_status(message, answer.status, nil)
    let fields = soup_server_message_get_response_headers(message)
    for (name, value) in answer.fields { soup_message_headers_append(fields, name, value) }
    soup_server_message_set_response(
      message, answer.contentType, SOUP_MEMORY_COPY,
      answer.body.withUnsafeBytes { $0.bindMemory(to: CChar.self).baseAddress }, gsize(answer.body.count))
    resume()
  }

  /// Lets libsoup wait where there is no answer yet.
  func awaitAnswer() {
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

private typealias FinishedHandler = @convention(c) (OpaquePointer?, gpointer?) -> Void

private let messageFinished: FinishedHandler = { _, data in
  if let data { Unmanaged<ListenerExchange>.fromOpaque(data).takeUnretainedValue().end() }
}
