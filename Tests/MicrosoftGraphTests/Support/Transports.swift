import Foundation
import HTTPSupport
import HTTPTypes
import Synchronization

/// A request as it left the client.
struct SentRequest: Sendable {
  let method: String
  let host: String
  let path: String
  let headers: [String: String]
  let body: Data

  init(_ request: HTTPTransportRequest) {
    (method, host) = (request.head.method.rawValue, request.head.authority ?? "")
    path = request.head.path ?? ""
    headers = Dictionary(
      request.head.headerFields.map { ($0.name.canonicalName, $0.value) }, uniquingKeysWith: { $1 })
    body = request.body ?? Data()
  }
}

/// Remembers what goes through another transport.
final class RecordingTransport: HTTPTransport {
  private let base: any HTTPTransport
  private let list = Mutex<[SentRequest]>([])

  init(_ base: any HTTPTransport) { self.base = base }

  var requests: [SentRequest] { list.withLock { $0 } }

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    list.withLock { $0.append(SentRequest(request)) }
    return try await base.send(request)
  }
}

/// Answers without a network, where the lab cannot be: at Microsoft's own hosts.
struct ScriptedTransport: HTTPTransport {
  let answer: @Sendable (SentRequest) throws(HTTPTransportError) -> (Int, [String: String], String)

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    let (status, headers, body) = try answer(SentRequest(request))
    var fields = HTTPFields()
    for (name, value) in headers {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    return HTTPTransportResponse(
      HTTPResponse(status: .init(code: status), headerFields: fields), body: Data(body.utf8))
  }
}
