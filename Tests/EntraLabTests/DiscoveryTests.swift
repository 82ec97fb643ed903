import LabSupport

@Suite(.lab) struct DiscoveryTests {
  private let lab = Lab.current

  @Test func `Common has a template for an issuer, a domain becomes its tenant's id`() async throws {
    let common = try await lab.curl("/common/v2.0/.well-known/openid-configuration")
    #expect(common["issuer"] == lab.baseURL + "/{tenantid}/v2.0")
    #expect(common["token_endpoint"] == lab.baseURL + "/common/oauth2/v2.0/token")
    let supported = try common.json.object?.filter { $0.value == true }.keys.sorted()
    #expect(supported == ["frontchannel_logout_supported", "http_logout_supported"])
    let domain = try await lab.curl("/contoso.test/v2.0/.well-known/openid-configuration")
    #expect(domain["issuer"] == "\(lab.baseURL)/\(LabDirectory.contoso)/v2.0")
    #expect(domain["token_endpoint"] == "\(lab.baseURL)/\(LabDirectory.contoso)/oauth2/v2.0/token")
    let consumers = try await lab.curl("/consumers/v2.0/.well-known/openid-configuration")
    #expect(consumers["issuer"] == "\(lab.baseURL)/\(LabTenant.consumers)/v2.0")
  }

  @Test func `An unknown tenant is an error`() async throws {
    let answer = try await lab.curl("/nowhere.test/v2.0/.well-known/openid-configuration")
    #expect(answer.status == 400)
    #expect(answer.refusal == "invalid_tenant AADSTS90002")
  }

  @Test(arguments: [
    (
      "/contoso.onmicrosoft.com/b2c_1_x/v2.0/.well-known/openid-configuration",
      "/\(LabDirectory.contoso)/v2.0/"
    ),
    (
      "/tfp/contoso.onmicrosoft.com/B2C_1_x/v2.0/.well-known/openid-configuration",
      "/\(LabDirectory.contoso)/v2.0/"
    ),
    ("/adfs/.well-known/openid-configuration", "/adfs"),
    ("/v2.0/.well-known/openid-configuration", "/\(LabDirectory.contoso)/v2.0"),
  ])
  func `B2C, AD FS and External ID have their own paths`(path: String, issuer: String) async throws {
    let answer = try await lab.curl(path)
    #expect(answer["issuer"] == lab.baseURL + issuer)
  }

  @Test func `An instance is known with and without its port`() async throws {
    let path = "/common/oauth2/v2.0/authorize"
    let found = lab.baseURL + "/common/v2.0/.well-known/openid-configuration"
    for endpoint in [lab.baseURL + path, "https://localhost/common", "https://127.0.0.1" + path] {
      let answer = try await lab.curl(
        "/common/discovery/instance",
        form: [("api-version", "1.1"), ("api-version", "2"), ("authorization_endpoint", endpoint)], ["-G"])
      #expect(answer["tenant_discovery_endpoint"] == found)
      #expect(try answer.json["metadata"]?.array?.count == 2)
    }
    for endpoint in ["https://evil.example" + path, "http://localhost" + path, "https://localhost"] {
      let answer = try await lab.curl(
        "/common/discovery/instance", form: [("authorization_endpoint", endpoint)], ["-G"])
      #expect(answer.refusal == "invalid_instance AADSTS50049")
    }
  }

  @Test func `URLs begin with the host that the client used`() async throws {
    let base = lab.baseURL.replacing("localhost", with: "127.0.0.1")
    let answer = try await lab.curl(base + "/common/v2.0/.well-known/openid-configuration")
    #expect(answer["token_endpoint"] == base + "/common/oauth2/v2.0/token")
  }

  @Test func `Metadata can be overlaid`() async throws {
    lab.configure { $0.metadata = ["token_endpoint": "http://localhost/token", "issuer": nil] }
    let answer = try await lab.curl("/common/v2.0/.well-known/openid-configuration")
    #expect(answer["token_endpoint"] == "http://localhost/token")
    #expect(try answer.json["issuer"] == nil)
  }
}
