public import HTTPTypes
public import TokenCache

/// One request of a batch.
public struct GraphBatchRequest: Sendable {
  /// Identifies the response.
  public var id: String
  /// With a path after the version, such as `/me`. A batch may be as large as its requests allow together, and more, and take
  /// as long as the longest.
  public var request: GraphRequest
  /// The ids of requests that have to succeed before this one is carried out.
  public var dependsOn: [String]

  public init(id: String, _ request: GraphRequest, dependsOn: [String] = []) {
    self.id = id
    self.request = request
    self.dependsOn = dependsOn
  }
}

/// The response to one request of a batch.
public struct GraphBatchResponse: Sendable {
  public let id: String
  /// `nil` without a response; see ``error``.
  public let status: Int?
  public let headers: HTTPFields
  /// JSON; another type, such as a photo, is Base64 in a string.
  public let body: JSONValue?
  /// Why the request failed; `nil` for success. With status 424 another request failed that it depends on.
  public internal(set) var error: GraphError?
}
