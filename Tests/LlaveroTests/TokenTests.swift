import EntraLab
import FoundationEssentials
import TestSupport
import Testing
import TokenCache

@Suite(.timeLimit(.minutes(20)))
struct TokenTests {
  /// A lab at which Alice is signed in.
  private func signedIn<T: Sendable>(
    _ configure: @Sendable (inout LabSettings) -> Void = { _ in }, _ body: (LabTool) async throws -> T
  ) async throws -> T {
    try await withLab { lab in
      let tool = try LabTool(lab)
      lab.configure(configure)
      try tool.logIn()
      lab.clearLog()
      return try await body(tool)
    }
  }

  private func accessToken(_ tool: LabTool) throws -> String {
    let tokens = try #require(tool.tool.exported()["AccessToken"]?.objectValue)
    return try #require(tokens.values.first?["secret"]?.stringValue)
  }

  @Test func `A token from the cache is all that is printed, and no server is asked`() async throws {
    try await signedIn { tool in
      let result = try tool("token")
      #expect(result.status == 0)
      #expect(result.standardOutput == (try accessToken(tool)) + "\n")
      #expect(result.standardError.isEmpty)
      #expect(tool.lab.log.isEmpty)
      let home = try #require(tool.json("status")["accounts"]?[0]?["home_account_id"]?.stringValue)
      for account in [LabTool.alice, "ALICE@contoso.test", home] {
        #expect(try tool("token", "--account", account).standardOutput == result.standardOutput)
      }
    }
  }

  @Test(arguments: ["x\u{1B}[31m\u{202E}y", "x\r\nX-Other: 1", "x\ny", "x\u{7F}", "x\u{E9}", ""])
  func `What no token can be is printed in no form`(hostile: String) async throws {
    try await signedIn { tool in
      let question = "protocol=https\nhost=dev.azure.com\n\n"
      try #require(try tool("git-credential", "get", input: question).standardOutput.contains("password="))
      let cache = try tool.tool.exported()
      var accessTokens = try #require(cache["AccessToken"]?.objectValue)
      for (key, record) in accessTokens {
        var fields = try #require(record.objectValue)
        fields["secret"] = .string(hostile)
        accessTokens[key] = .object(fields)
      }
      var changed = try #require(cache.objectValue)
      changed["AccessToken"] = .object(accessTokens)
      changed["RefreshToken"] = nil
      try #require(try tool("clear", "--all", "--yes").status == 0)
      try tool.tool.load(String(decoding: JSONEncoder().encode(JSONValue.object(changed)), as: UTF8.self))

      for form in ["bare", "json", "header", "az", "azd", "exec-credential"] {
        let result = try tool("token", "--output", form)
        #expect(result.status != 0 && result.standardOutput.isEmpty, "\(form): \(result)")
      }
      #expect(try tool("git-credential", "get", input: question).standardOutput.isEmpty)
    }
  }

  @Test func `A token that is missing, too old or not wanted is renewed`() async throws {
    try await signedIn { tool in
      let first = try accessToken(tool)
      for (number, arguments) in [
        ["--scope", "Mail.Read"], ["--min-validity", "2h"], ["--force-refresh"],
      ].enumerated() {
        let result = try tool.run(["token"] + arguments)
        if arguments[0] == "--min-validity" {
          // The lab's tokens are good for one hour.
          #expect(result.status == 1)
          #expect(result.standardOutput.isEmpty)
          #expect(result.standardError.contains("--min-validity"))
        } else {
          #expect(result.status == 0, "\(result.standardError)")
          #expect(result.standardError.isEmpty)
          #expect(result.standardOutput != first + "\n")
        }
        #expect(tool.lab.requests(to: .token).count == number + 1)
      }
      #expect(try tool("token", "--min-validity", "59m").status == 0)
      #expect(tool.lab.requests(to: .token).count == 3)
    }
  }

