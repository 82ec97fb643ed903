import SoupTransport
import TestSupport

/// The output of `printf 'hello hello hello' | gzip -n`.
let packedHello = Array(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJV8hAkACAiPnlEQAAAA==") ?? Data())

extension TransportTests {
  /// The framing and encoding of a response's body.
  @Suite struct BodyTests {
    private func answer(
      _ fields: String, _ body: [UInt8], maximumBodySize: Int = 1 << 20
    ) async throws -> Result<String, HTTPTransportError> {
      let server = try RawServer { connection in
        guard connection.readRequest() != nil else { return }
        connection.write(Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8) + body)
        // A client that considers the body complete does not wait for the end of the connection.
        _ = connection.read()
      }
      let transport = try makeTransport()
      do {
        return .success(try await transport.send(get(server.port, maximumBodySize: maximumBodySize)).text)
      } catch {
        return .failure(error)
      }
    }

    /// The error of a refused response.
    private func reason(_ fields: String, _ body: [UInt8]) async throws -> String {
      let answer = try await answer(fields, body)
      let error = #expect(throws: HTTPTransportError.self) { try answer.get() }
      return try text(of: error, HTTPTransportError.malformedResponse)
    }

    @Test(
      .conformance(62),
      arguments: [
        "0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        "0005\r\nhello\r\n000\r\n\r\n", "000000000000005\r\nhello\r\n0\r\n\r\n",
        "5;name=\"value\"\r\nhello\r\n0;last\r\nX-Trailer: 1\r\nY: 2\r\n\r\n",
      ])
    func `Chunks are put together`(_ body: String) async throws {
      let text = try await answer("Transfer-Encoding: chunked", Array(body.utf8)).get()
      #expect(text == (body == "0\r\n\r\n" ? "" : "hello"))
    }

    @Test(.conformance(62)) func `Chunks that arrive byte by byte are put together`() async throws {
      let server = try RawServer { connection in
        guard connection.readRequest() != nil else { return }
        connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Encoding: gzip\r\n\r\n")
        let body = Array("A\r\n".utf8) + packedHello[..<10] + Array("\r\n12\r\n".utf8) + packedHello[10...]
        for byte in body + Array("\r\n0\r\nX: y\r\n\r\n".utf8) { connection.write([byte]) }
        _ = connection.read()
      }
      #expect(try await makeTransport().send(get(server.port)).text == "hello hello hello")
    }

    @Test(.conformance(62)) func `A connection of chunks is not used again`() async throws {
      let server = try RawServer { connection in
        while connection.readRequest() != nil {
          connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\n\r\n")
        }
      }
      let transport = try makeTransport()
      for _ in 0..<3 { #expect(try await transport.send(get(server.port)).text == "A") }
      #expect(server.connectionCount == 3)
    }

    @Test(
      .conformance(62),
      arguments: [
        "\r\nhello\r\n0\r\n\r\n", "x\r\nhello\r\n0\r\n\r\n", "5x\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", " 5\r\nhello\r\n0\r\n\r\n",
        "10000000000000005\r\nhello\r\n0\r\n\r\n", "0000000000000005\r\nhello\r\n0\r\n\r\n",
        "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "5\nhello\n0\n\n", "5\r\nhello!\r\n0\r\n\r\n", "5\r\nhello0\r\n\r\n", "5\r\nhello\r\n;\r\n\r\n",
      ])
    func `Invalid chunks are an error`(_ body: String) async throws {
      _ = try await reason("Transfer-Encoding: chunked", Array(body.utf8))
    }

    @Test(.conformance(62), arguments: ["gzip", "GZIP", "x-gzip", "identity", ""])
    func `A gzip body is decoded`(_ encoding: String) async throws {
      let isPacked = encoding.lowercased().hasSuffix("gzip")
      let body = isPacked ? packedHello : Array("hello hello hello".utf8)
      let fields = "Content-Length: \(body.count)\r\nContent-Encoding: \(encoding)"
      #expect(try await answer(fields, body).get() == "hello hello hello")
    }

    @Test(.conformance(62)) func `An empty body needs no encoding`() async throws {
      #expect(try await answer("Content-Length: 0\r\nContent-Encoding: gzip", []).get() == "")
    }

    static let broken: [(encoding: String, body: [UInt8])] = [
      // Every prefix of a complete body.
      ("gzip", Array(packedHello.prefix(1))), ("gzip", Array(packedHello.prefix(10))),
      ("gzip", Array(packedHello.prefix(20))), ("gzip", Array(packedHello.dropLast())),
      // Trailing bytes, and another check sum.
      ("gzip", packedHello + [0]), ("gzip", packedHello + packedHello),
      ("gzip", packedHello.dropLast(5) + [1, 17, 0, 0, 0]),
      ("gzip", Array("hello".utf8)),
      // Encodings that were not requested.
      ("gzip, gzip", packedHello), ("gzip\r\nContent-Encoding: gzip", packedHello), ("br", [0x06]),
      ("deflate", [0x78, 0x9c, 0x03, 0, 0, 0, 0, 1]), ("secret", packedHello),
    ]

    @Test(.conformance(62), arguments: broken.indices)
    func `A body that cannot be fully decoded is an error`(_ index: Int) async throws {
      let (encoding, body) = Self.broken[index]
      let fields = "Content-Length: \(body.count)\r\nContent-Encoding: \(encoding)"
      let text = try await reason(fields, body)
      #expect(text.contains("localhost") && !text.contains("secret"))
    }

    @Test(.conformance(65)) func `The decoded body counts against the limit`() async throws {
      let fields = "Content-Length: \(packedHello.count)\r\nContent-Encoding: gzip"
      #expect(try await answer(fields, packedHello, maximumBodySize: 17).get() == "hello hello hello")
      #expect(
        try await answer(fields, packedHello, maximumBodySize: 16) == .failure(.responseTooLarge(limit: 16)))
    }

    /// Streams that never decode to a byte of body.
    struct Endless: Sendable, CustomTestStringConvertible {
      let testDescription: String
      let start: [UInt8]
      /// Repeated without end.
      let block: [UInt8]

      init(_ name: String, _ head: String, _ start: [UInt8], _ block: [UInt8]) {
        testDescription = name
        self.start = Array("HTTP/1.1 200 OK\r\n\(head)".utf8) + start
        self.block = Array(repeatElement(block, count: 4096).joined())
      }
    }

    static let gzipHeader: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
    static let endless = [
      Endless("stored blocks", "Content-Encoding: gzip\r\n\r\n", gzipHeader, [0, 0, 0, 0xff, 0xff]),
      Endless(
        "blocks of fixed codes", "Content-Encoding: gzip\r\n\r\n", gzipHeader, [0x02, 0x08, 0x20, 0x80, 0]),
      Endless("a file's name", "Content-Encoding: gzip\r\n\r\n", [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3], [65]),
      Endless(
        "stored blocks in chunks", "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n",
        Array("a\r\n".utf8) + gzipHeader + Array("\r\n".utf8),
        Array("5\r\n".utf8) + [0, 0, 0, 0xff, 0xff] + Array("\r\n".utf8)),
      Endless("a chunk's extension", "Transfer-Encoding: chunked\r\n\r\n5;", [], [65]),
      Endless("trailers", "Transfer-Encoding: chunked\r\n\r\n0\r\n", [], Array("X: y\r\n".utf8)),
    ]

    @Test(.conformance(62, 65), arguments: endless, [false, true])
    func `A body that decodes to nothing ends at a limit and at the deadline`(
      _ endless: Endless, _ hasDeadline: Bool
    ) async throws {
      let server = try RawServer { connection in
        guard connection.readRequest() != nil, connection.write(endless.start) else { return }
        while connection.write(endless.block) {}
      }
      let request =
        hasDeadline
        ? get(server.port, timeout: .milliseconds(300), maximumBodySize: 1 << 40) : get(server.port)
      switch await failure(try makeTransport(), request) {
      case .malformedResponse: break
      case let error: #expect(error == (hasDeadline ? .timedOut : .responseTooLarge(limit: 1 << 20)))
      }
    }

    @Test(.conformance(62), arguments: endless)
    func `A body that decodes to nothing ends when the task is cancelled`(_ endless: Endless) async throws {
      let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
      let server = try RawServer { connection in
        defer { arrival.finish() }
        guard connection.readRequest() != nil, connection.write(endless.start) else { return }
        var rounds = 0
        while connection.write(endless.block) {
          rounds += 1
          if rounds == 100 { arrival.finish() }
        }
      }
      let transport = try makeTransport()
      let task = Task { await failure(transport, get(server.port, maximumBodySize: 1 << 40)) }
      for await _ in arrived {}
      task.cancel()
      switch await task.value {
      case .cancelled, .malformedResponse: break
      case let error: Issue.record("\(String(describing: error))")
      }
    }

    /// The library reads as long as there is something, and does not return to its loop.
    @Test(.conformance(62)) func `Endless informational responses are an error`() async throws {
      let server = try RawServer { connection in
        _ = connection.readRequest()
        let block = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000)
        while connection.write(block) {}
      }
      _ = try await failure(makeTransport(), get(server.port), is: HTTPTransportError.malformedResponse)
      let limited = try RawServer { connection in
        let count = connection.readRequest()?.contains("/101") == true ? 101 : 100
        connection.write(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: count))
        connection.answer("hello")
      }
      #expect(await failure(try makeTransport(), get(limited.port, "/100")) == nil)
      #expect(await failure(try makeTransport(), get(limited.port, "/101")) != nil)
    }
  }
}
