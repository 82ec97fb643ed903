import LabSupport

@Suite(.lab) struct GraphTests {
  private let lab = Lab.current

  @Test func `The user is returned whole or with selected properties`() async throws {
    let token = try #require(try await lab.signIn()["access_token"])
    let me = try await lab.graph("/me", token)
    #expect(me["userPrincipalName"] == "alice@contoso.test")
    #expect(try me.json["jobTitle"] == .null)
    #expect(me.headers["odata-version"] == "4.0")
    #expect(me.headers["content-type"]?.contains("IEEE754Compatible=false") == true)
    #expect(me.headers["request-id"] != nil)
    let selected = try await lab.graph("/me?$select=displayName,mail", token)
    #expect(selected["@odata.context"] == lab.graphURL + "/$metadata#users(displayName,mail)/$entity")
    #expect(try selected.json.object?.count == 3)
    #expect(try await lab.graph("/me?$select=nothing,neither", token).body.contains("named 'nothing'."))
    #expect(try await lab.graph("/me", token, ["-X", "DELETE"]).status == 405)
  }

  @Test(arguments: ["contoso.test", "fabrikam.test"])
  func `UserInfo has the subject of the ID token`(tenant: String) async throws {
    let tokens = try await lab.signIn(tenant: tenant)
    let token = try #require(tokens["access_token"])
    let userInfo = try await lab.curl("/oidc/userinfo", headers: ["Authorization: Bearer \(token)"])
    #expect(try userInfo["sub"] == tokens.claims(of: "id_token")["sub"]?.string)
  }

  @Test func `Tokens that are absent, garbled, expired or for another resource are refused`() async throws {
    let absent = try await lab.curl("/v1.0/me")
    #expect(absent.status == 401)
    #expect(try absent.json["error"]?["message"] == "Access token is empty.")
    #expect(try absent.json["error"]?["innerError"]?["request-id"] != nil)
    #expect(try await lab.graph("/me", "garbage").status == 401)
    let foreign = try #require(try await lab.signIn(scope: "api://other/read")["access_token"])
    #expect(try await lab.graph("/me", foreign).status == 401)
    let token = try #require(try await lab.signIn()["access_token"])
    lab.configure { $0.clockSkew = 3601 }
    let expired = try await lab.graph("/me", token)
    #expect(try expired.json["error"]?["message"] == "Lifetime validation failed, the token is expired.")
  }

  @Test func `A revoked token is challenged if it is continuously evaluated`() async throws {
    let claims = #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#
    let watched = try #require(try await lab.signIn(claims: claims)["access_token"])
    let plain = try #require(try await lab.signIn()["access_token"])
    try lab.revokeSessions(of: "alice")
    #expect(try await lab.graph("/me", plain).status == 200)
    let challenged = try await lab.graph("/me", watched)
    #expect(challenged.status == 401)
    let header = try #require(challenged.headers["www-authenticate"])
    #expect(header.contains(#"error="insufficient_claims""#))
    let encoded = try #require(header.split(separator: #"claims=""#).last?.dropLast())
    let challenge = try decodeBase64URL(encoded.replacing("=", with: ""))
    #expect(challenge["access_token"]?["nbf"]?["essential"] == true)
  }

  @Test func `Messages are read page by page`() async throws {
    let plain = try #require(try await lab.signIn()["access_token"])
    #expect(try await lab.graph("/me/messages", plain).status == 403)
    let identity = try #require(try await lab.signIn(scope: "openid")["access_token"])
    #expect(try await lab.graph("/me", identity).status == 200)
    #expect(try await lab.graph("/me/messages", identity).status == 403)
    let token = try #require(try await lab.signIn(scope: "Mail.ReadWrite")["access_token"])
    var (link, counts, ids) = (lab.graphURL + "/me/messages?$select=subject", [Int](), [String?]())
    while !link.isEmpty {
      let page = try await lab.curl(link, headers: ["Authorization: Bearer \(token)"])
      let messages = try #require(try page.json["value"]?.array)
      #expect(messages.allSatisfy { Set($0.object.map { Array($0.keys) } ?? []) == ["id", "subject"] })
      counts.append(messages.count)
      ids += messages.map { $0["id"]?.string }
      link = page["@odata.nextLink"] ?? ""
    }
    #expect(counts == [10, 10, 5])
    #expect(ids == (1...25).reversed().map { "message-\($0)" })
    let last = try await lab.graph("/me/messages?$top=3&$skip=22", token)
    #expect(try last.json["value"]?.array?.count == 3 && last["@odata.nextLink"] == nil)
    let newest = try await lab.graph("/me/messages?$top=4&$select=isRead", token).json["value"]?.array
    #expect(newest?.map { $0["isRead"] == true } == [false, false, false, true])
    for query in ["$select=nothing", "$top=0", "$skip=x"] {
      #expect(try await lab.graph("/me/messages?\(query)", token).status == 400)
    }
    let unknown = try await lab.graph("/me/calendar", token)
    #expect(try unknown.json["error"]?["message"] == "Resource not found for the segment 'me'.")
  }

