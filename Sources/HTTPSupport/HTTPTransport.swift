public import FoundationEssentials
public import HTTPTypes

/// Sends HTTP requests for the identity client and the Graph client.
///
/// A transport follows no redirects, keeps no cookies, sends no credentials of its own, and verifies the server's
/// certificate. What a request is for, and whether it is tried again, is its caller's business.
///
/// A test can have one of its own:
///
/// ```swift
/// struct NoNetwork: HTTPTransport {
///   func send(
///     _ request: HTTPTransportRequest
///   ) async throws(HTTPTransportError) -> HTTPTransportResponse {
///     throw .notConnected("This test has no network.")
///   }
/// }
/// ```
public protocol HTTPTransport: Sendable {
  /// Sends a request over https and collects the response, whatever its status.
  ///
  /// - Throws: ``HTTPTransportError``, also when the task is cancelled: then within milliseconds.
  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse

  /// Sends a request, and passes on each part of the response's body when it arrives, whatever the status.
  ///
  /// - Parameters:
  ///   - request: The request, whose timeout bounds everything up to the response's end, and whose size bounds each part.
  ///   - receive: Takes a part, and says whether it wants more. It must not block.
  /// - Returns: The response's head, when the body has ended or the receiver wants no more of it.
  /// - Throws: ``HTTPTransportError``, as ``send(_:)`` does; ``HTTPTransportError/invalidRequest(_:)`` from a transport
  ///   that can only collect responses.
  func stream(
    _ request: HTTPTransportRequest, _ receive: @escaping @Sendable (Data) -> Bool
  ) async throws(HTTPTransportError) -> HTTPResponse
}

extension HTTPTransport {
  public func stream(
    _ request: HTTPTransportRequest, _ receive: @escaping @Sendable (Data) -> Bool
  ) async throws(HTTPTransportError) -> HTTPResponse {
    throw .invalidRequest("This transport returns no response before it is complete.")
  }
}

/// A request together with the bounds that its caller sets.
public struct HTTPTransportRequest: Sendable {
  public var head: HTTPRequest
  public var body: Data?
  /// How long everything may take, from the name's resolution to the last byte.
  public var timeout: Duration
  /// How many bytes of body are taken; a longer response is an error.
  public var maximumBodySize: Int
  /// Whether it does no harm when the server gets the request twice, whatever the method. Such a request may go over a
  /// connection that was used before, and goes over another one where the server has closed that.
  public var isRepeatable: Bool
  /// Whether the response's body shows its own end, as JSON does, so that the receiver notices a truncated one. Then the
  /// connection is used again, even if libsoup would not notice that.
  public var isSelfDelimiting: Bool

  public init(
    _ head: HTTPRequest, body: Data? = nil, timeout: Duration = .seconds(60), maximumBodySize: Int = 1 << 20,
    isRepeatable: Bool = false, isSelfDelimiting: Bool = false
  ) {
    self.head = head
    self.body = body
    self.timeout = timeout
    self.maximumBodySize = maximumBodySize
    self.isRepeatable = isRepeatable
    self.isSelfDelimiting = isSelfDelimiting
  }
}

/// A response with its body.
public struct HTTPTransportResponse: Sendable {
  public var head: HTTPResponse
  public var body: Data

  public init(_ head: HTTPResponse, body: Data = Data()) {
    self.head = head
    self.body = body
  }
}
