import SoupTransport
import TestSupport

extension TransportTests {
  /// Plain HTTP over a socket in the file system.
  @Suite struct UnixSocketTests {
    private func get(
      _ path: String = "/", host: String = "anything.invalid", scheme: String = "http",
      timeout: Duration = .seconds(200), limit: Int = 1 << 20
    ) -> HTTPTransportRequest {
      HTTPTransportRequest(
        HTTPRequest(method: .get, scheme: scheme, authority: host, path: path),
        timeout: timeout, maximumBodySize: limit)
    }

    @Test func `Requests go to the socket, whatever host they name, and share a connection`() async throws {
      let directory = try TemporaryDirectory()
      let server = try RawServer(at: directory.path + "/s") { (200, "", "for \($0)") }
      let transport = try SoupHTTPTransport(unixSocket: server.path)
      for path in ["/one", "/two?a=b%20c"] {
        #expect(try await transport.send(get(path)).text == "for \(path)")
      }
      #expect(server.connectionCount == 1)
      #expect(server.requests.allSatisfy { $0.contains("Host: anything.invalid") })
      #expect(try await transport.send(get("/three", host: "127.0.0.1:1")).text == "for /three")
    }

    @Test func `A socket uses no TLS, a host always`() async throws {
      let directory = try TemporaryDirectory()
      let server = try RawServer(at: directory.path + "/s") { _ in (200, "", "") }
      for (transport, scheme) in [
        (try SoupHTTPTransport(unixSocket: server.path), "https"), (try makeTransport(), "http"),
      ] {
        _ = try await failure(transport, get(scheme: scheme), is: HTTPTransportError.invalidRequest)
      }
      #expect(server.connectionCount == 0)
    }

    @Test(.fault("no lender")) func `The error names why the socket cannot be reached`() async throws {
      let directory = try TemporaryDirectory()
      try RawServer.leaveBehind(at: directory.path + "/left")
      _ = try directory.file("file")
      for (name, reason) in [
        ("none", "there is no such file"), ("file", "it is not a socket"), ("left", "refused"),
        ("file/below", "Not a directory"),
      ] {
        let path = "\(directory.path)/\(name)"
        let transport = try SoupHTTPTransport(unixSocket: path)
        let text = try await failure(transport, get(), is: HTTPTransportError.cannotConnect)
        #expect(text.contains(path) && text.contains(reason), "\(text)")
      }
    }

    @Test(.fault("no lender"))
    func `A socket path is limited to the kernel's maximum`() async throws {
      let directory = try TemporaryDirectory()
      let longest = directory.path + "/" + String(repeating: "s", count: 107 - directory.path.utf8.count - 1)
      let server = try RawServer(at: longest) { _ in (200, "", "reached") }
      #expect(try await SoupHTTPTransport(unixSocket: longest).send(get()).text == "reached")
      withExtendedLifetime(server) {}
      for path in [longest + "s", "", "/tmp/a\0b"] {
        #expect(throws: HTTPTransportError.self) { try SoupHTTPTransport(unixSocket: path) }
      }
    }

    @Test(.fault("invalid lender")) func `An incomplete response is an error`() async throws {
      let directory = try TemporaryDirectory()
      let answers: [(String, (String) -> HTTPTransportError)] = [
        ("", HTTPTransportError.connectionLost),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", HTTPTransportError.connectionLost),
        (
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
          HTTPTransportError.connectionLost
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", HTTPTransportError.malformedResponse),
      ]
      for (number, (answer, kind)) in answers.enumerated() {
        let server = try RawServer(at: "\(directory.path)/\(number)") { connection in
          _ = connection.readRequest()
          connection.write(answer)
        }
        _ = try await failure(SoupHTTPTransport(unixSocket: server.path), get(), is: kind)
      }
    }

    @Test(.fault("invalid lender"))
    func `Endless and missing responses end at the limits`() async throws {
      let directory = try TemporaryDirectory()
      let endless = try RawServer(at: directory.path + "/endless") { connection in
        _ = connection.readRequest()
        connection.write("HTTP/1.1 200 OK\r\n\r\n")
        while connection.write(String(repeating: "x", count: 4096)) {}
      }
      #expect(
        await failure(try SoupHTTPTransport(unixSocket: endless.path), get())
          == .responseTooLarge(limit: 1 << 20))
      let silent = try RawServer(at: directory.path + "/silent") { connection in
        while connection.read() != nil {}
      }
      let request = get(timeout: .milliseconds(300))
      #expect(await failure(try SoupHTTPTransport(unixSocket: silent.path), request) == .timedOut)
    }
  }
}
