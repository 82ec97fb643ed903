import SoupTransport
import TestSupport

extension TransportTests {
  @Suite struct RefusalTests {
    @Test(.conformance(47)) func `An http URL is refused before anything is sent`() async throws {
      let server = try RawServer(nil) { _ in }
      let transport = try makeTransport()
      for scheme in ["http", "HTTP", "ftp", "", nil] as [String?] {
        var request = get(server.port)
        request.head.scheme = scheme
        _ = try await failure(transport, request, is: HTTPTransportError.invalidRequest)
      }
      #expect(server.connectionCount == 0)
    }

    @Test(
      arguments: [
        (nil, "/"), ("", "/"), ("user:secret@localhost", "/"), ("localhost", nil), ("localhost", "x"),
        ("local host", "/"), (":443", "/"), ("localhost:99999999", "/"), ("localhost/x", "/"),
        ("localhost", "/a b"),
      ] as [(String?, String?)])
    func `An invalid URL is refused`(_ authority: String?, _ path: String?) async throws {
      var request = get(1)
      (request.head.authority, request.head.path) = (authority, path)
      let text = try await failure(makeTransport(), request, is: HTTPTransportError.invalidRequest)
      #expect(!text.contains("secret"))
    }

    @Test(arguments: ["Host", "content-length", "Transfer-Encoding", "Connection"])
    func `Header fields of the transport are refused`(_ name: String) async throws {
      let request = get(1, fields: [HTTPField.Name(name)!: "1", HTTPField.Name("Connection")!: "2"])
      let text = try await failure(makeTransport(), request, is: HTTPTransportError.invalidRequest)
      #expect(text == "The header field \(name) is set by the transport.")
    }
  }
}
