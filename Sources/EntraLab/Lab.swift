package import FoundationEssentials
import GLibSupport
import Synchronization

/// A local stand-in for Entra ID and Microsoft Graph, on loopback over TLS.
///
/// It answers as the Microsoft identity platform does, for the tenants, users and apps of ``LabDirectory``, and
/// lets a test decide what goes wrong and see what was sent. Its secrets are worth nothing: its keys are made
/// when it starts, and nothing outside it trusts them.
package final class Lab: Sendable {
  /// For example `https://localhost:35711`. An authority is this with a tenant: `…/common`.
  package let baseURL: String
  /// The certificate of the lab's own authority, in PEM. Gone after ``stop()``.
  package let caBundlePath: String
  private let server: LabServer
  private let state: LockedState
  private let ownDirectory: String?

  /// Starts a lab, with new keys and certificates.
  ///
  /// - Parameters:
  ///   - port: 0 takes any free port.
  ///   - directory: Where the CA bundle goes; a new one under the temporary directory by default.
  ///   - validity: Of the certificates.
  /// - Returns: The lab, which listens.
  /// - Throws: ``LabError`` where the port is taken or the bundle cannot be written.
  package static func start(
    port: UInt16 = 0, directory: String? = nil, validity: ClosedRange<Date>? = nil
  ) async throws(LabError) -> Lab {
    let temporary = FileManager.default.temporaryDirectory.path + "/entra-lab-" + randomIdentifier()
    let file = (directory ?? temporary) + "/entra-lab-ca.pem"
    do {
      let certificates = try Certificates(validity: validity ?? Date() - 3600...Date() + 7 * 86_400)
      let state = LockedState(LabState(key: try SigningKey.shared.get()))
      try FileManager.default.createDirectory(
        atPath: directory ?? temporary, withIntermediateDirectories: true)
      try Data((certificates.authorityPEM + "\n").utf8).write(to: URL(filePath: file), options: .atomic)
      let answer: @Sendable (LabRequest) -> LabReply = { request in
        state.value.withLock { $0.answer(request) }
      }
      let server = try await LabServer.start(
        port: Int(port), certificate: certificates.serverPEM, answer: answer)
      return Lab(
        server: server, state: state, file: file, ownDirectory: directory == nil ? temporary : nil)
    } catch {
      try? FileManager.default.removeItem(atPath: directory == nil ? temporary : file)
      throw .cannotStart("\(error)")
    }
  }

  private init(server: LabServer, state: LockedState, file: String, ownDirectory: String?) {
    baseURL = server.port == 443 ? "https://localhost" : "https://localhost:\(server.port)"
    caBundlePath = file
    self.server = server
    self.state = state
    self.ownDirectory = ownDirectory
  }

  /// Closes all connections and removes the CA bundle. To be called once.
  package func stop() async {
    await server.stop()
    state.value.withLock { $0.stop() }
    try? FileManager.default.removeItem(atPath: ownDirectory ?? caBundlePath)
  }
}

/// What a test does with the lab; the control channel does the same from outside.
extension Lab {
  /// The address of Microsoft Graph, with its version.
  package var graphURL: String { baseURL + "/v1.0" }

  /// Of an API that takes nothing but signed requests with tokens that are bound to a key, at any path below.
  package var protectedURL: String { baseURL + "/protected" }

  package func authority(_ tenant: String = "common") -> String { "\(baseURL)/\(tenant)" }

  package var directory: LabDirectory { state.value.withLock { $0.directory } }

  /// All requests so far but those to the control channel.
  package var log: [LabLogEntry] { state.value.withLock { $0.log } }

  package func requests(to endpoint: LabEndpoint) -> [LabLogEntry] {
    state.value.withLock { $0.requests(to: endpoint) }
  }

  /// Waits until the log holds so many requests to an endpoint, or the lab stops. A request is in the log
  /// before it is answered.
  package func requests(to endpoint: LabEndpoint, atLeast count: Int) async -> [LabLogEntry] {
    await withCheckedContinuation { continuation in
      state.value.withLock {
        $0.wait(Waiter(endpoint: endpoint, count: count, continuation: continuation))
      }
    }
  }

  package func clearLog() { state.value.withLock { $0.log = [] } }

  /// Forgets everything that happened and was set.
  package func reset() { state.value.withLock { $0.reset() } }

  package func configure(_ change: @Sendable (inout LabSettings) -> Void) {
    state.value.withLock { change(&$0.settings) }
  }

  /// Lets the next requests to an endpoint meet a fault. Several wait for their turn.
  package func inject(_ fault: LabFault) { state.value.withLock { $0.faults.append(fault) } }

  /// Sends the answers at once that a fault holds back, as one with a long delay does.
  package func endDelays() { server.sendDelayedAnswers() }

  package func clearFaults() { state.value.withLock { $0.faults = [] } }

  /// The pending user codes, neither approved nor declined.
  package var pendingUserCodes: [String] { state.value.withLock { $0.pendingUserCodes } }

  /// Approves the device code with this user code, or the newest pending one.
  package func approveDevice(userCode: String? = nil, as user: String) throws(LabError) {
    try perform(.approveDevice(DeviceAnswer(userCode: userCode, user: user)))
  }

  package func declineDevice(userCode: String? = nil) throws(LabError) {
    try perform(.declineDevice(DeviceAnswer(userCode: userCode)))
  }

  /// Ends all sessions of the user: refresh tokens so far are refused, and Graph challenges tokens that are
  /// continuously evaluated.
  package func revokeSessions(of user: String) throws(LabError) { try perform(.revoke(user: user)) }

  package func setCondition(_ condition: AccountCondition?, of user: String) throws(LabError) {
    try perform(.condition(.init(user: user, condition: condition)))
  }

  /// Asks for a second factor at the next refresh, for these scopes or for all. Signing in interactively after
  /// this gives it.
  package func requireMFA(_ isRequired: Bool = true, of user: String, scopes: [String] = []) throws(LabError)
  {
    try perform(.mfa(.init(user: user, required: isRequired, scopes: scopes)))
  }

  package func add(_ user: LabUser) throws(LabError) { try perform(.addUser(user)) }

  package func add(_ app: LabApp) throws(LabError) { try perform(.addApp(app)) }

  private func perform(_ command: LabCommand) throws(LabError) {
    let result: Result<Void, LabError> = state.value.withLock { state in
      Result { () throws(LabError) in try state.perform(command) }
    }
    try result.get()
  }
}

/// A place for the lock that a closure can capture.
private final class LockedState: Sendable {
  let value: Mutex<LabState>

  init(_ state: LabState) { value = Mutex(state) }
}
