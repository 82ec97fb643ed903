/// Why no response came.
public enum HTTPTransportError: Error, Sendable, Equatable {
  /// The CA bundle or the proxy that the program or its environment names cannot be used.
  case invalidConfiguration(String)
  /// Something else than https was asked for, or the request cannot be sent as it is.
  case invalidRequest(String)
  /// This machine has no network, or no name server can be reached.
  case notConnected(String)
  /// The host's name could not be resolved.
  case cannotFindHost(String)
  /// The connection was refused, or the host is down.
  case cannotConnect(String)
  /// No TLS connection could be made, for another reason than the certificate: such as a proxy or server without TLS.
  case secureConnectionFailed(String)
  /// The connection broke before the response was complete.
  case connectionLost(String)
  /// The certificate is from an authority that is not trusted, for another host, expired, or otherwise bad. The text also
  /// says what to do, where the transport knows it.
  case untrustedServer(String)
  case timedOut
  /// The response's body is larger than the request allows.
  case responseTooLarge(limit: Int)
  /// What came is no HTTP.
  case malformedResponse(String)
  /// The task was cancelled. The server may have carried the request out.
  case cancelled

  package static func cutOff(by host: String) -> HTTPTransportError {
    .connectionLost("\(host) closed the connection before the end of its response.")
  }
}
