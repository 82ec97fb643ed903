import LabSupport

/// The log, and what the doctor finds out about connections and other programs.
@Suite(.lab, .timeLimit(.minutes(20)))
struct DiagnosticsTests {
  private let lab = Lab.current
  private let tool: Tool

  init() throws { tool = try Tool.signedIn() }

  @Test(arguments: ["--verbose", "-qv", "info", "debug"])
  func `The log has a line for each request, without tokens or names`(_ how: String) throws {
    let isFlag = how.hasPrefix("-")
    let variables = isFlag ? [:] : ["LLAVERO_LOG": how]
    let before = lab.log.count
    let token = try tool.run(
      ["token", "--force-refresh", "--json"] + (isFlag ? [how] : []), with: variables
    ).exits(0)
    let secret = try #require(try token.json["access_token"]?.stringValue)
    let lines = token.standardError.split(separator: "\n")
    let line =
      #/[-0-9T:]+Z info: The server responded\. correlation=[0-9a-f-]{36} host=localhost:\d+ status=200 time=\d+ms/#
    #expect(lines.count { $0.wholeMatch(of: line) != nil } == 1, "\(lines)")
    #expect(lines.count { $0.contains("The server responded.") } == lab.log.count - before)
    for hidden in [secret, "refresh_token", "alice", LabDirectory.contoso] {
      #expect(!token.standardError.contains(hidden))
    }
    let graph = try tool.run(["get", "/me"] + (isFlag ? [how] : []), with: variables)
      .exits(0, saying: "The server responded. correlation=")
    #expect(!graph.standardError.contains("alice"))
  }

  @Test func `A log without a server has the reason masked, and an unknown level is wrong usage`() throws {
    let proxy = "http://127.0.0.1:\(ReservedPort.refusing.number)"
    let far = ["LLAVERO_AUTHORITY": "https://login.contoso.test/common", "LLAVERO_PROXY": proxy]
    try tool.run(["login", "--device-code", "-v"], with: far.merging(["LLAVERO_CA_BUNDLE": ""]) { $1 }).exits(
      4, saying: "info: The server could not be reached. host=(masked) reason=(masked) time=")
    try tool.run(["token"], with: ["LLAVERO_LOG": "loud"]).exits(
      2, printing: "", saying: "Invalid LLAVERO_LOG: expected info or debug.")
  }

  private func examine(_ options: String..., with changes: [String: String?] = [:]) throws -> DoctorReport {
    try tool.examine(options, with: changes)
  }

  @Test(.fault("doctor authority"))
  func `Doctor asks the authority, unless it is offline, and reports one that does not respond`() throws {
    let before = lab.log.count
    try examine("--offline").finds("authority", "ok", saying: LabApps.plain, lab.authority())
    #expect(lab.log.count == before)
    try examine().finds("authority", "ok", "ok", "ok", saying: "The authority responds.", "clock agrees")
    lab.inject(LabFault(.discovery, status: 400, body: #"{"error":"invalid_tenant"}"#))
    try examine().exits(1).finds("authority", "ok", "problem", "ok", saying: "not recognised")
    let proxy = "http://127.0.0.1:\(ReservedPort.refusing.number)"
    try examine(
      with: ["LLAVERO_AUTHORITY": "https://login.contoso.test/common", "LLAVERO_PROXY": proxy]
    ).exits(1).finds("authority", "ok", "problem", saying: "proxy server 127.0.0.1")
    try examine("--offline", with: ["LLAVERO_CLIENT_ID": "my-app"]).finds(
      "authority", "ok", "warning", saying: "llavero setup --client")
    try examine(with: ["LLAVERO_CLIENT_ID": nil]).finds("authority", "ok", saying: "No client ID")
  }

  @Test(.fault("doctor clock"), arguments: [(400.0, "ahead of"), (-400, "behind")])
  func `A clock that differs from the authority's is a problem`(_ offset: Double, _ word: String) throws {
    let time = "@\(Int(Date().timeIntervalSince1970 - offset))"
    let date = try Child.output(
      "env", ["LC_ALL=C", "date", "--utc", "--date", time, "+%a, %d %b %Y %H:%M:%S GMT"])
    lab.inject(LabFault(.discovery, headers: ["Date": date.replacing("\n", with: "")]))
    try examine().exits(1).finds("authority", "ok", "ok", "problem", saying: word, "timedatectl")
  }

  @Test func `Doctor shows what git, az and kubectl take credentials from, and no secret of a helper`() throws
  {
    let (home, programs) = (try tool.files.directory("home"), try tool.files.directory("programs"))
    _ = try tool.files.program("programs/kubectl", "#!/bin/sh\necho kubelogin\n")
    _ = try tool.files.program("programs/az", "#!/bin/sh\n")
    let variables: [String: String?] = ["HOME": home, "PATH": programs + ":/usr/local/bin:/usr/bin:/bin"]
    for (helper, name) in [
      ("!llavero git-credential --account a", "llavero git-credential"), ("store --file /x", "store"),
      ("cache one hunter2", "cache one"),
      ("!f() { echo password=hunter2; }; f", "a shell script"), ("", "no credential helper"),
    ] {
      try tool.files.file("home/.gitconfig", helper.isEmpty ? "" : "[credential]\nhelper = \"\(helper)\"\n")
      let report = try examine("--offline", with: variables).finds(
        "other_programs", "ok", saying: "git: \(name)", "az: \(programs)/az", "kubectl: kubelogin")
      #expect(!report.text("other_programs").contains("hunter2"))
    }
    try tool.run(["shim", "install", "az", "--directory", home]).exits(0)
    try examine("--offline", with: ["PATH": home]).finds(
      "other_programs", "ok", saying: "from: az: \(home)/az, a stand-in by llavero.")
    try examine("--offline", with: ["PATH": programs + "/none"]).finds(
      "other_programs", "ok", saying: "None of")
  }

  @Test(.fault("doctor server")) func `A server without a display is not warned of browser and broker`()
    throws
  {
    let server: [String: String?] = [
      "BROWSER": nil, "DISPLAY": nil, "LLAVERO_STORE": "file",
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent",
      "LLAVERO_KEY": "file:" + (try tool.files.file("key", String(repeating: "k", count: 32), mode: 0o600)),
    ]
    let report = try examine("--offline", with: server).finds("browser", "ok").finds("identity_broker", "ok")
    #expect(report.state == "ok", "\(report.json)")
    try examine("--offline", with: server.merging(["LLAVERO_BROKER": "only"]) { $1 }).exits(1)
      .finds("identity_broker", "problem")
  }
}
