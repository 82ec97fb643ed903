import TestSupport

@testable import BrowserSignIn

@Suite(.timeLimit(.minutes(20)))
struct RedirectListenerTests {
  private static let redirectURI = "msauth.com.example.mail://auth"
  private let runtime: TemporaryDirectory
  private var directory: String { runtime.path + "/llavero/redirects" }

  init() throws { runtime = try TemporaryDirectory() }

  private func listener(_ state: String = "right") throws -> RedirectListener {
    try RedirectListener(
      directory: directory, redirectURI: try #require(URL(string: Self.redirectURI)), state: state
    ) { $0["state"] == state }
  }

  private func mailbox(_ state: String = "right", in made: PrivateDirectory? = nil) throws -> RedirectMailbox
  {
    RedirectMailbox(
      try made ?? PrivateDirectory.made(at: directory), scheme: "msauth.com.example.mail", state: state)
  }

  /// The mailbox in the directory that the listener has made.
  private func listenersMailbox() throws -> RedirectMailbox {
    let existing = try #require(try PrivateDirectory.existing(at: directory))
    return try mailbox(in: existing)
  }

  /// What the process does that the desktop starts with an address.
  private func handOver(_ text: String, timeout: Duration = .seconds(200)) async throws -> Bool {
    let (address, directory) = (try #require(URL(string: text)), directory)
    return await blocking { RedirectHandover.handOver(address, in: directory, timeout: timeout) }
  }

  /// What a process does that looks at nothing before it sends.
  private func packet(_ text: String) async throws -> UInt8? {
    let mailbox = try listenersMailbox()
    return await blocking {
      guard let socket = mailbox.connect() else { return nil }
      defer { close(socket) }
      _ = send(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL))
      var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      while poll(&event, 1, -1) < 0 {}
      var verdict: UInt8 = 0
      return recv(socket, &verdict, 1, 0) == 1 ? verdict : nil
    }
  }

  @Test(.conformance(1)) func `The address that was expected is the answer`() async throws {
    let listener = try listener()
    async let response = listener.response(timeout: .seconds(200))
    #expect(try await handOver("MSAUTH.com.example.mail://auth?code=a%2Bb+c&state=right"))
    #expect(try await response == ["code": "a+b c", "state": "right"])
    #expect(try !FileManager.default.contentsOfDirectory(atPath: directory).contains { !$0.hasPrefix(".") })
  }

  @Test(
    .conformance(5, 6), .fault("stray address"),
    arguments: [
      "?code=evil&state=wrong", "?code=evil", "?state=right&code=evil&state=right", "#code=evil&state=right",
      "/other?code=evil&state=right", "?code=evil&state=right&%ff=1",
    ])
  func `What is not the expected address is refused, and the wait goes on`(_ rest: String) async throws {
    let listener = try listener()
    async let response = listener.response(timeout: .seconds(200))
    #expect(try await !handOver(Self.redirectURI + rest))
    #expect(try await packet(Self.redirectURI + rest) == 0)
    #expect(try await packet("msauth.com.example.files://auth?code=evil&state=right") == 0)
    #expect(try await !handOver("msauth.com.example.files://auth?code=evil&state=right"))
    #expect(try await handOver(Self.redirectURI + "?code=1&state=right"))
    #expect(try await response["code"] == "1")
  }

  @Test(.fault("stray address")) func `A too long address is refused, and the wait goes on`() async throws {
    let listener = try listener()
    async let response = listener.response(timeout: .seconds(200))
    let rest = Self.redirectURI + "?state=right&code="
    let code = String(repeating: "e", count: RedirectMailbox.limit - rest.utf8.count)
    #expect(try await !handOver(rest + code + "e"))
    #expect(try await handOver(rest + code))
    #expect(try await response["code"] == code)
  }

