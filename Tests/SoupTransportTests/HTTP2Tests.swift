import SoupTransport
import TestSupport

private let program = "/usr/sbin/nghttpd"

extension TransportTests {
  /// With the server of Debian's package nghttp2-server, which supports HTTP/2 only.
  @Suite(.enabled(if: access(program, X_OK) == 0, "nghttp2-server is not installed"))
  struct HTTP2Tests {
    private let size = 300_000

    private func withServer(_ body: (UInt16, SoupHTTPTransport) async throws -> Void) async throws {
      let certificates = TestCertificates.shared
      try PrivateKeyring.write(String(repeating: "x", count: size), to: certificates.directory + "/file")
      let reserved = try ReservedPort()
      let server = try Child(
        program,
        [
          "-d", certificates.directory, "\(reserved.number)", certificates.good.key,
          certificates.good.certificate,
        ],
        environment: ["PATH": "/usr/bin"])
      defer {
        server.signal(SIGTERM)
        server.wait()
      }
      let transport = try makeTransport()
      let deadline = ContinuousClock.now + .seconds(200)
      while case .cannotConnect = await failure(transport, get(reserved.number, "/file")),
        ContinuousClock.now < deadline
      {}
      try await body(reserved.number, transport)
    }

    @Test func `Fifty concurrent requests succeed`() async throws {
      try await withServer { port, transport in
        let sizes = try await atOnce(0..<50) { _ in try await transport.send(get(port, "/file")).body.count }
        #expect(sizes == Array(repeating: size, count: 50))
      }
    }

    @Test func `Cancelling a request does not affect others on its connection`() async throws {
      try await withServer { port, transport in
        for round in 0..<50 {
          let task = Task { await failure(transport, get(port, "/file")) }
          async let other = transport.send(get(port, "/file"))
          usleep(UInt32(round * 50))
          task.cancel()
          let error = await task.value
          #expect(error == nil || error == .cancelled)
          let count = try await other.body.count
          #expect(count == size)
        }
      }
    }

    @Test func `A large body is refused, and forms arrive`() async throws {
      try await withServer { port, transport in
        let error = await failure(transport, get(port, "/file", maximumBodySize: 1000))
        #expect(error == .responseTooLarge(limit: 1000))
        var request = post(port, "a=1")
        request.head.path = "/file"
        for _ in 0..<3 {
          let status = try await transport.send(request).head.status
          #expect(status == .ok)
        }
      }
    }
  }
}
