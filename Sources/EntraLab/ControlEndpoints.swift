/// The control channel: `POST /__ctl` with one command, a JSON object whose only member is the verb.
///
/// ```json
/// {"configure": {"tokenLifetime": 600, "authorize": {"user": {"name": "bob"}}}}
/// {"fault": {"target": "token", "status": 503, "headers": {"Retry-After": "1"}, "count": 2}}
/// {"fault": {"target": "graph", "connection": "drop", "delay": 0.5, "afterHandling": true}}
/// {"fault": {"target": "batchItem", "status": 429, "headers": {"Retry-After": "1"}}}
/// {"approveDevice": {"userCode": "BCDFGHJKL", "user": "alice"}}
/// {"declineDevice": {}}
/// {"revoke": "alice"}
/// {"condition": {"user": "alice", "condition": "accountDeleted"}}
/// {"mfa": {"user": "alice", "required": true, "scopes": ["Mail.Read"]}}
/// {"addUser": {…}}   {"addApp": {…}}   in the form of `GET /__ctl`
/// {"clearLog": {}}   {"clearFaults": {}}   {"reset": {}}
/// ```
enum LabCommand: Decodable, Sendable {
  case reset
  case clearLog
  case clearFaults
  case configure([String: JSON])
  case fault(LabFault)
  case approveDevice(DeviceDecision)
  case declineDevice(DeviceDecision)
  case revoke(user: String)
  case condition(ConditionChange)
  case mfa(MFAChange)
  case addUser(LabUser)
  case addApp(LabApp)

  struct ConditionChange: Decodable, Sendable {
    let user: String
    /// nil: none.
    let condition: AccountCondition?
  }

  struct MFAChange: Decodable, Sendable {
    let user: String
    let required: Bool
    /// Absent or empty: for every scope.
    let scopes: [String]?
  }

  private enum Verb: String, CodingKey {
    case reset, clearLog, clearFaults, configure, fault, approveDevice, declineDevice, revoke, condition, mfa
    case addUser, addApp
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Verb.self)
    guard container.allKeys.count == 1, let verb = container.allKeys.first else {
      throw LabError.badCommand("expected one known verb.")
    }
    func value<T: Decodable>(_ type: T.Type = T.self) throws -> T { try container.decode(type, forKey: verb) }
    self =
      switch verb {
      case .reset: .reset
      case .clearLog: .clearLog
      case .clearFaults: .clearFaults
      case .configure: .configure(try value())
      case .fault: .fault(try value())
      case .approveDevice: .approveDevice(try value())
      case .declineDevice: .declineDevice(try value())
      case .revoke: .revoke(user: try value())
      case .condition: .condition(try value())
      case .mfa: .mfa(try value())
      case .addUser: .addUser(try value())
      case .addApp: .addApp(try value())
      }
  }
}

extension LabCommand {
  init(json: [UInt8]) throws(LabError) {
    do {
      self = try decodeJSON(json)
    } catch {
      throw error as? LabError ?? .badCommand("\(error)")
    }
  }
}

extension LabSettings {
  fileprivate var json: [String: JSON] {
    // Settings are made of nothing that JSON could not take.
    (try? decodeJSON(encodeJSON(self))) ?? [:]
  }
}

extension LabState {
  mutating func control(_ request: LabRequest) -> LabReply {
    guard request.method == "POST" else { return LabReply(json: Overview(self)) }
    do throws(LabError) {
      try perform(try LabCommand(json: request.body))
      return LabReply(json: ["ok": true])
    } catch {
      return LabReply(status: 400, json: ["error": error.description])
    }
  }

  mutating func perform(_ command: LabCommand) throws(LabError) {
    switch command {
    case .reset: reset()
    case .clearLog: log = []
    case .clearFaults: faults = []
    case .configure(let changes): try configure(changes)
    case .fault(let fault): faults.append(fault)
    case .approveDevice(let decision):
      guard decision.user != nil else { throw .badCommand("approveDevice needs a user.") }
      try decide(decision)
    case .declineDevice(let decision): try decide(DeviceDecision(userCode: decision.userCode))
    case .revoke(let user):
      try changeAccount(of: user) { [now] in
        $0.revocations += 1
        $0.revokedAt = now
      }
    case .condition(let change): try changeAccount(of: change.user) { $0.condition = change.condition }
    case .mfa(let change):
      try changeAccount(of: change.user) { $0.mfaScopes = change.required ? change.scopes ?? [] : nil }
    case .addUser(let user):
      directory.users.removeAll { $0.name == user.name }
      directory.users.append(user)
    case .addApp(let app):
      directory.apps.removeAll { $0.clientID == app.clientID }
      directory.apps.append(app)
    }
  }

  private mutating func configure(_ changes: [String: JSON]) throws(LabError) {
    let current = settings.json
    if let unknown = changes.keys.first(where: { current[$0] == nil }) { throw .noSuch("setting \(unknown)") }
    // More than any test needs, and too small to overflow a time.
    if changes.values.contains(where: { abs($0.integer ?? 0) > 10_000_000_000 }) {
      throw .badCommand("a number is too large.")
    }
    do {
      settings = try decodeJSON(encodeJSON(current.merging(changes) { _, new in new }))
    } catch {
      throw .badCommand("\(error)")
    }
  }

  private mutating func changeAccount(
    of name: String, _ change: (inout AccountState) -> Void
  ) throws(LabError) {
    guard let user = directory.user(name) else { throw .noSuch("user \(name)") }
    change(&accounts[user.name, default: AccountState()])
  }
}

/// The response to `GET /__ctl`.
private struct Overview: Encodable {
  let settings: LabSettings
  let directory: LabDirectory
  let pendingUserCodes: [String]

  init(_ state: LabState) {
    settings = state.settings
    directory = state.directory
    pendingUserCodes = state.pendingUserCodes
  }
}
