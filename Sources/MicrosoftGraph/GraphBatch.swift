public import HTTPTypes
public import TokenCache

/// One request of a batch.
public struct GraphBatchRequest: Sendable {
  /// What the answer is known by.
  public var id: String
  /// With a path after the version, such as `/me`. Its bounds are not used.
  public var request: GraphRequest
  /// The ids of requests that have to succeed before this one is carried out.
  public var dependsOn: [String]

  public init(id: String, _ request: GraphRequest, dependsOn: [String] = []) {
    self.id = id
    self.request = request
    self.dependsOn = dependsOn
  }
}

/// What became of one request of a batch.
public struct GraphBatchResponse: Sendable {
  public let id: String
  /// `nil` if no answer came; see ``error``.
  public let status: Int?
  public let headers: HTTPFields
  /// JSON; what is not, such as a photo, comes as Base64 in a string.
  public let body: JSONValue?
  /// Why the request failed; `nil` if it did not. With status 424 another one did, which it depends on.
  public let error: GraphError?
}
