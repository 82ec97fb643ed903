import LabSupport

/// A challenge and its verifier, from RFC 7636 appendix B.
enum Proof {
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
}

extension Lab {
  /// Sends a request to the authorize endpoint; `changes` replace parameters, an empty one removes it.
  func authorize(
    tenant: String = "common", _ changes: [String: String] = [:], _ options: [String] = []
  ) async throws -> Answer {
    let standard = [
      "client_id": LabApps.plain, "response_type": "code", "redirect_uri": "http://localhost:50000",
      "scope": "User.Read openid profile offline_access", "state": "st", "client_info": "1",
      "code_challenge": Proof.challenge, "code_challenge_method": "S256", "login_hint": "alice@contoso.test",
    ]
    let parameters = standard.merging(changes) { _, new in new }.filter { !$0.value.isEmpty }
    return try await curl(
      "/\(tenant)/oauth2/v2.0/authorize", form: parameters.map { ($0.key, $0.value) }, ["-G"] + options)
  }

  func token(tenant: String = "common", _ form: [String: String]) async throws -> Answer {
    try await curl("/\(tenant)/oauth2/v2.0/token", form: form.map { ($0.key, $0.value) })
  }

  func redeem(
    _ code: String, tenant: String = "common", _ changes: [String: String] = [:]
  ) async throws -> Answer {
    let standard = [
      "grant_type": "authorization_code", "client_id": LabApps.plain, "code": code, "client_info": "1",
      "redirect_uri": "http://localhost:50000", "code_verifier": Proof.verifier,
    ]
    return try await token(
      tenant: tenant, standard.merging(changes) { _, new in new }.filter { !$0.value.isEmpty })
  }

  func refresh(
    _ token: String, tenant: String = "common", client: String = LabApps.plain,
    scope: String = "User.Read openid profile offline_access", claims: String = ""
  ) async throws -> Answer {
    let form = [
      "grant_type": "refresh_token", "client_id": client, "refresh_token": token, "scope": scope,
      "claims": claims, "client_info": "1",
    ]
    return try await self.token(tenant: tenant, form.filter { !$0.value.isEmpty })
  }

  /// Signs in with a code, and returns the token response.
  func signIn(
    tenant: String = "common", as user: String = "alice@contoso.test", client: String = LabApps.plain,
    scope: String = "User.Read openid profile offline_access", claims: String = ""
  ) async throws -> Answer {
    let answer = try await authorize(
      tenant: tenant,
      ["client_id": client, "login_hint": user, "scope": scope, "claims": claims])
    let code = try #require(answer.redirect["code"], "\(answer.body)")
    return try await redeem(code, tenant: tenant, ["client_id": client, "claims": claims])
  }
}

extension Answer {
  /// The parameters of the redirect.
  var redirect: [String: String] {
    let location = headers["location"] ?? ""
    let query = location.split(separator: "?", maxSplits: 1).last.map(String.init) ?? ""
    var components = URLComponents()
    components.percentEncodedQuery = query.split(separator: "#").last.map(String.init)
    let items = components.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
  }

  var errorCode: Int? { (try? json)?["error_codes"]?.array?.first?.integer }

  /// The error and its number, in the body or in the redirect.
  var refusal: String? {
    guard let error = self["error"] ?? redirect["error"],
      let description = self["error_description"] ?? redirect["error_description"]
    else { return nil }
    return "\(error) \(description.prefix { $0 != ":" })"
  }

  /// The claims of a token in the body.
  func claims(of token: String) throws -> JSON {
    try decodeBase64URL(#require(self[token]?.split(separator: ".").dropFirst().first))
  }
}

func decodeBase64URL(_ text: some StringProtocol) throws -> JSON {
  let standard = String(text).replacing("-", with: "+").replacing("_", with: "/")
  let padded = standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
  return try JSONDecoder().decode(JSON.self, from: #require(Data(base64Encoded: padded)))
}
