public import FoundationEssentials
public import HTTPTypes
import IdentityClient
public import TokenCache

/// A successful response of Microsoft Graph.
public struct GraphResponse: Sendable {
  /// The HTTP status: 200, 201, 202 or 204; 206 to a request with `Range`; 304 to one with `If-None-Match` or
  /// `If-Modified-Since`.
  public let status: Int
  public let headers: HTTPFields
  /// Empty for a response without one, such as status 204.
  public let body: Data
  /// Graph's id of the request, for support.
  public let requestID: String?
  /// The client's id of the request.
  public let clientRequestID: String

  /// The body's JSON.
  ///
  /// - Throws: ``GraphError/Code/invalidResponse`` if it is invalid, or is nested deeper than 64 levels.
  public func json() throws(GraphError) -> JSONValue { try decode(JSONValue.self) }

  /// Reads a value from the body's JSON.
  ///
  /// - Throws: ``GraphError/Code/invalidResponse`` if the body does not hold one, or is nested deeper than 64 levels.
  public func decode<T: Decodable>(_ type: T.Type) throws(GraphError) -> T {
    do {
      return try decodeGraphJSON(type, from: body)
    } catch {
      let expected = T.self == JSONValue.self ? "JSON" : "the JSON of a \(T.self)"
      switch error as? ForeignJSONError {
      case nil, .notAnObject, .notANumber, .equalNames:
        throw failure(.invalidResponse, "Graph's response is not \(expected).")
      case .some(let limit):
        throw failure(
          .invalidResponse, "Graph's response exceeds a limit: \(limit).",
          advice: "Request less, such as with $select, $top or without $expand.")
      }
    }
  }

  func failure(_ code: GraphError.Code, _ message: String, advice: String? = nil) -> GraphError {
    var error = GraphError(code, message, advice: advice)
    error.httpStatus = status
    error.body = body
    error.requestID = requestID
    error.clientRequestID = clientRequestID
    return error
  }
}

/// Decodes JSON from or for Graph, within limits.
func decodeGraphJSON<T: Decodable>(_ type: T.Type, from json: Data) throws -> T {
  let value = try JSONValue(foreign: json, within: .graph)
  if let value = value as? T { return value }
  // `JSONDecoder` refuses half a surrogate pair, which the reader has replaced.
  return try JSONDecoder().decode(type, from: Data(JSONWriter.bytes(of: value, within: .graph)))
}

extension JSONLimits {
  /// A page of a list has up to a thousand entries, each with some hundred properties. The request limits
  /// the size.
  fileprivate static let graph = JSONLimits(size: .max, depth: 64, values: 1_000_000)
}
