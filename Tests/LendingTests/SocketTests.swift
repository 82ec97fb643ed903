import Dispatch
import TestSupport

@testable import Lending

@Suite(.timeLimit(.minutes(20)))
struct SocketTests {
  /// A request for a token with curl.
  private static func curl(_ socket: String) -> [String] {
    [
      "curl", "-q", "-sS", "--unix-socket", socket,
      "http://localhost/token?api-version=2019-08-01&scope=User.Read",
    ]
  }

  @Test(.fault("foreign user")) func `Only this user may connect, unless the socket is open to all`()
    async throws
  {
    for (isOpen, expected) in [(false, UInt32(0o600)), (true, 0o666)] {
      let lender = try TestLender(isOpenToAnyUser: isOpen)
      #expect(mode(of: lender.directory.path + "/loan.sock") == expected)
      _ = try await lender.send().token()
    }
    let (directory, loan) = (try TemporaryDirectory(), try TestLender.loan(lasting: .seconds(3600)))
    let client = PublicClient(
      configuration: ClientConfiguration(clientID: TestLender.client),
      cache: TokenCacheAccessor(store: InMemoryStore()))
    let lenders = [
      try Lender(loan, at: .socket(path: directory.path + "/client"), client: client),
      try Lender(loan, at: .socket(path: directory.path + "/source")) { _, _ in nil },
    ]
    for name in ["client", "source"] { #expect(mode(of: "\(directory.path)/\(name)") == 0o600) }
    withExtendedLifetime(lenders) {}
  }

  @Test(.fault("foreign user"), .enabled(if: OtherUser.command != nil, "needs another user"))
  func `Another user gets no token, even where the file mode permits it`() async throws {
    for (isOpen, isPermitted) in [(false, false), (false, true), (true, true)] {
      let lender = try TestLender(isOpenToAnyUser: isOpen)
      chmod(lender.directory.path, 0o755)
      let socket = lender.directory.path + "/loan.sock"
      if isPermitted { chmod(socket, 0o666) }
      let command = try #require(OtherUser.command)
      let result = try await Child.runApart(command[0], command.dropFirst() + Self.curl(socket))
      #expect(result.standardOutput.contains("token-1") == isOpen, "\(result)")
      #expect(result.standardOutput.contains("access_denied") == (isPermitted && !isOpen))
      // curl's code for a failed connection.
      #expect(result.status == (isPermitted ? 0 : 7))
      let users = lender.events.map(\.borrower.user)
      #expect(users.count == (isPermitted ? 1 : 0) && !users.contains(geteuid()) && !users.contains(nil))
      // Without root the other user depends on the machine.
      if geteuid() == 0 { #expect(users == (isPermitted ? [65534] : [])) }
      _ = try await lender.send().token()
    }
  }

  @Test(.fault("socket taken")) func `A socket without a listener is replaced`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/loan.sock"
    try RawServer.leaveBehind(at: path)
    let lender = try TestLender(at: .socket(path: path))
    _ = try await lender.send().token()
  }

  @Test(.fault("lender killed"), arguments: [true, false])
  func `A lender leaves neither a directory nor a lock behind`(_ isNamed: Bool) throws {
    let runtime = RuntimeDirectory(environment: ProcessInfo.processInfo.environment).path
    let lender = try TestLender(at: isNamed ? nil : .socket(path: nil))
    let path = try #require(lender.socket)
    lender.lender.close()
    #expect(access(path, F_OK) != 0)
    #expect(isNamed || access(String(path.dropLast("/loan.sock".count)), F_OK) != 0)
    #expect(access("\(runtime)/loan-\(sha256Hex(path).prefix(16)).lock", F_OK) != 0)
  }

  @Test(.fault("lender killed"))
  func `Only the directory of a killed lender is removed`() async throws {
    let runtime = RuntimeDirectory(environment: ProcessInfo.processInfo.environment)
    // Two runs of a user may share the directory.
    let run = String(UInt64.random(in: 0 ... .max), radix: 16)
    // Files, of which one comes before the others in whichever order they are listed.
    let files = ["a", "z"].map { "\(runtime.path)/loan-\(run)-\($0)" }
    _ = try runtime.directory("loan-\(run)-empty")
    _ = writeNewFile(Array("file".utf8).span, to: files[0])
    let paths = try ["dead", "empty", "other"].map { try runtime.directory("loan-\(run)-\($0)").path }
    _ = writeNewFile(Array("file".utf8).span, to: files[1])
    defer {
      for file in files { unlink(file) }
      for path in paths {
        for name in ["loan.sock", "file"] { unlink("\(path)/\(name)") }
        rmdir(path)
      }
    }
    try RawServer.leaveBehind(at: paths[0] + "/loan.sock")
    let isWritten = writeNewFile(Array("precious".utf8).span, to: paths[2] + "/loan.sock")
    #expect(isWritten)
    let other = try TestLender(at: .socket(path: nil))
    let lender = try TestLender(at: .socket(path: nil))
    #expect(access(paths[0], F_OK) != 0)
    // An empty one may be about to get its socket.
    #expect(access(paths[1], F_OK) == 0)
    #expect(access(paths[2] + "/loan.sock", F_OK) == 0)
    for lender in [other, lender] { _ = try await lender.send().token() }
  }

  @Test(.fault("socket taken")) func `A socket in use is not replaced`() async throws {
    let lender = try TestLender()
    let path = lender.directory.path + "/loan.sock"
    #expect(throws: LendingError.inUse("Another program listens on \(path).")) {
      try TestLender(at: .socket(path: path))
    }
    _ = try await lender.send().token()
  }

