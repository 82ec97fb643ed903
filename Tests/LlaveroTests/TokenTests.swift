import LabSupport

@Suite(.lab, .timeLimit(.minutes(20)))
struct TokenTests {
  private let lab = Lab.current
  private let tool: Tool

  init() throws {
    tool = try Tool.signedIn()
    lab.clearLog()
  }

  private func accessToken() throws -> String {
    let tokens = try #require(tool.exported()["AccessToken"]?.objectValue)
    return try #require(tokens.values.first?["secret"]?.stringValue)
  }

  @Test func `A cached token is printed alone, without a request`() throws {
    let result = try tool("token").exits(0, printing: accessToken() + "\n", errors: "")
    #expect(lab.log.isEmpty)
    let home = try #require(tool.json("status")["accounts"]?[0]?["home_account_id"]?.stringValue)
    for account in [Tool.alice, "ALICE@contoso.test", home] {
      #expect(try tool("token", "--account", account).standardOutput == result.standardOutput)
    }
  }

  @Test(
    .fault("bad token"),
    arguments: ["x\u{1B}[31m\u{202E}y", "x\r\nX-Other: 1", "x\ny", "x\u{7F}", "x\u{E9}", ""])
  func `An invalid token is printed in no format`(hostile: String) throws {
    let question = "protocol=https\nhost=dev.azure.com\n\n"
    try #require(try tool("git-credential", "get", input: question).standardOutput.contains("password="))
    let cache = try tool.exported()
    var accessTokens = try #require(cache["AccessToken"]?.objectValue)
    for (key, record) in accessTokens {
      var fields = try #require(record.objectValue)
      fields["secret"] = .string(hostile)
      accessTokens[key] = .object(fields)
    }
    var changed = try #require(cache.objectValue)
    changed["AccessToken"] = .object(accessTokens)
    changed["RefreshToken"] = nil
    try tool("clear", "--all", "--yes").required()
    try tool.load(String(decoding: JSONEncoder().encode(JSONValue.object(changed)), as: UTF8.self))

    for form in ["bare", "json", "header", "az", "azd", "exec-credential"] {
      let result = try tool("token", "--output", form)
      #expect(result.status != 0 && result.standardOutput.isEmpty, "\(form): \(result)")
    }
    #expect(try tool("git-credential", "get", input: question).standardOutput.isEmpty)
  }

  @Test func `A missing, short-lived or refused token is renewed`() throws {
    let first = try accessToken()
    for (number, arguments) in [
      ["--scope", "Mail.Read"], ["--min-validity", "2h"], ["--force-refresh"],
    ].enumerated() {
      let result = try tool.run(["token"] + arguments)
      if arguments[0] == "--min-validity" {
        // The lab's tokens are good for one hour.
        let advice = "Ask for less with --min-validity, or try again later."
        result.exits(1, printing: "", errors: "llavero: No token is valid for that long.\n\(advice)\n")
      } else {
        result.exits(0, errors: "", hiding: first)
      }
      #expect(lab.requests(to: .token).count == number + 1)
    }
    // A test has twenty minutes.
    #expect(try tool("token", "--min-validity", "40m").status == 0)
    #expect(lab.requests(to: .token).count == 3)
  }

  @Test func `A token whose renewal is due is renewed`() throws {
    lab.configure { $0.refreshIn = 1 }
    try tool.logIn()
    lab.clearLog()
    // Renewal is due a second after the sign-in; until then the token comes from the cache.
    while lab.requests(to: .token).isEmpty { try tool("token").required() }
    #expect(lab.requests(to: .token)[0].form["grant_type"] == "refresh_token")
  }

  @Test func `A valid token is printed while the server is unreachable`() throws {
    let gone = ["LLAVERO_CA_BUNDLE": "/etc/ssl/certs/ca-certificates.crt"]
    #expect(try tool("token", with: gone).standardOutput == (try accessToken()) + "\n")
    try tool("token", "--min-validity", "2h", with: gone).exits(1, printing: "")
  }

  @Test func `Each format is the one that its readers expect`() throws {
    let token = try accessToken()
    let json = try tool.json("token")
    #expect(try tool("token", "--output", "json").json == json)
    #expect(json["access_token"]?.stringValue == token)
    #expect(json["tenant_id"]?.stringValue == LabDirectory.contoso)
    #expect(
      json.keys == [
        "access_token", "environment", "expires_on", "home_account_id", "scopes", "tenant_id", "token_type",
        "username",
      ])
    #expect(try tool("token", "--output", "header").standardOutput == "Authorization: Bearer \(token)\n")

    let azd = try tool("token", "--output", "azd").json
    #expect(azd == .object(["token": .string(token), "expiresOn": try #require(json["expires_on"])]))

