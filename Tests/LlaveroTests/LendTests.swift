import Dispatch
import LabSupport

/// `llavero lend` while a test uses it.
private final class LendingTool: Sendable {
  let child: Child
  /// The settings that it printed, by their names.
  let printed: [String: String]
  private let errors: Pipe

  init(
    _ tool: Tool, _ arguments: [String], lines: Int = 1, through program: [String] = [],
    errorsAreFull isFull: Bool = false
  ) throws {
    let output = try Pipe()
    errors = try Pipe()
    if isFull { errors.fill() }
    let command = program + [Tool.path, "lend"] + arguments
    // Freed memory is overwritten, so that its use shows.
    child = try Child.piped(
      command[0], Array(command.dropFirst()),
      environment: tool.environment(with: ["G_SLICE": "always-malloc", "MALLOC_PERTURB_": "165"]),
      output: output, errors: errors)
    var printed: [String: String] = [:]
    for _ in 0..<lines {
      let parts = output.readLine().split(separator: "=", maxSplits: 1).map(String.init)
      if parts.count == 2 { printed[parts[0]] = parts[1] }
    }
    self.printed = printed
  }

  deinit {
    // The shell in between ends first, and would leave the tool running.
    let list = "/proc/\(child.pid)/task/\(child.pid)/children"
    let children = (try? String(decoding: Data(contentsOf: URL(filePath: list)), as: UTF8.self)) ?? ""
    for process in children.split(separator: " ").compactMap({ pid_t($0) }) { kill(process, SIGKILL) }
    child.end()
  }

  /// The next line on standard error.
  func errorLine() -> String { errors.readLine() }

  /// Ends it by a signal, and returns what is left on standard error.
  func stop(_ signal: Int32 = SIGTERM) -> [String] {
    child.signal(signal)
    #expect(child.wait() == 0)
    return errors.remainingLines()
  }

  var socket: String { String((printed["LLAVERO_FROM"] ?? "").dropFirst("unix:".count)) }

  /// Requests a token with curl.
  func curl(_ query: String) async throws -> JSONValue {
    let place =
      socket.isEmpty
      ? ["-H", "X-IDENTITY-HEADER: \(printed["IDENTITY_HEADER"] ?? "")"] : ["--unix-socket", socket]
    let endpoint = printed["IDENTITY_ENDPOINT"] ?? "http://localhost/token"
    let address = "\(endpoint)?api-version=2019-08-01&\(query)"
    return try await Child.runApart("curl", ["-q", "-sS", "--noproxy", "*"] + place + [address]).required()
      .json
  }

  /// curl's arguments for a request at a socket.
  static func request(at socket: String, scope: String = "User.Read") -> [String] {
    ["-q", "-sS", "--unix-socket", socket, "http://localhost/token?api-version=2019-08-01&scope=\(scope)"]
  }
}

@Suite(.lab, .timeLimit(.minutes(20)))
struct LendTests {
  private let lab = Lab.current
  private let tool: Tool

  init() throws { tool = try Tool.signedIn() }

  @Test(.fault("signal"))
  func `A token is lent over a socket, each request is logged, and a signal removes the socket`()
    async throws
  {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
      let lending = try LendingTool(tool, ["--scope", "User.Read"])
      let first = lending.errorLine()
      let end = try #require(
        first.wholeMatch(of: #/Lending User.Read of alice@contoso.test until (.*Z)\./#)?.1)
      // Eight hours; a test has twenty minutes.
      let left = try Date(String(end), strategy: .iso8601).timeIntervalSinceNow
      #expect((27_600.0...28_800).contains(left))
      #expect(lending.socket.hasPrefix(tool.keyring.directory + "/run/llavero/loan-"))
      let token = try await lending.curl("scope=User.Read")["access_token"]?.stringValue
      #expect(token == (try tool("token").standardOutput.trimmed))
      let line = lending.errorLine()
      #expect(line.contains(" /token User.Read: 200, process "))
      #expect(line.contains("(curl) of user \(geteuid())"))
      #expect(try await lending.curl("scope=Mail.Read")["error"] == "invalid_scope")
      let refusal = lending.errorLine()
      #expect(refusal.contains(" /token: 403 invalid_scope, process "))
      #expect(!(line + refusal).contains(try #require(token)))
      _ = lending.stop(signal)
      #expect(access(lending.socket, F_OK) != 0)
      #expect(access(String(lending.socket.dropLast("/loan.sock".count)), F_OK) != 0)
    }
  }

