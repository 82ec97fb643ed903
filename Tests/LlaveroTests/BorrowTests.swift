import LabSupport

extension ScriptedLender {
  /// Runs the tool with tokens of this lender, without a home, a bus and a keyring.
  fileprivate func run(
    _ arguments: [String], input: String = "", with changes: [String: String] = [:]
  ) throws -> Child.Result {
    let environment = ["LLAVERO_FROM": address, "PATH": "/usr/bin:/bin"].merging(changes) { $1 }
    return try Child.run(Tool.path, arguments, environment: environment, input: input)
  }

  fileprivate func callAsFunction(
    _ arguments: String..., input: String = "", with changes: [String: String] = [:]
  ) throws -> Child.Result {
    try run(arguments, input: input, with: changes)
  }
}

@Suite(.timeLimit(.minutes(20)))
struct BorrowTests {
  @Sendable private static func sameToken(_ query: [String: String]) -> (Int, String) {
    (200, LentThings.token())
  }

  /// Lends a token for any scope.
  @Sendable private static func whatIsAskedFor(_ query: [String: String]) -> (Int, String) {
    (200, LentThings.token(["scope": .string(query["scope"] ?? "")]))
  }

  @Test func `A borrowed token is printed in each form without a store, a bus or a home`() throws {
    let borrower = try ScriptedLender(token: Self.sameToken)
    for (words, output) in [
      ("token", "lent-token\n"), ("token --output header", "Authorization: Bearer lent-token\n"),
      ("token --account ALICE@contoso.test --tenant \(LentThings.tenant)", "lent-token\n"),
      ("token --client \(LentThings.client)", "lent-token\n"), ("token --broker only", "lent-token\n"),
      ("token --authority https://login.microsoftonline.com/common", "lent-token\n"),
    ] {
      try borrower.run(words.words).exits(0, printing: output, errors: "")
    }
    let json = try JSONValue(text: borrower("token", "--json").standardOutput)
    #expect(json["username"] == "alice@contoso.test")
    #expect(json["expires_on"]?.stringValue == LentThings.tokenEnd.formatted(.iso8601))
    #expect(json["tenant_id"]?.stringValue == LentThings.tenant)
    #expect(try FileManager.default.contentsOfDirectory(atPath: borrower.directory.path) == ["loan.sock"])
  }

  @Test func `git gets a borrowed token for Azure DevOps only`() throws {
    let borrower = try ScriptedLender(token: Self.whatIsAskedFor)
    try borrower("git-credential", "get", input: "protocol=https\nhost=dev.azure.com\n\n")
      .exits(0, showing: "password=lent-token\n", "username=alice@contoso.test\n")
    let asked = borrower.server.requests.count
    for (operation, host) in [("get", "example.com"), ("erase", "dev.azure.com")] {
      try borrower("git-credential", operation, input: "protocol=https\nhost=\(host)\n\n").exits(
        0, printing: "", errors: "")
    }
    #expect(borrower.server.requests.count == asked)
    try borrower(
      "git-credential", "erase", input: "protocol=https\nhost=dev.azure.com\npassword=lent-token\n\n"
    ).exits(0, printing: "", errors: "")
    let hash = "token_sha256_to_refresh=" + sha256Hex("lent-token")
    #expect(borrower.server.requests.last?.contains(hash) == true)
  }

  @Test func `The stand-ins for az and azd print borrowed tokens`() throws {
    let borrower = try ScriptedLender(token: Self.whatIsAskedFor)
    for (program, arguments) in [
      ("az", "account get-access-token --output json --resource https://management.azure.com"),
      ("azd", "auth token --output json --scope https://management.azure.com/.default"),
    ] {
      try borrower("shim", "install", program, "--directory", borrower.directory.path).exits(0)
      try Child.run(
        "\(borrower.directory.path)/\(program)", arguments.words,
        environment: ["LLAVERO_FROM": borrower.address, "PATH": "/usr/bin:/bin"]
      ).exits(0, showing: "lent-token")
    }
  }

