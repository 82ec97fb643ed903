import FoundationEssentials
import HTTPSupport
import HTTPTypes
import TokenCache

/// Retries and timeouts: the settings of a ``ClientConfiguration`` that begin with `http`.
package typealias HTTPSettings = (retryCount: Int, retryInterval: Duration, timeout: Duration)

/// Sends requests to authorization servers, with retries where these are safe and may help.
struct HTTPSender: Sendable {
  let transport: any HTTPTransport
  /// Read when a request is made.
  let settings: @Sendable () -> HTTPSettings
  let timing: Timing
  let log: ClientLog

  /// The deadline of a call that begins now, by ``Timing/uptime``.
  func deadline() -> Duration { timing.uptime() + settings().timeout }

  /// Sends a form, or a request without a body. A request that is not repeatable is not retried if the server may have
  /// received it, since a server rejects a code that it has seen. The deadline is that of all attempts (default: that
  /// of a call that begins now).
  func send(
    _ form: [String: String]? = nil, to url: URL, headers: [String: String] = [:], isRepeatable: Bool = true,
    until deadline: Duration? = nil
  ) async throws(IdentityError) -> HTTPTransportResponse {
    guard var head = HTTPRequest(form == nil ? .get : .post, https: url) else {
      throw IdentityError(.invalidParameter, "Requests are only sent to https addresses.")
    }
    head.headerFields[.accept] = "application/json"
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
      if let name = HTTPField.Name(name) { head.headerFields[name] = value }
    }
    if form != nil { head.headerFields[.contentType] = "application/x-www-form-urlencoded" }
    let settings = settings()
    let deadline = deadline ?? self.deadline()
    var request = HTTPTransportRequest(head, body: form.map { Data(FormEncoding.encode($0).utf8) })
    let transport = LoggedTransport(transport: transport, log: log)
    var retriesLeft = settings.retryCount
    while true {
      request.timeout = max(.zero, deadline - timing.uptime())
      // A retry, after its pause, begins before the deadline.
      func mayRepeat() -> Bool { retriesLeft > 0 && timing.uptime() + settings.retryInterval < deadline }
      do throws(HTTPTransportError) {
        let response = try await transport.send(request)
        let status = response.head.status.code
        guard status >= 500, isRepeatable, response.head.headerFields[.retryAfter] == nil, mayRepeat()
        else { return response }
      } catch {
        guard error != .cancelled else { throw .cancelled }
        var failure = IdentityError(transport: error)
        failure.failedURL = url.withoutQuery
        guard error.isTransient(isRepeatable), mayRepeat() else { throw failure }
      }
      retriesLeft -= 1
      try await timing.wait(settings.retryInterval)
    }
  }
}

extension HTTPTransportError {
  /// Whether a retry may succeed.
  fileprivate func isTransient(_ isRepeatable: Bool) -> Bool {
    switch self {
    case .notConnected, .cannotFindHost, .cannotConnect, .secureConnectionFailed: true
    case .connectionLost, .timedOut: isRepeatable
    case .invalidConfiguration, .invalidRequest, .untrustedServer, .responseTooLarge, .malformedResponse,
      .cancelled:
      false
    }
  }
}
