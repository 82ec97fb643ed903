import LabSupport

@Suite(.lab) struct TokenTests {
  private let lab = Lab.current

  @Test func `A code is redeemed once`() async throws {
    let code = try #require(try await lab.authorize(["nonce": "n"]).redirect["code"])
    let first = try await lab.redeem(code)
    #expect(first["scope"] == "User.Read openid profile")
    #expect(first["token_type"] == "Bearer")
    #expect(try first.json["expires_in"] == 3600)
    #expect(try first.json["ext_expires_in"] == 7200)
    #expect(try first.json["refresh_in"] == nil)
    #expect(try first.json["foci"] == nil)
    let claims = try first.claims(of: "id_token")
    #expect(claims["nonce"] == "n")
    #expect(first["client_info"] != nil)
    #expect(claims["tid"]?.string == LabDirectory.contoso)
    #expect(claims["iss"]?.string == "\(lab.baseURL)/\(LabDirectory.contoso)/v2.0")
    #expect(try await lab.redeem(code).errorCode == 54005)
  }

  @Test func `Proof keys and redirect URIs are checked`() async throws {
    func attempt(_ changes: [String: String], of request: [String: String] = [:]) async throws -> Int? {
      let code = try #require(try await lab.authorize(request).redirect["code"])
      return try await lab.redeem(code, changes).errorCode
    }
    #expect(try await attempt(["code_verifier": Proof.challenge]) == 501_481)
    #expect(try await attempt(["code_verifier": ""]) == 50148)
    #expect(try await attempt(["redirect_uri": "http://localhost:50001"]) == 500_112)
    #expect(try await attempt(["client_secret": "x"]) == 700_025)
    #expect(try await attempt(["client_id": LabApps.mail]) == 70000)
    #expect(try await attempt(["code": "other"]) == 70000)
    #expect(try await attempt(["scope": "User.Read api://x/y"]) == 28000)
    #expect(try await attempt(["grant_type": "password"]) == 70003)
    #expect(try await attempt(["scope": "Files.ReadWrite.All"]) == 65001)
    #expect(try await attempt([:], of: ["code_challenge": ""]) == 501_481)
  }

  @Test func `A code expires, and belongs to its tenant`() async throws {
    let code = try #require(try await lab.authorize().redirect["code"])
    #expect(try await lab.redeem(code, tenant: "fabrikam.test").errorCode == 700_005)
    let other = try #require(try await lab.authorize().redirect["code"])
    lab.configure { $0.clockSkew = 600 }
    #expect(try await lab.redeem(other).errorCode == 70008)
  }

  @Test func `client_info is returned where it is asked for`() async throws {
    let code = try #require(try await lab.authorize().redirect["code"])
    let answer = try await lab.redeem(code, ["client_info": ""])
    #expect(answer.status == 200)
    #expect(answer["client_info"] == nil)
  }

  @Test func `Errors have Entra's form`() async throws {
    let id = "12345678-0000-4000-8000-000000000000"
    let answer = try await lab.curl(
      "/common/oauth2/v2.0/token", form: [("client_id", LabApps.plain)],
      headers: ["client-request-id: \(id)", "return-client-request-id: true"])
    #expect(answer.status == 400)
    #expect(answer.refusal == "invalid_request AADSTS900144")
    #expect(answer["correlation_id"] == id)
    #expect(answer.headers["client-request-id"] == id)
    #expect(answer["error_description"]?.contains("Correlation ID: \(id) Timestamp: 20") == true)
    #expect(answer["trace_id"] != nil)
    for (id, returns) in [(id, "false"), ("a b", "true")] {
      let silent = try await lab.curl(
        "/common/oauth2/v2.0/token", form: [("client_id", LabApps.plain)],
        headers: ["client-request-id: \(id)", "return-client-request-id: \(returns)"])
      #expect(silent.headers["client-request-id"] == nil)
    }
  }

  @Test func `A refresh token serves other scopes and tenants, and many times`() async throws {
    let first = try await lab.signIn()
    let token = try #require(first["refresh_token"])
    #expect(try await lab.refresh(token, scope: "mail.read openid")["scope"] == "Mail.Read openid")
    let guest = try await lab.refresh(token, tenant: "fabrikam.test")
    let home = try first.claims(of: "id_token")
    let away = try guest.claims(of: "id_token")
    #expect(away["tid"]?.string == LabDirectory.fabrikam)
    #expect(away["oid"] != home["oid"])
    #expect(guest["client_info"] == first["client_info"])
    #expect(try await lab.refresh("nonsense")["suberror"] == "bad_token")
    // Neither an ID token nor a refresh token, unless asked for.
    #expect(try await lab.refresh(token, scope: "User.Read").json.object?.count == 6)
  }