  @Test func `A token that was requested without the required claims is challenged`() async throws {
    let plain = try #require(try await lab.signIn()["access_token"])
    lab.configure { $0.requiredClaims = ["acrs": ["essential": true, "value": "c1"]] }
    let challenged = try await lab.graph("/me", plain)
    let header = try #require(challenged.headers["www-authenticate"])
    let encoded = try #require(header.split(separator: #"claims=""#).last?.dropLast())
    let claims = try decodeBase64URL(encoded.replacing("=", with: ""))
    #expect(challenged.status == 401)
    #expect(claims == ["access_token": ["acrs": ["essential": true, "value": "c1"]]])
    for (value, status) in [("c1", 200), ("c2", 401)] {
      let asked = #"{"access_token":{"acrs":{"essential":true,"value":"\#(value)"},"x":null}}"#
      let token = try #require(try await lab.signIn(claims: asked)["access_token"])
      #expect(try await lab.graph("/me", token).status == status)
    }
  }

  @Test func `Batch responses come one per request, in another order`() async throws {
    let token = try #require(try await lab.signIn()["access_token"])
    let answer = try await lab.batch(
      token,
      """
      {"id":"1","method":"GET","url":"/me?$select=mail"},{"id":"2","method":"GET","url":"/users"},
      {"id":"3","method":"GET","url":"/me","dependsOn":["2"]},
      {"id":"4","method":"GET","url":"/me?$select=mail?x"},
      {"id":"5","method":"GET","url":"/me","dependsOn":["4"]}
      """)
    let responses = try #require(try answer.json["responses"]?.array)
    #expect(responses.map { $0["id"] } == ["5", "4", "3", "2", "1"])
    #expect(responses.map { $0["status"] } == [424, 400, 424, 403, 200])
    #expect(responses[4]["body"]?["mail"] == "alice@contoso.test")
    let many = Array(repeating: #"{"id":"1","method":"GET","url":"/me"}"#, count: 21)
    #expect(try await lab.batch(token, many.joined(separator: ",")).status == 400)
  }

  @Test func `A fault can fail one request of a batch, with its dependents`() async throws {
    let token = try #require(try await lab.signIn()["access_token"])
    lab.inject(
      LabFault(.batchItem, status: 429, headers: ["Retry-After": "2"], body: #"{"error":{"code":"slow"}}"#))
    let answer = try await lab.batch(
      token,
      """
      {"id":"1","method":"GET","url":"/me"},{"id":"2","method":"GET","url":"/me"},
      {"id":"3","method":"GET","url":"/me","dependsOn":["1"]}
      """)
    let responses = try #require(try answer.json["responses"]?.array)
    #expect(responses.map { $0["status"] } == [424, 200, 429])
    #expect(responses.last?["headers"]?["Retry-After"] == "2")
    #expect(responses.last?["body"]?["error"]?["code"] == "slow")
  }
}

extension Lab {
  fileprivate func graph(_ path: String, _ token: String, _ options: [String] = []) async throws -> Answer {
    try await curl(graphURL + path, headers: ["Authorization: Bearer \(token)"], options)
  }

  fileprivate func batch(_ token: String, _ requests: String) async throws -> Answer {
    let body = #"{"requests":["# + requests + "]}"
    return try await graph("/$batch", token, ["-H", "Content-Type: application/json", "-d", body])
  }
}
