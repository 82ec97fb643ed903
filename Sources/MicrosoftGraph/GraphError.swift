public import FoundationEssentials
import GLibSupport
public import HTTPSupport
import HTTPTypes
public import IdentityClient
public import TokenCache

/// Why a request to Microsoft Graph failed.
public struct GraphError: LocalizedError, Sendable, CustomStringConvertible {
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
  /// What the error is about, such as the name of a property.
  public var target: String?
  /// The errors behind this one, such as one for each invalid property.
  public var details: [Detail] = []
  /// The service's own description of the cause, as it was sent. Its members depend on the service.
  public var innerError: JSONObject?
  /// The response's body as it was sent, also one that is not JSON; `nil` for a redirect. It may contain personal data.
  public var body: Data?
  /// Graph's id of the request, for support.
  public var requestID: String?
  /// The client's id of the request.
  public var clientRequestID: String?
  public var httpStatus: Int?
  /// How long to wait before a retry.
  public var retryAfter: Duration?
  public var identityError: IdentityError?
  /// The claims that the next sign-in has to ask for, as JSON, where Graph refuses the new token, too.
  public var claims: String?
  public var transportError: HTTPTransportError?

  public init(_ code: Code, _ message: String, advice: String? = nil) {
    self.code = code
    self.message = message
    self.advice = advice
  }

  /// One of several errors behind an error.
  public struct Detail: Sendable, Hashable {
    public var code: String?
    public var message: String?
    /// What it is about, such as the name of a property.
    public var target: String?
  }

  /// The codes in ``innerError``, the most specific last.
  public var innerCodes: [String] { innerLevels.compactMap { $0.text("code") } }

  /// As many as the limits of JSON let through.
  private var innerLevels: some Sequence<JSONObject> {
    sequence(first: innerError ?? [:]) { $0.member("innererror")?.objectValue }
  }

  public var description: String { sentences(message, advice) }
  public var errorDescription: String? { description }
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

  /// Makes an error of a response without success.
  ///
  /// Graph's own form is `{"error": {"code", "message", "target", "details": […], "innerError": {…}}}`. Services behind it and
  /// gateways before it send others: `odata.error`, a message in an object or in JSON of its own, the members of OAuth or of
  /// RFC 9457, or a text.
  init(status: Int, fields: HTTPFields, body: Data) {
    let members = (try? decodeGraphJSON(JSONValue.self, from: body))?.objectValue ?? [:]
    let error = (members.member("error") ?? members.member("odata.error"))?.objectValue ?? members
    let details = (error.member("details") ?? error.member("errors"))?.arrayValue ?? []
    let reasons = details.prefix(100).compactMap(\.objectValue)
    let isText = fields[.contentType]?.lowercased().hasPrefix("text/plain") == true
    let text: String? = isText ? String(decoding: body, as: UTF8.self) : nil
    let message =
      error.explanation ?? reasons.first?.explanation ?? text.nonBlank?.printable()
      ?? "Graph responded with status \(status) and no explanation."
    switch status {
    case 200..<300:
      self.init(
        .invalidResponse, "Graph responded with status \(status), which is none of this request's.")
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
    // That of a redirect may have the URL, which may be as good as a token.
    if code != .redirected { self.body = body }
    graphCode = error.text("code") ?? error.text("error")
    target = error.text("target")
    self.details = reasons.map {
      Detail(code: $0.text("code"), message: $0.explanation, target: $0.text("target"))
    }
    innerError = error.member("innererror")?.objectValue
    requestID =
      fields.value(of: "request-id")?.printable(limit: 200)
      ?? ([error] + innerLevels).compactMap { $0.text("request-id") }.first
    if code == .throttled || code == .serviceUnavailable, let pause = fields.secondsToWait {
      retryAfter = .seconds(pause)
      advice = "Try again in \(Int(pause.rounded(.up))) seconds."
    }
  }
}

extension JSONObject {
  /// The member of that name, whose case differs between services.
  fileprivate func member(_ name: String) -> JSONValue? {
    self[name] ?? first { $0.key.lowercased() == name }?.value
  }

  fileprivate func text(_ name: String) -> String? {
    member(name)?.stringValue.nonBlank?.printable(limit: 200)
  }

  /// The message, a sentence for people.
  fileprivate var explanation: String? {
    let names = ["message", "error_description", "detail", "title"]
    return names.lazy.compactMap { name -> String? in
      let value = member(name)
      let single = value?.objectValue?.member("value") ?? value
      guard let text = single?.stringValue.nonBlank else { return nil }
      let inner = try? decodeGraphJSON(JSONValue.self, from: Data(text.utf8)).objectValue
      return (inner?.member("message")?.stringValue ?? text).printable()
    }.first
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