  /// The changes to the environment of a tool at the lab that borrows.
  private static let nothing: [String: String?] = [
    "LLAVERO_CLIENT_ID": nil, "LLAVERO_AUTHORITY": nil, "DBUS_SESSION_BUS_ADDRESS": nil,
  ]

  @Test(.lab) func `Requests to Graph carry a borrowed token`() throws {
    let tool = try Tool.signedIn()
    let token = try tool("token").standardOutput.split(separator: "\n").joined()
    let borrower = try ScriptedLender { query in
      (200, LentThings.token(["access_token": .string(token), "scope": .string(query["scope"] ?? "")]))
    }
    try tool.run(["get", "/me", "--from", borrower.address], with: Self.nothing).exits(0, showing: Tool.alice)
    // The terms were requested once.
    #expect(borrower.server.requests.map { $0.hasPrefix("GET /loan ") } == [true, false])
  }

  @Test(.fault("Graph refuses"), .lab)
  func `A borrowed token that Graph refuses is reported without a sign-in command`() throws {
    let tool = try Tool.atLab()
    let borrower = try ScriptedLender(token: Self.whatIsAskedFor)
    try tool.run(["get", "/me", "--from", borrower.address], with: Self.nothing).exits(
      3, saying: "where the tokens are lent", hiding: "llavero login")
  }

  @Test(.lab) func `A borrowed token without the scope is reported with advice to lend another one`() throws {
    let tool = try Tool.atLab()
    let borrower = try ScriptedLender(token: Self.whatIsAskedFor)
    Lab.current.inject(LabFault(.graph, status: 403, body: "{}"))
    try tool.run(["get", "/me", "--from", borrower.address], with: Self.nothing).exits(
      1, saying: "Lend a token with the scope", hiding: "Sign in with the scope")
  }

  @Test(.fault("other Graph"), .lab)
  func `Tokens of a known cloud do not go to the Graph of the configuration file's authority`() throws {
    let tool = try Tool.atLab()
    let borrower = try ScriptedLender(token: Self.whatIsAskedFor)
    try tool.files.file("llavero/config", "[llavero]\ngraph-url = \(Lab.current.graphURL)\n", mode: 0o600)
    let configured = Self.nothing.merging(
      [
        "LLAVERO_GRAPH_URL": nil, "XDG_CONFIG_HOME": tool.files.path,
        "https_proxy": "http://127.0.0.1:\(ReservedPort.refusing.number)",
        "no_proxy": "localhost",
      ]
    ) { $1 }
    try tool.run(["get", "/me", "--from", borrower.address], with: configured).exits(4)
    #expect(Lab.current.requests(to: .graph).isEmpty)
  }

  @Test(.lab) func `A command that is advised for the store here works beside a configured lender`() throws {
    let tool = try Tool.atLab()
    let borrower = try ScriptedLender(token: Self.whatIsAskedFor)
    let beside = ["LLAVERO_FROM": borrower.address]
    try tool.run(["token", "--from", "off"], with: beside).exits(
      3, saying: "\"LLAVERO_FROM=off llavero login")
    try tool.run(["token"], with: ["LLAVERO_FROM": "off"]).exits(3, saying: "\"llavero login")
    try tool.run(["token", "--from", "off"]).exits(3, saying: "\"llavero login")
  }

  @Test(arguments: [
    "status", "status --account alice@contoso.test", "token", "token --account ALICE@contoso.test",
    "token --tenant contoso.test", "git-credential get",
  ])
  func `A command requests the terms once`(words: String) throws {
    let terms = LentThings.terms(["authority": "https://login.microsoftonline.com/contoso.test"])
    let borrower = try ScriptedLender(terms: terms, token: Self.whatIsAskedFor)
    try borrower.run(words.words, input: "protocol=https\nhost=dev.azure.com\n\n").exits(0)
    #expect(borrower.server.requests.filter { $0.hasPrefix("GET /loan ") }.count == 1)
  }

