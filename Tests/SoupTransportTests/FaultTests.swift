import SoupTransport
import TestSupport

extension TransportTests {
  @Suite struct FaultTests {
    @Test(.conformance(61)) func `A refused connection is cannotConnect`() async throws {
      let port = ReservedPort.refusing.number
      let text = try await failure(makeTransport(), get(port), is: HTTPTransportError.cannotConnect)
      #expect(text.contains("localhost:\(port)"))
    }

    @Test(.conformance(61)) func `An unknown host is cannotFindHost`() async throws {
      // Without a name server the resolver may take long.
      let request = get(443, host: "unknown.invalid", timeout: .seconds(300))
      switch await failure(try makeTransport(), request) {
      // The second without a name server.
      case .cannotFindHost(let text), .notConnected(let text): #expect(text.contains("unknown.invalid"))
      case let error: Issue.record("\(String(describing: error))")
      }
    }

    struct Fault: Sendable, CustomTestStringConvertible {
      enum Expected {
        case lost, malformed
      }

      let testDescription: String
      let expected: Expected
      let serve: @Sendable (RawConnection) -> Void

      /// Writes a text, and then uses the connection.
      init(
        _ name: String, _ expected: Expected, _ text: String = "",
        then end: @escaping @Sendable (RawConnection) -> Void = { _ in }
      ) {
        (testDescription, self.expected) = (name, expected)
        serve = { connection in
          connection.write(text)
          end(connection)
        }
      }
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

    static let faults = [
      Fault("body shorter than announced", .lost, ok + "Content-Length: 10\r\n\r\n12345"),
      Fault(
        "body shorter than announced, connection to be closed", .lost,
        ok + "Connection: close\r\nContent-Length: 10\r\n\r\n12345"),
      Fault(
        "HTTP/1.0 body shorter than announced", .lost, "HTTP/1.0 200 OK\r\nContent-Length: 10\r\n\r\n12345"),
      Fault("reset in the body", .lost, ok + "Content-Length: 10\r\n\r\n12345") { $0.reset() },
      Fault("reset before the response", .lost) { $0.reset() },
      Fault("closed before the response", .lost),
      Fault("closed in the header", .malformed, ok + "Content-"),
      Fault("dropped in the header", .lost, ok + "Content-") { $0.drop() },
      Fault("dropped after a chunk", .lost, chunked + "5\r\n12345\r\n") { $0.drop() },
      Fault("dropped in a body without a length", .lost, ok + "Connection: close\r\n\r\n12345") { $0.drop() },
      Fault("cleartext in the body", .lost, ok + "Content-Length: 10\r\n\r\n12345") { connection in
        connection.writeCleartext("12345, and no TLS")
      },
      Fault("chunks aborted in the middle", .lost, chunked + "50\r\n12345") { $0.reset() },
      Fault("not HTTP", .malformed, "hello, this is no HTTP at all\r\n\r\n"),
      Fault("a status that is not a number", .malformed, "HTTP/1.1 abc OK\r\n\r\n"),
      Fault("a header without an end", .malformed, ok) { connection in
        let field = "X: " + String(repeating: "x", count: 1000) + "\r\n"
        while connection.write(field) {}
      },
      Fault("chunks without the last one", .lost, chunked + "5\r\n12345\r\n"),
      Fault("chunks that end within a size", .lost, chunked + "5\r\n12345\r\n1"),
      Fault("chunks that end within the trailers", .lost, chunked + "5\r\n12345\r\n0\r\nX: y\r\n"),
      Fault("no chunk at all", .lost, chunked),
      Fault(
        "a truncated gzip body", .lost,
        ok + "Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n"
      ) { connection in
        connection.write(Array(packedHello.prefix(20)))
      },
    ]

    @Test(.conformance(62), arguments: faults) func `A truncated or invalid response is an error`(
      _ fault: Fault
    ) async throws {
      let server = try RawServer { connection in
        guard connection.readRequest() != nil else { return }
        fault.serve(connection)
      }
      var request = post(server.port, "refresh_token=secret")
      request.head.headerFields[.authorization] = "Bearer secret"
      let kind =
        fault.expected == .lost ? HTTPTransportError.connectionLost : HTTPTransportError.malformedResponse
      let text = try await failure(makeTransport(), request, is: kind)
      #expect(text.contains("localhost") && !text.contains("secret"))
    }

