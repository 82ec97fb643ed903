import Foundation
package import HTTPSupport
import HTTPTypes
import Synchronization
package import TokenCache

/// A request as the client sent it.
package struct SeenRequest: Sendable {
  package let method: String
  package let url: URL
  /// With the port, where the address has one.
  package let host: String
  /// With the query.
  package let path: String
  package let headers: [String: String]
  package let body: Data
  package let timeout: Duration?

  package init(_ request: HTTPTransportRequest) {
    method = request.head.method.rawValue
    timeout = request.timeout
    (host, path) = (request.head.authority ?? "", request.head.path ?? "")
    url = URL(string: "https://\(host)\(path)") ?? URL(filePath: "/")
    headers = Dictionary(
      request.head.headerFields.map { ($0.name.canonicalName, $0.value) },
      uniquingKeysWith: { $0 + ", " + $1 })
    body = request.body ?? Data()
  }

  package var form: [String: String] { FormEncoding.decode(body) ?? [:] }

  package var query: [String: String] {
    path.split(separator: "?", maxSplits: 1).dropFirst().first.flatMap { FormEncoding.decode($0.utf8) } ?? [:]
  }
}

/// A scripted response.
package enum ScriptedAnswer: Sendable {
  case json(JSONObject, status: Int = 200, headers: [String: String] = [:])
  case text(String, status: Int = 200)
  case bytes([UInt8])
  case failure(HTTPTransportError)

  package static func refusal(
    _ error: String, _ subError: String? = nil, status: Int = 400, code: Int? = nil,
    adding more: JSONObject = [:], headers: [String: String] = [:]
  ) -> ScriptedAnswer {
    var fields: JSONObject = ["error": .string(error)]
    fields["suberror"] = subError.map(JSONValue.string)
    fields["error_description"] = .string("AADSTS\(code ?? 1): refused\r\nTrace ID: 1")
    fields["error_codes"] = code.map { .array([.integer(Int64($0))]) }
    return .json(fields.merging(more) { $1 }, status: status, headers: headers)
  }
}

extension ScriptedAnswer {
  /// A code for a sign-in on another device. `null` takes a member out.
  package static func deviceCode(changing changes: JSONObject = [:]) -> ScriptedAnswer {
    let fields: JSONObject = [
      "device_code": "device-1", "user_code": "ABCD-EFGH",
      "verification_uri": "https://microsoft.com/devicelogin", "expires_in": .integer(900),
      "interval": .integer(5), "message": "Open the page and enter the code.",
    ]
    return .json(fields.merging(changes) { $1 }.filter { $0.value != .null })
  }
}