  @Test(.fault("stray address")) func `Invalid packets and idle connections block no one`() async throws {
    let listener = try listener()
    async let response = listener.response(timeout: .seconds(200))
    let mailbox = try listenersMailbox()
    var sockets: [Int32] = []
    for size in [0, 1, RedirectMailbox.limit, RedirectMailbox.limit + 1, 100_000] {
      // The kernel's queue may be full for a moment.
      var socket = mailbox.connect()
      while socket == nil {
        await Task.yield()
        socket = mailbox.connect()
      }
      let connection = try #require(socket)
      sockets.append(connection)
      let bytes = [UInt8](repeating: 0xff, count: size)
      _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
    for _ in 0..<64 { if let socket = mailbox.connect() { sockets.append(socket) } }
    while try await !handOver(Self.redirectURI + "?code=1&state=right") {}
    #expect(try await response["code"] == "1")
    for socket in sockets { close(socket) }
  }

  @Test(.fault("stuck waiter")) func `A stuck process finds the address later, with no wait`() async throws {
    let mailbox = try mailbox()
    let socket = try mailbox.open()
    defer { close(socket) }
    let address = Self.redirectURI + "?code=1&state=right"
    #expect(try await handOver(address, timeout: .milliseconds(20)))
    let connection = accept(socket, nil, nil)
    defer { close(connection) }
    var bytes = [UInt8](repeating: 0, count: RedirectMailbox.limit)
    let count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    #expect(SocketPeer(connection)?.isOwn == true)
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == address)
  }

  @Test(.fault("two waiters")) func `Of two that wait each gets its own answer`() async throws {
    let (one, other) = (try listener("one"), try listener("other"))
    async let first = one.response(timeout: .seconds(200))
    async let second = other.response(timeout: .seconds(200))
    #expect(try await handOver(Self.redirectURI + "?code=2&state=other"))
    #expect(try await handOver(Self.redirectURI + "?code=1&state=one"))
    #expect(try await first["code"] == "1")
    #expect(try await second["code"] == "2")
  }

  @Test func `An answer counts once`() async throws {
    let listener = try listener()
    async let response = listener.response(timeout: .seconds(200))
    let answers = try await atOnce(0..<8) { number in
      try? await handOver("\(Self.redirectURI)?code=\(number)&state=right")
    }
    #expect(answers.count { $0 == true } == 1)
    _ = try await response
    #expect(try await !handOver(Self.redirectURI + "?code=9&state=right"))
  }

  @Test(.conformance(14)) func `A wait ends with its task and at its deadline`() async throws {
    let listener = try listener()
    let waiting = Task { try await listener.response(timeout: .seconds(200)) }
    waiting.cancel()
    await expectError(.cancelled) { try await waiting.value }
    #expect(try await !handOver(Self.redirectURI + "?code=1&state=right"))
    let error = await expectError(.timedOut) {
      try await self.listener().response(timeout: .milliseconds(20))
    }
    #expect(error?.message == "The browser did not come back in time.")
  }

