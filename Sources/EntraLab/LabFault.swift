/// A fault for the next requests to one kind of endpoint.
package struct LabFault: Codable, Sendable {
  package enum Connection: String, Codable, Sendable {
    /// Closed before the response.
    case drop
    /// Closed before the response, with a TCP reset.
    case reset
    /// Closed after half of the body, whose whole length the header announces.
    case truncate
    /// Responds with bytes that are not HTTP.
    case garbage
  }

  package var target: LabEndpoint
  /// The number of requests that it applies to.
  package var count: Int?
  package var status: Int?
  package var headers: [String: String]?
  package var body: String?
  /// The size of a body of "x" instead of `body`, in bytes.
  package var bodySize: Int?
  /// The delay of the response in seconds, at most 600.
  package var delay: Double?
  package var connection: Connection?
  /// Whether the request is carried out first: codes are used, tokens are issued, and only the response is lost.
  package var afterHandling: Bool?

  package init(
    _ target: LabEndpoint, count: Int = 1, status: Int? = nil, headers: [String: String]? = nil,
    body: String? = nil, bodySize: Int? = nil, delay: Double? = nil, connection: Connection? = nil,
    afterHandling: Bool = false
  ) {
    self.target = target
    self.count = count
    self.status = status
    self.headers = headers
    self.body = body
    self.bodySize = bodySize
    self.delay = delay
    self.connection = connection
    self.afterHandling = afterHandling
  }

  /// Whether this fault keeps the real response and only delays it or breaks its connection.
  private var keepsResponse: Bool { status == nil && body == nil && bodySize == nil }

  /// The response to send. `handle` is called if the request is carried out.
  func reply(_ handle: () -> LabReply) -> LabReply {
    let breaksBefore = connection == .drop || connection == .reset
    var reply =
      afterHandling == true || keepsResponse && !breaksBefore
      ? handle() : LabReply(contentType: "application/json", body: [])
    if !keepsResponse {
      reply.status = min(max(status ?? 200, 200), 599)
      let size = min(bodySize ?? 0, 256 << 20)
      reply.body = size > 0 ? [UInt8](repeating: UInt8(ascii: "x"), count: size) : Array((body ?? "").utf8)
    }
    reply.headers.merge(headers ?? [:]) { _, new in new }
    reply.delay = .seconds(min(max(delay ?? 0, 0), 600))
    reply.connection = connection
    return reply
  }
}

/// The kinds of endpoints, for faults and the log.
package enum LabEndpoint: String, Codable, Sendable, CaseIterable {
  case discovery, instance, keys, authorize, login, token, deviceCode, devicePage, logout, nativeClient
  case userInfo, graph, control, log, other
  /// An API that accepts only signed requests with bound tokens.
  case protected
  /// A request in a batch for Graph, for faults only: their status, headers and body are used.
  case batchItem
}

/// A request that the lab received, with everything that was sent, including the lab's own worthless secrets.
package struct LabLogEntry: Codable, Sendable {
  package let number: Int
  package let endpoint: LabEndpoint
  package let method: String
  package let path: String
  package let query: [String: String]
  package let form: [String: String]
  /// The names of repeated parameters.
  package let duplicates: [String]
  /// The header fields by their names in lower case.
  package let headers: [String: String]
  /// The response's status; 0 without a response.
  package let status: Int
}
