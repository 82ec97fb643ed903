import LabSupport

@Suite(.timeLimit(.minutes(20)))
struct OtherToolsTests {
  private static let question = "protocol=https\nhost=dev.azure.com\nusername=contoso\n"
  private static let devOps = "499b84ac-1321-427f-aa17-267ca6975798/.default"

  private func values(_ output: String, _ name: String) -> [String] {
    output.split(separator: "\n").filter { $0.hasPrefix(name + "=") }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  @Test(.lab) func `git gets a token for Azure DevOps, from the server and then from the cache`() throws {
    let tool = try Tool.signedIn()
    let first = try tool("git-credential", "get", input: Self.question).exits(0)
    #expect(Lab.current.requests(to: .token).last?.form["scope"]?.contains(Self.devOps) == true)
    let asked = Lab.current.log.count
    let second = try tool("git-credential", "get", input: Self.question)
    #expect(second.standardOutput == first.standardOutput)
    #expect(Lab.current.log.count == asked)
    let token = try tool("token", "--scope", Self.devOps).standardOutput
    #expect(values(first.standardOutput, "password").map { $0 + "\n" } == [token])
    #expect(values(first.standardOutput, "username") == [Tool.alice])
    #expect(values(first.standardOutput, "password_expiry_utc").count == 1)

    let newer = try tool(
      "git-credential", "get",
      input: "capability[]=authtype\ncapability[]=state\nprotocol=https\nhost=contoso.visualstudio.com\n\n")
    #expect(newer.standardOutput.hasPrefix("capability[]=authtype\nauthtype=Bearer\n"))
    #expect(values(newer.standardOutput, "credential").map { $0 + "\n" } == [token])
    #expect(values(newer.standardOutput, "password").isEmpty)
  }

  @Test(.fault("git account"), .lab)
  func `git gets the token of the account and tenant that it names`() throws {
    let tool = try Tool.signedIn()
    try tool.logIn("bob")
    let host = "protocol=https\nhost=dev.azure.com\n"
    let other = Self.question.replacing("contoso", with: Tool.alice)
    for (input, user) in [(other, Tool.alice), (host + "username=BOB@contoso.test\n", "bob@contoso.test")] {
      let answer = try tool("git-credential", "get", input: input).exits(0).standardOutput
      #expect(values(answer, "username") == [user])
    }
    // An organization's name is no account.
    try tool("git-credential", "get", input: Self.question)
      .exits(2, printing: "", saying: "2 accounts", "credential.https://dev.azure.com.username")
    try tool("git-credential", "get", input: host + "username=carol@outlook.test\n")
      .exits(3, printing: "", saying: "carol@outlook.test is not signed in")
    try tool("git-credential", "get", "--account", "bob@contoso.test", input: other).exits(0, printing: "")

    // Alice is a guest there.
    func tenants(_ challenge: String, _ options: String...) throws -> [String?] {
      Lab.current.clearLog()
      let input = other + "wwwauth[]=Basic realm=\"x\"\nwwwauth[]=\(challenge)\n"
      try tool(["git-credential", "get"] + options, input: input).exits(0)
      return Lab.current.requests(to: .token).map { $0.path.split(separator: "/").first.map(String.init) }
    }
    let server = Lab.current.authority().replacing("/common", with: "")
    // Of two, the first.
    let both = [LabDirectory.fabrikam, LabDirectory.contoso].map {
      "Bearer authorization_uri=\(server)/\($0)"
    }
    #expect(try tenants(both.joined(separator: "\nwwwauth[]=")) == [LabDirectory.fabrikam])
    #expect(
      try tenants("Bearer authorization_uri=\"\(server)/\(LabDirectory.contoso)\", x=y") == [])
    for ignored in [
      "https://evil.example/\(LabDirectory.fabrikam)", "\(server)/00000000-0000-0000-0000-000000000000",
    ] {
      #expect(try tenants("Bearer authorization_uri=\(ignored)") == [])
    }
    #expect(
      try tenants(
        "Bearer authorization_uri=\(server)/\(LabDirectory.fabrikam)", "--tenant", LabDirectory.contoso) == []
    )
  }

  @Test func `Input of git that is too large exits with 1`() throws {
    let tool = try Tool()
    #expect(truncate(try tool.files.file("huge"), 300 << 20) == 0)
    try tool.shell(#"exec "$0" git-credential get <"$1/huge""#, [tool.files.path])
      .exits(1, saying: "larger than")
  }

  @Test(.lab) func `git's own commands get a token`() throws {
    let tool = try Tool.signedIn()
    let helper = "credential.https://dev.azure.com.helper=!'\(Tool.path)' git-credential"
    let result = try Child.run(
      "git", ["-c", helper, "credential", "fill"],
      environment: tool.environment(with: ["GIT_TERMINAL_PROMPT": "0"]),
      input: "protocol=https\nhost=dev.azure.com\n\n"
    ).exits(0)
    let token = try tool("token", "--scope", Self.devOps).standardOutput
    #expect(
      (values(result.standardOutput, "password") + values(result.standardOutput, "credential"))
        .map { $0 + "\n" } == [token])
  }

  @Test(
    .fault("git host"),
    arguments: [
      "protocol=https\nhost=github.com\n", "protocol=http\nhost=dev.azure.com\n",
      // The last counts.
      "protocol=https\nhost=dev.azure.com\nhost=github.com\n",
      "protocol=https\nhost=dev.azure.com.evil.example\n", "protocol=https\nhost=evilvisualstudio.com\n", "",
      "protocol=https\nhost=evil.example/.visualstudio.com\n",
      "protocol=https\nhost=evil.example#.visualstudio.com\n",
      "protocol=https\nhost=evil.example?.visualstudio.com\n",
      "protocol=https\nhost=evil.example\\.visualstudio.com\n",
      "protocol=https\nhost=evil.example:443@.visualstudio.com\n", "protocol=https\nhost=.visualstudio.com\n",
    ])
  func `The helper prints nothing for other hosts`(_ question: String) throws {
    // Also without a client ID: settings matter for Azure DevOps only.
    try Tool().run(["git-credential", "get"], input: question).exits(0, printing: "", errors: "")
  }

  @Test(.fault("git erase"), arguments: ["store", "erase", "capability", "whatever-comes"])
  func `The helper stores nothing for git, and ignores unknown operations`(_ operation: String) throws {
    try Tool().run(["git-credential", operation], input: Self.question).exits(0, printing: "", errors: "")
  }

  @Test(.fault("git erase"), .lab, arguments: ["password", "credential"])
  func `A token that the server refused is not used again`(member: String) throws {
    let tool = try Tool.signedIn()
    let first = try tool("git-credential", "get", input: Self.question)
    let token = try #require(values(first.standardOutput, "password").first)
    // For another host or another token, nothing is removed.
    for input in [
      "protocol=https\nhost=example.com\n\(member)=\(token)\n", Self.question + "\(member)=other\n",
    ] {
      #expect(try tool("git-credential", "erase", input: input).status == 0)
    }
    #expect(try tool("git-credential", "get", input: Self.question).standardOutput == first.standardOutput)
    try tool("git-credential", "erase", input: Self.question + "\(member)=\(token)\n").exits(
      0, printing: "", errors: "")
    let second = try tool("git-credential", "get", input: Self.question)
    #expect(values(second.standardOutput, "password").first != token)
    #expect(second.status == 0, "\(second.standardError)")
  }

  @Test(.lab) func `The stand-in for az answers the Azure SDKs`() throws {
    let tool = try Tool.signedIn()
    #expect(try tool("shim", "install", "az", "--directory", tool.files.path).status == 0)
    // A stand-in for a tool that was moved since.
    try tool.files.file("az", tool.files.contents("az").replacing("exec '", with: "exec '/nowhere"))
    #expect(try tool("shim", "install", "az", "--directory", tool.files.path).status == 0)
    let environment = tool.environment()
    let call = ["account", "get-access-token", "--output", "json"]
    let result = try Child.run(
      tool.files.path + "/az",
      call + ["--resource", "https://management.azure.com", "--tenant", LabDirectory.contoso],
      environment: environment
    ).exits(0)
    #expect(try result.json["tenant"]?.stringValue == LabDirectory.contoso)
    let form = Lab.current.requests(to: .token).last?.form
    #expect(form?["scope"]?.hasPrefix("https://management.azure.com/.default ") == true)
    for arguments in [
      ["login"], [], ["account", "list"], ["account", "get-access-token", "--query", "accounts[0]"],
      ["account", "get-access-token", "--query", "[accessToken, *]", "-o", "tsv"],
      ["account", "get-access-token", "-o", "table"], call + ["--scope"],
      call + ["--tenant", "a b; echo $(touch \(tool.files.path)/x)"],
    ] {
      // There is no other az on PATH.
      let result = try Child.run(
        tool.files.path + "/az", arguments, environment: environment.merging(["PATH": tool.files.path]) { $1 }
      ).exits(2, printing: "")
      if arguments == ["login"] { #expect(result.standardError.contains("llavero login")) }
    }
    #expect(!FileManager.default.fileExists(atPath: tool.files.path + "/x"))
  }

  private static let manager = "https://management.core.windows.net//.default"

  /// Installs and runs a stand-in.
  private func standIn(_ program: String, _ arguments: [String], of tool: Tool) throws -> Child.Result {
    #expect(try tool.json("shim", "install", program, "--directory", tool.files.path)["path"] != nil)
    return try Child.run(tool.files.path + "/" + program, arguments, environment: tool.environment())
  }

  @Test(.fault("shim forms"), .lab)
  func `The stand-ins support the options of scripts, and default to Azure Resource Manager`() throws {
    let tool = try Tool.signedIn()
    let az = ["account", "get-access-token"]
    for (program, arguments, scope): (String, [String], String) in [
      ("az", az, Self.manager), ("azd", ["auth", "token"], Self.manager),
      ("az", az + ["--query", "accessToken", "-o", "tsv"], Self.manager),
      ("az", az + ["--query=accessToken", "--output=tsv", "--resource-type", "arm"], Self.manager),
      ("az", az + ["--only-show-errors", "--output=json", "--subscription", "x"], Self.manager),
      ("az", az + ["--resource-type", "ms-graph"], "https://graph.microsoft.com/.default"),
      ("az", az + ["--resource=https://storage.azure.com"], "https://storage.azure.com/.default"),
      ("az", az + ["--scope", "User.Read", "Mail.Read", "-o", "json"], "Mail.Read"),
      ("azd", ["auth", "token", "--output=json", "--scope=User.Read"], "User.Read"),
      ("azd", ["auth", "token", "-o=json", "--scope", "User.Read"], "User.Read"),
      ("azd", ["auth", "token", "--output", "json", "--no-prompt", "--scope", "User.Read"], "User.Read"),
      ("az", az + ["--scope", "User.Read", "-o=json"], "User.Read"),
      ("az", az + ["--query", "accessToken", "--output", "json", "--scope", "User.Read"], "User.Read"),
      ("az", az + ["--query", "[accessToken]", "-otsv", "--scope", "User.Read"], "User.Read"),
      ("az", az + ["--verbose", "-ojson", "--scope", "User.Read"], "User.Read"),
      (
        "az", az + ["--resource-type", "oss-rdbms", "--debug"],
        "https://ossrdbms-aad.database.windows.net/.default"
      ),
    ] {
      Lab.current.clearLog()
      let result = try standIn(program, arguments, of: tool).exits(0)
      let asked = Lab.current.requests(to: .token).last?.form["scope"]?.split(separator: " ").map(String.init)
      // A token that was requested before is in the cache.
      #expect(asked == nil || asked?.contains(scope) == true, "\(arguments): \(asked ?? [])")
      let token = try tool("token", "--scope", scope).standardOutput
      if arguments.contains(where: { $0.hasSuffix("tsv") }) {
        #expect(result.standardOutput == token)
      } else {
        let quoted = "\"\(token.split(separator: "\n").joined())\""
        #expect(result.standardOutput.contains(quoted))
        if arguments.contains("--query") { #expect(result.standardOutput == quoted + "\n") }
        if program == "azd" { #expect(try result.json.keys == ["expiresOn", "token"]) }
      }
    }
  }

  @Test(.fault("shim forms"), .lab)
  func `The stand-in for az prints the members that a query names`() throws {
    let tool = try Tool.signedIn()
    func az(_ arguments: String...) throws -> String {
      try standIn("az", ["account", "get-access-token", "--scope", "User.Read"] + arguments, of: tool)
        .exits(0).standardOutput
    }
    let all = try JSONValue(text: az())
    let (token, end) = (all["accessToken"]?.stringValue ?? "", all["expiresOn"]?.stringValue ?? "")
    #expect(try az("--query", "expiresOn") == "\"\(end)\"\n")
    #expect(try az("--query", "[accessToken,expiresOn]", "-o", "tsv") == "\(token)\n\(end)\n")
    #expect(try JSONValue(text: az("--query=[accessToken, tenant]"))[1] == all["tenant"])
    #expect(try JSONValue(text: "[\(az("--query", "expires_on", "--output=tsv"))]")[0] == all["expires_on"])
  }

  @Test(.fault("shim other failure"), .lab)
  func `Only a missing sign-in makes the SDKs try another identity`() throws {
    var tool = try Tool.signedIn(on: PrivateKeyring())
    try tool.logIn("bob")
    func fails(_ status: Int32, saying words: String) throws {
      for (program, call) in [("az", ["account", "get-access-token"]), ("azd", ["auth", "token"])] {
        try standIn(program, call, of: tool)
          .exits(status, printing: "", saying: words, hiding: "az login", "not logged in")
      }
    }
    try fails(2, saying: "2 accounts are signed in")
    tool.settings["LLAVERO_ACCOUNT"] = Tool.alice
    Lab.current.inject(LabFault(.token, count: 8, status: 400, body: #"{"error":"invalid_grant"}"#))
    try fails(3, saying: "llavero login")
    try tool.keyring.lockCollection()
    try fails(3, saying: "locked")
  }

  @Test(.fault("claims challenge"), .lab)
  func `The stand-ins request claims, and "az login" names the sign-in for them`() throws {
    let tool = try Tool.signedIn()
    let claims = #"{"access_token":{"acrs":{"essential":true,"value":"p1"}}}"#
    let base64 = Data(claims.utf8).base64EncodedString()
    for (program, call) in [("az", ["account", "get-access-token"]), ("azd", ["auth", "token"])] {
      try standIn(program, call + ["--claims", base64], of: tool).exits(0)
      #expect(Lab.current.requests(to: .token).last?.form["claims"] == claims)
    }
    for words in [["--claims-challenge", base64], ["--claims-challenge=" + base64]] {
      try Child.run(
        tool.files.path + "/az", ["login", "--tenant", "x"] + words,
        environment: tool.environment(with: ["PATH": tool.files.path])
      ).exits(2, saying: "run \"llavero login --claims \(base64)\"")
    }
    try Child.run(
      tool.files.path + "/az", ["login", "--claims-challenge", "$(id)"],
      environment: tool.environment(with: ["PATH": tool.files.path])
    ).exits(2, saying: "run \"llavero login\"")
  }

  @Test(.fault("shim signed out"), .lab)
  func `A missing sign-in is reported in the words that the SDKs look for`() throws {
    let tool = try Tool.atLab()
    let az = try standIn("az", ["account", "get-access-token"], of: tool)
    #expect(az.status != 0 && az.standardOutput.isEmpty)
    #expect(az.standardError.contains("Please run 'az login'"), "\(az.standardError)")
    #expect(az.standardError.contains("llavero login"))
    let azd = try standIn("azd", ["auth", "token"], of: tool)
    #expect(
      azd.standardError.contains("not logged in, run `azd auth login` to login"), "\(azd.standardError)")
    // An outage is not reported as a missing sign-in.
    try tool.logIn()
    Lab.current.inject(LabFault(.token, count: 8, status: 503))
    try standIn("az", ["account", "get-access-token"], of: tool).exits(4, hiding: "az login")
  }

  @Test(.fault("shim passes on"), .lab)
  func `Other commands are passed to the next az on PATH unchanged`() throws {
    let tool = try Tool.atLab()
    let other = try tool.files.directory("a b")
    _ = try tool.files.program("a b/az", "#!/bin/sh\nprintf '<%s>' \"$@\"\n")
    let first = try tool.files.directory("first")
    #expect(try tool("shim", "install", "az", "--directory", first).status == 0)
    let path = "\(first):\(other):/usr/bin:/bin"
    for arguments in [
      ["login", "--use-device-code"],
      ["account", "get-access-token", "--query", "[a, 'b c']", "-o", "tsv"],
      ["account", "get-access-token", "--resource", "x", "--sdk-auth"], ["group", "list", ""],
    ] {
      let result = try Child.run(
        first + "/az", arguments, environment: tool.environment(with: ["PATH": path]))
      #expect(result.standardOutput == arguments.map { "<\($0)>" }.joined(), "\(result)")
    }
  }

  @Test(.fault("shim passes on"))
  func `The directory is created, and a warning names an earlier program on PATH`() throws {
    let tool = try Tool()
    let own = tool.files.path + "/.local/bin"
    func install(_ path: String, _ more: String...) throws -> Child.Result {
      try tool.run(["shim", "install", "az"] + more, with: ["HOME": tool.files.path, "PATH": path])
    }
    try install("/usr/bin:/bin").exits(0, saying: "not in PATH")
    #expect(FileManager.default.isExecutableFile(atPath: own + "/az"))
    // Other users may run it.
    let home = try tool.files.directory("home")
    try tool.shell(#"umask 022; exec "$0" shim install az"#, with: ["HOME": home]).exits(0)
    #expect(mode(of: home + "/.local/bin") == 0o755)
    try install("\(own):/usr/bin:/bin").exits(0, errors: "")
    let first = try tool.files.directory("first")
    try tool.files.file("first/az", "#!/bin/sh\n", mode: 0o755)
    let shadowed = try install("\(first):\(own):/usr/bin:/bin", "--json")
    #expect(shadowed.standardError.isEmpty)
    #expect(try shadowed.json["found"]?.stringValue == first + "/az")
  }

  @Test func `A file that is not a stand-in is not replaced`() throws {
    let tool = try Tool()
    let path = try tool.files.file("az", "#!/bin/sh\n")
    try tool.run(["shim", "install", "az", "--directory", tool.files.path]).exits(1, saying: "--directory")
    #expect(try tool.files.contents("az") == "#!/bin/sh\n")
    try FileManager.default.removeItem(atPath: path)
    // A file where the directory should be.
    try tool.files.file("file")
    try tool.run(["shim", "install", "az", "--directory", tool.files.path + "/file/none", "--json"])
      .exits(1, code: "unwritable")
  }

  @Test(.fault("disk full new"))
  func `A stand-in that cannot be written leaves no file, and is written the next time`() throws {
    let tool = try Tool()
    // As on a full disk, the limit allows an empty file only.
    try tool.shell(
      #"umask 0; trap "" XFSZ; ulimit -f 0; exec "$0" shim install az --directory "$1""#, [tool.files.path]
    ).exits(1, saying: "File too large")
    #expect(try FileManager.default.contentsOfDirectory(atPath: tool.files.path).isEmpty)
    #expect(try tool.run(["shim", "install", "az", "--directory", tool.files.path]).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: tool.files.path) == ["az"])
  }

  @Test func `A stand-in is written to --directory`() throws {
    let tool = try Tool()
    #expect(try tool.run(["shim", "install", "az", "--directory", ""]).status == 2)
    try tool.run(["shim", "install", "az"], with: ["HOME": nil]).exits(2, saying: "HOME is not set")
    #expect(!FileManager.default.fileExists(atPath: "/az"))
  }
}
