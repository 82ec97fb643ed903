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
/// let graph = GraphClient(transport: transport, cloud: .global) { claims throws(IdentityError) in
///   try await client.acquireTokenSilent(
///     SilentRequest(scopes: ["User.Read"], account: account, claims: claims))
/// }
/// let me = try await graph.me(select: ["displayName", "mail"])
/// for try await page in graph.pages(of: "/me/messages?$top=50") {
///   print(page.items.count)
/// }
/// ```
///
/// A token goes to the hosts of the client's ``GraphCloud`` only, over https only. What Graph could not do because
/// it is overloaded is tried again, see ``GraphRetryPolicy``; a claims challenge is answered once with a new
/// token.
public final class GraphClient: Sendable {
  /// Gets a token. It is asked for each call, and once more with claims when Graph challenged the token.
  public typealias TokenSource =
    @Sendable (ClaimsRequest?) async throws(IdentityError) -> AuthenticationResult

  public let cloud: GraphCloud
  let transport: any HTTPTransport
  let tokens: TokenSource
  let retries: GraphRetryPolicy
  let timing: Timing

  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - cloud: Where Graph is; ``GraphCloud/cloud(for:)`` knows it for an authority.
  ///   - retries: How long to try when Graph is overloaded.
  ///   - tokens: Gets a token, from the cache if it can; with claims, which no token in the cache has, from the
  ///     network or the person. Calls at the same time ask at the same time.
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
  /// - Parameter select: The names of the properties to ask for; Graph's choice without any.
  /// - Returns: The user, with these properties.
  /// - Throws: ``GraphError``.
  public func me(select: [String] = []) async throws(GraphError) -> GraphUser {
    let query = select.isEmpty ? [:] : ["$select": select.joined(separator: ",")]
    return try await get("/me", query: query).decode(GraphUser.self)
  }

  /// The photo of the signed-in user, mostly a JPEG; `nil` without one.
  ///
  /// - Throws: ``GraphError``.
  public func photo() async throws(GraphError) -> Data? {
    do throws(GraphError) {
      return try await get("/me/photo/$value").body
    } catch  where error.code == .notFound && error.allCodes.contains("ImageNotFound") {
      return nil
    }
  }

  /// Asks for anything.
  ///
  /// - Parameters:
  ///   - path: As in ``GraphRequest/path``.
  ///   - query: Added to the query that the path may have.
  /// - Returns: An answer with a status of success.
  /// - Throws: ``GraphError``.
  public func get(
    _ path: String, query: [String: String] = [:]
  ) async throws(GraphError) -> GraphResponse {
    try await send(GraphRequest(path, query: query))
  }

  /// Sends any request.
  ///
  /// - Returns: An answer with a status of success.
  /// - Throws: ``GraphError`` for any other answer, and for none.
  public func send(_ request: GraphRequest) async throws(GraphError) -> GraphResponse {
    try await GraphCall(client: self, request: request, url: url(of: request)).run()
  }

  /// A list page by page, for as long as there are more.
  ///
  /// The next page is asked for only at the address that Graph gives, and only where that is of the same origin.
  public func pages(of path: String) -> GraphPages { pages(of: GraphRequest(path)) }

  /// A list page by page, every one asked for with the header fields of the request.
  public func pages(of request: GraphRequest) -> GraphPages { GraphPages(client: self, request: request) }

  /// Sends several requests at once (JSON batching), 20 at a time.
  ///
  /// Those that Graph throttles are sent again, as often as ``GraphRetryPolicy`` allows.
  ///
  /// - Parameter requests: With ids that differ, and paths after the version. One may depend on those before it.
  /// - Returns: The answers in the order of the requests, refusals too.
  /// - Throws: ``GraphError`` if no request was answered at all.
  public func batch(_ requests: [GraphBatchRequest]) async throws(GraphError) -> [GraphBatchResponse] {
    var run = try BatchRun(client: self, requests: requests)
    return try await run.run()
  }
}
