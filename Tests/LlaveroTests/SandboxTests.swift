import TestSupport

/// The tool in sandboxes, with xdg-desktop-portal and gnome-keyring as its backend.
@Suite(
  .timeLimit(.minutes(20)), .enabled(if: DesktopPortal.isInstalled, "There is no xdg-desktop-portal."),
  .enabled(if: Sandbox.isPossible, "bubblewrap makes no sandbox here."))
struct SandboxTests {
  private let tool: Tool
  private let portal: DesktopPortal

  init() throws {
    tool = try Tool(on: PrivateKeyring())
    portal = try DesktopPortal(on: tool.keyring)
  }

  /// The directories of an application; of a program outside of all sandboxes for `nil`.
  private func data(_ application: String?) -> String { "\(tool.files.path)/\(application ?? "none")" }

  private func root(_ application: String?) -> String { data(application) + "/llavero/sealed" }

  /// Runs the tool in an application's sandbox, in none for `nil`, by default on the application's own store.
  private func run(
    _ application: String?, _ arguments: [String], input: String = "", on other: String? = nil,
    key: String = "portal"
  ) throws -> Child.Result {
    let environment = tool.environment(with: [
      "XDG_DATA_HOME": data(other ?? application),
      "XDG_RUNTIME_DIR": try tool.files.directory("run-\(application ?? "")"),
      "LLAVERO_STORE": "file", "LLAVERO_KEY": key, "LLAVERO_GROUP": tool.group,
    ])
    guard let application else {
      return try Child.run(Tool.path, arguments, environment: environment, input: input)
    }
    return try Sandbox(application, in: tool.files.path).run(
      Tool.path, arguments, environment: environment, input: input)
  }

  /// Fills an application's store with its own cache.
  private func load(_ application: String) throws {
    let cache = Sample.cache.replacing("bob@contoso.example", with: "\(application)@contoso.example")
    try run(application, ["import", "-"], input: cache).required()
  }

  private func opens(_ application: String, key: String = "portal") throws -> Bool {
    let result = try run(application, ["list"], key: key)
    return result.status == 0 && result.standardOutput.contains("\(application)@contoso.example")
  }

  /// What is in a directory, to the byte.
  private func contents(_ directory: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory) where !name.hasSuffix("lock") {
      contents[name] = FileManager.default.contents(atPath: "\(directory)/\(name)")
    }
    return contents
  }

  private func problem(_ result: Child.Result) throws -> JSONValue? {
    #expect(result.status == 1, "\(result)")
    return try result.error
  }

  private let one = "org.example.One"
  private let two = "org.example.Two"

  @Test(.fault("swapped files"))
  func `Two applications with one group have two stores, and neither opens the other's`() throws {
    try load(one)
    #expect(try run(two, ["list"]).standardOutput.contains("contoso") == false)
    try load(two)
    #expect(try opens(one) && opens(two))

    let (ones, twos) = (try contents(root(one)), try contents(root(two)))
    #expect(ones.keys.sorted() == twos.keys.sorted() && ones.count > 4)
    let aside = tool.files.path + "/aside"
    try FileManager.default.moveItem(atPath: root(two), toPath: aside)
    try FileManager.default.copyItem(atPath: root(one), toPath: root(two))
    for arguments in [["list"], ["import", "-"], ["clear", "--all", "--yes"], ["rekey"]] {
      let error = try problem(run(two, arguments + ["--json"], input: Sample.cache))
      #expect(error?["code"]?.stringValue == "wrong_key")
      #expect(error?["advice"]?.stringValue?.contains("Another application made it") == true)
    }
    #expect(try contents(root(two)) == ones)
    // A program outside of all sandboxes asks for another secret as well.
    #expect(try problem(run(nil, ["list", "--json"], on: one))?["code"]?.stringValue == "wrong_key")
    #expect(try contents(root(one)) == ones)
    #expect(try opens(one))
    try FileManager.default.removeItem(atPath: root(two))
    try FileManager.default.moveItem(atPath: aside, toPath: root(two))
    #expect(try opens(two))
    #expect(try contents(root(two)) == twos)
  }

  @Test(.fault("portal keyring"))
  func `A locked keyring is an error, and after its restart the store opens`() throws {
    try load(one)
    try tool.keyring.lockCollection()
    let locked = try problem(run(one, ["list", "--json"]))
    #expect(locked?["code"]?.stringValue == "unavailable")
    #expect(locked?["advice"]?.stringValue?.contains("Unlock the keyring") == true)
    tool.keyring.killDaemon()
    #expect(try problem(run(one, ["list", "--json"]))?["code"]?.stringValue == "unavailable")
    try tool.keyring.startDaemon()
    #expect(try opens(one))
  }

  @Test(.fault("no portal"))
  func `Without a backend or a portal the error names what to install`() throws {
    self.portal.stop()
    let portal = try DesktopPortal(on: tool.keyring, withBackend: false)
    let noBackend = try problem(run(one, ["import", "-", "--json"], input: Sample.cache))
    #expect(noBackend?["advice"]?.stringValue?.contains("gnome-keyring") == true)
    #expect(try run(one, ["doctor"]).standardOutput.contains("no backend for secrets"))
    portal.stop()
    let noPortal = try problem(run(one, ["import", "-", "--json"], input: Sample.cache))
    #expect(noPortal?["advice"]?.stringValue?.contains("xdg-desktop-portal") == true)
    #expect(!FileManager.default.fileExists(atPath: root(one) + "/keys"))
  }

  @Test func `The tool works in a sandbox, and the doctor reports the sandbox`() throws {
    try load(one)
    func findings(_ application: String?) throws -> [JSONValue] {
      try run(application, ["doctor", "--json"]).json["findings"]?.arrayValue ?? []
    }
    func state(_ check: String, _ findings: [JSONValue]) -> String? {
      findings.first { $0["check"]?.stringValue == check }?["state"]?.stringValue
    }
    let inside = try findings(one)
    for check in ["secret_portal", "store_key", "probe", "sealed_files"] {
      #expect(state(check, inside) == "ok")
    }
    #expect(state("secret_portal", try findings(nil)) == "warning")
    // What needs the network loads a library.
    let network = try run(
      one,
      [
        "login", "--device-code", "--client-id", "d7b530a4-7680-4c23-a8bf-c52c121d2e87", "--authority",
        "https://localhost:\(ReservedPort.refusing.number)/common", "--no-instance-discovery",
      ])
    #expect(!network.standardError.isEmpty && ![126, 127].contains(network.status), "\(network)")
  }

  @Test func `A store changes to the portal's key and back in a sandbox`() throws {
    let key = "file:" + (try tool.files.keyFile())
    try load(one)
    #expect(try run(one, ["rekey", "--new-key", key]).status == 0)
    #expect(try !opens(one))
    #expect(try opens(one, key: key))
    #expect(try run(one, ["rekey", "--new-key", "portal"], key: key).status == 0)
    #expect(try opens(one))
    let error = try problem(run(one, ["list", "--json"], key: key))
    #expect(error?["advice"]?.stringValue?.contains("--key portal") == true)
  }
}
