import Foundation
import LabSupport

extension LabClient {
  /// Asks the lab's API for bound tokens, as the request that a result was signed for, unless told otherwise.
  func protected(
    _ result: AuthenticationResult, path: String = "/orders", method: HTTPRequest.Method = .get
  ) async throws -> (status: Int, error: String?) {
    let answer = try await send(result, to: lab.protectedURL + path, method: method)
    let fields = try JSONDecoder().decode([String: String].self, from: answer.body)
    return (answer.head.status.code, fields["error"])
  }

  /// The scheme for a request to that API.
  func popScheme(_ path: String = "/orders", method: String = "GET", nonce: String? = nil) throws -> PopScheme
  {
    PopScheme(
      httpMethod: method, url: try #require(URL(string: lab.protectedURL + path)), nonce: nonce)
  }

  /// Asks the lab's Graph for the signed-in user.
  func graph(_ result: AuthenticationResult) async throws -> HTTPTransportResponse {
    try await send(result, to: lab.graphURL + "/me", method: .get)
  }

  private func send(
    _ result: AuthenticationResult, to address: String, method: HTTPRequest.Method
  ) async throws -> HTTPTransportResponse {
    let url = try #require(URL(string: address))
    var head = HTTPRequest(
      method: method, scheme: "https", authority: "localhost:\(try #require(url.port))",
      path: url.path(percentEncoded: true))
    head.headerFields[.authorization] = result.authorizationHeader
    return try await transport.send(HTTPTransportRequest(head))
  }

  func recordCount() async throws -> Int { try await cache.snapshot().document.recordCount }

  func refreshTokens() async throws -> [String] {
    try await cache.snapshot().document.refreshTokens.values.compactMap(\.secret)
  }
}

/// Waits until no process listens on a port of the loopback interface. A listener gives it back on its own thread.
func portCloses(_ port: Int) async throws {
  try await eventually { RawClient(UInt16(port)) == nil }
}
