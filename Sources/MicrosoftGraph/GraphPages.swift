import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import IdentityClient
public import TokenCache

/// A page of a list.
public struct GraphPage: Sendable {
  public let items: [JSONValue]
  /// The URL for later changes, on the last page of a delta query.
  public let deltaLink: String?
  public let response: GraphResponse
}

/// A list of Microsoft Graph, page by page. Each iteration starts with the first page.
public struct GraphPages: AsyncSequence, Sendable {
  public typealias Element = GraphPage
  public typealias Failure = GraphError

  let client: GraphClient
  let request: GraphRequest

  public func makeAsyncIterator() -> Iterator { Iterator(client: client, next: request) }

  public struct Iterator: AsyncIteratorProtocol {
    public typealias Element = GraphPage
    public typealias Failure = GraphError

    private let client: GraphClient
    /// The request for the next page, or the error; `nil` after the end.
    private var state: Result<GraphRequest, GraphError>?
    private var visited: Set<URL> = []

    init(client: GraphClient, next: GraphRequest) {
      self.client = client
      state = .success(next)
    }

    /// The next page; `nil` after the last one and after an error.
    ///
    /// - Throws: ``GraphError``; ``GraphError/Code/hostNotAllowed`` if the next link has another origin, and
    ///   ``GraphError/Code/invalidResponse`` if it is that of an earlier page. The page with such a link is returned before
    ///   the error.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(GraphError) -> GraphPage? {
      guard let state else { return nil }
      self.state = nil
      var request = try state.get()
      let url = try client.url(of: request)
      visited.insert(url)
      let response = try await client.send(request)
      guard let members = try response.json().objectValue, let items = members["value"]?.arrayValue else {
        throw response.failure(.invalidResponse, "Graph's response is not a list.")
      }
      // Relative links are relative to the context (OData JSON Format 4.01 section 4.3).
      let context = members["@odata.context"]?.stringValue.nonBlank
      let base = context.flatMap { URL(escaping: $0, relativeTo: url) } ?? url
      switch members["@odata.nextLink"] {
      case nil, .null?, ""?: break
      case .some(let link):
        do throws(GraphError) {
          let next = link.stringValue.flatMap { URL(escaping: $0, relativeTo: base) }
          request.path = try checked(next, after: url, response).absoluteString
          request.query = [:]
          request.method = .get
          request.body = nil
          request.headers[.contentType] = nil
          self.state = .success(request)
        } catch {
          self.state = .failure(error)
        }
      }
      let deltaLink = members["@odata.deltaLink"]?.stringValue.nonBlank
      return GraphPage(
        items: items, deltaLink: deltaLink.flatMap { URL(escaping: $0, relativeTo: base)?.absoluteString },
        response: response)
    }

    private func checked(
      _ next: URL?, after url: URL, _ response: GraphResponse
    ) throws(GraphError) -> URL {
      guard let next else { throw response.failure(.invalidResponse, "Invalid link to the next page.") }
      guard let host = HTTPSAddress(next)?.host else {
        throw response.failure(
          .hostNotAllowed,
          "The link to the next page is not https, or has a user name, so it gets no token.")
      }
      guard host == HTTPSAddress(url)?.host else {
        throw response.failure(
          .hostNotAllowed,
          "The list continues at another host (\(host.printable(limit: 200))), which gets no token.")
      }
      guard !visited.contains(next) else {
        throw response.failure(.invalidResponse, "The list's next link is that of an earlier page.")
      }
      return next
    }
  }
}
