import LabSupport

@Suite(.lab, .timeLimit(.minutes(20)))
struct SignInTests {
  private let lab = Lab.current
  private let tool: Tool

  init() throws { tool = try Tool.atLab() }

  @Test func `A sign-in in the browser stores the tokens in the keyring`() throws {
    let result = try tool.logIn("alice", "--json")
    let login = try result.json
    #expect(login["username"]?.stringValue == Tool.alice)
    #expect(
      login.keys == [
        "client_id", "environment", "expires_on", "group", "home_account_id", "scopes", "tenant_id",
        "username",
      ])
    #expect(result.standardError.contains("open this page yourself: \(lab.baseURL)"))
    #expect(lab.requests(to: .authorize).first?.query["prompt"] == "select_account")

    let status = try tool.json("status")
    #expect(status["accounts"]?[0]?["username"]?.stringValue == Tool.alice)
    #expect(status["accounts"]?[0]?["renews"] == .bool(true))
    #expect(status["accounts"]?[0]?["tokens"]?[0]?["state"] == "valid")
    // A test has twenty minutes.
    #expect(try tool("status").standardOutput.contains(#/ (4|5)\d min left/#))
  }

  @Test func `A named account is proposed to the browser`() throws {
    try tool.logIn("alice", "--account", Tool.alice)
    let query = lab.requests(to: .authorize).first?.query
    #expect(query?["login_hint"] == Tool.alice)
    #expect(query?["prompt"] == nil)
  }

  @Test func `An authority on the command line overrides a tenant in the environment`() throws {
    let authority = lab.authority(LabDirectory.contoso)
    try tool("login", "--authority", authority, with: ["LLAVERO_TENANT": LabDirectory.fabrikam]).exits(0)
    #expect(lab.requests(to: .authorize).first?.path.contains(LabDirectory.contoso) == true)
    _ = try tool("login", with: ["LLAVERO_TENANT": LabDirectory.contoso])
    #expect(lab.requests(to: .authorize).last?.path.contains(LabDirectory.contoso) == true)
  }

  @Test(.fault("claims challenge"))
  func `The advice after a refusal requests the claims that the server asks for`() throws {
    try tool.logIn()
    try lab.requireMFA(of: "alice")
    let own = #"{"access_token":{"acrs":{"essential":true,"value":"it's $x"}}}"#
    func signIn(after arguments: String...) throws {
      let refused = try tool(["token", "--account", Tool.alice] + arguments).exits(3, printing: "")
      let command = try #require(refused.standardError.firstMatch(of: /Sign in with "llavero (.*)"/)).output.1
      try tool.shell("exec \"$0\" " + command).exits(0)
    }
    try signIn(after: "--force-refresh")
    #expect(lab.requests(to: .authorize).last?.query["claims"]?.contains("capolids") == true)
    // Where the server names none, those that the command asked for.
    lab.inject(LabFault(.token, status: 400, body: #"{"error":"interaction_required"}"#))
    try signIn(after: "--claims", own)
    #expect(lab.requests(to: .authorize).last?.query["claims"] == own)
    #expect(lab.requests(to: .token).last?.form["claims"] == own)
  }

  @Test(.fault("claims challenge"), arguments: ["login", "token"])
  func `Invalid claims are wrong usage, before anything is asked`(command: String) throws {
    for claims in ["{", "W10=", #"{"userinfo":{}}"#, "hunter2!", ""] {
      try tool(command, "--claims", claims).exits(2, printing: "", saying: "--claims", hiding: "hunter2")
    }
    #expect(lab.log.isEmpty)
  }

  @Test func `A device code signs in`() throws {
    let claims = #"{"access_token":{"acrs":{"essential":true}}}"#
    try tool.onDevice(["login", "--device-code", "--scope", "Mail.Read", "--claims", claims]).exits(
      0, printing: "Signed in as alice@contoso.test, for Mail.Read openid profile.\n",
      saying: "enter the code", hiding: "no display")
    #expect(lab.requests(to: .deviceCode).first?.form["claims"] == claims)
  }

  @Test func `With --account a device code signs in that account only`() throws {
    try tool.logIn()
    let asAlice = ["login", "--device-code", "--account", Tool.alice]
    let other = try tool.onDevice(asAlice) { try $0.approveDevice(as: "bob") }
    #expect(other.status != 0 && other.standardOutput.isEmpty, "\(other)")
    #expect(try tool.json("status")["accounts"]?.strings("username") == [Tool.alice])
    try tool.onDevice(asAlice).exits(0, showing: "Signed in as alice@contoso.test")
    let asked = lab.requests(to: .token).count
    try tool("login", "--device-code", "--account", "bob@contoso.test").exits(
      2, saying: "Leave out --account.")
    #expect(lab.requests(to: .token).count == asked)
  }

  @Test func `A declined sign-in exits with 5`() throws {
    try tool.onDevice(["login", "--device-code"]) { try $0.declineDevice() }.exits(5, printing: "")
    lab.configure { $0.authorize = .deny }
    try tool("login").exits(5, hiding: "the sign-in page of this network")
    #expect(try tool("status").status == 3)
    lab.inject(LabFault(.deviceCode, status: 400, body: #"{"error":"invalid_request"}"#))
    try tool("login", "--device-code", "--json").exits(1, code: "invalid_request")
  }

  @Test func `Signing out removes the account, and signing out twice exits with 0`() throws {
    try tool.logIn()
    try tool.logIn("bob")
    try tool("logout").exits(2, saying: "bob@contoso.test")
    #expect(
      try tool("logout", "--account", "ALICE@contoso.test").standardOutput
        == "Signed out alice@contoso.test.\n")
    #expect(try tool("token", "--account", Tool.alice).status == 3)
    #expect(try tool.json("logout")["signed_out"]?.strings("username") == ["bob@contoso.test"])
    #expect(try tool.json("logout")["signed_out"] == .array([]))
    #expect(try tool("logout").standardError == "No account is signed in.\n")
    #expect(lab.requests(to: .logout).isEmpty)
  }

  @Test func `Without a client ID, status lists the accounts of every client`() throws {
    try tool.logIn()
    try tool.logIn("bob", "--client", LabApps.mail)
    let all = ["LLAVERO_CLIENT_ID": nil] as [String: String?]
    let status = try tool.json("status", with: all)
    #expect(status["accounts"]?.strings("username") == [Tool.alice, "bob@contoso.test"])
    #expect(try tool.json("status")["accounts"]?.strings("username") == [Tool.alice])
    let named = try tool.json("status", "--account", "BOB@contoso.test", with: all)
    #expect(named["accounts"]?.strings("username") == ["bob@contoso.test"])
    try tool("status", "--account", "carol@outlook.test", "--json", with: all).exits(3, code: "not_signed_in")
    let variable = try tool.json("status", with: all.merging(["LLAVERO_ACCOUNT": "bob@contoso.test"]) { $1 })
    #expect(variable == named)
    try tool("status", "--broker", "only", "--json", with: all).exits(2, code: "no_client")
    try tool("logout", "--account", Tool.alice).exits(0)
    try tool("status", "--account", Tool.alice, "--json", with: all).exits(3, code: "not_signed_in")
    let empty = all.merging(["LLAVERO_GROUP": tool.group + ".empty"]) { $1 }
    try tool.run(["status", "--json"], with: empty).exits(3, code: "not_signed_in")
  }

  @Test(arguments: ["http://localhost:PORT/", "http://127.0.0.1:PORT"])
  func `The response comes to a redirect URI of the app's registration`(uri: String) throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let uri = uri.replacing("PORT", with: "\(reserved.number)")
    try tool.logIn("alice", "--redirect-uri", uri)
    #expect(lab.requests(to: .authorize).first?.query["redirect_uri"] == uri)
    #expect(lab.requests(to: .token).last?.form["redirect_uri"] == uri)
  }

  @Test(arguments: [
    "https://example.com/auth", "http://example.com:8400", "javascript:alert(1)", "localhost", "",
  ])
  func `A redirect URI that is not received on this machine is refused`(uri: String) throws {
    try tool("login", "--redirect-uri", uri).exits(2, saying: "http://localhost:8400")
    #expect(lab.log.isEmpty)
  }

  @Test func `A user name without an @ is found`() throws {
    let tool = try Tool()
    let (name, client) = ("+491701234567", Sample.mail)
    try tool.load([Sample.account(Sample.alice, name), Sample.refreshToken("alices", Sample.alice, client)])
    let result = try tool("logout", "--account", name, "--client", client)
    #expect(result.standardOutput == "Signed out \(name).\n", "\(result.standardError)")
  }

  @Test func `logout --browser opens the authority's page`() throws {
    try tool.logIn()
    try tool.logIn("bob")
    try tool("logout", "--all", "--browser").exits(0)
    #expect(lab.requests(to: .logout).count == 2)
    #expect(try tool("status").status == 3)
  }

  @Test(.fault("no browser"), arguments: [[], ["--json"], ["-q"]])
  func `If no browser starts, every account is signed out, and the error is reported`(
    options: [String]
  ) throws {
    try tool.logIn()
    try tool.logIn("bob")
    let result = try tool.run(
      ["logout", "--all", "--browser"] + options,
      // Without the desktop's programs, which a busy machine may start so slowly that they count as a browser.
      with: [
        "BROWSER": "/proc/nonexistent/browser", "PATH": "/proc/nonexistent", "DISPLAY": nil,
        "WAYLAND_DISPLAY": nil,
      ]
    ).exits(1, showing: Tool.alice, "bob@contoso.test", saying: "browser", hiding: "llavero login")
    #expect(try tool("status").status == 3)
    #expect(result.standardError.contains(#""error""#) == (options == ["--json"]), "\(result)")
    // Each account's page is shown.
    #expect(result.standardError.split(separator: "open this page yourself").count == 3, "\(result)")
    // The settings may name an account that is signed out already.
    try tool("logout", with: ["LLAVERO_ACCOUNT": Tool.alice]).exits(0)
    try tool("logout", "--account", Tool.alice).exits(3)
  }

  @Test func `GLib's messages for developers do not get into the output`() throws {
    try tool.logIn()
    let token = try tool.run(["token", "--force-refresh", "--json"], with: ["G_MESSAGES_DEBUG": "all"]).exits(
      0)
    #expect(try token.json["access_token"] != nil)
    #expect(token.standardError.contains("DEBUG"))
  }

  @Test(.fault("no browser"))
  func `A missing browser is noticed by a program that was started to ignore its children`() throws {
    let changes: [String: String?] = [
      "BROWSER": try tool.files.program("browser", "#!/bin/sh\nexit 127\n"), "PATH": "/proc/nonexistent",
      "DISPLAY": ":0", "WAYLAND_DISPLAY": nil,
    ]
    try Child.run(
      "/usr/bin/env", ["--ignore-signal=CHLD", Tool.path] + tool.inGroup(["login", "--json"]),
      environment: tool.environment(with: changes)
    ).exits(1, saying: "browser_unavailable", "llavero login --no-browser")
  }

  @Test func `An account whose session has ended is shown, and is not signed in`() throws {
    let tool = try Tool()
    let cache = Sample.cache([
      Sample.account(Sample.alice, "alice@contoso.example"),
      Sample.accessToken(
        "old", Sample.alice, Sample.mail, "User.Read", expiresOn: Sample.past, extended: Sample.future),
    ])
    let states = #"{"\#(Sample.alice)": {"sign_in_state": "signed_in"}}"#
    let metadata = #"{"client_id": "\#(Sample.mail)", "account_metadata_map": \#(states)}"#
    try tool.load(cache.dropLast() + #", "AccountMetadataMap": {"m": \#(metadata)}}"#)
    let result = try tool("status", "--client", Sample.mail, "--json").exits(3, code: "not_signed_in")
    #expect(try result.json["accounts"]?.strings("username") == ["alice@contoso.example"])
    try tool("status").exits(3)
    // A token that is still valid is one of an account that is signed in.
    let expiry = "\(Int(Date().timeIntervalSince1970) + 3600)"
    try tool.load([Sample.accessToken("new", Sample.alice, Sample.mail, "Mail.Read", expiresOn: expiry)])
    for client in [[], ["--client", Sample.mail]] { try tool(["status"] + client).exits(0) }
  }

  @Test(
    .fault("not served"),
    arguments: [("ext_cache_key", "x", "unusable"), ("expires_on", Sample.future, "expired")])
  func `With tokens alone that serve no call no account is signed in, until a login brings one that does`(
    _ name: String, _ value: String, _ state: String
  ) throws {
    let tool = try Tool.signedIn()
    var cache = try #require(try tool.exported().objectValue)
    cache["RefreshToken"] = nil
    cache["AccessToken"] = .object(
      try #require(cache["AccessToken"]?.objectValue).mapValues { token in
        .object((token.objectValue ?? [:]).merging([name: .string(value)]) { $1 })
      })
    try tool("clear", "--all", "--yes").exits(0)
    try tool.load(String(decoding: JSONEncoder().encode(cache), as: UTF8.self))

    #expect(try tool("status").exits(3, saying: "No account is signed in").standardOutput.contains(state))
    let status = try tool("status", "--json").exits(3, code: "not_signed_in").json
    let tokens = status["accounts"]?[0]?["tokens"]?.arrayValue ?? []
    #expect(!tokens.isEmpty && tokens.allSatisfy { $0.objectValue?["state"] == .string(state) })
    try tool("token").exits(3)
    #expect(try tool.shell("$0 status || $0 login").status == 0)
    for command in ["status", "token"] { try tool(command).exits(0) }
  }

  @Test func `A locked keyring is reported before the sign-in`() throws {
    let tool = try Tool.atLab(on: PrivateKeyring())
    try tool.keyring.lockCollection()
    for command in ["login", "logout", "token", "status"] { #expect(try tool(command).status == 3) }
    #expect(lab.log.isEmpty)
  }

  @Test(.fault("key at login"))
  func `An unusable file store is reported before the sign-in`() throws {
    let store: [String: String?] = ["LLAVERO_STORE": "file", "XDG_DATA_HOME": tool.files.path]
    func login(_ key: String) throws -> Child.Result {
      try tool("login", "--json", with: store.merging(["LLAVERO_KEY": key]) { $1 })
    }
    try login("file:\(tool.files.path)/none").exits(1, saying: "There is no key file")
    #expect(lab.log.isEmpty)
    try tool.files.keyFile()
    #expect(try login("file:\(tool.files.path)/key").status == 0)
    lab.clearLog()
    try tool.files.keyFile("other", of: "x")
    #expect(try login("file:\(tool.files.path)/other").status == 1)
    #expect(lab.log.isEmpty)
  }
}
