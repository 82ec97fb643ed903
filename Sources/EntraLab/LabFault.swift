/// A fault to be played out for the next requests to one kind of endpoint.
package struct LabFault: Codable, Sendable {
  package enum Connection: String, Codable, Sendable {
    /// Closed before any answer.
    case drop
    /// Closed before any answer, with a TCP reset.
    case reset
    /// Closed in the middle of the body.
    case truncate
    /// Answered with something that is no HTTP.
    case garbage
  }

  package var target: LabEndpoint
  /// How many requests it meets.
  package var count: Int?
  package var status: Int?
  package var headers: [String: String]?
  package var body: String?
  /// A body of so many bytes of "x" instead of `body`.
  package var bodySize: Int?
  /// Seconds before the answer, 600 at most.
  package var delay: Double?
  package var connection: Connection?
  /// Carry out the request first: codes are used up, tokens are issued, and then the answer goes wrong.
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

  /// Whether this fault leaves the true answer as it is and only delays it or breaks its connection.
  private var keepsAnswer: Bool { status == nil && body == nil && bodySize == nil }

  /// The answer to be sent. `handle` is called where the request is to be carried out.
  func reply(_ handle: () -> LabReply) -> LabReply {
    let breaksBefore = connection == .drop || connection == .reset
    var reply =
      afterHandling == true || keepsAnswer && !breaksBefore
      ? handle() : LabReply(contentType: "application/json", body: [])
    if !keepsAnswer {
      reply.status = min(max(status ?? 200, 200), 599)
      let size = min(bodySize ?? 0, 256 << 20)
      reply.body = size > 0 ? [UInt8](repeating: UInt8(ascii: "x"), count: size) : Array((body ?? "").utf8)
    }
    reply.headers.merge(headers ?? [:]) { _, new in new }
    reply.delay = .seconds(min(max(delay ?? 0, 0), 600))
    switch connection {
    case nil: break
    case .drop: reply.ending = .dropped
    case .reset: reply.ending = .reset
    case .truncate: reply.ending = .truncated
    case .garbage: reply.ending = .garbage
    }
    return reply
  }
}

/// The kinds of endpoints, for faults and the log.
package enum LabEndpoint: String, Codable, Sendable, CaseIterable {
  case discovery, instance, keys, authorize, login, token, deviceCode, devicePage, logout, nativeClient
  case userInfo, graph, control, log, other
  /// An API that takes nothing but signed requests with tokens that are bound to a key.
  case protected
  /// A request inside of a batch for Graph: for faults alone, of which the status, the header and the body count.
  case batchItem
}

/// A request that the lab received. Holds everything that was sent, the lab's own worthless secrets too.
package struct LabLogEntry: Codable, Sendable {
  package let number: Int
  package let endpoint: LabEndpoint
  package let method: String
  package let path: String
  package let query: [String: String]
  package let form: [String: String]
  /// Names of parameters that came more than once.
  package let duplicates: [String]
  /// The header fields by their names in lower case.
  package let headers: [String: String]
  /// The answer's status; 0 if there was none.
  package let status: Int
}
