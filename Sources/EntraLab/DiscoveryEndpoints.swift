/// OpenID Connect discovery, and the discovery of cloud instances.
extension LabState {
  func discovery(_ request: LabRequest, _ authority: LabAuthority) throws(LabError) -> LabReply {
    let base = request.base
    let isADFS = authority.kind == .adfs
    var prefix = authority.prefix
    // Like Entra, replaces a domain by the tenant's id.
    if case .one(let tenant) = try tenancy(of: authority), authority.kind == .entra,
      authority.tenant != "consumers"
    {
      prefix = "/" + tenant.id
    }
    let version = isADFS ? "" : "/v2.0"
    let host = JSON.string(request.host)
    let metadata: [String: JSON] = [
      "issuer": .string(try issuer(of: authority, base: base)),
      "authorization_endpoint": "\(base)\(prefix)/oauth2\(version)/authorize",
      "token_endpoint": "\(base)\(prefix)/oauth2\(version)/token",
      "device_authorization_endpoint": "\(base)\(prefix)/oauth2\(version)/devicecode",
      "end_session_endpoint": "\(base)\(prefix)/oauth2\(version)/logout",
      "jwks_uri": "\(base)\(prefix)/discovery\(version)/keys",
      "userinfo_endpoint": "\(base)/oidc/userinfo",
      "kerberos_endpoint": "\(base)\(prefix)/kerberos",
      "token_endpoint_auth_methods_supported": [
        "client_secret_post", "private_key_jwt", "client_secret_basic",
      ],
      "response_modes_supported": ["query", "fragment", "form_post"],
      "response_types_supported": ["code", "id_token", "code id_token", "id_token token"],
      "subject_types_supported": ["pairwise"],
      "id_token_signing_alg_values_supported": ["RS256"],
      "scopes_supported": ["openid", "profile", "email", "offline_access"],
      "claims_supported": [
        "sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "preferred_username", "name", "tid", "ver",
        "email",
      ],
      "request_uri_parameter_supported": false,
      "http_logout_supported": true,
      "frontchannel_logout_supported": true,
      "tenant_region_scope": nil,
      "cloud_instance_name": host, "cloud_graph_host_name": host, "msgraph_host": host,
      "rbac_url": "https://pas.windows.net",
    ]
    return LabReply(json: metadata.overlaid(with: settings.metadata))
  }

  /// The issuer: Entra's is a template if the tenant is not known yet.
  private func issuer(of authority: LabAuthority, base: String) throws(LabError) -> String {
    switch (authority.kind, try tenancy(of: authority)) {
    case (.adfs, _): "\(base)/adfs"
    case (.b2c, .one(let tenant)): "\(base)/\(tenant.id)/v2.0/"
    case (_, .one(let tenant)): "\(base)/\(tenant.id)/v2.0"
    case (_, .anyAccount), (_, .workAccount): "\(base)/{tenantid}/v2.0"
    }
  }

  func instanceDiscovery(_ request: LabRequest) throws(LabError) -> LabReply {
    guard let endpoint = request.query["authorization_endpoint"] else {
      throw .missing("authorization_endpoint")
    }
    let parts = endpoint.split(separator: "/", omittingEmptySubsequences: false)
    let port = request.host.split(separator: ":").last ?? ""
    let names = ["localhost", "127.0.0.1", "[::1]"]
    let host = parts.count > 3 && parts[0] == "https:" ? parts[2].lowercased() : ""
    // Some clients omit the port in a request for an instance.
    guard names.contains(host) || names.contains(where: { host == "\($0):\(port)" }) else {
      throw LabError("invalid_instance", 50049, "Unknown or invalid instance.")
    }
    var response: [String: JSON] = [
      "tenant_discovery_endpoint": "\(request.base)/\(parts[3])/v2.0/.well-known/openid-configuration",
      "api-version": .string(request.query["api-version"] ?? "1.0"),
    ]
    if request.query["api-version"] == "1.1" {
      response["metadata"] = [
        [
          "preferred_network": "localhost:\(String(port))", "preferred_cache": "localhost:\(String(port))",
          "aliases": .array(names.map { "\($0):\(String(port))" }),
        ],
        [
          "preferred_network": "localhost", "preferred_cache": "localhost",
          "aliases": .array(names.map(JSON.string)),
        ],
      ]
    }
    return LabReply(json: response)
  }
}
