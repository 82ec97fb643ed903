struct LabRequest: Sendable {
  let method: String
  /// The path, percent-decoded.
  let path: String
  let encodedPath: String
  /// The origin that the client used, for example `https://localhost:35711`; all URLs in responses begin with it.
  let base: String
  let query: Parameters
  let form: Parameters
  /// The header fields by their names in lower case.
  let headers: [String: String]
  let body: [UInt8]

  var host: String { String(base.dropFirst("https://".count)) }
  /// The fields of a form or, with another method, of the query.
  var fields: Parameters { method == "POST" ? form : query }

  func requirePOST() throws(LabError) {
    if method != "POST" { throw .invalidRequest(900_561, "The endpoint only accepts POST requests.") }
  }
}

/// A response, and how its connection ends.
struct LabReply: Sendable {
  var status: Int
  var headers: [String: String]
  var body: [UInt8]
  var delay: Duration = .zero
  /// How the connection is broken; `nil` for a complete response.
  var connection: LabFault.Connection?
  /// Whether delayed responses are sent now.
  var endsDelays = false

  init(status: Int = 200, headers: [String: String] = [:], contentType: String, body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.headers["Content-Type"] = contentType
    self.body = body
  }

  init(status: Int = 200, html: String) {
    self.init(status: status, contentType: "text/html; charset=utf-8", body: Array(html.utf8))
  }

  init(status: Int = 200, json: some Encodable) {
    self.init(status: status, contentType: "application/json; charset=utf-8", body: encodeJSON(json))
  }

  static func redirect(to location: String) -> LabReply {
    var reply = LabReply(status: 302, html: "")
    reply.headers["Location"] = location
    return reply
  }

  static let notFound = LabReply(status: 404, html: "Not found")
}
