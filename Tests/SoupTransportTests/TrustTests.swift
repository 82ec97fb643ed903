import Glibc
import HTTPSupport
import HTTPTypes
import SoupTransport
import Testing

extension TransportTests {
  @Suite struct TrustTests {
    let certificates = TestCertificates.shared

    private func problem(
      _ files: TestCertificates.Files, caBundle: String?
    ) async throws -> String? {
      let server = TestServer(files) { _ in .init() }
      defer { server.stop() }
      let transport = try SoupHTTPTransport(caBundle: caBundle, environment: [:])
      let error = await failure(transport, get(server.port))
      #expect(server.requests.isEmpty)
      guard case .untrustedServer(let text) = error else {
        Issue.record("\(String(describing: error))")
        return nil
      }
      #expect(text.contains("localhost:\(server.port)"))
      return text
    }

    @Test("61: an authority that nobody trusts is told, with a hint at the CA bundle")
    func unknownAuthorityIsToldWithAHint() async throws {
      for caBundle in [certificates.otherCABundle, nil] {
        let text = try #require(try await problem(certificates.good, caBundle: caBundle))
        #expect(text.contains("authority that is not trusted"))
        #expect(text.contains("LLAVERO_CA_BUNDLE"))
      }
    }

    @Test("61: another host's certificate is told")
    func wrongHostIsTold() async throws {
      let text = try #require(try await problem(certificates.wrongHost, caBundle: certificates.caBundle))
      #expect(text.contains("for another host"))
    }

    @Test("61: an expired certificate is told")
    func expiredCertificateIsTold() async throws {
      let text = try #require(try await problem(certificates.expired, caBundle: certificates.caBundle))
      #expect(text.contains("has expired"))
    }

    @Test("61: a certificate that is only for clients is no server's")
    func certificateForClientsIsNoServers() async throws {
      let text = try #require(try await problem(certificates.forClients, caBundle: certificates.caBundle))
      #expect(text.contains("not for a server"))
      for files in [certificates.forServers, certificates.forAnything] {
        let server = TestServer(files) { _ in .init() }
        defer { server.stop() }
        #expect(await failure(try makeTransport(), get(server.port)) == nil)
      }
    }

    @Test func serverWithoutTLSIsNotConnectedTo() async throws {
      let server = RawServer(nil) { connection in
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        _ = connection.read()
      }
      defer { server.stop() }
      let error = await failure(try makeTransport(), get(server.port))
      guard case .cannotConnect = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }

    @Test(arguments: [
      ["LLAVERO_CA_BUNDLE": "good", "SSL_CERT_FILE": "other"],
      ["LLAVERO_CA_BUNDLE": "", "SSL_CERT_FILE": "good"],
      ["SSL_CERT_FILE": "good"],
      ["SSL_CERT_FILE": "missing", "argument": "good"],
      ["LLAVERO_CA_BUNDLE": "other", "argument": "good"],
    ])
    func theMostSpecificBundleCounts(_ names: [String: String]) async throws {
      let paths = [
        "good": certificates.caBundle, "other": certificates.otherCABundle, "missing": "/nonexistent",
      ]
      var environment = names.mapValues { paths[$0] ?? "" }
      let argument = environment.removeValue(forKey: "argument")
      let server = TestServer { _ in .init() }
      defer { server.stop() }
      let transport = try SoupHTTPTransport(caBundle: argument, environment: environment)
      #expect(try await transport.send(get(server.port)).head.status == .ok)
    }

    @Test func unusableBundleIsAnErrorAtOnce() throws {
      let empty = certificates.directory + "/empty.pem"
      let garbage = certificates.directory + "/garbage.pem"
      try write("", to: empty)
      try write("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n", to: garbage)
      let pipe = certificates.directory + "/pipe"
      mkfifo(pipe, 0o600)
      for path in [empty, garbage, pipe, "/dev/zero", "/nonexistent", certificates.directory, ""] {
        for fromEnvironment in [false, true] where !(fromEnvironment && path.isEmpty) {
          let error = #expect(throws: HTTPTransportError.self) {
            try fromEnvironment
              ? SoupHTTPTransport(environment: ["SSL_CERT_FILE": path])
              : SoupHTTPTransport(caBundle: path, environment: [:])
          }
          guard case .invalidConfiguration(let text) = error else {
            Issue.record("\(path): \(String(describing: error))")
            continue
          }
          #expect(text.contains(path) && text.contains("SSL_CERT_FILE") == fromEnvironment)
        }
      }
    }
  }
}
