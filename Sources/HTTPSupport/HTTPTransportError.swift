public import FoundationEssentials
import GLibSupport

/// Why no response came.
public enum HTTPTransportError: LocalizedError, Sendable, Equatable {
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

extension HTTPTransportError: CustomStringConvertible {
  /// What happened, in a sentence without secrets.
  public var description: String {
    let text =
      switch self {
      case .invalidConfiguration(let reason): "The transport is not set up right: \(reason)"
      case .invalidRequest(let reason): "The request cannot be sent: \(reason)"
      case .notConnected(let reason): "The network cannot be reached: \(reason)"
      case .cannotFindHost(let reason): "The server's name cannot be resolved: \(reason)"
      case .cannotConnect(let reason): "The server cannot be reached: \(reason)"
      case .secureConnectionFailed(let reason): "No secure connection can be made: \(reason)"
      case .connectionLost(let reason): "The connection broke: \(reason)"
      case .untrustedServer(let reason): "A certificate is not trusted: \(reason)"
      case .timedOut: "The server did not respond in time"
      case .responseTooLarge(let limit): "The server's response is larger than \(limit) bytes"
      case .malformedResponse(let reason): "The response cannot be read: \(reason)"
      case .cancelled: "The request was cancelled"
      }
    return sentences(text)
  }

  /// What to do about it, in a sentence, where that does not depend on the request.
  public var advice: String? {
    switch self {
    case .notConnected, .cannotFindHost, .cannotConnect, .secureConnectionFailed:
      "Check the network connection."
    case .connectionLost, .timedOut: "Try again later."
    // Only the transport knows what is wrong with the certificate, and so whether to trust another authority.
    case .invalidConfiguration, .invalidRequest, .untrustedServer, .responseTooLarge, .malformedResponse,
      .cancelled:
      nil
    }
  }

  public var errorDescription: String? { sentences(description, advice) }
}
