import TestSupport

/// "llavero token" connects to the keyring before it has read its command line.
@Suite(.timeLimit(.minutes(20)))
struct EarlyConnectionTests {
  private static let mail = ["--client", Sample.mail, "--account", Sample.alice]

  /// `token` of the sample's account, with more arguments.
  private func token(
    _ tool: Tool, _ arguments: [String] = [], with changes: [String: String?] = [:]
  ) throws -> Child.Result {
    try tool(["token"] + Self.mail + arguments, with: changes)
  }

  @Test(arguments: [
    [], ["--scope=Mail.Read", "--json"], ["--output", "header", "--store", "keyring"], ["--unlock"],
  ])
  func `A cached token takes one connection and one session`(arguments: [String]) async throws {
    let tool = try Tool(on: PrivateKeyring())
    try tool.load(Sample.alices)
    let log = try await tool.keyring.logOfCalls { () async throws in
      #expect(try token(tool, arguments).exits(0).standardOutput.contains("secret-at-valid"))
    }
    #expect(log.count { $0 == "Hello" } == 1, "\(log)")
    #expect(log.count { $0 == "OpenSession" } == 1, "\(log)")
  }

  @Test(arguments: [
    [], ["--json"], ["--output", "header"], ["--json", "--output", "json"], ["--min-validity", "10m", "-q"],
    ["--account=-a=b"],
  ])
  func `The session is asked for before the command line is found to be wrong`(
    arguments: [String]
  ) async throws {
    let service = try FakeService()
    let tool = try Tool(on: service.keyring)
    // The tool waits to say what is wrong, so that it does not end before it connects.
    let errors = try Pipe()
    errors.fill()
    let child = try tool.start(
      tool.inGroup(["token"] + Self.mail + arguments + ["--authority", "nonsense"]), errors: errors)
    defer { child.end() }
    try await eventually { service.calls.contains("OpenSession") }
    _ = errors.remainingLines()
    #expect(child.wait() == 2)
  }

  @Test func `What needs no keyring opens no connection`() async throws {
    let tool = try Tool(on: PrivateKeyring())
    let key = "file:" + (try tool.files.keyFile())
    let files = ["--store", "file", "--key", key]
    try tool(["import", "-"] + files, input: Sample.alices).exits(0)
    let log = try await tool.keyring.logOfCalls {
      try tool.run(["--version"]).exits(0)
      for arguments in [["--help"], ["-h"], ["--client", Sample.mail, "--help"]] {
        try tool.run(["token"] + arguments).exits(0)
      }
      for arguments in [
        ["--nonsense", "x"], ["nonsense"], ["--output", "nonsense"], ["--min-validity", "long"],
        ["--account"],
        ["--json", "--output", "az"], ["--store", "nonsense"], ["--account", "--json"],
      ] {
        try tool.run(["token", "--client", Sample.mail] + arguments).exits(2)
      }
      // Without a client there is no token.
      try tool.run(["token"]).exits(2)

      try token(tool, files).exits(0)
      try token(tool, with: ["LLAVERO_STORE": "file", "LLAVERO_KEY": key]).exits(0)
      let etcd = "etcd+http://127.0.0.1:\(ReservedPort.refusing.number)/llavero"
      try token(tool, ["--store", etcd, "--key", key]).exits(4)
      try token(tool, with: ["LLAVERO_STORE": etcd, "LLAVERO_KEY": key]).exits(4)
      try token(tool, ["--from", "unix:/proc/nonexistent"]).exits(4)
      try token(tool, with: ["LLAVERO_FROM": "unix:/proc/nonexistent"]).exits(4)
    }
    #expect(log.isEmpty, "\(log)")
  }

  /// With `--unlock` the tool connects only when it needs to.
  @Test func `A keyring that cannot be used is reported as without a connection in advance`() async throws {
    func expect(_ code: String, status: Int32, _ tool: Tool, with changes: [String: String?] = [:]) throws {
      let late = try token(tool, ["--unlock"], with: changes).exits(status)
      let early = try token(tool, with: changes).exits(status)
      // The advice may name the keyring of another test.
      let messages = [early, late].map { $0.standardError.prefix { $0 != "\n" } }
      #expect(messages[0] == messages[1])
      try token(tool, ["--json"], with: changes).exits(status, code: code)
    }
    let bare = try Tool(on: PrivateKeyring(startingDaemon: false))
    for address in [nil, "unix:path=/proc/nonexistent", "nonsense"] {
      let changes = ["DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": "/proc/nonexistent"]
      try expect("unavailable", status: 1, bare, with: changes)
    }
    try expect("unavailable", status: 1, bare)
    for error in ["org.freedesktop.DBus.Error.NotSupported", "org.freedesktop.DBus.Error.InvalidArgs"] {
      // A search may run before the session has failed, and so may a look at what it finds. Only the secret needs the session.
      let item = Variant.objectPaths([FakeService.collection + "/1"])
      let service = try FakeService([
        "OpenSession": .error(error), "SearchItems": .reply([item, .objectPaths([])]),
        "GetAll": .item([:]),
      ])
      let tool = try Tool(on: service.keyring)
      let late = try token(tool, ["--unlock"])
      let calls = service.calls.count { $0 == "OpenSession" }
      let early = try token(tool)
      #expect(early.status == late.status && early.standardError == late.standardError)
      // The failed session is not tried again.
      #expect(service.calls.count { $0 == "OpenSession" } == 2 * calls)
    }
  }
}
