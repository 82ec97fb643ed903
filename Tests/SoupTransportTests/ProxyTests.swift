import CGLib
@testable import SoupTransport
import TestSupport

/// A proxy that makes tunnels and records its requests.
struct TestProxy: Sendable {
  private let server: RawServer
  var port: UInt16 { server.port }
  var requests: [String] { server.requests }

  init(answer: String? = nil) throws {
    server = try RawServer(nil) { connection in
      guard let request = connection.readRequest() else { return }
      if let answer {
        connection.write(answer)
      } else if let target = request.firstMatch(of: /^CONNECT [^ ]+:(\d+)\s/), let port = UInt16(target.1) {
        connection.tunnel(to: "127.0.0.1", port: port)
      }
    }
  }

  /// A transport that uses this proxy.
  func transport(user: String = "", exceptions: [String: String] = [:]) throws -> SoupHTTPTransport {
    try makeTransport(exceptions.merging(["https_proxy": "http://\(user)127.0.0.1:\(port)"]) { $1 })
  }
}

extension TransportTests {
  @Suite struct ProxyTests {
    @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    func `The proxy of the environment is used`(_ variable: String) async throws {
      let proxy = try TestProxy()
      let server = try TestServer { _ in .init(body: [65]) }
      for prefix in ["http://", ""] {
        let transport = try makeTransport([variable: "\(prefix)127.0.0.1:\(proxy.port)"])
        // The proxy resolves the name.
        var request = get(server.port)
        request.head.headerFields[.authorization] = "Bearer secret"
        #expect(try await transport.send(request).text == "A")
      }
      #expect(proxy.requests.count == 2)
      #expect(proxy.requests.allSatisfy { $0.hasPrefix("CONNECT localhost:\(server.port) ") })
      #expect(proxy.requests.allSatisfy { !$0.contains("secret") })
      #expect(server.requests.allSatisfy { $0.fields["proxy-authorization"] == nil })
    }