  @Test func `Strict refresh tokens work once`() async throws {
    lab.configure { $0.strictRefreshTokens = true }
    let token = try #require(try await lab.signIn()["refresh_token"])
    let next = try #require(try await lab.refresh(token)["refresh_token"])
    #expect(try await lab.refresh(token).refusal == "invalid_grant AADSTS70000")
    #expect(try await lab.refresh(next).status == 200)
  }

  @Test func `A family shares refresh tokens, another client cannot use them`() async throws {
    let mail = try await lab.signIn(client: LabApps.mail)
    #expect(mail["foci"] == "1")
    let token = try #require(mail["refresh_token"])
    let calendar = try await lab.refresh(token, client: LabApps.calendar)
    #expect(try calendar.claims(of: "id_token")["aud"]?.string == LabApps.calendar)
    let plain = try #require(try await lab.signIn()["refresh_token"])
    #expect(try await lab.refresh(token, client: LabApps.plain)["suberror"] == "client_mismatch")
    #expect(try await lab.refresh(plain, client: LabApps.mail).refusal == "invalid_grant AADSTS70000")
  }

  @Test func `A second factor is demanded, entered in the browser, and remembered`() async throws {
    let token = try #require(try await lab.signIn()["refresh_token"])
    try lab.requireMFA(of: "alice", scopes: ["Mail.Read"])
    #expect(try await lab.refresh(token).status == 200)
    let refused = try await lab.refresh(token, scope: "Mail.Read")
    #expect(refused.refusal == "invalid_grant AADSTS50076")
    #expect(refused["suberror"] == "basic_action")
    #expect(refused["claims"]?.contains("capolids") == true)
    let strong = try #require(try await lab.signIn()["refresh_token"])
    #expect(try await lab.refresh(strong, scope: "Mail.Read").status == 200)
  }

  @Test func `Every well-formed scope of Graph exists, except those that are set as unknown`() async throws {
    let token = try #require(try await lab.signIn()["refresh_token"])
    for scope in ["Chat.Read", "files.readwrite", "Policy.ReadWrite.ConditionalAccess", "Term-2.Read.All"] {
      let answer = try await lab.refresh(token, scope: scope)
      #expect(answer["scope"] == scope.replacing("files.readwrite", with: "Files.ReadWrite"))
    }
    for scope in ["Chat", "Chat.", ".Read", "Chat Read", "Chat.Re_ad", "https://graph.microsoft.com/Chat"] {
      #expect(try await lab.refresh(token, scope: scope).errorCode == 650_053, "\(scope)")
    }
    lab.configure { $0.unknownScopes = ["Chat.Read", "User.Read"] }
    for scope in ["chat.read", "https://graph.microsoft.com/User.Read"] {
      #expect(try await lab.refresh(token, scope: scope).errorCode == 650_053, "\(scope)")
    }
    #expect(try await lab.refresh(token, scope: "api://x/User.Read").status == 200)
  }

  @Test func `Consent is given in the browser only, and only for the requested scopes`() async throws {
    let token = try #require(try await lab.signIn()["refresh_token"])
    let refused = try await lab.refresh(token, scope: "Files.ReadWrite.All")
    #expect(refused["suberror"] == "consent_required")
    #expect(refused.errorCode == 65001)
    _ = try await lab.signIn(scope: "Files.ReadWrite.All")
    #expect(try await lab.refresh(token, scope: "Files.ReadWrite.All").status == 200)
    #expect(try await lab.authorize(["scope": "User.Read api://x/y"]).redirect["code"] != nil)
    #expect(try await lab.refresh(token, scope: "User.Read api://x/y").errorCode == 28000)
  }

  @Test func `Revoking a user ends sessions so far`() async throws {
    let token = try #require(try await lab.signIn()["refresh_token"])
    try lab.revokeSessions(of: "alice")
    #expect(try await lab.refresh(token).errorCode == 50173)
    let next = try #require(try await lab.signIn()["refresh_token"])
    #expect(try await lab.refresh(next).status == 200)
  }