    static let slowServers: [Named<@Sendable () throws -> RawServer>] = [
      // The connection is not accepted, and TLS never begins.
      Named("connecting", { try RawServer(nil) { connection in while connection.read() != nil {} } }),
      Named("waiting for a response", { try RawServer { connection in while connection.read() != nil {} } }),
      Named(
        "a slow header",
        {
          try RawServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\n")
            while connection.write("X: y\r\n") { usleep(20_000) }
          }
        }
      ),
      Named("a slow body", { try drip("Content-Length: 100000", [120]) }),
      Named(
        "a slow compressed body",
        { try drip("Content-Encoding: gzip", [0, 0, 0, 0xff, 0xff], BodyTests.gzipHeader) }
      ),
    ]

    /// A server that sends parts of a body slowly.
    private static func drip(_ field: String, _ part: [UInt8], _ start: [UInt8] = []) throws -> RawServer {
      try RawServer { connection in
        _ = connection.readRequest()
        connection.write(Array("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n".utf8) + start)
        while connection.write(part) { usleep(20_000) }
      }
    }

    @Test(.conformance(62), arguments: slowServers)
    func `The timeout includes all parts of an exchange`(_ slow: Named<@Sendable () throws -> RawServer>)
      async throws
    {
      let server = try slow.value()
      let request = get(server.port, timeout: .milliseconds(300))
      let transport = try makeTransport()
      let start = ContinuousClock.now
      #expect(await failure(transport, request) == .timedOut)
      #expect(ContinuousClock.now - start >= request.timeout)
    }

    @Test func `An elapsed timeout is timedOut`() async throws {
      #expect(
        await failure(try makeTransport(), get(1, host: "unknown.invalid", timeout: .zero)) == .timedOut)
    }

    @Test func `A cancelled task ends without waiting`() async throws {
      let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
      let server = try RawServer { connection in
        _ = connection.readRequest()
        arrival.yield()
        _ = connection.read()
      }
      let transport = try makeTransport()
      let task = Task { await failure(transport, get(server.port)) }
      for await _ in arrived { break }
      task.cancel()
      #expect(await task.value == .cancelled)
    }