/// An authority, and a service for its tokens, that responds as a test wants and records the requests.
///
/// Without a script it only has a discovery document for every authority, or passes requests on.
package final class ScriptedTransport: HTTPTransport {
  package typealias Script = @Sendable (SeenRequest) async throws(HTTPTransportError) -> ScriptedAnswer?

  private struct State {
    var requests: [SeenRequest] = []
    var tokenAnswers: [ScriptedAnswer] = []
    var deviceAnswers: [ScriptedAnswer] = []
    var script: Script?
    var metadata: JSONObject = [:]
  }

  private let state = Mutex(State())

  private let base: (any HTTPTransport)?

  /// - Parameter base: What is asked where a test has no response, also for discovery documents.
  package init(base: (any HTTPTransport)? = nil) { self.base = base }

  /// Adds responses of the token endpoint, in their order.
  package func answerTokens(_ answers: ScriptedAnswer...) { state.withLock { $0.tokenAnswers += answers } }

  /// Adds responses of the device authorization endpoint, in their order.
  package func answerDevices(_ answers: ScriptedAnswer...) { state.withLock { $0.deviceAnswers += answers } }

  /// Sets a script that comes before all other responses, unless it returns nil.
  package func script(_ script: @escaping Script) { state.withLock { $0.script = script } }

  /// Members of every discovery document in place of those it has.
  package func setMetadata(_ members: JSONObject) {
    precondition(base == nil, "The documents are those of the base.")
    state.withLock { $0.metadata = members }
  }

  package var requests: [SeenRequest] { state.withLock { $0.requests } }
  package var tokenRequests: [SeenRequest] { requests.filter { $0.url.path.hasSuffix("/token") } }
  package var discoveryRequests: [SeenRequest] { requests.filter { $0.url.path.contains(".well-known") } }
  package var instanceRequests: [SeenRequest] {
    requests.filter { $0.url.path.hasSuffix("/discovery/instance") }
  }
  /// How many scripted responses were not requested.
  package var answersLeft: Int { state.withLock { $0.tokenAnswers.count + $0.deviceAnswers.count } }

  package func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse
  {
    let seen = SeenRequest(request)
    let script = state.withLock { state in
      state.requests.append(seen)
      return state.script
    }
    var answer = try await script?(seen)
    if answer == nil { answer = addedAnswer(seen) }
    if answer == nil, let base { return try await base.send(request) }
    if answer == nil { answer = discoveryDocument(seen) }
    switch answer {
    case nil: throw .cannotConnect("nothing is scripted for \(seen.url)")
    case .failure(let error): throw error
    case .text(let text, let status):
      return HTTPTransportResponse(HTTPResponse(status: .init(code: status)), body: Data(text.utf8))
    case .bytes(let bytes): return HTTPTransportResponse(HTTPResponse(status: .ok), body: Data(bytes))
    case .json(let fields, let status, let headers):
      var head = HTTPResponse(status: .init(code: status))
      for (name, value) in headers {
        if let name = HTTPField.Name(name) { head.headerFields[name] = value }
      }
      return HTTPTransportResponse(head, body: (try? JSONEncoder().encode(fields)) ?? Data())
    }
  }

  /// The next of the responses that the test added for an endpoint.
  private func addedAnswer(_ request: SeenRequest) -> ScriptedAnswer? {
    let path = request.url.path
    return state.withLock { state in
      if path.hasSuffix("/token"), !state.tokenAnswers.isEmpty { return state.tokenAnswers.removeFirst() }
      if path.hasSuffix("/devicecode"), !state.deviceAnswers.isEmpty {
        return state.deviceAnswers.removeFirst()
      }
      return nil
    }
  }

  private func discoveryDocument(_ request: SeenRequest) -> ScriptedAnswer? {
    guard request.url.path.hasSuffix("/.well-known/openid-configuration") else { return nil }
    return .json(Self.document(for: request).merging(state.withLock { $0.metadata }) { $1 })
  }

  /// The discovery document of the requested authority.
  private static func document(for request: SeenRequest) -> JSONObject {
    var parts = request.url.path.split(separator: "/").map(String.init)
    parts.removeLast(2)
    let isVersioned = parts.last == "v2.0"
    if isVersioned { parts.removeLast() }
    let host = request.host
    let base = "https://\(host)/" + parts.joined(separator: "/")
    let prefix = isVersioned ? "\(base)/oauth2/v2.0" : "\(base)/oauth2"
    let tenant = parts.last ?? ""
    let issuerTenant = ["common", "organizations"].contains(tenant) ? "{tenantid}" : tenant
    let issuer = isVersioned ? "https://\(host)/\(issuerTenant)/v2.0" : base
    return [
      "issuer": .string(issuer),
      "authorization_endpoint": .string("\(prefix)/authorize"), "token_endpoint": .string("\(prefix)/token"),
      "device_authorization_endpoint": .string("\(prefix)/devicecode"),
      "end_session_endpoint": .string("\(prefix)/logout"),
    ]
  }
}

/// A transport whose requests and answers a test changes.
package struct ChangedTransport: HTTPTransport {
  private let exchange:
    @Sendable (HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse

  package init(
    _ exchange:
      @escaping @Sendable (HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse
  ) {
    self.exchange = exchange
  }

  package func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse
  {
    try await exchange(request)
  }
}
