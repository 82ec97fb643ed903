@testable import EntraLab
import LabSupport

@Suite(.lab) struct ControlTests {
  private let lab = Lab.current

  @Test func `Every verb works over the control channel`() async throws {
    func tell(_ command: String) async throws -> Answer { try await lab.curl("/__ctl", ["-d", command]) }
    let commands = [
      #"{"configure":{"deviceInterval":1,"authorize":{"user":{"name":"bob"}},"tokenResponse":{"scope":null}}}"#,
      #"{"fault":{"target":"graph","status":503,"count":2,"headers":{"Retry-After":"1"}}}"#,
      #"{"clearFaults":{}}"#, #"{"endDelays":{}}"#, #"{"revoke":"alice"}"#,
      #"{"condition":{"user":"alice","condition":"accountDeleted"}}"#, #"{"condition":{"user":"alice"}}"#,
      #"{"mfa":{"user":"bob","required":true,"scopes":["Mail.Read"]}}"#, #"{"clearLog":{}}"#,
      #"{"configure":{"popNonce":"n","longTokenLifetime":10000000000}}"#,
    ]
    // Those of the help, which need no device code and no user in full.
    let documented = Lab.commands.split(separator: "\n").map(String.init).filter {
      !$0.contains("…") && !$0.contains("Device")
    }
    for command in documented + [#"{"reset":{}}"#] + commands {
      let answer = try await tell(command)
      #expect(try answer.json == ["ok": true] && answer.status == 200, "\(command): \(answer.body)")
    }
    let overview = try await lab.curl("/__ctl").json
    #expect(overview["settings"]?["deviceInterval"] == 1)
    #expect(overview["settings"]?["tokenLifetime"] == 3600)
    #expect(overview["settings"]?["popNonce"] == "n")
    #expect(try await tell(#"{"configure":{"popNonce":null}}"#).status == 200)
    #expect(try await lab.curl("/__ctl").json["settings"]?["popNonce"] == nil)
    #expect(overview["directory"]?["users"]?.array?.count == 3)
    #expect(try await lab.authorize(["login_hint": ""]).redirect["code"] != nil)
    #expect(try await tell(#"{"reset":{}}"#).status == 200)
    #expect(try await lab.curl("/__ctl").json["settings"]?["deviceInterval"] == 5)
  }

  @Test func `A delayed response is sent when the control channel ends delays`() async throws {
    lab.inject(LabFault(.keys, delay: 600))
    async let delayed = lab.curl("/common/discovery/v2.0/keys")
    _ = await lab.requests(to: .keys, atLeast: 1)
    #expect(try await lab.curl("/__ctl", ["-d", #"{"endDelays":{}}"#]).status == 200)
    #expect(try await delayed.status == 200)
  }

  @Test(arguments: [
    "", "[]", "{}", "{\"nothing\":{}}", #"{"configure":{"deviceInterva":1}}"#,
    #"{"configure":{"deviceInterval":"x"}}"#, #"{"revoke":"unknown"}"#, #"{"reset":{},"clearLog":{}}"#,
    #"{"configure":{"clockSkew":9223372036854775807}}"#, #"{"configure":{"clockSkew":-9223372036854775808}}"#,
    #"{"approveDevice":{"userCode":"X"}}"#,
    #"{"fault":{"target":"nowhere"}}"#,
  ])
  func `An invalid command is refused`(command: String) async throws {
    let answer = try await lab.curl("/__ctl", ["-d", command])
    #expect(answer.status == 400)
    #expect(answer["error"] != nil)
  }

  @Test func `The log holds what was sent`() async throws {
    _ = try await lab.curl(
      "/common/oauth2/v2.0/token?slice=x=y",
      form: [("client_id", "a b+c&d"), ("scope", "s"), ("scope", "t")],
      headers: ["x-client-SKU: Llavero"])
    let entry = try #require(lab.log.first)
    #expect(entry.endpoint == .token)
    #expect(entry.query == ["slice": "x=y"])
    #expect(entry.form["client_id"] == "a b+c&d")
    #expect(entry.duplicates == ["scope"])
    #expect(entry.headers["x-client-sku"] == "Llavero")
    let remote = try await lab.curl("/__log").json
    #expect(remote.array?.count == 1)
    #expect(remote.array?.first?["form"]?["client_id"] == "a b+c&d")
    lab.clearLog()
    #expect(lab.log.isEmpty)
  }

  @Test func `The oldest tickets go when there are more than 20,000`() {
    var tickets = Tickets<Int>()
    for number in 1...20_000 { tickets["\(number)"] = number }
    #expect(tickets.names.count == 20_000)
    tickets["20001"] = 0
    #expect(tickets.names == (10_001...20_001).map { "\($0)" })
  }

  @Test func `A test can wait for a request`() async throws {
    async let arrived = lab.requests(to: .keys, atLeast: 2)
    for _ in 0..<2 { _ = try await lab.curl("/common/discovery/v2.0/keys") }
    #expect(await arrived.count == 2)
    let lab = try await Lab.start()
    async let never = lab.requests(to: .token, atLeast: 1)
    await lab.stop()
    #expect(await never.isEmpty)
  }

  @Test func `Users and apps can be added`() async throws {
    lab.add(
      LabUser(
        name: "Dora", displayName: "Dora", userPrincipalName: "Dora@Contoso.test",
        homeTenant: LabDirectory.contoso, objectID: "d0000000-0000-4000-8000-000000000004"))
    var app = LabApp(name: "new", clientID: "New-App")
    app.redirectURIs = ["http://localhost:8080/cb"]
    lab.add(app)
    func authorize(_ uri: String) async throws -> Answer {
      try await lab.authorize([
        "client_id": "new-app", "login_hint": "dora@contoso.test", "redirect_uri": uri,
      ])
    }
    #expect(try await authorize("http://localhost:1/other").status == 400)
    let uri = "http://localhost:1/cb"
    let code = try #require(try await authorize(uri).redirect["code"])
    let tokens = try await lab.redeem(code, ["client_id": "new-app", "redirect_uri": uri])
    #expect(try tokens.claims(of: "id_token")["name"] == "Dora")
    try lab.revokeSessions(of: "Dora")
    // The lab's own apps stay.
    #expect(try await lab.authorize().redirect["code"] != nil)
  }
}