  @Test(.fault("stderr full"))
  func `Unread standard error delays neither borrowers nor the end`() async throws {
    let lending = try LendingTool(tool, ["--scope", "User.Read"], errorsAreFull: true)
    for _ in 0..<3 { #expect(try await lending.curl("scope=User.Read")["token_type"] == "Bearer") }
    lending.child.signal(SIGTERM)
    #expect(lending.child.wait() == 0)
    #expect(access(lending.socket, F_OK) != 0)
  }

  @Test(.fault("refusals")) func `Repeated refusals are counted, and hide no other line`() async throws {
    let start = ContinuousClock.now
    let lending = try LendingTool(tool, ["--scope", "User.Read"])
    try Child.run("curl", ["-q", "-sS", "--unix-socket", lending.socket, "http://localhost/other?[1-300]"])
      .exits(0)
    #expect(try await lending.curl("scope=Mail.Read")["error"] == "invalid_scope")
    _ = try await lending.curl("scope=User.Read")
    let lines = lending.stop()
    let refusals = lines.filter { $0.contains("another path: 404 invalid_request") }
    // Twenty of each minute that the requests span.
    let minutes = Int((ContinuousClock.now - start) / .seconds(60)) + 2
    #expect((20...20 * minutes).contains(refusals.count))
    let count = lines.compactMap { $0.wholeMatch(of: #/(\d+) more requests, which are not listed\./#)?.1 }
    #expect(count.compactMap { Int($0) }.reduce(0, +) == 300 - refusals.count)
    #expect(lines.contains { $0.hasSuffix(": Scope not offered by the lender. Offered: User.Read.") })
    #expect(lines.contains { $0.contains("/token User.Read: 200") })
  }

  @Test(.fault("scope spelling"))
  func `A scope of Graph is lent by its short and its long name`() throws {
    let lending = try LendingTool(tool, ["--scope", "https://graph.microsoft.com/User.Read"])
    let from = ["--from", "unix:" + lending.socket]
    for command in [
      ["token"], ["get", "/me"], ["token", "--scope", "https://graph.microsoft.com/User.Read"],
    ] {
      try tool.run(command + from).exits(0)
    }
  }

  @Test func `A quiet lender logs requests all the same`() async throws {
    let lending = try LendingTool(tool, ["--scope", "User.Read", "--quiet"])
    _ = try await lending.curl("scope=User.Read")
    #expect(lending.errorLine().contains(" /token User.Read: 200, process "))
  }

  @Test func `A port serves requests with the secret only`() async throws {
    let lending = try LendingTool(
      tool, ["--scope", "https://graph.microsoft.com/.default", "--port", "0"], lines: 2)
    #expect(lending.printed.keys.sorted() == ["IDENTITY_ENDPOINT", "IDENTITY_HEADER"])
    #expect(lending.printed["IDENTITY_HEADER"]?.utf8.count == 43)
    let answer = try await lending.curl("resource=https://graph.microsoft.com")
    #expect(answer["token_type"] == "Bearer")
    #expect(answer["resource"] == "https://graph.microsoft.com")
    #expect(answer["client_id"]?.stringValue == LabApps.plain)
    #expect(try await lending.curl("resource=https://vault.azure.net")["error"] == "invalid_scope")
    let errors = lending.stop().joined()
    #expect(!errors.contains(try #require(lending.printed["IDENTITY_HEADER"])))
  }

  @Test func `With --json the settings are one object`() throws {
    let output = try Pipe()
    let child = try tool.start(["lend", "--scope", "User.Read", "--port", "0", "--json"], output: output)
    defer { child.end() }
    var text = ""
    while !text.hasSuffix("}\n") { text += try #require(output.nextLine(), "\(text)") + "\n" }
    let settings = try JSONValue(text: text)
    #expect(
      settings.keys == [
        "expires_on", "home_account_id", "identity_endpoint", "identity_header", "scopes", "username",
      ])
    #expect(settings["identity_header"]?.stringValue?.utf8.count == 43)
  }

  @Test(.fault("no diagnosis"))
  func `A borrower whose user the kernel does not tell is logged with the reason`() async throws {
    let source = try tool.files.file(
      "refuse.c",
      """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <errno.h>
      #include <sys/socket.h>
      int socket(int domain, int type, int protocol) {
        int (*next)(int, int, int) = dlsym(RTLD_NEXT, "socket");
        // As qemu-user does.
        if (domain != AF_NETLINK || protocol != 4) return next(domain, type, protocol);
        errno = EPROTONOSUPPORT;
        return -1;
      }
      """)
    let library = tool.files.path + "/refuse.so"
    try Child.run("cc", ["-shared", "-fPIC", "-o", library, source]).required()
    for (program, borrower) in [
      ([], "a process of user \(geteuid())"),
      (
        ["env", "LD_PRELOAD=\(library)"],
        "a program whose user is unknown: "
          + "the kernel does not tell it (NETLINK_SOCK_DIAG: Protocol not supported)"
      ),
    ] {
      let lending = try LendingTool(
        tool, ["--scope", "User.Read", "--port", "0"], lines: 2, through: program)
      #expect(try await lending.curl("scope=User.Read")["token_type"] == "Bearer")
      #expect(lending.stop().contains { $0.hasSuffix("200, \(borrower)") })
    }

    let asking = try Tool.signedIn(on: PrivateKeyring())
    let desktop = try Self.desktop("no", on: asking.keyring, Pipe())
    defer { desktop.end() }
    let lending = try LendingTool(
      asking, ["--scope", "User.Read", "--port", "0", "--ask"], lines: 2,
      through: ["setsid", "--wait", "env", "LD_PRELOAD=\(library)"])
    let refusal = try await lending.curl("scope=User.Read")
    #expect("\(refusal)".contains("(NETLINK_SOCK_DIAG: Protocol not supported)"))
  }

  @Test(.fault("ten borrowers")) func `Ten concurrent borrowers cause one renewal`() async throws {
    let lending = try LendingTool(tool, ["--scope", "Mail.Read"])
    let asked = lab.requests(to: .token).count
    lab.inject(LabFault(.token, delay: 600))
    async let tokens = atOnce(0..<10) { _ in
      try await lending.curl("scope=Mail.Read")["access_token"]?.stringValue
    }
    _ = await lab.requests(to: .token, atLeast: asked + 1)
    lab.endDelays()
    let got = Set(try await tokens)
    #expect(got.count == 1 && !got.contains(nil))
    #expect(lab.requests(to: .token).count == asked + 1)
  }

  @Test func `A new token that cannot be stored is lent, with a warning`() async throws {
    let lending = try LendingTool(tool, ["--scope", "Mail.Read"])
    _ = lending.errorLine()
    // Nothing is written without the group's lock.
    let lock = "\(tool.keyring.directory)/run/llavero/\(sha256Hex(tool.group).prefix(32)).lock"
    try FileManager.default.removeItem(atPath: lock)
    try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
    #expect(try await lending.curl("scope=Mail.Read")["token_type"] == "Bearer")
    #expect(lending.errorLine().hasPrefix("warning: The new token could not be stored: "))
  }

  @Test(.fault("signal", "listener ends"))
  func `A signal during a renewal waits for the new tokens and stores them`() async throws {
    let lending = try LendingTool(tool, ["--scope", "Mail.Read"])
    let asked = lab.requests(to: .token).count
    lab.inject(LabFault(.token, delay: 600))
    let borrower = try Child("curl", LendingTool.request(at: lending.socket, scope: "Mail.Read"))
    _ = await lab.requests(to: .token, atLeast: asked + 1)
    lending.child.signal(SIGTERM)
    #expect(borrower.wait() != 0)
    lab.endDelays()
    #expect(lending.child.wait() == 0)
    #expect(try tool("token", "--scope", "Mail.Read").status == 0)
    #expect(lab.requests(to: .token).count == asked + 1)
  }

  @Test(.fault("cannot renew"))
  func `A missing or expired sign-in is reported to the lender and the borrower`() async throws {
    let tool = try Tool.atLab()
    try tool("lend", "--scope", "Mail.Read", "--scope", "https://management.azure.com/.default")
      .exits(3, printing: "", saying: "\"llavero login --scope Mail.Read\".")
    try tool.logIn()
    let lending = try LendingTool(tool, ["--scope", "Mail.Read"])
    _ = lending.errorLine()
    try lab.requireMFA(of: "alice")
    #expect(try await lending.curl("scope=Mail.Read")["error"] == "interaction_required")
    #expect(lending.errorLine().contains(/llavero login .*--claims [A-Za-z]/))
    try tool.logIn()
    let next = try LendingTool(tool, ["--scope", "Mail.Read"])
    lab.inject(LabFault(.token, count: 5, status: 503))
    #expect(try await next.curl("scope=Mail.Read")["error"] == "temporarily_unavailable")
  }

  @Test(.fault("no socket name")) func `A lender that cannot create its socket leaves no directory`() throws {
    let runtime = try tool.files.directory(String(repeating: "x", count: 100))
    chmod(runtime, 0o700)
    let result = try tool("lend", "--scope", "User.Read", with: ["XDG_RUNTIME_DIR": runtime])
    #expect(result.status != 0 && result.standardOutput.isEmpty, "\(result)")
    let left = try FileManager.default.contentsOfDirectory(atPath: runtime + "/llavero")
    #expect(left.filter { $0.hasPrefix("loan-") } == [])
  }

  @Test(.fault("foreign runtime"))
  func `A runtime directory that is open to other users is refused`() throws {
    let shared = try tool.files.directory("llavero")
    chmod(shared, 0o777)
    try tool("lend", "--scope", "User.Read", with: ["XDG_RUNTIME_DIR": tool.files.path]).exits(
      1, printing: "", saying: "\(shared) must belong to this user")
    #expect(try FileManager.default.contentsOfDirectory(atPath: shared) == [])
  }

  @Test(
    .fault("odd path"),
    arguments: [
      [], ["--scope", " "],
      ["--scope", "User.Read", "--socket", "/tmp/x\nIDENTITY_HEADER=y"],
      ["--scope", "User.Read", "--socket", "/tmp/x", "--port", "0"],
      ["--scope", "User.Read", "--for", "0s"], ["--scope", "User.Read", "--for", "169h"],
      ["--scope", "User.Read", "--for", "soon"], ["--scope", "User.Read", "--any-user", "--port", "0"],
      ["--scope", "offline_access"], ["--scope", "User.Read", "--json", "--", "true"],
      ["--scope", "User.Read", "--", "/proc/nonexistent"],
    ])
  func `Invalid options of lend exit with 2`(_ arguments: [String]) throws {
    #expect(try tool.run(["lend"] + arguments).status == 2)
  }

  @Test(arguments: [
    ([], #""$0" token --from "$LLAVERO_FROM""#),
    (
      ["--port", "0"],
      #"curl -q -sS --noproxy '*' -H "X-IDENTITY-HEADER: $IDENTITY_HEADER" "$IDENTITY_ENDPOINT?$1""#
    ),
  ])
  func `A command borrows, and the loan ends with it`(_ place: [String], _ borrow: String) throws {
    let result = try tool.run(
      ["lend", "--scope", "User.Read"] + place
        + ["--", "sh", "-c", "env; \(borrow); exit 7", Tool.path, "api-version=2019-08-01&scope=User.Read"])
    let token = try tool("token").standardOutput.trimmed
    #expect(result.status == 7)
    let lines = result.standardOutput.split(separator: "\n").map(String.init)
    #expect(lines.count { $0.contains(token) } == 1 && lines.last?.contains(token) == true)
    #expect(result.standardError == "")
    for line in lines where line.hasPrefix("LLAVERO_FROM=unix:") {
      #expect(access(String(line.dropFirst("LLAVERO_FROM=unix:".count)), F_OK) != 0)
    }
  }

  @Test(.fault("signal"), arguments: [SIGINT, SIGTERM, SIGHUP])
  func `A signal is passed on to the command, whose exit code counts`(_ signal: Int32) throws {
    for (trap, status) in [("trap 'exit 9' INT TERM HUP;", 9), ("", 128 + signal)] {
      let (input, output) = (try Pipe(), try Pipe())
      let child = try tool.start(
        ["lend", "--scope", "User.Read", "--", "sh", "-c", "\(trap) echo $LLAVERO_FROM; read line; :"],
        input: input, output: output)
      defer { withExtendedLifetime(input) { child.end() } }
      let socket = output.readLine().dropFirst("unix:".count)
      #expect(access(String(socket), F_OK) == 0)
      child.signal(signal)
      #expect(child.wait() == status)
      #expect(access(String(socket), F_OK) != 0)
    }
  }

  @Test func `A socket of systemd is served and not removed`() throws {
    for (count, option) in [(2, ""), (1, "--port 0"), (1, "--socket x")] {
      let command = #"LISTEN_PID=$$ LISTEN_FDS=\#(count) exec "$0" lend --scope User.Read \#(option)"#
      try tool.shell(command).exits(2, saying: "systemd has passed")
    }
    let socket = tool.files.path + "/passed.sock"
    // It passes on no other variable.
    let variables = (Array(tool.environment().keys) + Child.sanitizing.keys).map { "--setenv=\($0)" }
    let errors = try Pipe()
    let activator = try Child.piped(
      "systemd-socket-activate",
      ["--listen=\(socket)"] + variables + [Tool.path, "lend", "--scope", "User.Read"],
      environment: tool.environment(), errors: errors)
    defer { activator.end() }
    _ = errors.readLine()
    let result = try Child.run("curl", LendingTool.request(at: socket))
    #expect(try result.json["token_type"] == "Bearer", "\(result)")
    activator.signal(SIGTERM)
    #expect(activator.wait() == 0)
    #expect(access(socket, F_OK) == 0)
  }

  @Test(.fault("no fds"))
  func `With too few descriptors, borrowers wait and are served`() async throws {
    let lending = try LendingTool(
      tool, ["--scope", "User.Read"], through: ["sh", "-c", #"ulimit -n 80; exec "$0" "$@""#])
    let output = try Pipe()
    let flood = try Child.piped("python3", ["-c", Self.flood, lending.socket], output: output)
    #expect(output.readLine() == "ready")
    #expect(try await lending.curl("scope=User.Read")["token_type"] == "Bearer")
    flood.end()
    #expect(try await lending.curl("scope=User.Read")["token_type"] == "Bearer")
  }

  private static let flood = """
    import socket, sys, time
    connections = []
    for _ in range(300):
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1])
        connections.append(s)
    print("ready", flush=True)
    time.sleep(1000)
    """

  @Test(arguments: [
    ("y", "access_token"), ("yes", "access_token"), ("n", "access_denied"), ("", "access_denied"),
  ])
  func `--ask prompts on the terminal`(_ typed: String, _ expected: String) throws {
    let socket = tool.files.path + "/loan.sock"
    let lending = Mutex<pid_t>(0)
    let answer = Mutex<String>("")
    let isOver = Mutex(false)
    let borrowed = DispatchGroup()
    DispatchQueue(label: "test.borrower").async(group: borrowed) {
      while access(socket, F_OK) != 0, !isOver.withLock({ $0 }) { usleep(10_000) }
      // A socket refuses connections from its bind(2) to its listen(2).
      let result = try? Child.run(
        "curl", LendingTool.request(at: socket) + ["--retry", "60", "--retry-connrefused"])
      answer.withLock { $0 = result?.standardOutput ?? "" }
      // Without a request there is no process yet, and 0 is the tests' own process group.
      let process = lending.withLock { $0 }
      if process != 0 { kill(process, SIGTERM) }
    }
    let screening = try tool.onTerminal(
      "lend", "--scope", "User.Read", "--ask", "--socket", socket, columns: 200, answering: [typed]
    ) { process in lending.withLock { $0 = process } }
    isOver.withLock { $0 = true }
    borrowed.wait()
    #expect(screening.status == 0)
    #expect(screening.text.contains("Lend User.Read of \(Tool.alice) to process "))
    #expect(answer.withLock { $0 }.contains("\"\(expected)\""))
  }

  @Test(arguments: [("yes", "access_token"), ("no", "error"), ("default", "error"), ("close", "error")])
  func `--ask prompts on the desktop`(_ person: String, _ expected: String) async throws {
    let tool = try Tool.signedIn(on: PrivateKeyring())
    let output = try Pipe()
    let desktop = try Self.desktop(person, on: tool.keyring, output)
    defer { desktop.end() }
    // Without a terminal: in a session of its own.
    let lending = try LendingTool(tool, ["--scope", "User.Read", "--ask"], through: ["setsid", "--wait"])
    let answer = try await lending.curl("scope=User.Read")
    #expect(answer[expected] != nil, "\(answer)")
    let question = output.readLine()
    #expect(question.contains("Lend User.Read of \(Tool.alice) to process "))
    #expect(question.hasSuffix("| yes Lend no Do not lend"))
  }

  @Test(.fault("unanswered")) func `Without a terminal or desktop, --ask lends nothing`() throws {
    let tool = try Tool.signedIn(on: PrivateKeyring())
    let output = try Pipe()
    for isThere in [false, true] {
      let desktop = isThere ? try Self.desktop("nothing", on: tool.keyring, output) : nil
      defer { desktop?.end() }
      try Child.run(
        "setsid", ["--wait", Tool.path, "lend", "--scope", "User.Read", "--ask"],
        environment: tool.environment()
      ).exits(1, saying: "--ask needs a terminal")
    }
  }

  private static func desktop(_ person: String, on keyring: PrivateKeyring, _ output: Pipe) throws -> Child {
    let script = SharedFiles.repository.appending(path: "Tests/interop/stand_in_notifications.py").path
    let child = try Child.piped(
      "/usr/bin/python3", [script, person], environment: keyring.environment, output: output)
    #expect(output.readLine() == "ready")
    return child
  }
}
