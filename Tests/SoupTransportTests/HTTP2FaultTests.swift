import Dispatch
import SoupTransport
import TestSupport
import WorkerSupport

extension TransportTests {
  /// Servers that violate or abuse HTTP/2.
  @Suite struct HTTP2FaultTests {
    private struct Frame {
      static let data: UInt8 = 0
      static let headers: UInt8 = 1
      static let reset: UInt8 = 3
      static let settings: UInt8 = 4
      static let goAway: UInt8 = 7

      /// The bytes of a frame (RFC 9113 section 4.1).
      static func bytes(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 1, _ payload: [UInt8] = [])
        -> [UInt8]
      {
        let length = payload.count
        return [
          UInt8(length >> 16), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), type, flags, 0, 0, 0, stream,
        ]
          + payload
      }

      /// The types of the frames that follow the preface of 24 bytes.
      static func types(in received: [UInt8]) -> [UInt8] {
        var types: [UInt8] = []
        var position = 24
        while received.count >= position + 9 {
          let head = received[position...].prefix(4).map(Int.init)
          types.append(UInt8(head[3]))
          position += 9 + head[0] << 16 + head[1] << 8 + head[2]
        }
        return types
      }

      /// A head with status 200 (RFC 7541 appendix A), or with another text of three digits.
      static func head(_ status: String = "200", flags: UInt8 = 4) -> [UInt8] {
        bytes(headers, flags: flags, status == "200" ? [0x88] : [0x08, 3] + Array(status.utf8))
      }
    }

    /// A server that reads a request and then calls `answer`.
    private func serve(_ answer: @escaping @Sendable (RawConnection) -> Void) -> RawServer {
      RawServer(http2: true) { connection in
        connection.write(Frame.bytes(Frame.settings, stream: 0))
        var received: [UInt8] = []
        while !Frame.types(in: received).contains(Frame.headers) {
          guard let part = connection.read() else { return }
          received += part
        }
        connection.write(Frame.bytes(Frame.settings, flags: 1, stream: 0))
        answer(connection)
      }
    }

    @Test(.conformance(62)) func `A response over HTTP/2 is accepted`() async throws {
      let server = serve { connection in
        connection.write(
          Frame.head("103") + Frame.head() + Frame.bytes(Frame.data, flags: 1, Array("hello".utf8)))
        _ = connection.read()
      }
      #expect(try await makeTransport().send(get(server.port)).text == "hello")
    }

    @Test(.conformance(61), .fault("client cert"), arguments: [false, true])
    func `A server with a client certificate gets no request`(_ isTunnelled: Bool) async throws {
      let seen = Mutex<[UInt8]>([])
      let ended = DispatchGroup()
      let server = RawServer(TestCertificates.shared.forClients, http2: true) { connection in
        ended.enter()
        defer { ended.leave() }
        connection.write(Frame.bytes(Frame.settings, stream: 0))
        var received: [UInt8] = []
        while let part = connection.read() { received += part }
        let types = Frame.types(in: received)
        seen.withLock { $0 += types }
      }
      let proxy = TestProxy()
      for _ in 0..<10 {
        let transport = try makeTransport(isTunnelled ? ["https_proxy": "127.0.0.1:\(proxy.port)"] : [:])
        let errors = try await atOnce(0..<4) { _ in
          await failure(transport, get(server.port, fields: [.authorization: "Bearer secret"]))
        }
        for error in errors {
          let text = try text(of: error, HTTPTransportError.untrustedServer)
          #expect(text.contains("not for a server"))
        }
      }
      server.stop()
      await blocking { ended.wait() }
      #expect(!seen.withLock { $0 }.contains(Frame.headers))
    }

    static let faults: [Named<[UInt8]>] = [
      Named("closed", []), Named("reset without an error", Frame.bytes(Frame.reset, [0, 0, 0, 0])),
      Named("reset with an error", Frame.bytes(Frame.reset, [0, 0, 0, 2])),
      Named("gone away", Frame.bytes(Frame.goAway, stream: 0, [0, 0, 0, 1, 0, 0, 0, 0])),
      Named("gone away without the request", Frame.bytes(Frame.goAway, stream: 0, [0, 0, 0, 0, 0, 0, 0, 0])),
    ]

    @Test(.conformance(62), arguments: faults)
    func `A truncated HTTP/2 response is an error`(_ fault: Named<[UInt8]>) async throws {
      let server = serve { connection in
        connection.write(Frame.head() + Frame.bytes(Frame.data, Array("hello".utf8)) + fault.value)
      }
      switch await failure(try makeTransport(), get(server.port, timeout: .seconds(2))) {
      // libsoup does not report a reset without an error.
      case .connectionLost, .timedOut: break
      case let error: Issue.record("\(String(describing: error))")
      }
    }

    @Test(.conformance(62), .fault("HTTP/2 flood"))
    func `The next request is answered after a flood of frames`() async throws {
      let flood = serve { connection in
        connection.write(Frame.head())
        let block = Array(repeatElement(Frame.bytes(Frame.data), count: 500).joined())
        // libsoup does nothing else while there is another frame to read.
        while connection.write(block) {}
      }
      let server = TestServer { _ in .init(body: Array("hello".utf8)) }
      let transport = try makeTransport()
      #expect(await failure(transport, get(flood.port, timeout: .milliseconds(300))) == .timedOut)
      #expect(try await transport.send(get(server.port, timeout: .seconds(600))).text == "hello")
    }

    @Test(.conformance(65)) func `An endless HTTP/2 body is not kept`() async throws {
      await #expect(processExitsWith: .success) {
        let server = HTTP2FaultTests().serve { connection in
          connection.write(Frame.head())
          let block = Frame.bytes(Frame.data, [UInt8](repeating: 65, count: 16384))
          while connection.write(block) {}
        }
        let transport = try makeTransport()
        let before = peakMemory()
        let error = await failure(transport, get(server.port, timeout: .seconds(600)))
        #expect(error == .responseTooLarge(limit: 1 << 20))
        // libsoup allows the server 32 MiB beforehand.
        #expect(peakMemory() - before < 100 << 20 || !memoryIsMeasurable)
      }
    }
  }
}