  @Test func `status and doctor show the account, scopes and end of the loan`() throws {
    let borrower = try ScriptedLender(token: Self.sameToken)
    let status = try borrower("status", "--json").exits(0)
    #expect(borrower.server.requests.count == 1)
    let account = try status.json["accounts"]?[0]
    #expect(account?["origin"] == "lender" && account?["username"] == "alice@contoso.test")
    #expect(account?["renews"] == .bool(false))
    #expect(account?["tokens"]?[0]?["scopes"]?[1] == "Mail.Read")
    #expect(account?["tokens"]?[1]?["expires_on"] == "2100-01-01T00:00:00Z")
    #expect(account?["tokens"]?[0]?["state"] == "lent")
    #expect(try borrower("status").standardOutput.contains("left"))
    let doctor = try borrower("doctor", "--json").exits(0)
    let findings = try doctor.json["findings"]
    let text = findings?.strings("message").joined(separator: " ") ?? ""
    for word in [borrower.address, "alice@contoso.test", "Mail.Read", "management.azure.com", "2100"] {
      #expect(text.contains(word), "\(text)")
    }
    #expect(findings?.strings("check") == ["configuration", "lender", "lender"])
    // No token was requested.
    #expect(borrower.server.requests.allSatisfy { $0.hasPrefix("GET /loan ") })
    let gone = try ScriptedLender(terms: "{}", token: Self.sameToken)
    #expect(try gone("doctor").status == 1)
  }

  @Test func `The lender gets --min-validity and --force-refresh`() throws {
    let borrower = try ScriptedLender { query in
      let name = query["token_sha256_to_refresh"] == nil ? "lent-token" : "new-token"
      return (200, LentThings.token(["access_token": .string(name)]))
    }
    for validity in ["30m", "1800s"] {
      try borrower("token", "--min-validity", validity).exits(0, printing: "lent-token\n")
      #expect(borrower.server.requests.last?.contains("min_validity=1800") == true)
    }
    #expect(try borrower("token", "--force-refresh").standardOutput == "new-token\n")
  }

  @Test func `The command line overrides the environment, which overrides the configuration`() throws {
    let (own, other) = (
      try ScriptedLender(token: Self.sameToken),
      try ScriptedLender { _ in (200, LentThings.token(["access_token": "other"])) }
    )
    try own.directory.file("llavero/config", "[llavero]\nfrom = \(own.address)\n")
    let configured = ["XDG_CONFIG_HOME": own.directory.path, "LLAVERO_FROM": ""]
    #expect(try own("token", with: configured).standardOutput == "lent-token\n")
    let changed = configured.merging(["LLAVERO_FROM": other.address]) { $1 }
    #expect(try own("token", with: changed).standardOutput == "other\n")
    #expect(try own("token", "--from", own.address, with: changed).standardOutput == "lent-token\n")
    for (arguments, environment) in [
      (["--from", "off"], changed), ([], changed.merging(["LLAVERO_FROM": "off"]) { $1 }),
    ] {
      // Now the command needs the keyring, which is missing.
      let result = try Child.run(
        Tool.path, ["status", "--json"] + arguments,
        environment: environment.merging(["LLAVERO_CLIENT_ID": LentThings.client]) { $1 })
      #expect(try result.error?["code"] == "unavailable", "\(result.standardError)")
    }
  }

  @Test(arguments: [
    "http://127.0.0.1:8080", "https://example.com", "tcp:1", "unix:", "/run/loan.sock", "loan",
  ])
  func `An invalid lender's address names the valid forms`(address: String) throws {
    for (arguments, environment) in [(["--from", address], [:]), ([], ["LLAVERO_FROM": address])] {
      let result = try Child.run(Tool.path, ["token"] + arguments, environment: environment).exits(
        2, saying: "unix:PATH")
      #expect(!address.hasPrefix("http") || result.standardError.contains("IDENTITY_ENDPOINT"))
    }
  }