  @Test func `A token whose renewal is due is renewed`() async throws {
    try await signedIn({ $0.refreshIn = 1 }) { tool in
      // Renewal is due a second after the sign-in; until then the token comes from the cache.
      while tool.lab.requests(to: .token).isEmpty { try #require(tool("token").status == 0) }
      #expect(tool.lab.requests(to: .token)[0].form["grant_type"] == "refresh_token")
    }
  }

  @Test func `A token that is still good serves when the server is out of reach`() async throws {
    try await signedIn { tool in
      let gone = ["LLAVERO_CA_BUNDLE": "/etc/ssl/certs/ca-certificates.crt"]
      #expect(try tool("token", with: gone).standardOutput == (try accessToken(tool)) + "\n")
      let result = try tool("token", "--min-validity", "2h", with: gone)
      #expect(result.status == 1)
      #expect(result.standardOutput.isEmpty)
    }
  }

  @Test func `Each form is what its readers expect`() async throws {
    try await signedIn { tool in
      let token = try accessToken(tool)
      let json = try tool.json("token")
      #expect(try JSONValue(text: tool("token", "--output", "json").standardOutput) == json)
      #expect(json["access_token"]?.stringValue == token)
      #expect(json["tenant_id"]?.stringValue == LabDirectory.contoso)
      #expect(
        json.keys == [
          "access_token", "expires_on", "home_account_id", "scopes", "tenant_id", "token_type", "username",
        ])
      #expect(
        try tool("token", "--output", "header").standardOutput == "Authorization: Bearer \(token)\n")

      let azd = try JSONValue(text: tool("token", "--output", "azd").standardOutput)
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
        let refused = try tool(
          "token", "--output", "exec-credential", with: ["KUBERNETES_EXEC_INFO": request])
        #expect(refused.status == 2)
        #expect(refused.standardOutput.isEmpty)
      }
    }
  }

  @Test func `Every way to fail has its exit code, and nothing on standard output`() async throws {
    try await signedIn { tool in
      func expect(
        _ status: Int32, _ code: JSONValue, _ arguments: [String], _ changes: [String: String?] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
      ) throws {
        let text = try tool.run(arguments, with: changes)
        #expect(text.status == status, "\(arguments) \(text.standardError)", sourceLocation: sourceLocation)
        #expect(text.standardOutput.isEmpty, sourceLocation: sourceLocation)
        #expect(text.standardError.hasPrefix("llavero: "), sourceLocation: sourceLocation)
        let json = try tool.run(arguments + ["--json"], with: changes)
        #expect(json.status == status, sourceLocation: sourceLocation)
        #expect(
          try JSONValue(text: json.standardError)["error"]?["code"] == code, sourceLocation: sourceLocation)
      }
      let renewal = ["token", "--force-refresh"]
      for command in ["login", "logout", "token", "status", "me"] {
        try expect(2, "no_client", [command], ["LLAVERO_CLIENT_ID": nil])
        try expect(2, "invalid_authority", [command], ["LLAVERO_AUTHORITY": "http://localhost/common"])
      }
      try expect(2, "invalid_configuration", renewal, ["LLAVERO_CA_BUNDLE": "/proc/nonexistent"])
      try expect(2, "invalid_parameter", renewal + ["--scope", "openid"])
      try expect(3, "not_signed_in", ["token", "--account", "bob@contoso.test"])
      try expect(3, "not_signed_in", ["me", "--account", "bob@contoso.test"])

      tool.lab.inject(LabFault(.token, count: 8, status: 503))
      try expect(4, "server_error", renewal + ["--scope", "Files.Read"])
      tool.lab.clearFaults()
      tool.lab.inject(LabFault(.token, count: 2, status: 429))
      try expect(4, "unhandled_response", renewal + ["--scope", "Files.Read"])
      tool.lab.inject(LabFault(.token, count: 2, body: #"{"token_type": "Bearer", "expires_in": 3600}"#))
      try expect(1, "invalid_response", renewal + ["--scope", "Files.Read"])
      try expect(4, "network", renewal, ["LLAVERO_CA_BUNDLE": "/etc/ssl/certs/ca-certificates.crt"])

      try tool.lab.setCondition(.basicAction, of: "alice")
      try expect(3, "interaction_required", renewal)
      try tool.lab.setCondition(nil, of: "alice")

      try tool.logIn("bob")
      try expect(2, "ambiguous", ["token"])
      try expect(2, "ambiguous", ["logout"])
      #expect(try tool("token", with: ["LLAVERO_ACCOUNT": LabTool.alice]).status == 0)
    }
  }

  @Test func `A renewal that is refused says why`() async throws {
    try await signedIn { tool in
      try tool.lab.setCondition(.basicAction, of: "alice")
      let result = try tool("token", "--force-refresh")
      #expect(result.status == 3)
      for text in ["AADSTS50079", "A second factor is needed", "\"llavero login\""] {
        #expect(result.standardError.contains(text))
      }
    }
  }

  @Test func `The command that is advised carries scope, account, client and tenant`() async throws {
    try await signedIn { tool in
      try tool.lab.setCondition(.basicAction, of: "alice")
      let tenant = LabDirectory.contoso
      let result = try tool.run([
        "token", "--scope", "Files.Read Mail.Read", "--account", LabTool.alice, "--client", LabTool.client,
        "--tenant", tenant, "--force-refresh", "--group", tool.tool.group,
      ])
      #expect(result.status == 3)
      let command =
        "llavero login --client \(LabTool.client) --tenant \(tenant) --group \(tool.tool.group) "
        + "--scope Files.Read --scope Mail.Read --account \(LabTool.alice)"
      #expect(result.standardError.contains("\"\(command)\""), "\(result.standardError)")
      let git = try tool("git-credential", "get", input: "protocol=https\nhost=dev.azure.com\n\n")
      #expect(
        git.standardError.contains("llavero login --scope 499b84ac-1321-427f-aa17-267ca6975798/.default"),
        "\(git.standardError)")
      try tool.lab.setCondition(nil, of: "alice")
      tool.lab.inject(LabFault(.graph, status: 401, body: "{}"))
      let graph = try tool("get", "/me", "--scope", "Mail.Read")
      #expect(graph.standardError.contains("llavero login --scope Mail.Read"), "\(graph.standardError)")
    }
  }

  @Test func `Two resources in one request are no case for a sign-in`() async throws {
    try await signedIn { tool in
      let result = try tool(
        "token", "--scope", "User.Read", "--scope", "https://management.azure.com/.default")
      #expect(result.status == 2, "\(result.standardError)")
      #expect(result.standardError.contains("one resource"))
      #expect(!result.standardError.contains("llavero login"))
    }
  }

  @Test func `Who is signed in for another client of the group is told so`() async throws {
    try await signedIn { tool in
      for command in ["token", "status", "me"] {
        let result = try tool(command, "--client", Sample.calendar)
        #expect(result.status == 3)
        #expect(
          result.standardError.contains("signed in for other apps of this group, not for this client"),
          "\(result.standardError)")
        #expect(result.standardError.contains("llavero login --client \(Sample.calendar)"))
      }
      #expect(try tool("logout").status == 0)
      let after = try tool("token", "--client", Sample.calendar)
      #expect(after.standardError.hasPrefix("llavero: Nobody is signed in."), "\(after.standardError)")
    }
  }

  @Test func `Scopes in one option are as good as in several`() async throws {
    try await signedIn { tool in
      let one = try tool("token", "--scope", "Files.Read Mail.Read")
      #expect(one.status == 0, "\(one.standardError)")
      #expect(
        try tool("token", "--scope", "Mail.Read", "--scope", "Files.Read").standardOutput
          == one.standardOutput)
      #expect(try tool("login", "--scope", "Mail.Read Files.Read").status == 0)
    }
  }

  @Test func `The configuration file says what the environment does`() async throws {
    try await signedIn { tool in
      let directory = try TemporaryDirectory()
      try FileManager.default.createDirectory(
        atPath: directory.path + "/llavero", withIntermediateDirectories: true)
      _ = try directory.file(
        "llavero/config",
        """
        [llavero]
        client = \(LabTool.client)
        authority = \(tool.lab.authority())
        group = \(tool.tool.group)
        scope = User.Read
        store = keyring
        """)
      let changes: [String: String?] = [
        "XDG_CONFIG_HOME": directory.path, "LLAVERO_CLIENT_ID": nil, "LLAVERO_AUTHORITY": nil,
        "LLAVERO_GROUP": nil,
      ]
      #expect(try tool("token", with: changes).standardOutput == (try accessToken(tool)) + "\n")
      #expect(try tool("token", "--tenant", LabDirectory.contoso, with: changes).status == 0)
      #expect(try tool("token", "--group", "com.example.empty", with: changes).status == 3)
    }
  }

  @Test(arguments: ["10", "m", "-5m", "5d", "1.5h", "99999999999s"])
  func `A span of time has a number and a unit`(_ validity: String) throws {
    let tool = try Tool()
    #expect(try tool.run(["token", "--min-validity", validity]).status == 2)
  }

  @Test func `Without libsoup the tool has the tokens of the cache, and says of all else what is missing`()
    async throws
  {
    try await signedIn { tool in
      let libraries = try TemporaryDirectory()
      _ = try libraries.file("libsoup-3.0.so.0", "no library")
      let broken = ["LD_LIBRARY_PATH": libraries.path]
      #expect(try tool.run(["token"], with: broken).status == 0)
      let commands = [["token", "--force-refresh"], ["login"], ["lend", "--scope", "User.Read"], ["me"]]
      for command in commands {
        let result = try tool.run(command, with: broken)
        #expect(result.status == 1 || result.status == 4, "\(command) \(result)")
        #expect(result.standardError.contains("libsoup 3.2 or later is missing"), "\(command) \(result)")
      }
    }
  }

  @Test func `A passphrase is asked for once, although the network is asked after the cache`() async throws {
    try await withLab { lab in
      var tool = try LabTool(lab)
      let files = try TemporaryDirectory()
      tool.environment.merge(["XDG_DATA_HOME": files.path, "LLAVERO_STORE": "file"]) { $1 }
      lab.configure { $0.authorize = .user(name: "alice") }
      let key = "passphrase-fd:0"
      let login = try tool("login", "--key", key, input: "korrekt\n")
      try #require(login.status == 0, "\(login.standardError)")
      for arguments in [["--key", key], ["--key=" + key], []] {
        let result = try tool.run(
          ["token", "--scope", "Mail.Read", "--force-refresh"] + arguments, input: "korrekt\n",
          with: ["LLAVERO_KEY": arguments.isEmpty ? key : "keyring"])
        #expect(result.status == 0, "\(result.standardError)")
        #expect(result.standardOutput.hasPrefix("ey"))
      }
      // A second question would get no answer.
      let shown = try tool.tool.onTerminal(
        "token", "--scope", "Calendars.Read", "--key", "passphrase", answering: ["korrekt"],
        environment: tool.environment)
      #expect(shown.status == 0, "\(shown.text)")
      #expect(shown.text.contains("ey") && !shown.text.contains("korrekt"))
    }
  }

  @Test func `No secret stands anywhere but in the output of token`() async throws {
    try await signedIn { tool in
      let before = try tool.secrets()
      try #require(before.count >= 3)
      var outputs = try [["status"], ["me"], ["get", "/me"], ["logout", "--browser"]].flatMap { command in
        let result = try tool.run(command)
        #expect(result.status == 0, "\(command) \(result.standardError)")
        return [result.standardOutput, result.standardError]
      }
      let login = try tool.logIn()
      outputs += [login.standardOutput, login.standardError]
      let secrets =
        before + (try tool.secrets())
        + tool.lab.log.flatMap { entry in
          ["code", "code_verifier", "refresh_token"].compactMap { entry.form[$0] }
        }
      for secret in secrets where outputs.contains(where: { $0.contains(secret) }) {
        Issue.record("a secret is shown")
      }
    }
  }
}
