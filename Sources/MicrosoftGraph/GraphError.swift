public import HTTPSupport
public import IdentityClient

/// Why Microsoft Graph did not do what it was asked for.
public struct GraphError: Error, Sendable, CustomStringConvertible {
  /// The kinds of failure that a program can act on.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The request cannot be sent as it is. Nothing was sent.
    case invalidRequest = "invalid_request"
    /// The address is on a host that gets no tokens. Nothing was sent there.
    case hostNotAllowed = "host_not_allowed"
    /// The token belongs to another cloud, or the account cannot be used in this one. Nothing was sent.
    case cloudMismatch = "cloud_mismatch"
    /// No token could be had; see ``GraphError/identityError``.
    case authentication
    /// Graph refuses the new token, too, that was got for its claims challenge.
    case claimsChallenge = "claims_challenge"
    /// Graph does not accept the token (status 401).
    case unauthorized
    /// The token or the person may not do that (status 403).
    case forbidden
    /// There is no such thing (status 404).
    case notFound = "not_found"
    /// Too many requests (status 429); see ``GraphError/retryAfter``.
    case throttled
    /// Graph failed or is overloaded (status 500 and above).
    case serviceUnavailable = "service_unavailable"
    /// Graph points to another address, which is not followed (status 300 to 399).
    case redirected
    /// Graph refuses the request for another reason; see ``GraphError/graphCode``.
    case requestRefused = "request_refused"
    /// The answer is larger than the request allows.
    case responseTooLarge = "response_too_large"
    /// The answer is not what Graph answers.
    case invalidResponse = "invalid_response"
    /// No answer came; see ``GraphError/transportError``.
    case network
    /// The task was cancelled. Graph may have carried the request out.
    case cancelled
  }

  public var code: Code
  /// What happened: a sentence of Graph's or of the library, without control characters and secrets.
  public var message: String
  /// What to do about it, in a sentence.
  public var advice: String?
  /// Graph's own code, such as `Authorization_RequestDenied`.
  public var graphCode: String?
  /// The codes inside of that one, the most specific last.
  public var innerCodes: [String] = []
  /// What Graph's operators find the request by.
  public var requestID: String?
  /// What the client called the request.
  public var clientRequestID: String?
  public var httpStatus: Int?
  /// How long Graph wants to be left alone.
  public var retryAfter: Duration?
  public var identityError: IdentityError?
  public var transportError: HTTPTransportError?

  public init(_ code: Code, _ message: String, advice: String? = nil) {
    self.code = code
    self.message = message
    self.advice = advice
  }

  public var description: String {
    advice.map { "\(message) \($0)" } ?? message
  }
}

extension GraphError {
  var allCodes: [String] { [graphCode].compactMap(\.self) + innerCodes }

  static let cancelled = GraphError(.cancelled, "The request was cancelled.")

  /// Why no token could be had.
  init(_ error: IdentityError) {
    self = error.code == .cancelled ? .cancelled : GraphError(.authentication, error.message)
    advice = error.advice
    identityError = error
  }

  /// Why no answer came.
  init(_ error: HTTPTransportError) {
    switch error {
    case .cancelled: self = .cancelled
    case .responseTooLarge(let limit):
      self.init(
        .responseTooLarge, "Graph's answer is larger than \(limit) bytes.",
        advice: "Ask for less, such as with $select or $top, or let the request take more.")
    default:
      let same = IdentityError(transport: error)
      self.init(.network, same.message, advice: same.advice)
      if case .invalidRequest = error { code = .invalidRequest }
    }
    transportError = error
  }
}