  @Test(.fault("foreign address"), .enabled(if: OtherUser.command != nil, "no other user"))
  func `Another user hands over nothing, even where the files let him in`() async throws {
    let listener = try listener()
    async let response = listener.response(timeout: .seconds(200))
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: directory).first)
    let modes: [(String, mode_t, mode_t)] = [
      (runtime.path, 0o755, 0o700), (runtime.path + "/llavero", 0o755, 0o700), (directory, 0o755, 0o700),
      (directory + "/" + name, 0o666, 0o600),
    ]
    for (path, open, _) in modes { chmod(path, open) }
    let send = """
      import socket, sys
      s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      s.connect(sys.argv[1])
      try:
          s.send(sys.argv[2].encode())
          print("answer", len(s.recv(1)))
      except (BrokenPipeError, ConnectionResetError):
          print("answer 0")
      """
    let otherUser = try #require(OtherUser.command)
    let result = try await Child.runApart(
      otherUser[0],
      otherUser.dropFirst()
        + ["python3", "-c", send, directory + "/" + name, Self.redirectURI + "?code=evil&state=right"])
    #expect(result.standardOutput == "answer 0\n", "\(result.standardError)")
    for (path, _, closed) in modes { chmod(path, closed) }
    #expect(try await handOver(Self.redirectURI + "?code=1&state=right"))
    #expect(try await response["code"] == "1")
  }

  @Test(.fault("foreign address"), .enabled(if: OtherUser.command != nil, "no other user"))
  func `Another user in the right place gets no address`() throws {
    let mailbox = try mailbox()
    for path in [runtime.path, runtime.path + "/llavero"] { chmod(path, 0o755) }
    chmod(directory, 0o777)
    let listen = """
      import os, socket, sys
      s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      s.bind(sys.argv[1])
      os.chmod(sys.argv[1], 0o666)
      s.listen()
      print(flush=True)
      sys.stdin.read()
      """
    let (input, output) = (try Pipe(), try Pipe())
    let otherUser = try #require(OtherUser.command)
    let child = try Child.piped(
      otherUser[0], otherUser.dropFirst() + ["python3", "-c", listen, directory + "/" + mailbox.name],
      input: input, output: output)
    _ = output.readLine()
    // Anybody else would get a connection, so it is the peer that is looked at.
    let probe = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(probe) }
    #expect(withSocketAddress(of: directory + "/" + mailbox.name, { connect(probe, $0, $1) }) == 0)
    #expect(mailbox.connect() == nil)
    input.closeWriting()
    child.wait()
  }

  @Test(.fault("waiter killed"))
  func `Only this user reaches the socket; stale ones are removed`() async throws {
    let listener = try listener()
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
    #expect(names.count == 1)
    #expect(mode(of: directory) == 0o700 && mode(of: directory + "/" + (names.first ?? "")) == 0o600)
    let killed = try mailbox("killed")
    close(try killed.open())
    // A child of another test has the socket, too, until it has started its program.
    try await eventually {
      guard let socket = killed.connect() else { return errno == ECONNREFUSED }
      close(socket)
      return false
    }
    let other = try self.listener("other")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 2)
    withExtendedLifetime((listener, other)) {}
  }

  @Test func `Where standard input is closed, a process waits and connects by descriptor 0`() async {
    await #expect(processExitsWith: .success) {
      let tests = try RedirectListenerTests()
      let mailbox = try tests.mailbox()
      close(STDIN_FILENO)
      let waiting = dup(try mailbox.open())
      close(STDIN_FILENO)
      #expect(mailbox.connect() != nil && waiting >= 0)
      withExtendedLifetime(tests) {}
    }
  }

  @Test func `A directory that others may enter is not used`() async throws {
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    chmod(directory, 0o755)
    #expect(throws: PrivateFileError.notPrivate(path: directory)) { try listener() }
    #expect(try await !handOver(Self.redirectURI + "?code=1&state=right"))
  }

  @Test(.fault("two waiters")) func `A program that gets an address says whether a sign-in waited`() throws {
    let redirectURI = try #require(URL(string: Self.redirectURI))
    for arguments in [["mail"], ["mail", "https://example.com/?code=1"], ["mail", "x", Self.redirectURI]] {
      #expect(try !RedirectHandover.run(arguments: arguments, redirectURI: redirectURI))
    }
    let error = #expect(throws: IdentityError.self) {
      try RedirectHandover.run(
        arguments: [
          "mail", Self.redirectURI + "?code=secret&state=unknown-\(UInt64.random(in: 0 ... .max))",
        ],
        redirectURI: redirectURI)
    }
    #expect(error?.code == .invalidState)
    #expect(error?.description.contains("secret") == false)
  }

  @Test(
    .fault("scheme nowhere"),
    arguments: [
      (["/bin/mail"], true), (["/usr/bin/env", "A=b", "C=", "/bin/mail", "x"], true), (["/bin/other"], false),
      (["/bin/sh", "/bin/mail"], false), ([], false), (["env"], false),
    ])
  func `A handler leads here when it starts this program`(_ command: [String], _ leadsHere: Bool) throws {
    let here = try TemporaryDirectory()
    for name in ["mail", "other", "sh", "env"] { try here.file(name, mode: 0o755) }
    let words = command.map {
      $0.replacing("/bin/", with: here.path + "/").replacing("/usr" + here.path, with: "/usr/bin")
    }
    let handler = SchemeHandler(id: "org.example.mail.desktop", command: words)
    #expect(handler.runs(here.path + "/mail") == leadsHere)
    let refusal = RedirectScheme.refusal(of: handler, scheme: "msauth.mail", program: here.path + "/mail")
    #expect((refusal == nil) == leadsHere)
    #expect(refusal.map { $0.code == .redirectSchemeNotRegistered } ?? true)
  }

  @Test(.fault("scheme nowhere")) func `The advice is the command, as a shell takes it`() {
    let absent = RedirectScheme.refusal(of: nil, scheme: "a.b", program: "/opt/My App/mail")
    #expect(absent?.advice == "Register this one: \"llavero scheme install a.b '/opt/My App/mail'\".")
    let foreign = RedirectScheme.refusal(
      of: SchemeHandler(id: "org.example.desktop", command: []), scheme: "a.b", program: "/bin/mail")
    #expect(foreign?.advice == "Register this one: \"llavero scheme install --replace a.b /bin/mail\".")
    let moved = RedirectScheme.refusal(
      of: SchemeHandler(id: "llavero-scheme-a.b.desktop", command: ["/old/mail"]), scheme: "a.b",
      program: "/bin/mail")
    #expect(moved?.advice == "Register this one: \"llavero scheme install a.b /bin/mail\".")
  }
}
