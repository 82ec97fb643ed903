import Dispatch
import EntraLab
import FoundationEssentials
import Synchronization
import TestSupport
import Testing
import TokenCache

/// The tool with a lab in Entra ID's place, a group of its own, and a browser without eyes.
struct LabTool: Sendable {
  static let client = "c0000000-0000-4000-8000-000000000001"
  static let alice = "alice@contoso.test"

  static let browser = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "interop/browser.py").path

  let lab: Lab
  let tool: Tool
  var environment: [String: String?]

  init(_ lab: Lab, on keyring: PrivateKeyring? = nil) throws {
    self.lab = lab
    tool = try Tool(on: keyring)
    environment = [
      "LLAVERO_AUTHORITY": lab.authority(), "LLAVERO_CLIENT_ID": Self.client, "LLAVERO_GROUP": tool.group,
      "LLAVERO_CA_BUNDLE": lab.caBundlePath, "LLAVERO_GRAPH_URL": lab.graphURL,
      "LAB_CA_BUNDLE": lab.caBundlePath, "BROWSER": "python3 \(Self.browser)",
    ]
    lab.configure { $0.deviceInterval = 1 }
  }

  /// With changes to the environment.
  func callAsFunction(
    _ arguments: String..., input: String = "", with changes: [String: String?] = [:]
  ) throws -> Child.Result {
    try run(arguments, input: input, with: changes)
  }

  func run(
    _ arguments: [String], input: String = "", with changes: [String: String?] = [:]
  ) throws -> Child.Result {
    try tool.run(arguments, input: input, environment: environment.merging(changes) { $1 })
  }

  /// Runs a command that is to succeed without a word on standard error, and decodes what it prints.
  func json(_ arguments: String...) throws -> JSONValue {
    let result = try run(arguments + ["--json"])
    #expect(result.status == 0, "\(result.standardError)")
    #expect(result.standardError.isEmpty, "\(result.standardError)")
    return try JSONValue(text: result.standardOutput)
  }

  /// Signs somebody in, in the browser.
  @discardableResult
  func logIn(_ user: String = "alice", _ arguments: String...) throws -> Child.Result {
    lab.configure { $0.authorize = .user(name: user) }
    let result = try run(["login"] + arguments)
    try #require(result.status == 0, "\(result.standardError)")
    return result
  }

  /// Runs a command that waits for a person on another device, who decides once the tool asks.
  func onDevice(
    _ arguments: [String], with changes: [String: String?] = [:],
    decide: @Sendable (Lab) throws -> Void = { try $0.approveDevice(as: "alice") }
  ) throws -> Child.Result {
    let asked = lab.requests(to: .token).count
    let outcome = Mutex<Result<Child.Result, any Error>?>(nil)
    let end = DispatchGroup()
    DispatchQueue(label: "test.device").async(group: end) {
      let result = Result { try run(arguments, with: changes) }
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

  /// Every token in the group.
  func secrets() throws -> [String] { try tool.exported().secrets }
}
