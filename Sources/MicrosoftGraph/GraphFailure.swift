import FoundationEssentials
import HTTPSupport
import HTTPTypes
import IdentityClient
import TokenCache

/// What Graph says about a request that it refused: `{"error": {"code", "message", "innerError": {…}}}`, where
/// `innerError` has other spellings and more of its kind inside.
struct GraphFailure {
  private(set) var codes: [String] = []
  private(set) var message: String?
  private(set) var requestID: String?

  init(_ body: JSONValue?) {
    var level = body?.objectValue?["error"]?.objectValue
    message = level?["message"]?.stringValue?.printable()
    // Real errors are nested only a few levels deep.
    for _ in 0..<10 {
      guard let members = level else { return }
      if let code = members["code"]?.stringValue { codes.append(code.printable(limit: 200)) }
      requestID = requestID ?? members["request-id"]?.stringValue?.printable(limit: 200)
      level = (members["innerError"] ?? members["innererror"])?.objectValue
    }
  }
}

extension GraphError {
  /// An answer with a status that is no success.
  init(status: Int, fields: HTTPFields, body: JSONValue?) {
    let failure = GraphFailure(body)
    let said = failure.message.flatMap { $0.isEmpty ? nil : $0 }
    let message = said ?? "Graph answered with status \(status) and no explanation."
    switch status {
    case 300..<400:
      self.init(.redirected, "Graph points to another address (status \(status)), which is not followed.")
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
    graphCode = failure.codes.first
    innerCodes = Array(failure.codes.dropFirst())
    requestID = fields.value(of: "request-id")?.printable(limit: 200) ?? failure.requestID
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

  /// `Retry-After` in seconds, ten years at most. A date is compared with the server's own clock where the
  /// answer tells it.
  var secondsToWait: Double? {
    let now = self[.date].flatMap(HTTPDate.parse) ?? Date()
    return HTTPDate.secondsToWait(self[.retryAfter], now: now).map { Swift.min($0, 315_360_000) }
  }
}
