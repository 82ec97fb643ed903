import Foundation
import MicrosoftGraph
import TestSupport

@Suite struct CloudTests {
  private static func authority(_ address: String, _ kind: Authority.Kind? = nil) throws -> Authority {
    let url = try #require(URL(string: address))
    return try kind.map { try Authority(url: url, kind: $0) } ?? Authority(url: url)
  }

  @Test(
    .conformance(75),
    arguments: [
      ("https://login.microsoftonline.com/common", "https://graph.microsoft.com/v1.0"),
      ("https://login.windows.net/contoso.com", "https://graph.microsoft.com/v1.0"),
      ("https://login.microsoftonline.com/consumers", "https://graph.microsoft.com/v1.0"),
      ("https://login.microsoftonline.us/common", "https://graph.microsoft.us/v1.0"),
      ("https://login.usgovcloudapi.net/common", "https://graph.microsoft.us/v1.0"),
      (
        "https://login.partner.microsoftonline.cn/common",
        "https://microsoftgraph.chinacloudapi.cn/v1.0"
      ),
      ("https://login.chinacloudapi.cn/common", "https://microsoftgraph.chinacloudapi.cn/v1.0"),
      ("https://login.sovcloud-identity.fr/common", "https://graph.svc.sovcloud.fr/v1.0"),
      ("https://login.sovcloud-identity.de/common", "https://graph.svc.sovcloud.de/v1.0"),
      ("https://login.sovcloud-identity.sg/common", "https://graph.svc.sovcloud.sg/v1.0"),
      ("https://login.sovcloud-identity.sg/consumers", nil), ("https://login.microsoftonline.de/common", nil),
      ("https://contoso.ciamlogin.com", "https://graph.microsoft.com/v1.0"),
      ("https://login.microsoftonline.us/consumers", nil),
      ("https://login.microsoftonline.us/9188040D-6C67-4C5B-B112-36A304B66DAD", nil),
      ("https://login.example.com/common", nil),
      ("https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_x", nil),
      ("https://fs.example.com/adfs", nil),
    ])
  func `The authority determines Graph's host`(_ address: String, _ expected: String?) throws {
    let cloud = GraphCloud.cloud(for: try Self.authority(address))
    #expect(cloud?.baseURL.absoluteString == expected)
    let other = try #require(URL(string: "https://graph.example.com/v1.0"))
    #expect(try !GraphCloud(baseURL: other).serves(Self.authority(address)))
    guard let cloud else { return }
    let host = try #require(cloud.baseURL.host)
    #expect(cloud.allowedHosts == [host])
    let beta = try #require(URL(string: "https://\(host)/beta"))
    #expect(try GraphCloud(baseURL: beta).serves(Self.authority(address)))
  }

  @Test(.conformance(75)) func `An OpenID Connect provider has no Graph, whatever its host`() throws {
    #expect(GraphCloud.cloud(for: try Self.authority("https://login.microsoftonline.com/x", .oidc)) == nil)
  }

