import FoundationEssentials
public import HTTPSupport
import HTTPTypes
public import IdentityClient
import TokenCache

/// Why a request to Microsoft Graph failed.
public struct GraphError: Error, Sendable, CustomStringConvertible {
  /// The kinds of failure that a program can act on.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The request is invalid. Nothing was sent.
    case invalidRequest = "invalid_request"
    /// The URL's host gets no tokens. Nothing was sent there.
    case hostNotAllowed = "host_not_allowed"
    /// The token belongs to another cloud, or the account cannot be used in this one. Nothing was sent.
    case cloudMismatch = "cloud_mismatch"
    /// No token is available; see ``GraphError/identityError``.
    case authentication
    /// Graph also refuses the new token that answers its claims challenge.
    case claimsChallenge = "claims_challenge"
    /// Graph does not accept the token (status 401).
    case unauthorized
    /// The token or the user lacks the permission (status 403).
    case forbidden
    /// Not found (status 404).
    case notFound = "not_found"
    /// Too many requests (status 429); see ``GraphError/retryAfter``.
    case throttled
    /// Graph failed or is overloaded (status 500 and above).
    case serviceUnavailable = "service_unavailable"
    /// Graph redirects to another URL, which is not followed (status 300 to 399).
    case redirected
    /// Graph refuses the request for another reason; see ``GraphError/graphCode``.
    case requestRefused = "request_refused"
    /// The response is larger than the request allows.
    case responseTooLarge = "response_too_large"
    /// The response is not one of Graph's.
    case invalidResponse = "invalid_response"
    /// No response came; see ``GraphError/transportError``.
    case network
    /// The task was cancelled. Graph may have carried the request out.
    case cancelled
  }

  public var code: Code
  /// What happened: a sentence of Graph or the library, without control characters and secrets.
  public var message: String
  /// What to do about it, in a sentence.
  public var advice: String?
  /// Graph's own code, such as `Authorization_RequestDenied`.
  public var graphCode: String?
  /// The codes inside of that one, the most specific last.
  public var innerCodes: [String] = []
  /// Graph's id of the request, for support.
  public var requestID: String?
  /// The client's id of the request.
  public var clientRequestID: String?
  public var httpStatus: Int?
  /// How long to wait before a retry.
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
  static let cancelled = GraphError(.cancelled, "The request was cancelled.")

  init(_ error: IdentityError) {
    self = error.code == .cancelled ? .cancelled : GraphError(.authentication, error.message)
    advice = error.advice
    identityError = error
  }

  init(_ error: HTTPTransportError) {
    switch error {
    case .cancelled: self = .cancelled
    case .responseTooLarge(let limit):
      self.init(
        .responseTooLarge, "Graph's response is larger than \(limit) bytes.",
        advice: "Request less, such as with $select or $top, or raise the request's limit.")
    default:
      let same = IdentityError(transport: error)
      self.init(.network, same.message, advice: same.advice)
      if case .invalidRequest = error { code = .invalidRequest }
    }
    transportError = error
  }

  /// Makes an error of a response without success: `{"error": {"code", "message", "innerError": {…}}}`, where `innerError`
  /// has other spellings and may be nested.
  init(status: Int, fields: HTTPFields, body: JSONValue?) {
    let outermost = body?.objectValue?["error"]?.objectValue
    let levels = sequence(first: outermost ?? [:]) { ($0["innerError"] ?? $0["innererror"])?.objectValue }
    func texts(_ name: String) -> [String] {
      // Real errors are nested only a few levels deep.
      levels.prefix(10).compactMap { $0[name]?.stringValue?.printable(limit: 200) }
    }
    let explanation = outermost?["message"]?.stringValue?.printable() ?? ""
    let message =
      explanation.isEmpty ? "Graph responded with status \(status) and no explanation." : explanation
    switch status {
    case 300..<400:
      self.init(.redirected, "Graph redirects to another URL (status \(status)), which is not followed.")
    case 401: self.init(.unauthorized, message, advice: "Sign in again, for Microsoft Graph.")
    case 403:
      self.init(
        .forbidden, message,
        advice: "Sign in with the scope that this request needs; an administrator may have to consent.")
    case 404: self.init(.notFound, message)
    case 429: self.init(.throttled, message, advice: "Try again later.")
    case 500...: self.init(.serviceUnavailable, message, advice: "Try again later.")
    default: self.init(.requestRefused, message)
    }
    httpStatus = status
    let codes = texts("code")
    graphCode = codes.first
    innerCodes = Array(codes.dropFirst())
    requestID = fields.value(of: "request-id")?.printable(limit: 200) ?? texts("request-id").first
    if code == .throttled || code == .serviceUnavailable, let pause = fields.secondsToWait {
      retryAfter = .seconds(pause)
      advice = "Try again in \(Int(pause.rounded(.up))) seconds."
    }
  }
}

extension HTTPFields {
  func value(of name: String) -> String? {
    HTTPField.Name(name).flatMap { self[$0] }
  }

  mutating func set(_ name: String, _ value: String) {
    if let name = HTTPField.Name(name) { self[name] = value }
  }

  /// `Retry-After` in seconds, ten years at most.
  var secondsToWait: Double? {
    HTTPDate.secondsToWait(self[.retryAfter], date: self[.date], now: Date())
      .map { Swift.min($0, 315_360_000) }
  }
}