    @Test func `A named proxy goes before that of the environment, and off is none`() async throws {
      let proxy = try TestProxy()
      let server = try TestServer { _ in .init(body: [65]) }
      let other = ["https_proxy": "http://127.0.0.1:\(ReservedPort.refusing.number)"]
      for (named, count) in [("127.0.0.1:\(proxy.port)", 1), ("off", 1)] {
        #expect(try await makeTransport(other, proxy: named).send(get(server.port)).text == "A")
        #expect(proxy.requests.count == count)
      }
      let refusing = try TestProxy(answer: "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
      let transport = try makeTransport(proxy: "127.0.0.1:\(refusing.port)")
      let text = try await failure(transport, get(443), is: HTTPTransportError.invalidConfiguration)
      #expect(text.contains("Set LLAVERO_PROXY=http://"))
    }

    @Test(arguments: [
      ("localhost", true), ("LOCALHOST", true), ("example.com, localhost", true),
      (".example.com,localhost", true), ("*", true), ("example.com", false), ("local", false),
      ("127.0.0.1", false), ("[::1],http://x,[x,a:b,localhost", true),
    ])
    func `Only hosts in no_proxy are reached directly`(_ exceptions: String, _ isDirect: Bool) async throws {
      let server = try TestServer { _ in .init(body: [65]) }
      for variable in ["no_proxy", "NO_PROXY"] {
        let proxy = try TestProxy()
        let transport = try proxy.transport(exceptions: [variable: exceptions])
        #expect(try await transport.send(get(server.port)).text == "A")
        #expect(proxy.requests.count == (isDirect ? 0 : 1))
      }
    }

    /// No server listens at either address. The proxy refuses the second one.
    @Test(arguments: ["[::1]", "::1", "[::1]:PORT", "[::1]:", "::/16"])
    func `An IPv6 address in no_proxy is reached directly`(_ exceptions: String) async throws {
      let proxy = try TestProxy(answer: "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
      let port = ReservedPort.refusing.number
      let transport = try proxy.transport(exceptions: [
        "no_proxy": exceptions.replacing("PORT", with: "\(port)")
      ])
      #expect(await failure(transport, get(port, host: "[::1]")) != nil)
      #expect(proxy.requests.isEmpty)
      #expect(await failure(transport, get(port, host: "[fd00::1]")) != nil)
      #expect(proxy.requests.count == 1)
    }

    @Test(arguments: [
      ("proxy.test", "http://proxy.test:1080"), ("http://[::1]/", "http://[::1]:1080"),
      ("http://proxy.test:80", "http://proxy.test:80"), ("https://proxy.test", "https://proxy.test:443"),
      ("https://u:p%40@proxy.test:8443", "https://u:p%40@proxy.test:8443"),
      ("socks5h://u@proxy.test", "socks5://u@proxy.test:1080"),
    ])
    func `The default port of a proxy is curl's`(_ address: String, _ expected: String) throws {
      let others = ["HTTPS_PROXY": address, "https_proxy": "", "all_proxy": "x.test"]
      for environment in [["https_proxy": address, "HTTPS_PROXY": "x.test"], others] {
        #expect(try ProxySettings(environment: environment)?.address == expected)
      }
    }

    @Test func `Credentials are sent to the proxy only`() async throws {
      let proxy = try TestProxy()
      let server = try TestServer { _ in .init(body: [65]) }
      let transport = try proxy.transport(user: "user:p%40ss@")
      #expect(try await transport.send(get(server.port)).text == "A")
      // Base64 of user:p@ss.
      #expect(proxy.requests.first?.contains("Proxy-Authorization: Basic dXNlcjpwQHNz\r\n") == true)
      #expect(server.requests.first?.fields["proxy-authorization"] == nil)
    }

    @Test(.fault("proxy user"))
    func `A proxy that refuses a user is named with that user, and is not tried again`() async throws {
      let proxy = try TestProxy(
        answer: "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
          + "Content-Length: 2\r\n\r\nno")
      for (user, words) in [("user:secret@", "refuses the user user"), ("", "demands a user name")] {
        let transport = try proxy.transport(user: user)
        let text = try await failure(transport, get(443), is: HTTPTransportError.invalidConfiguration)
        #expect(text.contains(words) && text.contains("The proxy 127.0.0.1:"), "\(text)")
        #expect(!text.contains("secret"))
      }
      #expect(proxy.requests.count == 2)
    }

    @Test(arguments: ["403 Forbidden", "502 Bad Gateway"])
    func `A proxy's refusal is not the server's response`(_ status: String) async throws {
      let proxy = try TestProxy(
        answer: "HTTP/1.1 \(status)\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno")
      let transport = try proxy.transport(user: "user:secret@")
      let text = try await failure(transport, get(443), is: HTTPTransportError.cannotConnect)
      #expect(text.contains(status.prefix(3)) && !text.contains("secret"))
    }

    @Test func `A missing proxy is cannotConnect`() async throws {
      let proxy = "http://user:secret@127.0.0.1:\(ReservedPort.refusing.number)"
      let transport = try makeTransport(["https_proxy": proxy])
      let text = try await failure(transport, get(443), is: HTTPTransportError.cannotConnect)
      #expect(!text.contains("secret"))
    }

    @Test func `The server's certificate is checked through the proxy`() async throws {
      let proxy = try TestProxy()
      let server = try TestServer(TestCertificates.shared.expired) { _ in .init() }
      let text = try await failure(
        proxy.transport(), get(server.port), is: HTTPTransportError.untrustedServer)
      #expect(text.contains("expired"))
    }

    /// The system does not trust the test's authority.
    @Test func `A TLS failure of the proxy is reported as the proxy's`() async throws {
      func transport(_ proxy: RawServer) throws -> SoupHTTPTransport {
        try makeTransport(["https_proxy": "https://127.0.0.1:\(proxy.port)"])
      }
      let request = get(443, host: "graph.contoso.test")
      let untrusted = try await failure(
        transport(RawServer { _ in }), request, is: HTTPTransportError.untrustedServer)
      #expect(untrusted.contains("the proxy") && !untrusted.contains("graph.contoso.test"))
      let plain = try RawServer(nil) { connection in
        connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        _ = connection.read()
      }
      let withoutTLS = try await failure(
        transport(plain), request, is: HTTPTransportError.secureConnectionFailed)
      #expect(withoutTLS.contains("the proxy") && !withoutTLS.contains("graph.contoso.test"))
    }

    @Test func `The timeout includes a silent proxy`() async throws {
      let proxy = try RawServer(nil) {
        _ = $0.readRequest(); _ = $0.read()
      }
      let transport = try makeTransport(["https_proxy": "http://127.0.0.1:\(proxy.port)"])
      #expect(await failure(transport, get(443, timeout: .milliseconds(300))) == .timedOut)
    }

    /// In its own process, whose authorities GIO checks the proxy by.
    @Test func `A proxy over TLS gets its credentials, too`() async {
      await #expect(processExitsWith: .success) { try await sendThroughTLS() }
    }

    /// In its own process, where GLib finds no schema of settings.
    @Test func `Missing desktop settings do not end the process`() async {
      await #expect(processExitsWith: .success) { try await sendWithoutSettings(hasProxy: true) }
      await #expect(processExitsWith: .success) { try await sendWithoutSettings(hasProxy: false) }
    }

    @Test(arguments: ["ftp://user:secret@host:1", "http://", "://x", "http://user:secret@host:port"])
    func `An invalid proxy is an error at once`(_ address: String) throws {
      let error = #expect(throws: HTTPTransportError.self) { try makeTransport(["https_proxy": address]) }
      #expect(try !text(of: error, HTTPTransportError.invalidConfiguration).contains("secret"))
    }
  }
}

private func sendThroughTLS() async throws {
  let authorities = try #require(g_tls_file_database_new(TestCertificates.shared.caBundle, nil))
  g_tls_backend_set_default_database(
    g_tls_backend_get_default(),
    UnsafeMutableRawPointer(authorities).assumingMemoryBound(to: GTlsDatabase.self))
  let proxy = try RawServer { connection in
    if connection.readRequest() != nil {
      connection.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
    }
  }
  let transport = try makeTransport(["https_proxy": "https://user:p%40ss@localhost:\(proxy.port)"])
  let text = try await failure(transport, get(443), is: HTTPTransportError.cannotConnect)
  #expect(!text.contains("p@ss") && !text.contains("p%40ss"))
  // Base64 of user:p@ss.
  #expect(proxy.requests.first?.contains("Proxy-Authorization: Basic dXNlcjpwQHNz\r\n") == true)
}

private func sendWithoutSettings(hasProxy: Bool) async throws {
  setenv("XDG_DATA_DIRS", "/proc/nonexistent", 1)
  setenv("XDG_DATA_HOME", "/proc/nonexistent", 1)
  for name in ["GSETTINGS_SCHEMA_DIR", "GIO_USE_PROXY_RESOLVER"] { unsetenv(name) }
  let proxy = try TestProxy()
  let server = try TestServer { _ in .init(body: [65]) }
  // Each of these exceptions would be warned of, which ends the process.
  g_log_set_fatal_mask("GLib-GIO", GLogLevelFlags(rawValue: 1 << 4))
  let invalid = ["no_proxy": "[::1]:1b,[::1]x:1,a:1b,a:b,[x"]
  let transport = try hasProxy ? proxy.transport(exceptions: invalid) : makeTransport()
  #expect(try await transport.send(get(server.port)).text == "A")
  #expect(proxy.requests.count == (hasProxy ? 1 : 0))
}