  @Test func `A custom base URL may have a version`() async throws {
    func cloud(_ address: String) throws -> GraphCloud {
      try GraphCloud(baseURL: #require(URL(string: address)))
    }
    #expect(try cloud("https://Localhost:8443").baseURL.absoluteString == "https://localhost:8443/v1.0")
    #expect(try cloud("https://localhost:8443/beta/").baseURL.absoluteString == "https://localhost:8443/beta")
    let escaped = try cloud("https://localhost:8443/a%2Cb")
    #expect(escaped.baseURL.absoluteString == "https://localhost:8443/a%2Cb")
    let transport = Self.transport()
    await expectGraphError(.invalidResponse) {
      try await Self.client(escaped, transport).batch([GraphBatchRequest(id: "1", GraphRequest("/me"))])
    }
    let sent = try JSONDecoder().decode(JSONObject.self, from: #require(transport.requests.first).body)
    #expect(sent["requests"]?.arrayValue?.first?.objectValue?["url"] == "/me")
    #expect(try cloud("https://localhost:8443").allowedHosts == ["localhost:8443"])
    for bad in ["http://localhost/v1.0", "https://a@localhost", "https://localhost?x=1", "file:///v1.0"] {
      #expect(throws: GraphError(.invalidRequest, "")) { try cloud(bad) }
    }
  }

  private static func client(
    _ cloud: GraphCloud, _ transport: ScriptedTransport, _ token: AuthenticationResult = .made()
  ) -> GraphClient {
    GraphClient(transport: transport, cloud: cloud) { _ throws(IdentityError) in token }
  }

  private static func transport() -> ScriptedTransport {
    let transport = ScriptedTransport()
    transport.script { _ in .json([:]) }
    return transport
  }

  @Test(.conformance(75))
  func `Each cloud has its own host and authority`() async throws {
    for address in [
      "https://login.microsoftonline.com/common", "https://login.microsoftonline.us/common",
      "https://login.partner.microsoftonline.cn/common", "https://login.sovcloud-identity.fr/common",
    ] {
      let authority = try Self.authority(address)
      let cloud = try #require(GraphCloud.cloud(for: authority))
      let transport = Self.transport()
      _ = try await Self.client(cloud, transport, .made(authority: authority)).me()
      let sent = try #require(transport.requests.first)
      #expect(sent.host == cloud.baseURL.host)
      #expect(sent.path == "/v1.0/me")
      #expect(sent.headers["authorization"] == "Bearer made-up-token")
    }
  }

  @Test(.conformance(75)) func `A token of one cloud is not sent to another`() async throws {
    let transport = Self.transport()
    let american = AuthenticationResult.made(
      authority: try Self.authority("https://login.microsoftonline.us/common"))
    for cloud in [GraphCloud.global, .china] {
      await expectGraphError(.cloudMismatch) { try await Self.client(cloud, transport, american).me() }
    }
    #expect(transport.requests.isEmpty)
    for cloud in [GraphCloud.usGovernment, .usDefense] {
      _ = try await Self.client(cloud, transport, american).me()
    }
    #expect(transport.requests.map(\.host) == ["graph.microsoft.us", "dod-graph.microsoft.us"])
  }

  @Test(.conformance(75)) func `Personal accounts are for the public cloud alone`() async throws {
    let transport = Self.transport()
    let authority = try Self.authority("https://login.microsoftonline.us/common")
    let personal = AuthenticationResult.made(authority: authority, tenant: Tenant.personalAccounts)
    await expectGraphError(.cloudMismatch) { try await Self.client(.usGovernment, transport, personal).me() }
    #expect(transport.requests.isEmpty)
    let publicAccount = AuthenticationResult.made(tenant: Tenant.personalAccounts)
    _ = try await Self.client(.global, transport, publicAccount).me()
  }

  @Test(arguments: [
    "https://evil.test/v1.0/me", "https://graph.microsoft.com.evil.test/",
    "https://graph.microsoft.com:444/",
    "https://graph.microsoft.com./v1.0/me", "https://graph.microsoft.us/v1.0/me", "HTTPS://EVIL.TEST/",
    "https://evil.test\\@graph.microsoft.com/", "https://graph.microsoft.com%2F.evil.test/",
    "https://graph.microsoft.com@evil.test/", "https://user:password@graph.microsoft.com/v1.0/me",
    "http://graph.microsoft.com/v1.0/me",
  ])
  func `A token is sent to the cloud's host only, whatever the path`(_ path: String) async throws {
    let transport = Self.transport()
    let error = await #expect(throws: GraphError.self) {
      try await Self.client(.global, transport).get(path)
    }
    #expect(error?.code == .hostNotAllowed || error?.code == .invalidRequest)
    #expect(transport.requests.isEmpty)
  }

  @Test(arguments: [
    ("//evil.test/me", "/v1.0//evil.test/me"), ("@evil.test/me", "/v1.0/@evil.test/me"),
    (".evil.test", "/v1.0/.evil.test"), (":444/me", "/v1.0/:444/me"), ("/a b?c=d e", "/v1.0/a%20b?c=d%20e"),
    ("/users/ä@c.test", "/v1.0/users/%C3%A4@c.test"), ("file:///etc/passwd", "/v1.0/file:///etc/passwd"),
    ("/users/a%23b", "/v1.0/users/a%23b"), ("https://GRAPH.microsoft.com/beta/me", "/beta/me"),
    ("https://graph.microsoft.com:443/v1.0/me", "/v1.0/me"),
    ("/a b/c%23d?x=e f&y=%2Cg", "/v1.0/a%20b/c%23d?x=e%20f&y=%2Cg"), ("/100% a%20b", "/v1.0/100%25%20a%20b"),
    ("https://graph.microsoft.com/beta?x=%2C \"|%", "/beta?x=%2C%20%22%7C%25"),
  ])
  func `Special characters of a path are escaped`(_ path: String, _ expected: String) async throws {
    let transport = Self.transport()
    _ = try await Self.client(.global, transport).get(path)
    #expect(transport.requests.map { $0.host.lowercased() } == ["graph.microsoft.com"])
    #expect(transport.requests.map(\.path) == [expected])
  }
}