    let az = try tool("token", "--output", "az", with: ["TZ": "Etc/GMT-5"]).standardOutput
    let parsed = try JSONValue(text: az)
    #expect(parsed.keys == ["accessToken", "expiresOn", "expires_on", "tenant", "tokenType"])
    #expect(parsed["accessToken"]?.stringValue == token)
    let end = try #require(parsed["expires_on"]?.numberValue)
    #expect(
      try Date(try #require(json["expires_on"]?.stringValue), strategy: .iso8601).timeIntervalSince1970
        == end)
    let local = Date(timeIntervalSince1970: end + 5 * 3600).formatted(.iso8601)
    #expect(
      parsed["expiresOn"]?.stringValue
        == local.replacing("T", with: " ").replacing("Z", with: "") + ".000000")

    for (request, version) in [
      (nil, "v1beta1"),
      (#"{"apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}"#, "v1"),
    ] {
      let credential = try JSONValue(
        text: tool("token", "--output", "exec-credential", with: ["KUBERNETES_EXEC_INFO": request])
          .standardOutput)
      #expect(credential["apiVersion"]?.stringValue == "client.authentication.k8s.io/" + version)
      #expect(credential["kind"] == "ExecCredential")
      #expect(credential["status"]?["token"]?.stringValue == token)
      #expect(credential["status"]?["expirationTimestamp"] == json["expires_on"])
    }
    for request in ["nonsense", #"{"apiVersion":"client.authentication.k8s.io/v7"}"#] {
      try tool("token", "--output", "exec-credential", with: ["KUBERNETES_EXEC_INFO": request]).exits(
        2, printing: "")
    }
  }

  @Test func `Every failure has its exit code, and prints nothing on standard output`() throws {
    func expect(
      _ status: Int32, _ code: String, _ arguments: [String], _ changes: [String: String?] = [:],
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let text = try tool.run(arguments, with: changes)
        .exits(status, printing: "", sourceLocation: sourceLocation)
      #expect(text.standardError.hasPrefix("llavero: "), "\(arguments)", sourceLocation: sourceLocation)
      try tool.run(arguments + ["--json"], with: changes)
        .exits(status, code: code, sourceLocation: sourceLocation)
    }
    let renewal = ["token", "--force-refresh"]
    for command in [["login"], ["logout"], ["token"], ["status"], ["get", "/me"]] {
      if command != ["status"] { try expect(2, "no_client", command, ["LLAVERO_CLIENT_ID": nil]) }
      try expect(2, "invalid_authority", command, ["LLAVERO_AUTHORITY": "http://localhost/common"])
    }
    try expect(2, "invalid_configuration", renewal, ["LLAVERO_CA_BUNDLE": "/proc/nonexistent"])
    try expect(2, "invalid_parameter", renewal + ["--scope", "openid"])
    try expect(3, "not_signed_in", ["token", "--account", "bob@contoso.test"])
    try expect(3, "not_signed_in", ["get", "/me", "--account", "bob@contoso.test"])

    lab.inject(LabFault(.token, count: 8, status: 503))
    try expect(4, "server_error", renewal + ["--scope", "Files.Read"])
    lab.clearFaults()
    lab.inject(LabFault(.token, count: 2, status: 429))
    try expect(4, "unhandled_response", renewal + ["--scope", "Files.Read"])
    lab.inject(LabFault(.token, count: 2, body: #"{"token_type": "Bearer", "expires_in": 3600}"#))
    try expect(1, "invalid_response", renewal + ["--scope", "Files.Read"])
    // Of a network's portal.
    for (status, code) in [(200, "invalid_response"), (403, "unexpected_http_response")] {
      lab.inject(LabFault(.token, count: 2, status: status, body: "<html>Welcome</html>"))
      try expect(4, code, renewal + ["--scope", "Files.Read"])
    }
    lab.inject(LabFault(.token, status: 403, body: "<html>Welcome</html>"))
    try tool.run(renewal + ["--scope", "Files.Read"]).exits(4, saying: "the sign-in page of this network")
    try expect(4, "network", renewal, ["LLAVERO_CA_BUNDLE": "/etc/ssl/certs/ca-certificates.crt"])

    try lab.setCondition(.basicAction, of: "alice")
    try expect(3, "interaction_required", renewal)
    try lab.setCondition(nil, of: "alice")

    try tool.logIn("bob")
    try expect(2, "ambiguous", ["token"])
    try tool("token").exits(2, saying: "2 accounts are signed in.", "--account NAME", Tool.alice)
    try expect(2, "ambiguous", ["logout"])
    #expect(try tool("token", with: ["LLAVERO_ACCOUNT": Tool.alice]).status == 0)
  }

  @Test func `A refused renewal reports the reason`() throws {
    try lab.setCondition(.basicAction, of: "alice")
    try tool("token", "--force-refresh").exits(
      3, saying: "AADSTS50079", "A second factor is needed", "(basic_action)", "\"llavero login\"")
  }

  @Test(.fault("advised login"))
  func `The advised command has the scope, account, client and tenant`() throws {
    try lab.setCondition(.basicAction, of: "alice")
    let tenant = LabDirectory.contoso
    let command =
      "llavero login --client \(LabApps.plain) --tenant \(tenant) --group \(tool.group) "
      + "--scope Files.Read --scope Mail.Read --account \(Tool.alice)"
    try tool.run([
      "token", "--scope", "Files.Read Mail.Read", "--account", Tool.alice, "--client", LabApps.plain,
      "--tenant", tenant, "--force-refresh", "--group", tool.group,
    ]).exits(3, saying: "\"\(command)\"")
    try tool("git-credential", "get", input: "protocol=https\nhost=dev.azure.com\n\n")
      .exits(3, saying: "llavero login --scope 499b84ac-1321-427f-aa17-267ca6975798/.default")
    try lab.setCondition(nil, of: "alice")
    lab.inject(LabFault(.graph, status: 401, body: "{}"))
    try tool("get", "/me", "--scope", "Mail.Read").exits(3, saying: "llavero login --scope Mail.Read")
  }

  @Test(.fault("two resources")) func `Two resources in one request exit with 2`() throws {
    try tool("token", "--scope", "User.Read", "--scope", "https://management.azure.com/.default").exits(
      2, saying: "one resource", hiding: "llavero login")
  }

  @Test(.fault("other client"))
  func `An account of another client in the group is mentioned in the error`() throws {
    for command in [["token"], ["status"], ["get", "/me"]] {
      try tool(command + ["--client", Sample.calendar])
        .exits(
          3, saying: "signed in for other apps of this group, not for this client",
          "llavero login --client \(Sample.calendar)")
    }
    #expect(try tool("logout").status == 0)
    let after = try tool("token", "--client", Sample.calendar)
    #expect(after.standardError.hasPrefix("llavero: No account is signed in."), "\(after.standardError)")
  }

  @Test(.fault("many scopes")) func `Scopes in one option equal those in several`() throws {
    let one = try tool("token", "--scope", "Files.Read Mail.Read").exits(0)
    #expect(
      try tool("token", "--scope", "Mail.Read", "--scope", "Files.Read").standardOutput
        == one.standardOutput)
    #expect(try tool("login", "--scope", "Mail.Read Files.Read").status == 0)
  }

  @Test func `The configuration file has the settings of the environment`() throws {
    try tool.files.file(
      "llavero/config",
      """
      [llavero]
      client = \(LabApps.plain)
      authority = \(lab.authority())
      group = \(tool.group)
      scope = User.Read
      store = keyring
      graph-url = \(lab.graphURL)
      """)
    let changes: [String: String?] = [
      "XDG_CONFIG_HOME": tool.files.path, "LLAVERO_CLIENT_ID": nil, "LLAVERO_AUTHORITY": nil,
      "LLAVERO_GROUP": nil, "LLAVERO_GRAPH_URL": nil,
    ]
    #expect(try tool("token", with: changes).standardOutput == (try accessToken()) + "\n")
    #expect(try tool("token", "--tenant", LabDirectory.contoso, with: changes).status == 0)
    try tool("get", "/me", with: changes).exits(0)
    #expect(try tool("token", "--group", "com.example.empty", with: changes).status == 3)
  }

  @Test(.fault("no libsoup"))
  func `Without libsoup cached tokens are printed, and other commands name what is missing`() throws {
    try tool.files.file("libsoup-3.0.so.0", "no library")
    let broken = ["LD_LIBRARY_PATH": tool.files.path]
    #expect(try tool.run(["token"], with: broken).status == 0)
    let commands = [
      ["token", "--force-refresh"], ["login"], ["lend", "--scope", "User.Read"], ["get", "/me"],
    ]
    for command in commands {
      let result = try tool.run(command, with: broken)
      #expect(result.status == 1 || result.status == 4, "\(command) \(result)")
      #expect(result.standardError.contains("libsoup 3.2 or later is missing"), "\(command) \(result)")
    }
  }

  @Test func `A passphrase is asked for once by a command that reads the cache and the network`() throws {
    var tool = tool
    tool.settings.merge(["XDG_DATA_HOME": tool.files.path, "LLAVERO_STORE": "file"]) { $1 }
    let key = "passphrase-fd:0"
    try tool("login", "--key", key, input: "korrekt\n").required()
    for arguments in [["--key", key], ["--key=" + key], []] {
      let result = try tool.run(
        ["token", "--scope", "Mail.Read", "--force-refresh"] + arguments, input: "korrekt\n",
        with: ["LLAVERO_KEY": arguments.isEmpty ? key : "keyring"]
      ).exits(0)
      #expect(result.standardOutput.hasPrefix("ey"))
    }
    // A second question would get no answer.
    try tool.onTerminal("token", "--scope", "Calendars.Read", "--key", "passphrase", answering: ["korrekt"])
      .exits(0, saying: "ey", hiding: "korrekt")
  }

  @Test func `Only token prints a secret`() throws {
    let before = try tool.exported().secrets
    try #require(before.count >= 3)
    var outputs = try [["status"], ["get", "/me"], ["logout", "--browser"]].flatMap { command in
      let result = try tool.run(command).exits(0)
      return [result.standardOutput, result.standardError]
    }
    let login = try tool.logIn()
    outputs += [login.standardOutput, login.standardError]
    let secrets =
      before + (try tool.exported().secrets)
      + lab.log.flatMap { entry in
        ["code", "code_verifier", "refresh_token"].compactMap { entry.form[$0] }
      }
    for secret in secrets where outputs.contains(where: { $0.contains(secret) }) {
      Issue.record("a secret is shown")
    }
  }
}
