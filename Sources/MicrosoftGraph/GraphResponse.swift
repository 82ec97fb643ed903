public import FoundationEssentials
public import HTTPTypes
import IdentityClient
public import TokenCache

/// What Microsoft Graph answered to a request that it carried out.
public struct GraphResponse: Sendable {
  /// The HTTP status, which is from 200 to 299, or 304.
  public let status: Int
  public let headers: HTTPFields
  /// Empty for an answer without one, such as status 204.
  public let body: Data
  /// What Graph's operators find the request by.
  public let requestID: String?
  /// What the client called the request.
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
      var failure =
        switch error as? ForeignJSONError {
        case .none, .notAnObject: GraphError(.invalidResponse, "Graph's answer is not \(expected).")
        case .some(let limit):
          GraphError(
            .invalidResponse, "Graph's answer was not taken: \(limit).",
            advice: "Ask for less, such as with $select, $top or without $expand.")
        }
      failure.httpStatus = status
      failure.requestID = requestID
      failure.clientRequestID = clientRequestID
      throw failure
    }
  }
}
