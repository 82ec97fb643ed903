import LabSupport

@Suite(.lab) struct ServerTests {
  private let lab = Lab.current

  /// curl's exit status 60: the certificate is not trusted.
  @Test func `The certificate is trusted only with the bundle, for its names and period`()
    async throws
  {
    let path = "/common/discovery/v2.0/keys"
    #expect(try await lab.curl(path).status == 200)
    #expect(try await lab.curl(path, ["--cacert", "/etc/ssl/certs/ca-certificates.crt"]).exit == 60)
    let port = try #require(lab.baseURL.split(separator: ":").last)
    for host in ["127.0.0.1", "[::1]"] {
      #expect(try await lab.curl("https://\(host):\(port)\(path)").status == 200)
    }
    let other = try await lab.curl(
      "https://evil.example:\(port)\(path)", ["--resolve", "evil.example:\(port):127.0.0.1"])
    #expect(other.exit == 60)
    let expired = try await Lab.start(validity: Date() - 7200...Date() - 3600)
    #expect(try await expired.curl("/common/discovery/v2.0/keys").exit == 60)
    await expired.stop()
  }

  /// As OpenSSL reads them.
  @Test func `The certificates have the names and extensions of an authority and of a server`() throws {
    func contents(_ certificate: String) throws -> String {
      let extensions = "basicConstraints,keyUsage,extendedKeyUsage,subjectAltName"
      return try Child.output(
        "openssl", ["x509", "-noout", "-subject", "-ext", extensions], input: certificate
      )
      .replacing("X509v3 ", with: "").replacing(/\s+/, with: " ")
    }
    let address = String(lab.baseURL.dropFirst("https://".count))
    let chain = try Child.output(
      "openssl",
      ["s_client", "-connect", address, "-CAfile", lab.caBundlePath, "-x509_strict", "-verify_return_error"])
    #expect(
      try contents(chain)
        == "subject=CN = localhost Basic Constraints: critical CA:FALSE Key Usage: Digital Signature "
        + "Extended Key Usage: TLS Web Server Authentication "
        + "Subject Alternative Name: DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1 ")
    #expect(
      try contents(String(contentsOfFile: lab.caBundlePath, encoding: .utf8))
        == "subject=CN = Entra Lab CA Basic Constraints: critical CA:TRUE Key Usage: Certificate Sign, CRL Sign "
    )
  }

  @Test func `A stopped lab leaves neither a file nor a listener`() async throws {
    let lab = try await Lab.start()
    #expect(access(lab.caBundlePath, R_OK) == 0)
    await lab.stop()
    #expect(access(lab.caBundlePath, F_OK) != 0)
    #expect(try await lab.curl("/common/discovery/v2.0/keys", ["-k"]).exit != 0)
  }

  @Test func `A port that is taken is an error`() async throws {
    let port = try #require(lab.baseURL.split(separator: ":").last.flatMap { UInt16($0) })
    let directory = URL(filePath: lab.caBundlePath).deletingLastPathComponent().path
    await #expect(throws: LabError.self) { try await Lab.start(port: port, directory: directory) }
    // The file is still that of the lab that has the port.
    #expect(try await lab.curl("/common/discovery/v2.0/keys").status == 200)
  }

  @Test func `Malformed requests do no harm`() async throws {
    let long = String(repeating: "a", count: 100_000)
    let deep = String(repeating: "[", count: 100_000)
    let requests: [(String, [String])] = [
      ("/", []), ("/%00%ff/..%2f", []), ("/" + String(repeating: "a/", count: 3000), []),
      ("/common/oauth2/v2.0/authorize?%", []), ("/common/oauth2/v2.0/authorize?client_id&=&&%zz=%", []),
      ("/common/oauth2/v2.0/token", ["-d", long]), ("/common/oauth2/v2.0/token", ["-d", "claims=" + deep]),
      ("/common/oauth2/v2.0/token", ["-X", "DELETE"]),
      ("/common/oauth2/v2.0/token", ["-d", "\u{1}\u{ff}=%ff"]),
      ("/__ctl", ["-d", deep]),
      (
        "/__ctl",
        [
          "-d",
          #"{"fault":{"target":"other","count":-9223372036854775808,"status":-1,"bodySize":-1,"delay":-1e300}}"#,
        ]
      ),
      ("/nothing", []), ("/common/discovery/v2.0/keys", []),
      ("/v1.0/me", ["-H", "Authorization: Bearer"]), ("/v1.0/$batch", ["-d", deep]),
      ("/common/login", ["-d", "ctx"]),
      ("/common/discovery/instance?authorization_endpoint=https:////", []),
      ("/common/v2.0/.well-known/openid-configuration", ["-H", "Host: evil.example"]),
      ("/common/v2.0/.well-known/openid-configuration", ["-H", "Host:"]),
    ]
    for (path, options) in requests {
      let answer = try await lab.curl(path, ["--path-as-is"] + options)
      #expect(answer.exit == 0 && answer.status > 0, "\(path.prefix(60)): \(answer.exit)")
      #expect(!answer.body.contains("evil.example"))
    }
    #expect(try await lab.curl("/nothing").status == 404)
    lab.reset()
    #expect(try await lab.signIn().status == 200)
  }

  @Test func `Large and chunked bodies are refused`() async throws {
    let files = try TemporaryDirectory()
    let file = try files.file("large", String(repeating: "a", count: 3_000_000))
    let large = try await lab.curl(
      "/common/oauth2/v2.0/token", ["-H", "Expect:", "--data-binary", "@" + file])
    #expect(large.status == 413)
    let chunked = try await lab.curl(
      "/common/oauth2/v2.0/token", ["-H", "Expect:", "-H", "Transfer-Encoding: chunked", "-d", "a=b"])
    #expect(chunked.status == 411)
  }
}
