import LabSupport

@Suite(.lab, .timeLimit(.minutes(20)))
struct InterruptionTests {
  private let lab = Lab.current
  private let tool: Tool

  init() throws { tool = try Tool.atLab() }

  /// Starts a sign-in, interrupts it once the lab was asked for `endpoint`, whose answer comes then, and waits
  /// for its end.
  private func interrupt(
    _ arguments: [String], at endpoint: LabEndpoint, after seen: Int = 0, by signal: Int32
  ) async throws -> (status: Int32, error: String) {
    let errors = try Pipe()
    let child = try tool.start(arguments, errors: errors)
    _ = await lab.requests(to: endpoint, atLeast: seen + 1)
    child.signal(signal)
    lab.endDelays()
    return (child.wait(), errors.remainingLines().joined(separator: "\n"))
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `Ctrl-C ends a sign-in by device code`(_ signal: Int32) async throws {
    let end = try await interrupt(["login", "--device-code"], at: .token, by: signal)
    #expect(end.status == 5)
    #expect(end.error.contains("cancelled"))
  }

  @Test(
    .fault("Ctrl-C"),
    arguments: [["token", "--scope", "Mail.Read"], ["get", "/me/messages", "--scope", "Mail.Read"]])
  func `Ctrl-C during a renewal waits for the new tokens and stores them`(
    _ arguments: [String]
  ) async throws {
    try tool.logIn()
    let seen = lab.requests(to: .token).count
    lab.inject(LabFault(.token, delay: 600))
    let end = try await interrupt(arguments, at: .token, after: seen, by: SIGINT)
    #expect(end.status == 5)
    #expect(try tool("token", "--scope", "Mail.Read").status == 0)
    #expect(lab.requests(to: .token).count == seen + 1)
  }

  @Test(.fault("Ctrl-C")) func `A doctor that is cancelled reports nothing of what it could not examine`()
    async throws
  {
    let isAsked = Watched(false)
    let server = try RawServer(at: tool.files.path + "/silent") { connection in
      isAsked.change { $0 = true }
      _ = connection.readRequest()
      _ = connection.readRequest()
    }
    let output = try Pipe()
    let child = try tool.start(
      ["doctor", "--json", "--fix", "--from", "unix:\(server.path)"], output: output)
    defer { child.end() }
    try await eventually { isAsked.read(\.self) || child.hasEnded }
    child.signal(SIGINT)
    #expect(child.wait() == 5)
    #expect(output.remainingLines().isEmpty)
  }

  @Test(.fault("Ctrl-C"), arguments: [SIGINT, SIGTERM])
  func `A doctor that is cancelled deletes the item that it has written`(_ signal: Int32) async throws {
    let service = try FakeService([
      "CreateItem": .reply([.objectPath(FakeService.collection + "/1"), .objectPath("/")]),
      // The first is for the groups of other collections.
      "SearchItems": .inTurn(.reply([.array(of: "o", []), .array(of: "o", [])]), then: .silence),
      "Delete": .reply([.objectPath("/")]),
    ])
    let output = try Pipe()
    let child = try Tool(on: service.keyring).start(
      ["doctor", "--json", "--allow-plain-session"], output: output)
    defer { child.end() }
    try await eventually { service.calls.contains("CreateItem") || child.hasEnded }
    try await eventually { service.calls.last == "SearchItems" || child.hasEnded }
    child.signal(signal)
    #expect(child.wait() == 5)
    #expect(output.remainingLines().isEmpty)
    #expect(service.calls.contains("Delete"))
  }

  @Test(.fault("Ctrl-C"), arguments: [SIGINT, SIGTERM])
  func `An import that is cancelled says what is in already`(_ signal: Int32) async throws {
    let service = try FakeService(["SearchItems": .silence])
    let tool = try Tool(on: service.keyring)
    let errors = try Pipe()
    let cache = try tool.files.file("cache", Sample.cache)
    let child = try tool.start(tool.inGroup(["import", cache, "--allow-plain-session"]), errors: errors)
    defer { child.end() }
    try await eventually { service.calls.contains("SearchItems") || child.hasEnded }
    child.signal(signal)
    #expect(child.wait() == 5)
    #expect(errors.remainingLines().joined().contains("None of the accounts are in \(tool.group)"))
  }

  @Test(.fault("Ctrl-C")) func `A signal ends the wait for input, also before a store in etcd`()
    async throws
  {
    let (input, key) = (try Pipe(), try tool.files.keyFile())
    let child = try tool.start(
      [
        "import", "-", "--store", "etcd+https://127.0.0.1:\(ReservedPort.refusing.number)/p", "--key",
        "file:\(key)",
      ], input: input)
    // More than a pipe holds: when it is written, the tool has begun to read.
    let part = [UInt8](repeating: UInt8(ascii: " "), count: 4096)
    for _ in 0..<40 { #expect(write(input.writing, part, part.count) == part.count) }
    defer { child.end() }
    child.signal(SIGTERM)
    try await eventually { child.hasEnded }
    #expect(child.wait() == 128 + SIGTERM)
  }

  @Test(.fault("Ctrl-C"))
  func `The two signals of timeout(1) are one, and the renewal is waited for`() async throws {
    try tool.logIn()
    let seen = lab.requests(to: .token).count
    lab.inject(LabFault(.token, delay: 600))
    let child = try tool.start(["token", "--scope", "Mail.Read"])
    _ = await lab.requests(to: .token, atLeast: seen + 1)
    child.signal(SIGTERM)
    // Equal ones would be one while they are pending.
    child.signal(SIGHUP)
    lab.endDelays()
    #expect(child.wait() == 5)
    #expect(try tool("token", "--scope", "Mail.Read").status == 0)
    #expect(lab.requests(to: .token).count == seen + 1)
  }

  @Test func `Ctrl-C ends a sign-in in the browser and its listener`() async throws {
    lab.configure { $0.authorize = .page }
    let end = try await interrupt(["login"], at: .authorize, by: SIGINT)
    #expect(end.status == 5)
    #expect(try tool("status").status == 3)
  }
}
