import SoupTransport
import TestSupport

/// etcd's gateway, spoken to without the store.
struct RawGateway {
  let endpoint: String

  init(_ node: EtcdNode) { endpoint = node.endpoint }

  func value(_ key: String) async throws -> [UInt8]? {
    let answer = try await call("kv/range", ["key": .string(base64(Array(key.utf8)))])
    guard let value = answer["kvs"]?.arrayValue?.first?.objectValue else { return nil }
    return Array(Data(base64Encoded: value["value"]?.stringValue ?? "") ?? Data())
  }

  func put(_ value: [UInt8], to key: String) async throws {
    _ = try await call("kv/put", ["key": .string(base64(Array(key.utf8))), "value": .string(base64(value))])
  }

  /// The revision of the whole cluster.
  func revision() async throws -> Int64 {
    let header = try await call("kv/range", ["key": .string(base64([0]))])["header"]?.objectValue
    return header?["revision"]?.stringValue.flatMap { Int64($0) } ?? 0
  }

  func call(_ method: String, _ message: JSONObject) async throws -> JSONObject {
    let body = try JSONEncoder().encode(JSONValue.object(message))
    let head = HTTPRequest(
      method: .post, scheme: "http", authority: String(endpoint.dropFirst("http://".count)),
      path: "/v3/" + method)
    let response = try await Fixture.transport.get().send(
      HTTPTransportRequest(head, body: body, isRepeatable: true))
    return try JSONDecoder().decode(JSONObject.self, from: response.body)
  }

  private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
