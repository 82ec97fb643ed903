import LabSupport

@Suite(.lab) struct DeviceTests {
  private let lab = Lab.current

  @Test func `A code is pending until it is approved`() async throws {
    let flow = try await lab.begin()
    #expect(flow["verification_uri"] == lab.baseURL + "/common/oauth2/deviceauth")
    #expect(try flow.json["expires_in"] == 900)
    #expect(try flow.json["interval"] == 5)
    #expect(try flow.json["verification_uri_complete"] == nil)
    #expect(lab.pendingUserCodes == [flow["user_code"]])
    _ = try await lab.poll(flow)
    #expect(try await lab.poll(flow).refusal == "authorization_pending AADSTS70016")
    try lab.approveDevice(userCode: flow["user_code"], as: "alice")
    let tokens = try await lab.poll(flow)
    #expect(try tokens.claims(of: "id_token")["name"] == "Alice Álvarez")
    #expect(try await lab.poll(flow).refusal == "invalid_grant AADSTS54005")
    #expect(lab.pendingUserCodes.isEmpty)
  }

  @Test func `A declined, expired or unknown device code is an error`() async throws {
    let older = try await lab.begin()
    let declined = try await lab.begin()
    try lab.declineDevice()
    #expect(try await lab.poll(declined).refusal == "authorization_declined AADSTS70019")
    #expect(lab.pendingUserCodes == [older["user_code"]])
    #expect(try await lab.begin(scope: "User.Read api://x/y").refusal == "invalid_request AADSTS28000")
    let late = try await lab.begin()
    lab.configure { $0.clockSkew = 901 }
    #expect(throws: LabError.self) { try lab.approveDevice(as: "alice") }
    #expect(try await lab.poll(late).refusal == "expired_token AADSTS70020")
    let unknown = try await lab.token([
      "grant_type": "device_code", "client_id": LabApps.plain, "device_code": "x",
    ])
    #expect(unknown.refusal == "bad_verification_code AADSTS70018")
    #expect(throws: LabError.self) { try lab.approveDevice(userCode: "NOSUCH", as: "alice") }
  }

  @Test func `Polling too fast is slow_down, where the lab is set to check it`() async throws {
    lab.configure {
      $0.enforceDeviceInterval = true
      $0.deviceInterval = 600
    }
    let flow = try await lab.begin()
    #expect(try await lab.poll(flow).refusal == "authorization_pending AADSTS70016")
    #expect(try await lab.poll(flow).refusal == "slow_down AADSTS70016")
    lab.configure { $0.clockSkew = 601 }
    #expect(try await lab.poll(flow).refusal == "authorization_pending AADSTS70016")
  }

  @Test func `A user enters the code on the page`() async throws {
    let flow = try await lab.begin()
    let page = try await lab.curl("/common/oauth2/deviceauth")
    #expect(page.body.contains("name=\"otc\""))
    let wrong = try await lab.curl("/common/oauth2/deviceauth", form: [("otc", "<b>"), ("user", "bob")])
    #expect(wrong.status == 400)
    #expect(!wrong.body.contains("<B>"))
    let code = try #require(flow["user_code"]).lowercased()
    let done = try await lab.curl("/common/oauth2/deviceauth", form: [("otc", code), ("user", "bob")])
    #expect(done.status == 200)
    #expect(try await lab.poll(flow).claims(of: "id_token")["name"] == "Bob Brown")
  }

  @Test func `An account that the authority does not accept leaves the code pending`() async throws {
    let flow = try await lab.begin(tenant: "organizations")
    let code = try #require(flow["user_code"])
    let refused = try await lab.curl("/common/oauth2/deviceauth", form: [("otc", code), ("user", "carol")])
    #expect(refused.status == 400)
    #expect(try await lab.poll(flow).refusal == "authorization_pending AADSTS70016")
    try lab.approveDevice(userCode: code, as: "bob")
    #expect(try await lab.poll(flow).status == 200)
  }
}

extension Lab {
  fileprivate func begin(
    tenant: String = "common", scope: String = "User.Read openid profile offline_access"
  ) async throws -> Answer {
    try await curl(
      "/\(tenant)/oauth2/v2.0/devicecode", form: [("client_id", LabApps.plain), ("scope", scope)])
  }

  fileprivate func poll(_ flow: Answer) async throws -> Answer {
    try await token([
      "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": LabApps.plain,
      "device_code": #require(flow["device_code"]),
    ])
  }
}