  @Test(
    .fault("no store"),
    arguments: [
      "login", "login --device-code", "logout", "logout --browser", "list --groups", "list", "show x",
      "clear --yes --account a@b", "import -", "export", "adopt", "adopt azure-cli --yes",
      "rekey", "setup", "setup --dry-run", "setup --store file --key passphrase", "export keyring",
      "export file --to-key passphrase --store keyring",
    ])
  func `A command that needs a store fails with advice while tokens are borrowed`(words: String) throws {
    let borrower = try ScriptedLender(token: Self.sameToken)
    let result = try borrower.run(words.words, with: ["LLAVERO_CLIENT_ID": LentThings.client])
      .exits(2, saying: "borrowed from \(borrower.address)", "LLAVERO_FROM to off")
    #expect(result.standardOutput.isEmpty && borrower.server.connectionCount == 0)
  }

  @Test(.fault("no store")) func `--from and a store exclude each other`() throws {
    let borrower = try ScriptedLender(token: Self.sameToken)
    for option in [
      ["--store", "keyring"], ["--store", "file", "--key", "file:/tmp/k"], ["--collection", "x"],
    ] {
      try borrower.run(["token", "--json"] + option).exits(2, code: "borrowed")
    }
    #expect(borrower.server.connectionCount == 0)
  }

  @Test(
    .fault("loan over"),
    arguments: [
      (403, "invalid_scope", 1), (403, "access_denied", 1), (400, "interaction_required", 3),
      (503, "temporarily_unavailable", 4), (500, "server_error", 1),
    ] as [(Int, String, Int32)])
  func `A refusal of the lender has its exit code and no sign-in command`(
    status: Int, word: String, code: Int32
  ) throws {
    let borrower = try ScriptedLender { _ in (status, LentThings.refusal(word, status, "For a reason.")) }
    try borrower("token").exits(code, printing: "", saying: "For a reason.", hiding: "llavero login")
  }

  @Test(.fault("exit 4", "no lender"))
  func `A missing lender and an invalid response are different errors`() throws {
    let borrower = try ScriptedLender { _ in (200, LentThings.token(["access_token": "a\nb"])) }
    try borrower("token", "--json").exits(1, code: "broker_failed")
    try RawServer.leaveBehind(at: borrower.directory.path + "/left")
    try borrower.directory.file("file")
    for name in ["left", "file", "none"] {
      let result = try borrower("token", "--json", "--from", "unix:\(borrower.directory.path)/\(name)").exits(
        4, code: "no_broker")
      #expect(try result.error?["advice"]?.stringValue?.contains("llavero lend") == true)
    }
    try borrower("token", "--from", "unix:/" + String(repeating: "x", count: 107)).exits(2, saying: "107")
  }

  @Test(.fault("exit 4"), arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"])
  func `A lender that closes the connection exits with 4`(answer: String) throws {
    let lender = try ScriptedLender { connection in
      _ = connection.readRequest()
      connection.write(answer)
    }
    for command in ["token", "status"] {
      try lender(command, "--json").exits(4, code: "broker_failed")
    }
  }

  @Test(.fault("wrong account")) func `An account or scope that is not lent exits with 2`() throws {
    let borrower = try ScriptedLender(token: Self.sameToken)
    for option in [
      ["--account", "bob@contoso.test"], ["--client", "c0000000-0000-4000-8000-0000000000ff"],
      ["--tenant", "80000000-0000-4000-8000-000000000001"], ["--tenant", "fabrikam.test"],
      ["--authority", "https://login.microsoftonline.us/common"],
      ["--authority", "https://login.microsoftonline.com/80000000-0000-4000-8000-000000000001"],
    ] {
      try borrower.run(["token"] + option).exits(2, saying: "lent")
    }
    try borrower("token", "--authority", "https://login.microsoftonline.com/adfs")
      .exits(2, saying: "The tokens that are lent are issued by https://login.microsoftonline.com/")
    // Settings are about this machine's own sign-in, the command line about the loan.
    let environment = [
      "LLAVERO_CLIENT_ID": "another", "LLAVERO_TENANT": "fabrikam.test",
      "LLAVERO_AUTHORITY": "https://login.microsoftonline.us/common", "LLAVERO_STORE": "file",
      "LLAVERO_BROKER": "only",
    ]
    #expect(try borrower("token", with: environment).standardOutput == "lent-token\n")
    #expect(try borrower("token", with: ["LLAVERO_ACCOUNT": "bob@contoso.test"]).status == 2)
  }
}