    @Test func `A task that is cancelled before the request sends nothing`() async throws {
      let server = try RawServer { _ in }
      let transport = try makeTransport()
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await failure(transport, get(server.port))
      }
      #expect(await task.value == .cancelled)
      #expect(server.connectionCount == 0)
    }

    @Test func `Cancelling at any moment resumes once, and affects no other request`() async throws {
      let server = try TestServer { _ in .init(body: Array(repeating: 65, count: 200_000)) }
      let transport = try makeTransport()
      for round in 0..<100 {
        let task = Task { await failure(transport, get(server.port)) }
        async let other = transport.send(get(server.port))
        usleep(UInt32(round * 100))
        task.cancel()
        let error = await task.value
        #expect(error == nil || error == .cancelled)
        #expect(try await other.body.count == 200_000)
      }
    }

    @Test func `A server that offers HTTP/2 is asked over HTTP/1.1`() async throws {
      let server = try RawServer(offersHTTP2: true) { connection in
        if connection.readRequest() != nil { connection.answer("hello") }
      }
      #expect(try await makeTransport().send(get(server.port)).text == "hello")
    }

    @Test func `A body at the limit is accepted, one byte more is refused`() async throws {
      let server = try TestServer { request in
        .init(body: Array(repeating: 65, count: request.target == "/more" ? 1001 : 1000))
      }
      let transport = try makeTransport()
      #expect(try await transport.send(get(server.port, maximumBodySize: 1000)).body.count == 1000)
      let error = await failure(transport, get(server.port, "/more", maximumBodySize: 1000))
      #expect(error == .responseTooLarge(limit: 1000))
    }

    /// In its own process: the memory of concurrent tests would count too.
    @Test(.conformance(65)) func `A body of 50 MB is refused and not kept`() async {
      await #expect(processExitsWith: .success) { try await refuseLargeBody(announced: true) }
      await #expect(processExitsWith: .success) { try await refuseLargeBody(announced: false) }
    }

    @Test(.fault("few fds")) func `Too few descriptors are an error, not a crash`() async {
      await #expect(processExitsWith: .success) {
        let transport = try makeTransport()
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var few = limit
        few.rlim_cur = 4
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few)
        let error = await failure(transport, get(1))
        // The leak sanitizer opens files when the process ends.
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(error == .cannotConnect("Too many open files."))
      }
    }

    /// A program that exits at once must not do so while the thread loads libraries.
    @Test func `The thread starts with the first request`() async throws {
      await #expect(processExitsWith: .success) {
        func hasThread() throws -> Bool {
          let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
          return threads.contains {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "llavero-http\n"
          }
        }
        let transport = try makeTransport()
        // A thread sets its name itself.
        for _ in 0..<1000 { try #require(try !hasThread()) }
        let server = try RawServer { _ in }
        server.stop()
        _ = await failure(transport, get(server.port))
        #expect(try hasThread())
      }
    }

    /// The server continues the body of an abandoned response.
    @Test func `An abandoned response is not mistaken for the next one`() async throws {
      let (moment, abandoned) = AsyncStream.makeStream(of: RawConnection.self)
      let server = try RawServer { connection in
        while let request = connection.readRequest() {
          if request.contains("/long") {
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n12345")
            abandoned.yield(connection)
          } else {
            connection.answer("ok")
          }
        }
      }
      let transport = try makeTransport()
      #expect(try await transport.send(get(server.port)).text == "ok")
      let task = Task { await failure(transport, get(server.port, "/long")) }
      for await connection in moment {
        task.cancel()
        #expect(await task.value == .cancelled)
        async let next = transport.send(get(server.port))
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
        #expect(try await next.text == "ok")
        break
      }
    }

    @Test(arguments: [HTTPRequest.Method.post, .patch, .delete])
    func `A request that must not be repeated gets a new connection`(_ method: HTTPRequest.Method)
      async throws
    {
      let server = try RawServer { connection in
        while let request = connection.readRequest() { connection.answer(request) }
      }
      let transport = try makeTransport()
      _ = try await transport.send(get(server.port))
      #expect(try await transport.send(post(server.port, "a=1", method: method)).text.hasSuffix("a=1"))
      #expect(server.connectionCount == 2)
    }

    @Test func `A GET is repeated when an idle connection closes`() async throws {
      let server = try RawServer { connection in
        _ = connection.readRequest()
        connection.answer("ok")
        // Reads the next request and closes the connection.
        if connection.number == 1 { _ = connection.readRequest() }
      }
      let transport = try makeTransport()
      #expect(try await transport.send(get(server.port)).text == "ok")
      #expect(try await transport.send(get(server.port)).text == "ok")
      #expect(server.connectionCount == 2)
    }

    @Test(
      .fault("used connection"), arguments: [HTTPRequest.Method.get, .put, .post],
      ["closed", "dropped", "reset"])
    func `A repeatable request goes over another connection when a used one ends`(
      _ method: HTTPRequest.Method, _ end: String
    ) async throws {
      let server = try RawServer { connection in
        while let request = connection.readRequest() {
          if connection.number == 1 && request.hasSuffix("a=1") {
            if end == "dropped" { connection.drop() }
            if end == "reset" { connection.reset() }
            return
          }
          connection.answer(request)
        }
      }
      let transport = try makeTransport()
      _ = try await transport.send(get(server.port))
      var request = post(server.port, "a=1", method: method)
      request.isRepeatable = true
      #expect(try await transport.send(request).text.hasSuffix("a=1"))
      #expect(server.connectionCount == 2)
    }

    @Test(.conformance(63), arguments: [true, false])
    func `A POST whose new connection breaks is not repeated`(isRepeatable: Bool) async throws {
      let server = try RawServer { connection in _ = connection.readRequest() }
      var request = post(server.port, "a=1")
      request.isRepeatable = isRepeatable
      _ = try await failure(makeTransport(), request, is: HTTPTransportError.connectionLost)
      #expect(server.connectionCount == 1)
    }

    @Test func `A misdirected POST is sent once`() async throws {
      let server = try TestServer { _ in .init(status: 421) }
      _ = try await failure(makeTransport(), post(server.port, "a=1"), is: HTTPTransportError.connectionLost)
      #expect(server.requests.count == 1)
    }
  }
}

private func refuseLargeBody(announced: Bool) async throws {
  let size = 50 << 20
  let server = try RawServer { connection in
    guard connection.readRequest() != nil else { return }
    let framing = announced ? "Content-Length: \(size)" : "Transfer-Encoding: chunked"
    connection.write("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n")
    let block = Array(repeating: UInt8(65), count: 1 << 16)
    for _ in 0..<(size >> 16) {
      if !announced { connection.write("10000\r\n") }
      guard connection.write(block) else { return }
      if !announced { connection.write("\r\n") }
    }
  }
  let transport = try makeTransport()
  let before = peakMemory()
  #expect(await failure(transport, get(server.port)) == .responseTooLarge(limit: 1 << 20))
  #expect(peakMemory() - before < 25 << 20 || !memoryIsMeasurable)
}
