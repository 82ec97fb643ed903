import FoundationEssentials
package import HTTPSupport
import HTTPTypes
import Logging
import TokenCache

/// Sends requests to authorization servers, and once more where that is safe and may help.
struct HTTPSender: Sendable {
  let transport: any HTTPTransport
  /// Read when a request is made.
  let settings: @Sendable () -> HTTPSettings
  let timing: Timing
  let log: ClientLog

  /// Whether the server may have acted on a request of which no answer came.
  enum Effect: Sendable {
    /// It does not matter.
    case repeatable
    /// A second request would be refused, such as one with a code that can be used once.
    case once
  }

  func get(_ url: URL, headers: [String: String] = [:]) async throws(IdentityError) -> HTTPTransportResponse {
    try await send(head(.get, url, headers), effect: .repeatable)
  }

  func post(
    _ form: [String: String], to url: URL, headers: [String: String], effect: Effect
  ) async throws(IdentityError) -> HTTPTransportResponse {
    var head = try head(.post, url, headers)
    head.headerFields[.contentType] = "application/x-www-form-urlencoded"
    return try await send(head, body: Data(FormEncoding.encode(form).utf8), effect: effect)
  }

  private func head(
    _ method: HTTPRequest.Method, _ url: URL, _ headers: [String: String]
  ) throws(IdentityError) -> HTTPRequest {
    guard var head = HTTPRequest(method, https: url) else {
      throw IdentityError(.invalidParameter, "Only https addresses can be asked.")
    }
    head.headerFields[.accept] = "application/json"
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
      guard let name = HTTPField.Name(name) else { continue }
      head.headerFields[name] = value
    }
    return head
  }

  private func send(
    _ head: HTTPRequest, body: Data? = nil, effect: Effect
  ) async throws(IdentityError) -> HTTPTransportResponse {
    let settings = settings()
    let host = head.authority ?? ""
    // Any other host may be an organization's own, and a log line about it may name it.
    let isShared = CloudInstances.known.contains(host)
    let request = HTTPTransportRequest(head, body: body, timeout: settings.timeout)
    var retriesLeft = max(0, settings.retryCount)
    while true {
      let failure: IdentityError
      do throws(HTTPTransportError) {
        let response = try await transport.send(request)
        let status = response.head.status.code
        log.debug(
          "The server answered.",
          ["host": isShared ? "\(host)" : log.personal(host), "status": "\(status)"])
        let isTransient =
          status >= 500 && effect == .repeatable && response.head.headerFields[.retryAfter] == nil
        guard isTransient, retriesLeft > 0 else { return response }
        failure = IdentityError(.serverError, "")
      } catch {
        guard error != .cancelled else { throw .cancelled }
        failure = IdentityError(transport: error)
        log.debug(
          "The server could not be asked.",
          ["reason": isShared ? "\(failure.message)" : log.personal(failure.message)])
        guard error.isTransient(effect), retriesLeft > 0 else { throw failure }
      }
      retriesLeft -= 1
      try await timing.wait(settings.retryInterval)
    }
  }
}

extension HTTPTransportError {
  /// Whether the same request may fare better in a moment.
  fileprivate func isTransient(_ effect: HTTPSender.Effect) -> Bool {
    switch self {
    case .cannotFindHost, .cannotConnect: true
    case .connectionLost, .timedOut: effect == .repeatable
    case .invalidConfiguration, .invalidRequest, .untrustedServer, .responseTooLarge, .malformedResponse,
      .cancelled:
      false
    }
  }
}

extension IdentityError {
  /// Why no answer came.
  package init(transport error: HTTPTransportError) {
    switch error {
    case .cancelled: self = .cancelled
    case .invalidConfiguration(let reason):
      self.init(.network, "The transport is not set up right: \(reason)")
    case .invalidRequest(let reason): self.init(.network, "The request cannot be sent: \(reason)")
    case .cannotFindHost(let reason):
      self.init(.network, "The server's name cannot be resolved: \(reason)", advice: "See to the network.")
    case .cannotConnect(let reason):
      self.init(.network, "The server cannot be reached: \(reason)", advice: "See to the network.")
    case .connectionLost(let reason): self.init(.network, "The connection broke: \(reason)")
    case .untrustedServer(let reason):
      self.init(
        .network, "The server's certificate is not trusted: \(reason)",
        advice: "If its authority is your own, name its certificates to the transport.")
    case .timedOut: self.init(.network, "The server did not answer in time.")
    case .responseTooLarge(let limit):
      self.init(.network, "The server's answer is larger than \(limit) bytes.")
    case .malformedResponse(let reason): self.init(.network, "The answer cannot be read: \(reason)")
    }
    transportError = error
  }
}
