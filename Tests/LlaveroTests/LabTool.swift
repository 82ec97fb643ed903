import Dispatch
import LabSupport

extension Tool {
  static let alice = "alice@contoso.test"

  /// The tool with the test's lab instead of Entra ID, and a scripted browser.
  static func atLab(on keyring: PrivateKeyring? = nil) throws -> Tool {
    let lab = Lab.current
    var tool = try Tool(on: keyring)
    tool.settings = [
      "LLAVERO_AUTHORITY": lab.authority(), "LLAVERO_CLIENT_ID": LabApps.plain, "LLAVERO_GROUP": tool.group,
      "LLAVERO_CA_BUNDLE": lab.caBundlePath, "LLAVERO_GRAPH_URL": lab.graphURL,
      "LAB_CA_BUNDLE": lab.caBundlePath, "BROWSER": "python3 \(Lab.browser)",
    ]
    lab.configure {
      $0.deviceInterval = 1
      $0.authorize = .user(name: "alice")
    }
    return tool
  }

  /// The same with Alice signed in.
  static func signedIn(on keyring: PrivateKeyring? = nil) throws -> Tool {
    let tool = try atLab(on: keyring)
    try tool.logIn()
    return tool
  }

  /// Signs a user in, in the browser.
  @discardableResult
  func logIn(_ user: String = "alice", _ arguments: String...) throws -> Child.Result {
    Lab.current.configure { $0.authorize = .user(name: user) }
    return try run(["login"] + arguments).required()
  }

  /// Runs a command that waits for another device, which decides once the tool polls.
  func onDevice(
    _ arguments: [String], decide: @Sendable (Lab) throws -> Void = { try $0.approveDevice(as: "alice") }
  ) throws -> Child.Result {
    let lab = Lab.current
    let asked = lab.requests(to: .token).count
    let outcome = Mutex<Result<Child.Result, any Error>?>(nil)
    let end = DispatchGroup()
    DispatchQueue(label: "test.device").async(group: end) {
      let result = Result { try run(arguments) }
      outcome.withLock { $0 = result }
    }
    // The first poll shows that the code exists. This blocks a thread of its own instead of awaiting: other tests may hold
    // all threads of the pool until the tool times out.
    while lab.requests(to: .token).count == asked, end.wait(timeout: .now() + .milliseconds(20)) == .timedOut
    {}
    let decision = Result { try decide(lab) }
    end.wait()
    let result = try #require(outcome.withLock { $0 }).get()
    try decision.get()
    return result
  }
}
