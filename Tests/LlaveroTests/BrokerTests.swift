import LabSupport

/// The tool with a stand-in for the identity broker on its bus.
@Suite(.timeLimit(.minutes(20)))
struct BrokerTests {
  private static let client = "d7b530a4-7680-4c23-a8bf-c52c121d2e87"
  private static let bob = StandInBroker.account("Bob", uid: "b0b00000-0000-4000-8000-000000000001")

  /// The tool on the broker's bus, without an account. The authority is Microsoft's own, which no test may reach.
  private struct BrokerTool {
    let broker: StandInBroker
    var tool: Tool

    init(_ kind: StandInBroker.Kind = .native, on keyring: PrivateKeyring? = nil, orders: String = "{}")
      throws
    {
      broker = try StandInBroker(kind, on: keyring, orders: orders)
      tool = try Tool(on: broker.keyring)
      // A port without a proxy: every connection fails.
      tool.settings = [
        "LLAVERO_CLIENT_ID": BrokerTests.client, "LLAVERO_GROUP": tool.group,
        "https_proxy": "http://127.0.0.1:\(ReservedPort.refusing.number)",
      ]
    }

    func callAsFunction(_ arguments: String..., with changes: [String: String?] = [:]) throws -> Child.Result
    {
      try tool.run(arguments, with: changes)
    }

    /// Starts a command, and waits for its request for a token.
    func start(_ arguments: String...) async throws -> Child {
      let process = try tool.start(arguments)
      try await eventually { try tokenCalls() > 0 }
      return process
    }

    func tokenCalls() throws -> Int { try broker.calls().count { $0.method == "acquireTokenSilently" } }
  }

  private func isToken(_ text: String) -> Bool {
    text.hasPrefix("eyJ") && text.split(separator: ".").count == 3
  }

  @Test(.fault("no keyring"), arguments: StandInBroker.Kind.allCases)
  func `With --broker only a token needs no keyring and no network`(
    kind: StandInBroker.Kind
  ) throws {
    let tool = try BrokerTool(kind)
    for form in [
      "token", "token --output header", "token --account alice@contoso.test", "git-credential get",
    ] {
      let arguments = form.words + ["--broker", "only"]
      try tool.tool.run(
        arguments, input: form.hasPrefix("git") ? "protocol=https\nhost=dev.azure.com\n\n" : ""
      ).exits(0, errors: "", showing: "eyJ")
    }
    let account = try tool("status", "--broker", "only", "--json").exits(0).json["accounts"]?[0]
    #expect(account?["origin"] == "broker" && account?["username"] == "alice@contoso.test")
    #expect(account?["renews"] == .bool(false))
  }

