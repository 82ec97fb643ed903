public import FoundationEssentials
public import HTTPTypes

/// Sends HTTP requests for the identity client and the Graph client.
///
/// A transport follows no redirects, keeps no cookies, sends no credentials of its own, and verifies the server's
/// certificate. What a request is for, and whether it is tried again, is its caller's business.
public protocol HTTPTransport: Sendable {
  /// Sends a request over https and collects the answer, whatever its status.
  ///
  /// - Throws: ``HTTPTransportError``, also when the task is cancelled: then within milliseconds.
  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse
}

/// A request together with the bounds that its caller sets.
public struct HTTPTransportRequest: Sendable {
  public var head: HTTPRequest
  public var body: Data?
  /// How long everything may take, from the name's resolution to the last byte.
  public var timeout: Duration
  /// How many bytes of body are taken; a longer answer is an error.
  public var maximumBodySize: Int

  public init(
    _ head: HTTPRequest, body: Data? = nil, timeout: Duration = .seconds(60), maximumBodySize: Int = 1 << 20
  ) {
    self.head = head
    self.body = body
    self.timeout = timeout
    self.maximumBodySize = maximumBodySize
  }
}

/// An answer with its body.
public struct HTTPTransportResponse: Sendable {
  public var head: HTTPResponse
  public var body: Data

  public init(_ head: HTTPResponse, body: Data = Data()) {
    self.head = head
    self.body = body
  }
}
