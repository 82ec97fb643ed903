import Dispatch
import SoupTransport
import TestSupport

extension TransportTests {
  @Suite struct TrustTests {
    let certificates = TestCertificates.shared

    private func problem(_ files: TestCertificates.Files, caBundle: String?) async throws -> String {
      let server = try TestServer(files) { _ in .init() }
      let transport = try SoupHTTPTransport(caBundle: caBundle, environment: [:])
      let text = try await failure(transport, get(server.port), is: HTTPTransportError.untrustedServer)
      #expect(server.requests.isEmpty)
      #expect(text.contains("localhost:\(server.port)"))
      return text
    }

    @Test(.conformance(61))
    func `An untrusted authority is an error that names the CA bundle`() async throws {
      for caBundle in [certificates.otherCABundle, nil] {
        let text = try await problem(certificates.good, caBundle: caBundle)
        #expect(text.contains("authority that is not trusted"))
        #expect(text.contains("LLAVERO_CA_BUNDLE"))
      }
      let server = try TestServer(certificates.good) { _ in .init() }
      let transport = try SoupHTTPTransport(environment: [:], caBundleVariable: "OWN_CA")
      let text = try await failure(transport, get(server.port), is: HTTPTransportError.untrustedServer)
      #expect(text.contains("have OWN_CA name a file"))
    }

    @Test(.conformance(61), .fault("certificate's time"))
    func `A certificate for another host, or of another time, is an error`() async throws {
      for (files, reason) in [
        (certificates.wrongHost, "for another host"),
        (certificates.expired, "has expired. Check this machine's clock."),
        (certificates.notYetValid, "is not valid yet. Check this machine's clock."),
      ] {
        #expect(try await problem(files, caBundle: certificates.caBundle).contains(reason))
      }
    }

    @Test(.conformance(61), .fault("client cert"))
    func `A certificate for servers or for anything is accepted from a server`() async throws {
      for files in [certificates.forServers, certificates.forAnything] {
        let server = try TestServer(files) { _ in .init() }
        #expect(await failure(try makeTransport(), get(server.port)) == nil)
      }
    }

    @Test(.conformance(61), .fault("client cert"), arguments: [false, true])
    func `A server with a client certificate gets no request`(_ isTunnelled: Bool) async throws {
      let received = Mutex<[UInt8]>([])
      let ended = DispatchGroup()
      let server = try RawServer(certificates.forClients) { connection in
        ended.enter()
        defer { ended.leave() }
        while let part = connection.read() { received.withLock { $0 += part } }
      }
      let proxy = try TestProxy()
      let transport = try makeTransport(isTunnelled ? ["https_proxy": "127.0.0.1:\(proxy.port)"] : [:])
      let errors = try await atOnce(0..<4) { _ in
        await failure(transport, get(server.port, fields: [.authorization: "secret"], timeout: .seconds(60)))
      }
      for error in errors {
        #expect(try text(of: error, HTTPTransportError.untrustedServer).contains("not for a server"))
      }
      server.stop()
      await blocking { ended.wait() }
      #expect(received.withLock { $0 } == [])
    }

    @Test(.conformance(61), .fault("resumed session"))
    func `A TLS session that another transport trusts is not resumed without trust`() async throws {
      // GLib's servers offer no session tickets.
      let output = try Pipe()
      let server = try Child.piped(
        "openssl",
        [
          "s_server", "-accept", "127.0.0.1:0", "-cert", certificates.good.certificate, "-key",
          certificates.good.key, "-www",
        ], output: output)
      defer { server.end() }
      var line = output.readLine()
      while !line.hasPrefix("ACCEPT") { line = output.readLine() }
      let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
      let trusting = try makeTransport()
      var text = try await trusting.send(get(port)).text
      #expect(text.contains("New, TLSv1.3"))
      text = try await makeTransport().send(get(port)).text
      #expect(text.contains("Reused, TLSv1.3"))
      for caBundle in [nil, certificates.otherCABundle] {
        let other = try SoupHTTPTransport(caBundle: caBundle, environment: [:])
        let problem = try await failure(other, get(port), is: HTTPTransportError.untrustedServer)
        #expect(problem.contains("authority that is not trusted"))
        _ = try await trusting.send(get(port))
      }
    }

    @Test func `A server without TLS is not connected to`() async throws {
      let server = try RawServer(nil) { connection in
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        _ = connection.read()
      }
      _ = try await failure(
        makeTransport(), get(server.port), is: HTTPTransportError.secureConnectionFailed)
    }

    @Test(arguments: [
      ["LLAVERO_CA_BUNDLE": "good", "SSL_CERT_FILE": "other"],
      ["LLAVERO_CA_BUNDLE": "", "SSL_CERT_FILE": "good"],
      ["SSL_CERT_FILE": "good"],
      ["SSL_CERT_FILE": "missing", "argument": "good"],
      ["LLAVERO_CA_BUNDLE": "other", "argument": "good"],
    ])
    func `The most specific bundle wins`(_ names: [String: String]) async throws {
      let paths = [
        "good": certificates.caBundle, "other": certificates.otherCABundle, "missing": "/proc/nonexistent",
      ]
      var environment = names.mapValues { paths[$0] ?? "" }
      let argument = environment.removeValue(forKey: "argument")
      let server = try TestServer { _ in .init() }
      let transport = try SoupHTTPTransport(caBundle: argument, environment: environment)
      #expect(try await transport.send(get(server.port)).head.status == .ok)
    }

    @Test(.fault("config is pipe")) func `An invalid bundle is an error at once`() throws {
      let empty = certificates.directory + "/empty.pem"
      let garbage = certificates.directory + "/garbage.pem"
      try PrivateKeyring.write("", to: empty)
      try PrivateKeyring.write("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n", to: garbage)
      let pipe = certificates.directory + "/pipe"
      mkfifo(pipe, 0o600)
      for path in [empty, garbage, pipe, "/dev/zero", "/proc/nonexistent", certificates.directory, ""] {
        for fromEnvironment in [false, true] where !(fromEnvironment && path.isEmpty) {
          let error = #expect(throws: HTTPTransportError.self) {
            try fromEnvironment
              ? SoupHTTPTransport(environment: ["SSL_CERT_FILE": path])
              : SoupHTTPTransport(caBundle: path, environment: [:])
          }
          let text = try text(of: error, HTTPTransportError.invalidConfiguration)
          #expect(text.contains(path) && text.contains("SSL_CERT_FILE") == fromEnvironment)
        }
      }
    }
  }
}