  @Test(.fault("socket taken")) func `A file that is not a socket is never removed`() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.file("file", "precious")
    let link = directory.path + "/link"
    symlink(file, link)
    for path in [file, link, try directory.directory("directory")] {
      #expect(throws: LendingError.notASocket(path: path)) { try TestLender(at: .socket(path: path)) }
    }
    #expect(try directory.contents("file") == "precious")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 3)
  }

  @Test(.fault("no socket name")) func `A path that ends in a slash is refused`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/"
    #expect(throws: LendingError.notASocket(path: path)) { try TestLender(at: .socket(path: path)) }
    withExtendedLifetime(directory) {}
  }

  @Test(.fault("lender race")) func `Many sockets can be made in one directory at once`() throws {
    let directory = try TemporaryDirectory()
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 1000) { number in
      do {
        try TestLender(at: .socket(path: directory.path + "/\(number).sock")).lender.close()
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
  }

  @Test(.fault("socket taken")) func `A file that replaced the socket is not removed at the end`() throws {
    let lender = try TestLender()
    unlink(lender.directory.path + "/loan.sock")
    try lender.directory.file("loan.sock", "another's")
    lender.lender.close()
    #expect(try lender.directory.contents("loan.sock") == "another's")
  }

  @Test func `A path that is too long is refused`() throws {
    let directory = try TemporaryDirectory()
    let name = String(repeating: "x", count: longestSocketPath - directory.path.utf8.count - 1)
    let path = "\(directory.path)/\(name)"
    _ = try TestLender(at: .socket(path: path))
    #expect(throws: LendingError.pathTooLong(path: path + "x")) {
      try TestLender(at: .socket(path: path + "x"))
    }
    #expect(throws: LendingError.self) {
      try TestLender(at: .socket(path: directory.path + "/none/loan.sock"))
    }
  }

  @Test func `A passed socket is lent at, and has the path that it is bound to`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/passed.sock"
    let socket = listeningUnixSocket(SOCK_STREAM, at: path, mode: 0o600, backlog: 8)
    let lender = try TestLender(at: .passedSocket(descriptor: socket))
    #expect(lender.socket == path)
    _ = try await lender.send().token()
  }

  @Test func `A passed descriptor must be a listening Unix socket`() async throws {
    let types = [(AF_INET, SOCK_STREAM), (AF_UNIX, SOCK_STREAM), (AF_UNIX, SOCK_DGRAM)]
    for (domain, type) in types {
      let descriptor = socket(domain, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
      defer { close(descriptor) }
      if domain == AF_INET { listen(descriptor, 1) }
      #expect(throws: LendingError.notListening(descriptor: descriptor)) {
        try TestLender(at: .passedSocket(descriptor: descriptor))
      }
    }
    #expect(throws: LendingError.notListening(descriptor: 9999)) {
      try TestLender(at: .passedSocket(descriptor: 9999))
    }
  }

  @Test(.fault("silent crowd"), arguments: LenderTests.places)
  func `A thousand silent connections do not block a borrower`(_ place: Named<Lender.Place?>) async throws {
    let lender = try TestLender(at: place.value)
    let address = [lender.socket ?? "", "\(lender.port ?? 0)"]
    let output = try Pipe()
    let flood = try Child.piped("python3", ["-c", Self.flood] + address, output: output)
    // Some wait in the kernel's queue; the line is printed when there are more than the lender accepts.
    #expect(output.readLine() == "300")
    for _ in 0..<3 { _ = try await lender.send().token() }
    flood.end()
    _ = try await lender.send().token()
  }

  /// Opens a thousand connections, one after the other.
  private static let flood = """
    import resource, socket, sys, time
    resource.setrlimit(resource.RLIMIT_NOFILE, (1100, 1100))
    connections = []
    for number in range(1, 1001):
        s = socket.socket(socket.AF_UNIX if sys.argv[1] else socket.AF_INET)
        s.connect(sys.argv[1] or ("127.0.0.1", int(sys.argv[2])))
        connections.append(s)
        if number == 300:
            print(number, flush=True)
    time.sleep(1000)
    """

  @Test(.fault("slow user"), .enabled(if: OtherUser.command != nil, "needs another user"))
  func `Unfinished requests of another user leave half of a port's connections free`() async throws {
    let lender = try TestLender(at: .port(0))
    let port = try #require(lender.port)
    let command = try #require(OtherUser.command)
    let output = try Pipe()
    let flood = try Child.piped(
      command[0], command.dropFirst() + ["python3", "-c", Self.halfRequests, "\(port)"],
      output: output)
    #expect(output.readLine() == "128 are open")
    _ = try await lender.send().token()
    flood.end()
  }

  /// Begins 300 requests, waits until the lender has ended the 172 that are too many, and prints how many of the first
  /// it has not.
  private static let halfRequests = """
    import select, socket, sys, time
    connections = []
    for number in range(300):
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        try:
            s.send(b"GET /token HTTP/1.1\\r\\n")
        except OSError:
            pass
        connections.append(s)
    poll = select.poll()
    for s in connections:
        poll.register(s, select.POLLIN)
    ended = set()
    while len(ended) < 172:
        ended |= {descriptor for descriptor, _ in poll.poll()}
    print(sum(s.fileno() not in ended for s in connections[:128]), "are open", flush=True)
    time.sleep(1000)
    """

  @Test(.fault("crowd"), arguments: LenderTests.places)
  func `A program has 64 requests at once at most, and others later`(_ place: Named<Lender.Place?>)
    async throws
  {
    let started = AsyncStream.makeStream(of: Void.self)
    let ends = (0..<64).map { _ in AsyncStream.makeStream(of: Never.self) }
    let lender = try TestLender(at: place.value) { (call, number) throws(IdentityError) in
      started.continuation.yield()
      if number <= 64 { for await _ in ends[number - 1].stream {} }
      return result(call.scopes, "token-\(number)")
    }
    async let answers = atOnce(0..<64) { _ in await lender.send() }
    for await _ in started.stream.prefix(64) {}
    let refused = await lender.send()
    for end in ends { end.continuation.finish() }
    #expect(try refused.refusal() == .temporarilyUnavailable)
    for answer in try await answers { _ = try answer.token() }
    _ = try await lender.send().token()
  }

  /// In bytes, with four for each field beside its name and value.
  @Test(arguments: [(16 << 10, 200), (16 << 10 + 1, 431)])
  func `A request may have 16 KiB of header fields`(_ size: Int, _ status: Int) async throws {
    let lender = try TestLender()
    let query = "api-version=2019-08-01&scope=User.Read"
    let rest = "/token\(query)hostlocalhostx".utf8.count + 8
    let field = "X: " + String(repeating: "x", count: size - rest)
    #expect(await lender.send("/token?" + query, fields: [field]).status == status)
  }

  @Test(.fault("bad request")) func `A long body is discarded`() async throws {
    let lender = try TestLender()
    let client = try #require(RawClient(lender.lender))
    client.write(
      "GET /token?api-version=2019-08-01&scope=User.Read HTTP/1.1\r\nHost: localhost:80\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    let part = "10000\r\n" + String(repeating: "x", count: 1 << 16) + "\r\n"
    for _ in 0..<100 { client.write(part) }
    client.write("0\r\n\r\n")
    #expect(await client.answer().status == 200)
  }

  /// The first line of a request that would get a token.
  private static let request = "GET /token?api-version=2019-08-01&scope=User.Read HTTP/1.1\r\n"

  @Test(
    .fault("bad request"),
    arguments: [
      // Unfinished.
      "", "GET /token", "GET /token HTTP/1.1\r\nHost: localhost\r\n",
      "GET /token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx",
      "hello\r\n\r\n", "GET\r\n\r\n", "GET /token?scope=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n", "GET /token HTTP/1.0\r\n\r\n",
      "\u{16}\u{3}\u{1}\u{2}\u{0}\r\n\r\n", "GET /token HTTP/1.1\r\n\r\n",
      "GET http://evil.example/token HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /token HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
      Self.request + "Host\r\n\r\n", Self.request + "Host: localhost:x\r\n\r\n",
      Self.request + "Host: localhost\r\nContent-Length: x\r\n\r\n",
      Self.request + "Host: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
      Self.request + "Host: localhost\r\nTransfer-Encoding: nonsense\r\n\r\n",
      "GET /token HTTP/1.1\r\nX: " + String(repeating: "x", count: 200_000) + "\r\n\r\n",
      "GET /loan HTTP/1.1\r\nHost: localhost\r\nX: " + String(repeating: "x", count: 20_000) + "\r\n\r\n",
    ])
  func `An invalid or unfinished request gets no token, and does not affect the next one`(
    _ request: String
  ) async throws {
    let lender = try TestLender()
    let client = try #require(RawClient(lender.lender))
    client.write(request)
    #expect(await client.answer().status != 200)
    _ = try await lender.send().token()
  }

  @Test(.fault("borrower killed"))
  func `A borrower that is killed before its response does not affect the next one`() async throws {
    let gate = Gate()
    let lender = try TestLender { (call, number) throws(IdentityError) in
      if number == 1 { await gate.wait() }
      return result(call.scopes, "token-\(number)")
    }
    let borrower = try Child("curl", Array(Self.curl(lender.directory.path + "/loan.sock").dropFirst()))
    await gate.arrival()
    borrower.end()
    gate.open()
    #expect(try await lender.send().accessToken() == "token-2")
  }

  @Test(.fault("signal")) func `Closing the lender ends waiting requests`() async throws {
    let gate = Gate()
    let lender = try TestLender { (call, _) throws(IdentityError) in
      await gate.wait()
      return result(call.scopes, "token")
    }
    let client = try #require(RawClient(lender.lender))
    client.write("GET /token?api-version=2019-08-01&scope=User.Read HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await gate.arrival()
    lender.lender.close()
    #expect(await client.answer().status != 200)
    #expect(RawClient(lender.lender) == nil)
    gate.open()
  }

  @Test func `A task that is cancelled ends the loan`() async throws {
    let lender = try TestLender()
    let task = Task { await lender.lender.run() }
    task.cancel()
    await task.value
    #expect(RawClient(lender.lender) == nil)
  }
}
