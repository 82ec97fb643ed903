import FoundationEssentials

/// Why the lab does not do what it is asked to: an error response, to which an endpoint gives its form, or a command's failure.
package struct LabError: LocalizedError, CustomStringConvertible, Sendable {
  let error: String
  /// The AADSTS number of an OAuth endpoint's.
  let number: Int
  let text: String
  var suberror: String?
  /// A claims challenge: JSON as a string.
  var claims: String?
  var status = 400
  /// The `WWW-Authenticate` field.
  var challenge: String?

  init(_ error: String, _ number: Int, _ text: String, suberror: String? = nil, claims: String? = nil) {
    self.error = error
    self.number = number
    self.text = text
    self.suberror = suberror
    self.claims = claims
  }

  /// An error of an API.
  init(status: Int, code: String, message: String = "", challenge: String? = nil) {
    self.init(code, 0, message)
    self.status = status
    self.challenge = challenge
  }

  package static func noSuch(_ what: String) -> LabError {
    LabError(status: 400, code: "", message: "Not found: \(what).")
  }

  static func badCommand(_ why: String) -> LabError {
    LabError(status: 400, code: "", message: "Invalid command: \(why)")
  }

  package var description: String { text }
  package var errorDescription: String? { text }

  static func grant(_ number: Int, _ text: String, _ suberror: String? = nil) -> LabError {
    LabError("invalid_grant", number, text, suberror: suberror)
  }

  static func invalidRequest(_ number: Int, _ text: String) -> LabError {
    LabError("invalid_request", number, text)
  }

  static func missing(_ parameter: String) -> LabError {
    .invalidRequest(900_144, "The request body must contain the following parameter: '\(parameter)'.")
  }

  static func unknownApp(_ clientID: String) -> LabError {
    LabError(
      "unauthorized_client", 700_016, "Application with identifier '\(clientID)' was not found.")
  }

  func description(trace: String, correlation: String, now: Date) -> String {
    "AADSTS\(number): \(text) Trace ID: \(trace) Correlation ID: \(correlation) Timestamp: \(timestamp(now))"
  }

  /// In Entra's form.
  func reply(to request: LabRequest, now: Date) -> LabReply {
    let trace = randomIdentifier()
    let correlation = request.headers["client-request-id"] ?? randomIdentifier()
    var body: [String: JSON] = [
      "error": .string(error),
      "error_description": .string(description(trace: trace, correlation: correlation, now: now)),
      "error_codes": [.integer(number)],
      "timestamp": .string(timestamp(now)),
      "trace_id": .string(trace),
      "correlation_id": .string(correlation),
      "error_uri": "\(request.base)/error?code=\(number)",
    ]
    if let suberror { body["suberror"] = .string(suberror) }
    if let claims { body["claims"] = .string(claims) }
    return LabReply(status: 400, json: body)
  }

  /// The page that a browser shows if the error must not be sent to the redirect URI.
  func page(now: Date) -> LabReply {
    let text = description(trace: randomIdentifier(), correlation: randomIdentifier(), now: now)
    return LabReply(
      status: 400,
      html: HTMLPage.page(title: "Sign in", "<h1>We can't sign you in</h1><p>\(escapeHTML(text))</p>"))
  }

  private func timestamp(_ date: Date) -> String {
    date.formatted(.iso8601).replacing("T", with: " ")
  }
}
