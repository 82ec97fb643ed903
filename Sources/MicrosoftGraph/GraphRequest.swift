public import FoundationEssentials
public import HTTPTypes

/// A request to Microsoft Graph.
public struct GraphRequest: Sendable {
  /// A path after the version, such as `/me/messages?$top=3`, or an absolute https URL on a host that gets tokens, such as
  /// one of the beta version. Escapes stay, and what needs escaping is escaped.
  public var path: String
  public var method: HTTPRequest.Method
  /// Added to the query that ``path`` may have. Values are escaped.
  public var query: [String: String]
  /// Without `Authorization`, which the client sets. A body without `Content-Type` is JSON.
  public var headers: HTTPFields
  public var body: Data?
  /// The maximum size of the response in bytes (default: 16 MiB). A longer response is an error.
  public var maximumResponseSize = 16 << 20
  /// The timeout of one attempt. All attempts end when this and ``GraphRetryPolicy/maximumWait`` have passed.
  public var timeout: Duration = .seconds(60)

  public init(
    _ path: String, method: HTTPRequest.Method = .get, query: [String: String] = [:],
    headers: HTTPFields = [:], body: Data? = nil
  ) {
    self.path = path
    self.method = method
    self.query = query
    self.headers = headers
    self.body = body
  }

  /// Whether a repetition has no additional effect and the same response. A second DELETE would report that
  /// there is nothing.
  var isRepeatable: Bool { [.get, .head, .options, .put].contains(method) }
}
