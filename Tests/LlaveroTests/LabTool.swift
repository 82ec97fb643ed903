import Dispatch
import EntraLab
import LabSupport
import Synchronization
import TestSupport
import Testing

extension Tool {
  static let alice = "alice@contoso.test"

  /// The tool with the test's lab in Entra ID's place, and a browser without eyes.
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

  /// The same, where Alice has signed in.
  static func signedIn(on keyring: PrivateKeyring? = nil) throws -> Tool {
    let tool = try atLab(on: keyring)
    try tool.logIn()
    return tool
  }

  /// Signs somebody in, in the browser.
  @discardableResult
  func logIn(_ user: String = "alice", _ arguments: String...) throws -> Child.Result {
    Lab.current.configure { $0.authorize = .user(name: user) }
    let result = try run(["login"] + arguments)
    try #require(result.status == 0, "\(result.standardError)")
    return result
  }

  /// Runs a command that waits for a person on another device, who decides once the tool asks.
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
    // With the first question the code is there. Nobody awaits it: other tests may hold all threads of the
    // pool until the tool has given up.
    while lab.requests(to: .token).count == asked, end.wait(timeout: .now() + .milliseconds(20)) == .timedOut
    {}
    let decision = Result { try decide(lab) }
    end.wait()
    let result = try #require(outcome.withLock { $0 }).get()
    try decision.get()
    return result
  }
}