  @Test(arguments: AccountCondition.allCases)
  func `An account's faults appear at a refresh`(condition: AccountCondition) async throws {
    let token = try #require(try await lab.signIn()["refresh_token"])
    try lab.setCondition(condition, of: "alice")
    let refused = try await lab.refresh(token)
    #expect(refused.status == 400)
    let numbers: [AccountCondition: Int] = [
      .accountDeleted: 50034, .badToken: 700_082, .tokenExpired: 70043, .passwordExpired: 50055,
      .messageOnly: 53003, .additionalAction: 53000, .basicAction: 50079, .consentRequired: 65001,
      .deviceAuthenticationFailed: 50097, .protectionPolicyRequired: 53005, .accountDisabled: 50057,
    ]
    #expect(refused.errorCode == numbers[condition])
    if condition == .accountDeleted { #expect(refused["suberror"] == "user_account_deleted") }
    if condition == .protectionPolicyRequired { #expect(refused["error"] == "unauthorized_client") }
    try lab.setCondition(nil, of: "alice")
    #expect(try await lab.refresh(token).status == 200)
  }

  @Test func `A client that declares cp1 gets a long-lived token`() async throws {
    let claims =
      #"{"access_token":{"xms_cc":{"values":["cp1"]}},"id_token":{"auth_time":{"essential":true}}}"#
    let answer = try await lab.signIn(claims: claims)
    #expect(try answer.json["expires_in"] == 86_400)
    #expect(try answer.json["refresh_in"] == 43_200)
    #expect(try answer.claims(of: "access_token")["xms_cc"] == ["cp1"])
    #expect(try answer.claims(of: "id_token")["auth_time"] != nil)
  }

  @Test func `A token may last longer where set, and is renewed early where set or long`() async throws {
    for (extended, lifetime, early, members) in [
      (0, 7199, 0, [nil, nil]), (1, 7200, 0, [7200, 3600]), (1, 60, 1, [60, 1]),
    ] as [(Int, Int, Int, [JSON?])] {
      lab.configure { ($0.extendedLifetime, $0.tokenLifetime, $0.refreshIn) = (extended, lifetime, early) }
      let json = try await lab.signIn().json
      #expect([json["ext_expires_in"], json["refresh_in"]] == members)
    }
  }

  @Test func `A test can set lifetimes, the clock and whole responses`() async throws {
    lab.configure {
      $0.tokenLifetime = 600
      $0.refreshIn = 300
      $0.clockSkew = -7200
      $0.declinedScopes = ["Mail.Read"]
      $0.tokenResponse = ["refresh_token": nil, "ext_expires_in": "900", "extra": [1]]
      $0.idTokenClaims = ["nonce": "other", "aud": nil]
    }
    let start = Int(Date().timeIntervalSince1970)
    let answer = try await lab.signIn(scope: "User.Read Mail.Read openid offline_access")
    let json = try answer.json
    #expect(json["expires_in"] == 600)
    #expect(json["refresh_in"] == 300)
    #expect(json["ext_expires_in"] == "900")
    #expect(json["extra"] == [1])
    #expect(json["refresh_token"] == nil)
    #expect(answer["scope"] == "User.Read openid")
    let claims = try answer.claims(of: "id_token")
    #expect(claims["nonce"] == "other")
    #expect(claims["aud"] == nil)
    let issued = try #require(claims["iat"]?.integer)
    #expect((start...Int(Date().timeIntervalSince1970)).contains(issued + 7200))
  }

  @Test func `B2C puts the policy into the account, and ADFS sends no client_info`() async throws {
    let policy = try await lab.signIn(tenant: "tfp/contoso.onmicrosoft.com/B2C_1_Up")
    let info = try decodeBase64URL(#require(policy["client_info"]))
    #expect(info["uid"]?.string?.hasSuffix("-b2c_1_up") == true)
    #expect(try policy.claims(of: "id_token")["tfp"] == "b2c_1_up")
    #expect(try policy.json["refresh_token_expires_in"] == 7_776_000)
    let token = try #require(policy["refresh_token"])
    #expect(
      try await lab.refresh(token, tenant: "contoso.onmicrosoft.com/b2c_1_other")["suberror"] == "bad_token"
    )

    let code = try #require(
      try await lab.authorize(tenant: "tfp/contoso.onmicrosoft.com/b2c_1_up").redirect["code"])
    #expect(try await lab.redeem(code, tenant: "contoso.onmicrosoft.com").errorCode == 70000)

    let unscoped = try await lab.signIn(tenant: "contoso.onmicrosoft.com/b2c_1_up", scope: "openid")
    #expect(unscoped["access_token"] == nil)
    #expect(unscoped["id_token"] != nil)

    let adfs = try await lab.signIn(tenant: "adfs")
    #expect(adfs["client_info"] == nil)
    #expect(try adfs.claims(of: "id_token")["iss"]?.string == lab.baseURL + "/adfs")
  }
}
