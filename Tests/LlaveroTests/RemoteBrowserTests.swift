import Dispatch
import LabSupport

/// Sign-ins with the browser on another machine.
@Suite(.lab, .timeLimit(.minutes(20)))
struct RemoteBrowserTests {
  private let lab = Lab.current
  private let tool: Tool
  /// Free for the tests' own use.
  private let reserved: ReservedPort
  private var port: String { "\(reserved.number)" }

  init() throws {
    tool = try Tool.atLab()
    reserved = try ReservedPort()
  }

  /// The last page's address in a text.
  private func page(in text: String) throws -> String {
    String(try #require(text.matches(of: /https:\/\/\S+\/authorize\?\S+/).last?.output))
  }

  /// Opens a page with curl.
  ///
  /// - Returns: The address of a browser's last page.
  @discardableResult
  private func browse(_ page: String, _ options: String...) throws -> String {
    let output = ["-o", "/dev/null", "-w", "%{redirect_url}"]
    return try Child.run("curl", ["-q", "-s", "--cacert", lab.caBundlePath] + output + options + [page])
      .exits(0).standardOutput
  }

  /// Signs in on a terminal, without a browser. `answer` gets the address that is shown.
  private func logIn(
    _ arguments: String..., with changes: [String: String?] = [:],
    answer: (_ page: String, _ shown: String, _ process: @escaping () -> pid_t?) throws -> String?
  ) throws -> Screening {
    let remote: [String: String?] = ["BROWSER": nil, "SSH_CONNECTION": nil]
    return try tool.onTerminal(["login"] + arguments, with: remote.merging(changes) { $1 }) {
      shown, process in
      try answer(try page(in: shown), shown, process)
    }
  }

  @Test func `Without a display the page's address is shown, and the response is pasted without an echo`()
    throws
  {
    var address = ""
    let screen = try logIn(
      with: ["SSH_CONNECTION": "203.0.113.9 51111 198.51.100.7 2222", "USER": "dora"]
    ) { page, _, _ in
      address = try browse(page)
      return " \(address)\n"
    }.exits(0)
    let said = "Signed in as alice@contoso.test, for User.Read openid profile."
    #expect(screen.lines.last?.hasSuffix(said) == true)
    let url = try #require(URL(string: address))
    let port = try #require(url.port)
    #expect(screen.text.contains("ssh -L \(port):localhost:\(port) dora@198.51.100.7 -p 2222\r\n"))
    let code = try #require(lab.requests(to: .token).first?.form["code"])
    #expect(address.contains(code))
    #expect(!screen.text.contains(code))
    #expect(lab.requests(to: .authorize).last?.query["response_mode"] == "query")
    #expect(lab.requests(to: .token).count == 1)
    #expect(try tool("status").status == 0)
  }

  @Test(.fault("wrong paste")) func `A wrong address is reported, and asked for again`() throws {
    var steps: [(typed: (String, String) -> String, said: String)] = [
      ({ _, _ in "hello" }, "That is not an address."), ({ _, _ in "" }, "That is not an address."),
      ({ page, _ in page }, "That is the page to sign in at"),
      ({ _, end in end.replacing(/localhost:[0-9]+/, with: "localhost:1") }, "this sign-in ends at"),
      ({ _, end in end.replacing("localhost", with: "localhost.evil.test") }, "this sign-in ends at"),
      ({ _, end in String(end.prefix { $0 != "?" }) }, "no response in it"),
      ({ _, end in end.replacing(/state=[^&]+/, with: "state=other") }, "belongs to another sign-in"),
      ({ _, end in end.replacing(/&?state=[^&]+/, with: "") }, "belongs to another sign-in"),
      ({ _, _ in String(repeating: "x", count: 1 << 20) }, "too long"),
      ({ _, end in "x\u{15}\(end)y\u{7f}" }, ""),
    ]
    let expected = steps.map(\.said)
    var (end, seen, said) = ("", 0, [String]())
    let screen = try logIn("--no-browser") { page, shown, _ in
      if end.isEmpty { end = try browse(page) }
      said.append(String(shown.dropFirst(seen)))
      seen = shown.count
      return steps.isEmpty ? nil : steps.removeFirst().typed(page, end) + "\n"
    }.exits(0)
    #expect(said.count == expected.count)
    for (text, reason) in zip(said.dropFirst(), expected) { #expect(text.contains(reason)) }
    #expect(!screen.text.contains(try #require(lab.requests(to: .token).first?.form["code"])))
    #expect(lab.requests(to: .token).count == 1)
  }

  @Test(.fault("wrong paste"))
  func `A paste of many lines counts as one, however slow it is`() throws {
    var address = ""
    let screen = try logIn("--no-browser") { page, _, _ in
      guard address.isEmpty else { return address + "\n" }
      address = try browse(page)
      return String(repeating: "some text of many lines\n", count: 40_000)
    }.exits(0)
    #expect(screen.text.contains("That is not an address."))
  }

  @Test func `A pasted refusal exits with 5`() throws {
    lab.configure { $0.authorize = .deny }
    try logIn("--no-browser") { page, _, _ in try browse(page) + "\n" }.exits(5)
  }

  @Test(.fault("pasted twice"))
  func `An address that is pasted twice is redeemed once, and not by another sign-in`() throws {
    var address = ""
    try logIn("--no-browser", "--port", port) { page, _, _ in
      address = try browse(page)
      return "\(address)\n\(address)\n"
    }.exits(0)
    let second = try logIn("--no-browser", "--port", port) { _, shown, _ in
      shown.contains("That ") ? "\u{3}" : address + "\n"
    }.exits(5)
    #expect(second.text.contains("belongs to another sign-in"))
    #expect(lab.requests(to: .token).count == 1)
  }

  @Test(.fault("paste ends")) func `The browser's response at the port ends the wait for a paste`() throws {
    try logIn("--no-browser", "--port", port) { page, _, _ in
      try browse(page, "-L")
      return nil
    }.exits(0)
    #expect(lab.requests(to: .authorize).last?.query["redirect_uri"] == "http://localhost:\(port)")
  }

  @Test(.fault("paste ends")) func `Ctrl-D ends pasting, and the wait goes on`() throws {
    try logIn("--no-browser") { page, _, _ in
      DispatchQueue(label: "test.browser").async { _ = try? browse(page, "-L") }
      return "\u{4}"
    }.exits(0)
  }

  @Test(.fault("paste ends"), arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func `A signal restores the terminal`(_ signal: Int32) throws {
    lab.configure { $0.authorize = .page }
    let screen = try logIn("--no-browser") { _, _, process in
      // It may have ended when this is called again.
      if let process = process() { kill(process, signal) }
      return nil
    }
    if signal != SIGQUIT {
      #expect(screen.status == 5, "\(screen.text)")
    } else {
      // The message of setsid about a program that a signal has ended.
      #expect(screen.text.contains("did not exit normally"), "\(screen.text)")
    }
    #expect(screen.echoes)
  }

  @Test(.fault("paste ends"))
  func `Ctrl-C on the terminal ends the sign-in, and shows no part of a paste`() throws {
    lab.configure { $0.authorize = .page }
    try logIn("--no-browser") { _, _, _ in "http://localhost\u{3}" }
      .exits(5, hiding: "http://localhost\u{3}")
  }

  @Test(.fault("no terminal"))
  func `Without a terminal the page's address is shown, and the response comes to the port as a form`() throws
  {
    let errors = try browseFor(
      ["login", "--port", port, "--json"], ["BROWSER": nil], once: "ssh -L \(port):localhost:\(port) ")
    #expect(!errors.contains("paste"))
    #expect(lab.requests(to: .authorize).last?.query["response_mode"] == "form_post")
    #expect(lab.requests(to: .authorize).last?.query["redirect_uri"] == "http://localhost:\(port)")
  }

  @Test(arguments: ["paste", "desktop"])
  func `A response with the app's own scheme is pasted, or handed over by the desktop`(way: String) throws {
    let uri = "msauth.org.example.lab://auth"
    try logIn("--no-browser", "--redirect-uri", uri) { page, _, _ in
      let address = try browse(page)
      if way == "paste" { return address + "\n" }
      try tool.run([address]).exits(0)
      return nil
    }.exits(0, saying: "Signed in as alice@contoso.test")
    #expect(lab.requests(to: .token).first?.form["redirect_uri"] == uri)
    try tool.run([uri + "?code=x&state=y"]).exits(1, saying: "llavero: No sign-in waits")
  }

  @Test func `The output of the command in BROWSER is shown`() throws {
    try browseFor(["login", "--json"], ["BROWSER": "echo Open"], once: "Open http://localhost:")
  }

  @Test(.fault("browser status")) func `A browser's command that reports an error does not end the sign-in`()
    throws
  {
    try browseFor(["login", "--json"], ["BROWSER": "false"], once: "Still waiting: if no page opened")
  }

  /// Runs a command without a terminal, and the browser once standard error has a text.
  ///
  /// - Returns: What the command wrote there.
  @discardableResult
  private func browseFor(
    _ arguments: [String], _ changes: [String: String?], once text: String
  ) throws -> String {
    let errors = try Pipe()
    let child = try tool.start(arguments, errors: errors, with: changes)
    defer { child.end() }
    var shown = ""
    while !shown.contains(text) { shown += try #require(errors.nextLine(), "\(shown)") + "\n" }
    _ = try Child.run(
      "python3", [Lab.browser, page(in: shown)],
      environment: Child.plain.merging(["LAB_CA_BUNDLE": lab.caBundlePath]) { $1 })
    shown += errors.remainingLines().joined(separator: "\n")
    #expect(child.wait() == 0, "\(shown)")
    return shown
  }

  @Test(arguments: [
    ["--port", "0"], ["--port", "65536"], ["--port", "http"], ["--port=-1"],
    ["--device-code", "--port", "8400"],
    ["--device-code", "--no-browser"], ["--broker", "only", "--no-browser"],
    ["--broker", "only", "--port", "8400"],
  ])
  func `An invalid port, and a port without a browser, exit with 2`(_ arguments: [String]) throws {
    #expect(try Tool().run(["login", "--client", "c"] + arguments).status == 2)
  }

  @Test(.fault("port taken")) func `A port in use is reported before the sign-in`() throws {
    let port = try #require(URL(string: lab.baseURL)?.port)
    for arguments in [["--no-browser"], []] {
      try tool.run(["login", "--port", "\(port)"] + arguments).exits(
        1, saying: "Port \(port) of the loopback interface is in use", hiding: "ssh -L")
    }
    #expect(lab.requests(to: .authorize).isEmpty)
  }

  @Test(
    .fault("port taken"),
    .enabled(
      if: geteuid() == 0 && (try? Child.run("unshare", ["--net", "true"]).status) == 0,
      "only root can make a network namespace"))
  func `A privileged port is reported`() throws {
    // In a network namespace of its own, since a container may open all ports to all users. No other lab is reachable there.
    let script = """
      import fcntl, os, socket, struct, subprocess, sys
      # SIOCSIFFLAGS with IFF_UP, for the loopback interface.
      with socket.socket() as interfaces:
          fcntl.ioctl(interfaces, 0x8914, struct.pack("16sh14x", b"lo", 1))
      lab = subprocess.Popen([sys.argv[1]], stdout=subprocess.PIPE, text=True)
      try:
          os.environ["LLAVERO_AUTHORITY"] = lab.stdout.readline().strip()
          os.environ["LLAVERO_CA_BUNDLE"] = lab.stdout.readline().strip()
          status = subprocess.run(sys.argv[2:]).returncode
      finally:
          lab.terminate()
          lab.wait()
      sys.exit(status)
      """
    let command = [
      "setpriv", "--bounding-set=-net_bind_service", Tool.path, "login", "--port", "81",
    ]
    try Child.run(
      "unshare", ["--net", "python3", "-c", script, Child.built("entra-lab")] + command,
      environment: tool.environment()
    ).exits(1, saying: "Port 81 ", "1024 or more")
  }
}
