package import FoundationEssentials
import Synchronization

/// A local stand-in for Entra ID and Microsoft Graph, on loopback over TLS.
///
/// It behaves like the Microsoft identity platform for the tenants, users and apps of ``LabDirectory``. A test can set
/// faults and read what was sent. Its secrets are worthless: its keys are made at the start, and nothing else trusts them.
package final class Lab: Sendable {
  /// For example `https://localhost:35711`. An authority is this with a tenant: `…/common`.
  package let baseURL: String
  /// The file of the lab's CA certificate, in PEM. Removed by ``stop()``.
  package let caBundlePath: String
  private let server: LabServer
  private let ownDirectory: String?

  /// Starts a lab, with new keys and certificates, at any free port for 0. The CA bundle is in the directory, by default in a
  /// new one under the temporary directory.
  ///
  /// - Throws: ``LabError`` where the port is taken or the bundle cannot be written.
  package static func start(
    port: UInt16 = 0, directory: String? = nil, validity: ClosedRange<Date>? = nil
  ) async throws(LabError) -> Lab {
    let temporary = FileManager.default.temporaryDirectory.path + "/entra-lab-" + randomIdentifier()
    let file = (directory ?? temporary) + "/entra-lab-ca.pem"
    do {
      let certificates = try Certificates(validity: validity ?? Date() - 3600...Date() + 7 * 86_400)
      let server = LabServer(LabState(key: try SigningKey.shared.get()))
      try await server.start(port: port, certificate: certificates.serverPEM)
      // Not before: where the port is taken, the file may be that of the lab that has it.
      do {
        try FileManager.default.createDirectory(
          atPath: directory ?? temporary, withIntermediateDirectories: true)
        try Data((certificates.authorityPEM + "\n").utf8).write(to: URL(filePath: file), options: .atomic)
      } catch {
        await server.stop()
        if directory == nil { try? FileManager.default.removeItem(atPath: temporary) }
        throw error
      }
      return Lab(server, file: file, ownDirectory: directory == nil ? temporary : nil)
    } catch {
      throw LabError(status: 500, code: "", message: "The lab cannot start: \(error)")
    }
  }

  private init(_ server: LabServer, file: String, ownDirectory: String?) {
    baseURL = server.port == 443 ? "https://localhost" : "https://localhost:\(server.port)"
    caBundlePath = file
    self.server = server
    self.ownDirectory = ownDirectory
  }

  /// Closes all connections and removes the CA bundle. To be called once.
  package func stop() async {
    await server.stop()
    server.state.withLock { $0.stop() }
    try? FileManager.default.removeItem(atPath: ownDirectory ?? caBundlePath)
  }
}

/// The commands of a test; the control channel has the same for other processes.
extension Lab {
  package var graphURL: String { baseURL + "/v1.0" }

  /// The URL of an API that accepts only signed requests with bound tokens, at any path below.
  package var protectedURL: String { baseURL + "/protected" }

  package func authority(_ tenant: String = "common") -> String { "\(baseURL)/\(tenant)" }

  package var directory: LabDirectory { server.state.withLock { $0.directory } }

  /// All requests without those to the control channel.
  package var log: [LabLogEntry] { server.state.withLock { $0.log } }

  package func requests(to endpoint: LabEndpoint) -> [LabLogEntry] {
    server.state.withLock { $0.requests(to: endpoint) }
  }

  /// Waits until the log has a number of requests to an endpoint, or the lab stops. A request is logged before its response
  /// is sent.
  package func requests(to endpoint: LabEndpoint, atLeast count: Int) async -> [LabLogEntry] {
    await withCheckedContinuation { continuation in
      server.state.withLock {
        $0.wait(Waiter(endpoint: endpoint, count: count, continuation: continuation))
      }
    }
  }

  package func clearLog() { server.state.withLock { $0.log = [] } }

  package func reset() { server.state.withLock { $0.reset() } }

  package func configure(_ change: @Sendable (inout LabSettings) -> Void) {
    server.state.withLock { change(&$0.settings) }
  }

  /// Adds a fault for the next requests to an endpoint. Faults of one endpoint apply one after the other.
  package func inject(_ fault: LabFault) { server.state.withLock { $0.faults.append(fault) } }

  /// Sends delayed responses at once.
  package func endDelays() { server.sendDelayedResponses() }

  package func clearFaults() { server.state.withLock { $0.faults = [] } }

  package var pendingUserCodes: [String] { server.state.withLock { $0.pendingUserCodes } }

  /// Approves the device code with this user code, or the newest pending one.
  package func approveDevice(userCode: String? = nil, as user: String) throws(LabError) {
    try perform("approveDevice", DeviceDecision(userCode: userCode, user: user))
  }

  package func declineDevice(userCode: String? = nil) throws(LabError) {
    try perform("declineDevice", DeviceDecision(userCode: userCode))
  }

  /// Ends all sessions of the user: earlier refresh tokens are refused, and Graph challenges continuously evaluated tokens.
  package func revokeSessions(of user: String) throws(LabError) { try perform("revoke", user) }

  package func setCondition(_ condition: AccountCondition?, of user: String) throws(LabError) {
    try perform("condition", ConditionChange(user: user, condition: condition))
  }

  /// Requires a second factor at the next refresh, for these scopes or for all. An interactive sign-in provides it.
  package func requireMFA(_ isRequired: Bool = true, of user: String, scopes: [String] = []) throws(LabError)
  {
    try perform("mfa", MFAChange(user: user, required: isRequired, scopes: scopes))
  }

  private func perform(_ verb: String, _ argument: some Encodable) throws(LabError) {
    let command = encodeJSON([verb: argument])
    _ = try server.state.withLock { state throws(LabError) in try state.perform(command) }
  }

  package func add(_ user: LabUser) { server.state.withLock { $0.add(user) } }

  package func add(_ app: LabApp) { server.state.withLock { $0.add(app) } }
}
