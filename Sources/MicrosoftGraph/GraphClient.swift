public import FoundationEssentials
public import HTTPSupport
import HTTPTypes
public import IdentityClient
import TokenCache

/// Calls Microsoft Graph for a signed-in account.
///
/// For example:
///
/// ```swift
/// let graph = GraphClient(transport: transport, cloud: .global) {
///   claims throws(IdentityError) in
///   try await client.acquireTokenSilent(
///     SilentRequest(
///       scopes: ["User.Read"], account: account, claims: claims))
/// }
/// let me = try await graph.me(select: ["displayName", "mail"])
/// for try await page in graph.pages(of: "/me/messages?$top=50") {
///   print(page.items.count)
/// }
/// ```
///
/// Tokens are sent only to the hosts of the client's ``GraphCloud``, and only over https. Requests that an overloaded Graph
/// refuses are retried, see ``GraphRetryPolicy``. A claims challenge is answered once with a new token.
public final class GraphClient: Sendable {
  /// Gets a token: for each call, after each pause, and once more with claims when Graph challenged the token.
  public typealias TokenSource =
    @Sendable (ClaimsRequest?) async throws(IdentityError) -> AuthenticationResult

  public let cloud: GraphCloud
  let transport: any HTTPTransport
  let tokens: TokenSource
  let retries: GraphRetryPolicy
  let timing: Timing

  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - cloud: Graph's host; ``GraphCloud/cloud(for:)`` returns it for an authority.
  ///   - retries: How long to retry when Graph is overloaded.
  ///   - tokens: Gets a token, from the cache if possible; with claims, which no cached token has, from the network or
  ///     by a sign-in. Concurrent calls call it concurrently.
  public convenience init(
    transport: any HTTPTransport, cloud: GraphCloud, retries: GraphRetryPolicy = GraphRetryPolicy(),
    tokens: @escaping TokenSource
  ) {
    self.init(transport: transport, cloud: cloud, retries: retries, timing: .system, tokens: tokens)
  }

  package init(
    transport: any HTTPTransport, cloud: GraphCloud, retries: GraphRetryPolicy, timing: Timing,
    tokens: @escaping TokenSource
  ) {
    self.transport = transport
    self.cloud = cloud
    self.retries = retries
    self.timing = timing
    self.tokens = tokens
  }

  /// Gets the signed-in user.
  ///
  /// - Parameter select: The names of the properties; empty for Graph's default.
  /// - Returns: The user, with these properties.
  /// - Throws: ``GraphError``.
  public func me(select: [String] = []) async throws(GraphError) -> GraphUser {
    let query = select.isEmpty ? [:] : ["$select": select.joined(separator: ",")]
    return try await get("/me", query: query).decode(GraphUser.self)
  }

  /// Gets the photo of the signed-in user, usually a JPEG; `nil` without one.
  ///
  /// - Throws: ``GraphError``.
  public func photo() async throws(GraphError) -> Data? {
    do throws(GraphError) {
      return try await get("/me/photo/$value").body
    } catch  where error.code == .notFound {
      // Its own code has changed several times.
      return nil
    }
  }

  /// Sends a GET request.
  ///
  /// - Parameters:
  ///   - path: As in ``GraphRequest/path``.
  ///   - query: Added to the query that the path may have.
  /// - Returns: A successful response.
  /// - Throws: ``GraphError``.
  public func get(
    _ path: String, query: [String: String] = [:]
  ) async throws(GraphError) -> GraphResponse {
    try await send(GraphRequest(path, query: query))
  }

  /// Sends any request.
  ///
  /// - Returns: A successful response.
  /// - Throws: ``GraphError`` for any other response, and without one.
  public func send(_ request: GraphRequest) async throws(GraphError) -> GraphResponse {
    try await GraphCall(client: self, request: request, isRepeatable: request.isRepeatable).run()
  }

  /// Reads a list page by page to its end.
  ///
  /// The next page is read with GET from the URL that Graph returns, if it has the same origin.
  public func pages(of path: String) -> GraphPages { pages(of: GraphRequest(path)) }

  /// Reads a list page by page. The request gets the first page. The next pages are read with GET and its header fields.
  public func pages(of request: GraphRequest) -> GraphPages { GraphPages(client: self, request: request) }

  /// Sends several requests at once (JSON batching), 20 at a time.
  ///
  /// Throttled requests are repeated as often as ``GraphRetryPolicy`` allows.
  ///
  /// - Parameter requests: With unique ids, and paths after the version. A request may depend on earlier ones.
  /// - Returns: The responses in the order of the requests, including refusals.
  /// - Throws: ``GraphError`` if no request got a response.
  public func batch(_ requests: [GraphBatchRequest]) async throws(GraphError) -> [GraphBatchResponse] {
    var run = try BatchRun(client: self, requests: requests)
    return try await run.run()
  }
}