  @Test(
    .fault("bad answer"),
    arguments: [
      ("interaction", 3, "AADSTS50078"), ("unusable", 3, "AADSTS53003"), ("expired", 3, "token_expired"),
      ("no-network", 4, ""), ("busy", 4, ""), ("cancelled", 5, ""), ("refused", 1, "nativeclient"),
      ("unexpected", 1, "broker"), ("empty", 1, "broker"), ("malformed", 1, "broker"),
      ("wrong-json", 1, "broker"),
      ("wrong-type", 1, "broker"), ("large", 1, "broker"), ("die", 1, "broker"),
      ("other-account", 1, "account"),
      ("dbus:broker socket connect", 1, "broker socket connect"), ("unregistered", 3, "registered"),
    ])
  func `Each failure of the broker has its exit code and reason, without a token`(
    misdeed: String, status: Int32, words: String
  ) throws {
    let tool = try BrokerTool(orders: #"{"do":{"acquireTokenSilently":"\#(misdeed)"}}"#)
    try tool("token", "--broker", "only").exits(status, printing: "", saying: words, hiding: "eyJ")
  }

  @Test(.fault("none")) func `No account, no broker and several accounts are different errors`() throws {
    let tool = try BrokerTool(orders: #"{"accounts":[]}"#)
    #expect(try tool("token", "--broker", "only").status == 3)
    #expect(try tool("status", "--broker", "only").status == 3)
    try tool.broker.order(#"{"accounts":[\#(StandInBroker.account()),\#(Self.bob)]}"#)
    try tool("token", "--broker", "only").exits(2, saying: "bob@contoso.test")
    #expect(try tool("token", "--broker", "only", "--account", "BOB@contoso.test").status == 0)
    #expect(try tool("token", "--broker", "only", "--account", "carol@contoso.test").status == 3)
    tool.broker.kill()
    try tool("token", "--broker", "only", "--json").exits(1, code: "no_broker")
  }

  @Test func `A name of a guest and of a member means the account of the tenant`() throws {
    let other = "70000000-0000-4000-8000-000000000002"
    let tenant = "70000000-0000-4000-8000-000000000003"
    let guest = StandInBroker.account(
      uid: "60e57000-0000-4000-8000-000000000001", home: other, realm: tenant)
    let tool = try BrokerTool(orders: #"{"accounts":[\#(guest),\#(StandInBroker.account())]}"#)
    let arguments = ["token", "--broker", "only", "--account", "alice@contoso.test", "--json"]
    // Without a tenant the account that is at home.
    for (more, home) in [(["--tenant", tenant], other), ([], "70000000-0000-4000-8000-000000000001")] {
      let token = try tool.tool.run(arguments + more).exits(0).json
      #expect(token["home_account_id"]?.stringValue?.hasSuffix(home) == true, "\(token.keys)")
    }
  }

  @Test(.fault("hangs")) func `A broker that hangs delays one run only`() throws {
    let tool = try BrokerTool(orders: #"{"do":{"*":"never"}}"#)
    try tool("token", "--broker", "only", with: ["LLAVERO_TEST_BROKER_LIMIT": "200"])
      .exits(1, saying: "in time")
    for policy in ["only", "auto"] {
      let next = try tool("status", "--broker", policy, "--store", "file", "--key", "file:/dev/null")
      #expect(next.status != 0)
      // It may be too slow to have noticed the first.
      #expect(try tool.broker.calls().count <= 1, "\(next.standardError)")
    }
    // Doctor asks it regardless, and its result counts.
    try tool.broker.order("{}")
    #expect(try examine(tool).state == "ok")
    #expect(try tool("token", "--broker", "only").status == 0)
  }

  @Test(.fault("hangs")) func `Renewals that wait for a failing broker ask it once`() throws {
    let tool = try BrokerTool(
      on: PrivateKeyring(), orders: #"{"do":{"getAccounts":"hold","acquireTokenSilently":"hold"}}"#)
    let processes = try (0..<3).map { _ in try tool.tool.start(["token", "--broker", "only"]) }
    // Each lists the accounts before it waits for its turn, and again when it has it. They begin to wait together: a wait
    // ends after a minute, which may pass while another one starts on a busy machine, or another test runs on this thread.
    func listings() throws -> Int { try tool.broker.calls().count { $0.method == "getAccounts" } }
    while try listings() < 3 { usleep(1000) }
    try tool.broker.order(#"{"do":{"acquireTokenSilently":"hold"}}"#)
    while try listings() < 4 || tool.tokenCalls() == 0 { usleep(1000) }
    try tool.broker.order(#"{"do":{"acquireTokenSilently":"empty"}}"#)
    #expect(processes.map { $0.wait() } == [1, 1, 1])
    #expect(try tool.tokenCalls() == 1)
  }

  @Test(.fault("given up"), arguments: [SIGINT, SIGTERM])
  func `Ctrl-C ends a call to a broker that hangs at once`(_ signal: Int32) async throws {
    let tool = try BrokerTool(on: PrivateKeyring(), orders: #"{"do":{"acquireTokenSilently":"never"}}"#)
    let process = try await tool.start("token")
    process.signal(signal)
    #expect(process.wait() == 5)
  }

  @Test(.fault("not signed in"), arguments: ["empty", "no-network", "dbus:broker socket connect"])
  func `Without an account in the cache, the broker's failure is reported`(misdeed: String) throws {
    let tool = try BrokerTool(on: PrivateKeyring(), orders: #"{"do":{"getAccounts":"\#(misdeed)"}}"#)
    for arguments in [["token"], ["status"], ["logout", "--account", "alice@contoso.test"], ["get", "/me"]] {
      let reason = misdeed == "no-network" ? "The identity broker lists no accounts: " : "identity broker"
      try tool.tool.run(arguments).exits(3, saying: "signed in", reason, "llavero login")
    }
    try tool("token", "--broker", "off").exits(3, saying: "--broker off\".")
    try tool("logout", "--all").exits(misdeed == "no-network" ? 4 : 1, saying: "identity broker")
  }

  @Test(.fault("signed out"), arguments: [[], ["--account", "alice@contoso.test"], ["--all"]])
  func `An account that only the broker has is signed out`(choice: [String]) throws {
    let tool = try BrokerTool(on: PrivateKeyring())
    let result = try tool.tool.run(["logout", "--json"] + choice).exits(0)
    #expect(try result.json["signed_out"]?.strings("username") == ["alice@contoso.test"])
    // From this client, not from the broker.
    #expect(try !tool.broker.calls().contains { $0.method == "removeAccount" })
    for policy in ["auto", "only"] { #expect(try tool("token", "--broker", policy).status == 3) }
    let other = "c0000000-0000-4000-8000-000000000002"
    #expect(try tool("token", with: ["LLAVERO_CLIENT_ID": other]).status == 0)
  }

  @Test(.fault("signed out"))
  func `Signing out of several accounts of the broker needs --account or --all`() throws {
    let tool = try BrokerTool(
      on: PrivateKeyring(), orders: #"{"accounts":[\#(StandInBroker.account()),\#(Self.bob)]}"#)
    #expect(try tool("logout").status == 2)
    #expect(try tool("logout", "--account", "carol@contoso.test").status == 3)
    #expect(try tool("logout", "--broker", "off").standardError.contains("No account"))
    #expect(try tool("logout", "--account", "bob@contoso.test").status == 0)
    #expect(try tool("token").status == 0)
    // The account in the cache is found without a request.
    let calls = try tool.broker.calls().count
    #expect(try tool("logout").status == 0)
    #expect(try tool.broker.calls().count == calls)
    #expect(try tool("logout", "--all").standardError.contains("No account"))
  }

  @Test func `A token of the broker is cached`() throws {
    let tool = try BrokerTool(on: PrivateKeyring())
    let first = try tool("token").exits(0)
    let count = try tool.broker.calls().count
    #expect(try tool("token").standardOutput == first.standardOutput)
    #expect(try tool("token", "--broker", "only").standardOutput == first.standardOutput)
    #expect(try tool.broker.calls().count == count)
    // A refresh token is not, even if the broker sends one.
    try tool.broker.order(#"{"refresh":"a-refresh-token"}"#)
    #expect(try tool("token", "--force-refresh").standardOutput != first.standardOutput)
    let cache = try tool.tool.exported()
    #expect(cache["RefreshToken"]?.objectValue?.isEmpty ?? true)
    #expect(!cache.secrets.contains("a-refresh-token"))
    #expect(cache["Account"]?.objectValue?.values.first?["account_source"] == "broker")
    let everyClient: [String: String?] = ["LLAVERO_CLIENT_ID": nil]
    let status = try tool("status", "--json", with: everyClient).json
    #expect(status["accounts"]?[0]?["origin"] == "broker")
    #expect(try tool("status", with: everyClient).standardOutput.contains("broker"))
  }

  @Test(.fault("git erase")) func `A token that git reports as refused is replaced by the broker`() throws {
    let tool = try BrokerTool(on: PrivateKeyring())
    let question = "protocol=https\nhost=dev.azure.com\n"
    func password() throws -> String {
      let output = try tool.tool.run(["git-credential", "get"], input: question).exits(0).standardOutput
      let line = output.split(separator: "\n").first { $0.hasPrefix("password=") }
      return String(try #require(line).dropFirst("password=".count))
    }
    func replaced() throws -> [String] {
      try tool.broker.calls().compactMap {
        $0.body["authParameters"]?.objectValue?["accessTokenToRenew"]?.stringValue
      }
    }
    let first = try password()
    for (refused, sent) in [("other", []), (first, [first])] {
      try tool.tool.run(["git-credential", "erase"], input: question + "password=\(refused)\n")
        .exits(0, printing: "", errors: "")
      #expect(try replaced() == sent)
    }
    let second = try password()
    #expect(second != first)
    // The broker is not asked about one that is erased with --broker off.
    try tool.tool.run(
      ["git-credential", "erase", "--broker", "off"], input: question + "password=\(second)\n"
    ).exits(0, printing: "", errors: "")
    #expect(try replaced() == [first])
  }

  @Test(.fault("git erase", "no keyring"))
  func `With --broker only git's report of a refused token needs no keyring`() throws {
    try BrokerTool().tool.run(
      ["git-credential", "erase", "--broker", "only"],
      input: "protocol=https\nhost=dev.azure.com\npassword=refused\n"
    ).exits(0, printing: "", errors: "")
  }

  @Test(.fault("killed asking")) func `Concurrent processes get the same token`() async throws {
    let tool = try BrokerTool(on: PrivateKeyring())
    let outputs = try await atOnce(0..<3) { _ in try tool("token", "--broker", "only") }
    #expect(outputs.allSatisfy { $0.status == 0 }, "\(outputs.map(\.standardError))")
    #expect(Set(outputs.map(\.standardOutput)).count == 1)
    #expect(try tool.tokenCalls() == 1)
  }

  @Test(.fault("killed asking"))
  func `A process that is killed in a call does not block the next`() async throws {
    let tool = try BrokerTool(on: PrivateKeyring(), orders: #"{"do":{"acquireTokenSilently":"never"}}"#)
    let process = try await tool.start("token", "--broker", "only")
    process.end()
    try tool.broker.order("{}")
    #expect(try tool("token", "--broker", "only").status == 0)
  }

  @Test(.fault("signed out"))
  func `An account that was signed out is not used silently by the broker`() throws {
    let tool = try BrokerTool(on: PrivateKeyring())
    #expect(try tool("token").status == 0)
    #expect(try tool("status", with: ["LLAVERO_CLIENT_ID": nil]).status == 0)
    #expect(try tool("logout").status == 0)
    #expect(try tool("status", with: ["LLAVERO_CLIENT_ID": nil]).status == 3)
    for policy in ["auto", "only"] {
      #expect(try tool("token", "--broker", policy).status == 3)
      #expect(try tool("status", "--broker", policy).status == 3)
    }
    #expect(try tool("login", "--broker", "only").status == 0)
    #expect(try tool("token").status == 0)
  }

  /// The tool with Alice signed in at the lab, and a broker that has her account since.
  private func signedIn(_ kind: StandInBroker.Kind = .native) throws -> (
    lab: Lab, tool: Tool, broker: StandInBroker, account: String
  ) {
    let keyring = try PrivateKeyring()
    let tool = try Tool.atLab(on: keyring)
    try tool.logIn("alice", "--broker", "off")
    let home = try #require(
      tool.json("status", "--broker", "off")["accounts"]?[0]?["home_account_id"]?.stringValue)
    let parts = home.split(separator: ".").map(String.init)
    let account = StandInBroker.account(uid: parts[0], home: parts[1])
    let broker = try StandInBroker(kind, on: keyring, orders: #"{"accounts":[\#(account)]}"#)
    Lab.current.clearLog()
    return (Lab.current, tool, broker, account)
  }

  @Test(
    .fault("bad answer", "not signed in"), .lab,
    arguments: [
      "interaction", "no-network", "dropped", "refused", "unexpected", "empty", "malformed", "wrong-type",
      "die",
    ])
  func `If the broker fails, the cached refresh token is used, except with --broker only`(misdeed: String)
    throws
  {
    let (lab, tool, broker, account) = try signedIn()
    defer { broker.kill() }
    #expect(try tool.json("status")["accounts"]?[0]?["origin"] == "both")
    let brokered = try tool("token", "--force-refresh")
    #expect(isToken(brokered.standardOutput), "\(brokered.standardError)")
    #expect(lab.log.isEmpty)
    try broker.order(#"{"accounts":[\#(account)],"do":{"acquireTokenSilently":"\#(misdeed)"}}"#)
    let only = try tool("token", "--force-refresh", "--broker", "only")
    #expect(only.status != 0)
    #expect(lab.log.isEmpty)
    guard misdeed != "die" else { return }
    let own = try tool("token", "--force-refresh").exits(0)
    #expect(own.standardOutput != brokered.standardOutput)
    #expect(lab.requests(to: .token).count == 1)
    try broker.order(#"{"do":{"*":"\#(misdeed)"}}"#)
    try tool("status").exits(0, showing: "alice@contoso.test", saying: "identity broker")
  }

  @Test(.fault("none"), .lab)
  func `Without a broker nothing changes, and with --broker off none is asked`() throws {
    let (lab, tool, broker, _) = try signedIn()
    defer { broker.kill() }
    #expect(try tool("token", "--force-refresh", "--broker", "off").status == 0)
    #expect(try tool("token", "--force-refresh", with: ["LLAVERO_BROKER": "off"]).status == 0)
    #expect(try broker.calls().isEmpty)
    broker.kill()
    #expect(try tool("token", "--force-refresh").status == 0)
    #expect(lab.requests(to: .token).count == 3)
  }

  @Test(.lab, arguments: StandInBroker.Kind.allCases)
  func `Microsoft's broker signs in before the browser, Himmelblau's only with --broker only`(
    kind: StandInBroker.Kind
  ) throws {
    let (lab, tool, broker, _) = try signedIn(kind)
    defer { broker.kill() }
    try tool("login").exits(0)
    let calls = try broker.calls().count { $0.method == "acquireTokenInteractively" }
    let isMicrosofts = kind == .java || kind == .native
    #expect(calls == (isMicrosofts ? 1 : 0))
    #expect(lab.requests(to: .authorize).isEmpty == isMicrosofts)
    try tool("login", "--account", "alice@contoso.test", "--broker", "only").exits(0)
    #expect(try broker.calls().count { $0.method == "acquireTokenInteractively" } == calls + 1)
    // A port is for the browser's response.
    lab.clearLog()
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    try tool("login", "--port", "\(reserved.number)").exits(0)
    #expect(try broker.calls().count { $0.method == "acquireTokenInteractively" } == calls + 1)
    let addresses = lab.requests(to: .authorize).map { $0.query["redirect_uri"] ?? "" }
    #expect(addresses.count == 1 && addresses[0].hasPrefix("http://localhost:\(reserved.number)"))
  }

  @Test(.lab) func `The browser opens if the broker fails, and not if the person cancels`() throws {
    let (lab, tool, broker, _) = try signedIn()
    defer { broker.kill() }
    try broker.order(#"{"do":{"acquireTokenInteractively":"cancelled"}}"#)
    #expect(try tool("login").status == 5)
    #expect(lab.log.isEmpty)
    try broker.order(#"{"do":{"acquireTokenInteractively":"refused"}}"#)
    try tool("login").exits(0)
    #expect(lab.requests(to: .authorize).count == 1)
    try tool("login", "--broker", "only").exits(1, saying: "nativeclient")
    #expect(lab.requests(to: .authorize).count == 1)
  }

  @Test func `The policy comes from the command line, the environment or the configuration, and is checked`()
    throws
  {
    let tool = try BrokerTool()
    #expect(try tool("token", with: ["LLAVERO_BROKER": "only"]).status == 0)
    try tool.tool.configure("[llavero]\nbroker = only\n")
    #expect(try tool("token", with: ["XDG_CONFIG_HOME": tool.tool.files.path]).status == 0)
    try tool("login", "--broker", "only", "--no-browser", "--port", "8400")
      .exits(2, saying: "The broker does not support --no-browser: ")
    let off = try tool("token", "--broker", "off", with: ["LLAVERO_BROKER": "only"])
    #expect(off.status != 0)
    for result in [
      try tool("token", with: ["LLAVERO_BROKER": "always"]), try tool("token", "--broker", "always"),
      try tool("login", "--device-code", "--broker", "only"),
      try tool("login", "--device-code", with: ["LLAVERO_BROKER": "only"]),
    ] {
      #expect(result.status == 2, "\(result.standardError)")
    }
  }

  @Test(arguments: [("az", "account get-access-token"), ("azd", "auth token")])
  func `A stand-in for another tool uses the broker as it was installed to`(
    program: String, arguments: String
  ) throws {
    let tool = try BrokerTool()
    let directory = tool.tool.files.path
    try tool("shim", "install", program, "--directory", directory, "--broker", "only").exits(0)
    try Child.run(directory + "/" + program, arguments.words, environment: tool.tool.environment())
      .exits(0, showing: "eyJ")
  }

  private func examine(_ tool: BrokerTool, with changes: [String: String?] = [:]) throws -> (
    state: String?, text: String
  ) {
    let report = try tool.tool.examine(with: changes)
    let text = report.text("identity_broker")
    #expect(!text.contains("eyJ"))
    return (report.states("identity_broker").last, text)
  }

  @Test func `Doctor shows the broker's version, response time, accounts and a token's expiry`() throws {
    let tool = try BrokerTool()
    let well = try examine(tool)
    #expect(well.state == "ok")
    for words in ["runs", "3.0.2", " ms", "one account", "gives tokens"] {
      #expect(well.text.contains(words), "\(words)")
    }
    #expect(try examine(tool, with: ["LLAVERO_CLIENT_ID": nil]).text.contains("LLAVERO_CLIENT_ID"))
    try tool.broker.order(#"{"accounts":[\#(Self.bob),\#(StandInBroker.account())]}"#)
    #expect(try examine(tool).text.contains("It has 2 accounts for the client."))
    #expect(try tool.broker.calls().last?.body["authParameters"]?["username"] == "bob@contoso.test")
    try tool.broker.order(#"{"accounts":[]}"#)
    #expect(try examine(tool).text.contains("portal"))
    tool.broker.kill()
    #expect(try examine(tool).state == "ok")
    #expect(try examine(tool, with: ["LLAVERO_BROKER": "only"]).state == "problem")
    #expect(try examine(tool, with: ["LLAVERO_BROKER": "off"]).text.contains("not used"))
  }

  @Test(
    .fault("bad answer"),
    arguments: [
      ("dbus:broker socket connect: could not start", "systemctl enable --now himmelblaud"),
      ("dbus:broker socket read timeout", "restart himmelblaud"),
      ("dbus:No interactive prompt available: DISPLAY", "dbus-update-activation-environment"),
      ("dbus:Cannot use the Secret portal", "xdg-desktop-portal"), ("empty", "journalctl"),
      ("interaction", "company portal"), ("expired", "token_expired"), ("refused", "nativeclient"),
      ("names", "AADSTS50034"),
      ("names-account", "AADSTS50078"),
      ("dbus:alice@contoso.test is not known, see /home/alice/.cache", "broker_failed"),
    ])
  func `Doctor gives advice for each failure of the broker, or its code, without names`(
    misdeed: String, words: String
  ) throws {
    let tool = try BrokerTool(orders: #"{"do":{"acquireTokenSilently":"\#(misdeed)"}}"#)
    let finding = try examine(tool)
    #expect(finding.state == "warning")
    #expect(finding.text.contains(words), "\(finding.text)")
    #expect(!finding.text.contains("alice"), "\(finding.text)")
    #expect(try examine(tool, with: ["LLAVERO_BROKER": "only"]).state == "problem")
  }

  @Test(arguments: [
    "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/policy", "https://adfs.contoso.test/adfs",
  ])
  func `Doctor requests the broker's tokens for Entra ID only`(authority: String) throws {
    let tool = try BrokerTool()
    let finding = try examine(tool, with: ["LLAVERO_AUTHORITY": authority])
    #expect(finding.state == "ok")
    #expect(finding.text.contains("Entra ID"), "\(finding.text)")
    #expect(try tool.broker.calls().map(\.method) == ["getLinuxBrokerVersion"])
    #expect(
      try examine(tool, with: ["LLAVERO_AUTHORITY": authority, "LLAVERO_BROKER": "only"]).state == "problem")
  }
}
