import FoundationEssentials
import HTTPSupport
import HTTPTypes
import IdentityClient
public import TokenCache

/// A part of a list.
public struct GraphPage: Sendable {
  public let items: [JSONValue]
  /// Where to ask later for what has changed since, on the last page of a delta query.
  public let deltaLink: String?
  public let response: GraphResponse
}

/// A list of Microsoft Graph, page by page. Each iteration begins at the first page.
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
    /// - Throws: ``GraphError``; ``GraphError/Code/hostNotAllowed`` if the list goes on at another origin, and
    ///   ``GraphError/Code/invalidResponse`` if it comes back to a page that was there. The page with such a
    ///   link comes before the error.
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
        throw failure(.invalidResponse, "Graph's answer is no list.", response)
      }
      if let link = members["@odata.nextLink"] {
        do throws(GraphError) {
          request.path = try nextURL(link, after: url, response).absoluteString
          request.query = [:]
          self.state = .success(request)
        } catch {
          self.state = .failure(error)
        }
      }
      return GraphPage(
        items: items, deltaLink: members["@odata.deltaLink"]?.stringValue, response: response)
    }

    private func nextURL(
      _ link: JSONValue, after url: URL, _ response: GraphResponse
    ) throws(GraphError) -> URL {
      guard let next = link.stringValue.flatMap({ URL(string: $0) }) else {
        throw failure(.invalidResponse, "The link to the next page is none.", response)
      }
      guard let head = HTTPRequest(.get, https: next), next.user == nil,
        head.authority?.lowercased() == HTTPRequest(.get, https: url)?.authority?.lowercased()
      else {
        let host = (next.host ?? "no host").printable(limit: 200)
        throw failure(
          .hostNotAllowed, "The list goes on at another address (\(host)), which gets no token.", response)
      }
      guard !visited.contains(next) else {
        throw failure(.invalidResponse, "The list comes back to a page that was there.", response)
      }
      return next
    }

    private func failure(_ code: GraphError.Code, _ message: String, _ response: GraphResponse) -> GraphError
    {
      var error = GraphError(code, message)
      error.httpStatus = response.status
      error.requestID = response.requestID
      error.clientRequestID = response.clientRequestID
      return error
    }
  }
}
