import Dispatch
import SoupTransport
import TestSupport

extension TransportTests {
  /// Streamed responses, and requests without TLS.
  @Suite struct StreamTests {
    @Test func `Each part of a response is delivered when it arrives`() async throws {
      let isTaken = DispatchSemaphore(value: 0)
      let server = try RawServer { connection in
        guard connection.readRequest() != nil else { return }
        connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<5 {
          connection.write("5\r\nhello\r\n")
          // The next part is sent when this one was received, so the client must not wait for it first.
          isTaken.wait()
        }
        connection.write("0\r\n\r\n")
        _ = connection.read()
      }
      let parts = Mutex<[String]>([])
      let head = try await makeTransport().stream(get(server.port, maximumBodySize: 10)) { part in
        parts.withLock { $0.append(String(decoding: part, as: UTF8.self)) }
        isTaken.signal()
        return true
      }
      #expect(head.status == .ok)
      #expect(parts.withLock { $0 } == Array(repeating: "hello", count: 5))
    }

    /// Cancels a stream that has begun, and expects it to end.
    private func cancelAfterOnePart(
      _ request: HTTPTransportRequest, of transport: @escaping @Sendable () throws -> SoupHTTPTransport
    ) async throws {
      let (parts, part) = AsyncStream.makeStream(of: Void.self)
      let stream = Task {
        try await transport().stream(request) { _ in
          part.yield()
          return true
        }
      }
      for await _ in parts { break }
      stream.cancel()
      await #expect(throws: HTTPTransportError.cancelled) { try await stream.value }
    }

    @Test func `Stopping to read a stream ends the exchange, also the transport's last`() async throws {
      let ended = Mutex(0)
      let server = try RawServer { connection in
        guard connection.readRequest() != nil else { return }
        connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        while connection.read() != nil {}
        ended.withLock { $0 += 1 }
      }
      for _ in 0..<20 {
        _ = try await makeTransport().stream(get(server.port)) { _ in false }
        try await cancelAfterOnePart(get(server.port), of: { try makeTransport() })
      }
      try await eventually { ended.withLock { $0 } == 40 }
    }

    @Test func `Streams keep no other request waiting`() async throws {
      let server = try RawServer { connection in
        guard let request = connection.readRequest() else { return }
        guard request.contains("/stream") else { return _ = connection.answer("hello") }
        connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        _ = connection.read()
      }
      let transport = try makeTransport()
      let (parts, part) = AsyncStream.makeStream(of: Void.self)
      let streams = (0..<40).map { _ in
        Task {
          defer { part.finish() }
          _ = try await transport.stream(get(server.port, "/stream")) { _ in
            part.yield()
            return true
          }
        }
      }
      defer { for stream in streams { stream.cancel() } }
      var began = parts.makeAsyncIterator()
      for _ in streams { try #require(await began.next() != nil) }
      #expect(try await transport.send(get(server.port)).text == "hello")
    }

    @Test func `A stream ends with its task, and a truncated one is an error`() async throws {
      let server = try RawServer { connection in
        guard connection.readRequest() != nil else { return }
        connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        if connection.number > 1 { _ = connection.read() }
      }
      let transport = try makeTransport()
      let request = get(server.port)
      await #expect(throws: HTTPTransportError.self) { try await transport.stream(request) { _ in true } }
      try await cancelAfterOnePart(request, of: { transport })
    }

    @Test func `Plaintext HTTP is for loopback only, where allowed, and bypasses proxies`()
      async throws
    {
      let server = try RawServer(nil) { connection in
        while connection.readRequest() != nil { connection.answer("hello") }
      }
      func request(_ host: String) -> HTTPTransportRequest {
        HTTPTransportRequest(HTTPRequest(method: .get, scheme: "http", authority: host, path: "/"))
      }
      let nowhere = "http://127.0.0.1:\(ReservedPort.refusing.number)"
      let proxies = ["https_proxy": nowhere, "all_proxy": nowhere]
      let transport = try SoupHTTPTransport(environment: proxies, allowsLoopbackHTTP: true)
      for host in ["127.0.0.1", "localhost"] {
        #expect(try await transport.send(request("\(host):\(server.port)")).text == "hello")
      }
      for host in [
        "192.0.2.1", "127.0.0.1.example.com", "localhost.example.com", "user@127.0.0.1", "[::2]", "127.1",
        "localhost:1@evil.example", "[::1]@evil.example",
      ] {
        let request = request("\(host):\(server.port)")
        _ = try await failure(transport, request, is: HTTPTransportError.invalidRequest)
      }
      let strict = try SoupHTTPTransport(environment: [:])
      let error = await failure(strict, request("127.0.0.1:\(server.port)"))
      #expect(error == .invalidRequest("Invalid scheme http: expected https."))
    }

    @Test func `An idempotent request uses a kept connection`() async throws {
      let server = try RawServer { connection in
        while connection.readRequest() != nil { connection.answer("hello") }
      }
      let transport = try makeTransport()
      var request = post(server.port, "a=b")
      request.isRepeatable = true
      for _ in 0..<5 { _ = try await transport.send(request) }
      #expect(server.connectionCount == 1)
      for _ in 0..<2 { _ = try await transport.send(post(server.port, "a=b")) }
      #expect(server.connectionCount == 3)
    }

    @Test func `A connection that has sent chunks is kept if the receiver checks their end`() async throws {
      let server = try RawServer { connection in
        while connection.readRequest() != nil {
          connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
          connection.write("4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n")
        }
      }
      let transport = try makeTransport()
      var request = get(server.port)
      for (isSelfDelimiting, connections) in [(true, 1), (false, 3)] {
        request.isSelfDelimiting = isSelfDelimiting
        for _ in 0..<3 { #expect(try await transport.send(request).text == #"{"a":1}"#) }
        #expect(server.connectionCount == connections)
      }
    }
  }
}
