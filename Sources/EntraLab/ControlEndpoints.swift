extension Lab {
  /// The commands of the control channel: `POST /__ctl` with a JSON object whose only member is the verb.
  package static let commands = """
    {"configure":{"tokenLifetime":600,"unknownScopes":["Chat.Read"]}}
    {"configure":{"authorize":{"user":{"name":"bob"}}}}
    {"configure":{"requiredClaims":{"acrs":{"essential":true,"value":"c1"}}}}
    {"fault":{"target":"token","status":503,"headers":{"Retry-After":"1"}}}
    {"fault":{"target":"graph","status":404,"body":"{}","count":2}}
    {"fault":{"target":"graph","connection":"drop","afterHandling":true}}
    {"fault":{"target":"batchItem","status":429,"delay":0.5}}
    {"approveDevice":{"userCode":"BCDFGHJKL","user":"alice"}}
    {"declineDevice":{}}
    {"revoke":"alice"}
    {"condition":{"user":"alice","condition":"accountDeleted"}}
    {"mfa":{"user":"alice","required":true,"scopes":["Mail.Read"]}}
    {"addUser":{…}}
    {"addApp":{…}}
    {"clearLog":{}}
    {"clearFaults":{}}
    {"endDelays":{}}
    {"reset":{}}
    """
}

/// The control channel, with ``Lab/commands``.
extension LabState {
  mutating func control(_ request: LabRequest) -> LabReply {
    guard request.method == "POST" else {
      return LabReply(
        json: Overview(settings: settings, directory: directory, pendingUserCodes: pendingUserCodes))
    }
    do throws(LabError) {
      let verb = try perform(request.body)
      var reply = LabReply(json: ["ok": true])
      reply.endsDelays = verb == "endDelays"
      return reply
    } catch {
      return LabReply(status: 400, json: ["error": error.description])
    }
  }

  /// - Returns: The verb.
  mutating func perform(_ json: [UInt8]) throws(LabError) -> String {
    let command: [String: JSON] = try decoded(json)
    guard command.count == 1, let (verb, value) = command.first else {
      throw .badCommand("expected one verb.")
    }
    func argument<T: Decodable>(_ type: T.Type = T.self) throws(LabError) -> T {
      try decoded(encodeJSON(value))
    }
    switch verb {
    case "reset": reset()
    case "clearLog": log = []
    case "clearFaults": faults = []
    // The server has them.
    case "endDelays": break
    case "configure": try configure(argument())
    case "fault": faults.append(try argument())
    case "approveDevice":
      let decision = try argument(DeviceDecision.self)
      guard decision.user != nil else { throw .badCommand("approveDevice needs a user.") }
      try decide(decision)
    case "declineDevice": try decide(DeviceDecision(userCode: argument(DeviceDecision.self).userCode))
    case "revoke":
      try changeAccount(of: argument()) { [now] in
        $0.revocations += 1
        $0.revokedAt = now
      }
    case "condition":
      let change = try argument(ConditionChange.self)
      try changeAccount(of: change.user) { $0.condition = change.condition }
    case "mfa":
      let change = try argument(MFAChange.self)
      try changeAccount(of: change.user) { $0.mfaScopes = change.required ? change.scopes ?? [] : nil }
    case "addUser": add(try argument(LabUser.self))
    case "addApp": add(try argument(LabApp.self))
    default: throw .badCommand("unknown verb \(verb).")
    }
    return verb
  }

  mutating func add(_ user: LabUser) {
    directory.users.removeAll { $0.name == user.name }
    directory.users.append(user)
  }

  mutating func add(_ app: LabApp) {
    directory.apps.removeAll { $0.clientID == app.clientID }
    directory.apps.append(app)
  }

  private mutating func configure(_ changes: [String: JSON]) throws(LabError) {
    if let unknown = changes.keys.first(where: { LabSettings.CodingKeys(rawValue: $0) == nil }) {
      throw .noSuch("setting \(unknown)")
    }
    // More than any test needs, and too small to overflow a time.
    if changes.values.contains(where: { ($0.integer ?? 0).magnitude > 10_000_000_000 }) {
      throw .badCommand("a number is too large.")
    }
    let current: [String: JSON] = try decoded(encodeJSON(settings))
    settings = try decoded(encodeJSON(current.merging(changes) { _, new in new }))
  }

  private mutating func changeAccount(
    of name: String, _ change: (inout AccountState) -> Void
  ) throws(LabError) {
    guard let user = directory.user(name) else { throw .noSuch("user \(name)") }
    change(&accounts[user.name, default: AccountState()])
  }
}

private struct Overview: Encodable {
  let settings: LabSettings
  let directory: LabDirectory
  let pendingUserCodes: [String]
}

struct ConditionChange: Codable {
  let user: String
  /// nil: none.
  let condition: AccountCondition?
}

struct MFAChange: Codable {
  let user: String
  let required: Bool
  /// Absent or empty: for every scope.
  let scopes: [String]?
}

private func decoded<T: Decodable>(_ json: [UInt8]) throws(LabError) -> T {
  do {
    return try decodeJSON(json)
  } catch {
    throw .badCommand("\(error)")
  }
}
