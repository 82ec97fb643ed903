import FoundationEssentials
import HTTPSupport
import HTTPTypes
import SoupTransport
import Testing

/// A transport that trusts the test's authority.
func makeTransport(_ environment: [String: String] = [:], proxy: String? = nil) throws -> SoupHTTPTransport {
  try SoupHTTPTransport(
    caBundle: TestCertificates.shared.caBundle, proxy: proxy, environment: environment)
}

func get(
  _ port: UInt16, _ path: String = "/", host: String = "localhost", fields: HTTPFields = [:],
  timeout: Duration = .seconds(200), maximumBodySize: Int = 1 << 20
) -> HTTPTransportRequest {
  HTTPTransportRequest(
    HTTPRequest(
      method: .get, scheme: "https", authority: "\(host):\(port)", path: path, headerFields: fields),
    timeout: timeout, maximumBodySize: maximumBodySize)
}

func post(
  _ port: UInt16, _ body: String, method: HTTPRequest.Method = .post, timeout: Duration = .seconds(200)
) -> HTTPTransportRequest {
  HTTPTransportRequest(
    HTTPRequest(
      method: method, scheme: "https", authority: "localhost:\(port)", path: "/",
      headerFields: [.contentType: "application/x-www-form-urlencoded"]),
    body: Data(body.utf8), timeout: timeout)
}

/// The error that a request ends with, or nil.
func failure(_ transport: SoupHTTPTransport, _ request: HTTPTransportRequest) async -> HTTPTransportError? {
  do {
    _ = try await transport.send(request)
    return nil
  } catch {
    return error
  }
}

/// The text of the error with which a request has to end, an error of one kind.
func failure(
  _ transport: SoupHTTPTransport, _ request: HTTPTransportRequest, is kind: (String) -> HTTPTransportError,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws -> String {
  try text(of: await failure(transport, request), kind, sourceLocation: sourceLocation)
}

/// The text of an error that has to be of one kind.
func text(
  of error: HTTPTransportError?, _ kind: (String) -> HTTPTransportError,
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> String {
  let text: String? =
    switch error {
    case .notConnected(let text), .cannotConnect(let text), .cannotFindHost(let text),
      .secureConnectionFailed(let text), .connectionLost(let text), .invalidConfiguration(let text),
      .invalidRequest(let text), .malformedResponse(let text), .untrustedServer(let text):
      text
    case nil, .cancelled, .responseTooLarge, .timedOut: nil
    }
  #expect(text != nil && error == text.map(kind), sourceLocation: sourceLocation)
  return try #require(text, sourceLocation: sourceLocation)
}

extension HTTPTransportResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
}
