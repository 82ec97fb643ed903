import SoupTransport
import TestSupport

extension TransportTests {
  @Suite struct AnswerTests {
    @Test func `A request is sent and its response returned`() async throws {
      let server = try TestServer { request in
        .init(
          status: 201, fields: [("X-Two", "a"), ("X-Two", "b"), ("Content-Type", "text/plain")],
          body: Array((request.body + request.target).utf8))
      }
      var request = post(server.port, "grant=1")
      request.head.path = "/a%20b?c=d%26e"
      request.head.headerFields[.authorization] = "Bearer secret"
      let response = try await makeTransport().send(request)
      #expect(response.head.status.code == 201)
      #expect(response.text == "grant=1/a%20b?c=d%26e")
      #expect(response.head.headerFields[values: HTTPField.Name("X-Two")!] == ["a", "b"])
      let seen = try #require(server.requests.first)
      #expect(seen.method == "POST")
      #expect(seen.fields["authorization"] == "Bearer secret")
      #expect(seen.fields["content-type"] == "application/x-www-form-urlencoded")
      #expect(seen.fields["content-length"] == "7")
      #expect(seen.fields["accept-encoding"] == "gzip")
      #expect(seen.fields["host"] == "localhost:\(server.port)")
    }

    @Test(arguments: [HTTPRequest.Method.patch, .put, .delete, .head, .options])
    func `Every method arrives`(_ method: HTTPRequest.Method) async throws {
      let server = try TestServer { .init(fields: [("X-Method", $0.method)]) }
      var request = get(server.port)
      request.head.method = method
      let response = try await makeTransport().send(request)
      #expect(response.head.headerFields[HTTPField.Name("X-Method")!] == method.rawValue)
      #expect(response.body.isEmpty)
    }

    @Test(.conformance(50))
    func `A redirect is returned, not followed`() async throws {
      let elsewhere = try TestServer { _ in .init() }
      let target = "https://localhost:\(elsewhere.port)/stolen"
      for status in [301, 302, 303, 307, 308] {
        let server = try TestServer { _ in .init(status: status, fields: [("Location", target)]) }
        let transport = try makeTransport()
        let response = try await transport.send(get(server.port, fields: [.authorization: "Bearer secret"]))
        #expect(response.head.status.code == status)
        #expect(response.head.headerFields[.location] == target)
        _ = try await transport.send(post(server.port, "a=b"))
        #expect(server.requests.count == 2)
      }
      #expect(elsewhere.requests.isEmpty)
    }

    @Test(arguments: [
      ([("Set-Cookie", "a=b; Path=/")], "cookie"),
      ([("Cache-Control", "max-age=3600"), ("ETag", "\"1\"")], "if-none-match"),
    ])
    func `Cookies and responses are not kept`(_ fields: [(String, String)], _ absent: String) async throws {
      let server = try TestServer { _ in .init(fields: fields, body: [65]) }
      let transport = try makeTransport()
      for _ in 0..<2 { _ = try await transport.send(get(server.port)) }
      #expect(server.requests.count == 2)
      #expect(server.requests.allSatisfy { $0.fields[absent] == nil })
    }

    @Test(.fault("401 kept open"), arguments: [401, 407])
    func `A chunked 401 on a kept connection is a response`(status: Int) async throws {
      let server = try RawServer { connection in
        while connection.readRequest() != nil {
          connection.write("HTTP/1.1 \(status) No\r\nTransfer-Encoding: chunked\r\n\r\n")
          connection.write("5\r\nhello\r\n0\r\n\r\n")
        }
      }
      let response = try await makeTransport().send(get(server.port))
      #expect(response.head.status.code == status)
      #expect(response.text == "hello")
    }

    @Test(arguments: [204, 304]) func `A response without a body may have a length`(status: Int) async throws
    {
      let server = try RawServer { connection in
        guard connection.readRequest() != nil else { return }
        connection.write("HTTP/1.1 \(status) No\r\nContent-Length: 5\r\n\r\n")
        _ = connection.read()
      }
      let response = try await makeTransport().send(get(server.port))
      #expect(response.head.status.code == status && response.body.isEmpty)
    }

    @Test(arguments: ["Basic realm=\"x\"", "Bearer error=\"invalid_token\"", "Negotiate", "NTLM"])
    func `A challenge is returned at once`(_ challenge: String) async throws {
      let server = try TestServer { _ in .init(status: 401, fields: [("WWW-Authenticate", challenge)]) }
      let response = try await makeTransport().send(get(server.port))
      #expect(response.head.status.code == 401)
      #expect(response.head.headerFields[.wwwAuthenticate] == challenge)
      #expect(server.requests.count == 1)
    }

    @Test func `A connection is reused`() async throws {
      let server = try TestServer { _ in .init(body: [65]) }
      let transport = try makeTransport()
      for _ in 0..<5 { _ = try await transport.send(get(server.port)) }
      #expect(Set(server.requests.map(\.connection)).count == 1)
    }

    @Test func `Fifty concurrent requests succeed`() async throws {
      let rest = String(repeating: "A", count: 200_000)
      let server = try TestServer { .init(body: Array(($0.target + rest).utf8)) }
      let transport = try makeTransport()
      let texts = try await atOnce(0..<50) { number in
        (number, try await transport.send(get(server.port, "/\(number)")).text)
      }
      #expect(texts.count == 50)
      #expect(texts.allSatisfy { $0.1 == "/\($0.0)\(rest)" })
    }

    @Test func `A response outlives the transport`() async throws {
      let server = try TestServer { _ in .init(body: [65]) }
      for _ in 0..<20 {
        #expect(try await makeTransport().send(get(server.port)).text == "A")
      }
    }
  }
}
