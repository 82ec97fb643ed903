import FoundationEssentials

/// A device code (RFC 8628) and its state.
struct DeviceGrant: Sendable {
  enum Decision: Sendable {
    case pending
    case approved(SignIn)
    case declined
    case used
  }

  let userCode: String
  let app: LabApp
  let authority: LabAuthority
  let scopes: ScopeRequest
  let expires: Date
  var decision = Decision.pending
  var lastPoll: Date?
}

/// Device authorization: its endpoint, its page, and the polls.
extension LabState {
  mutating func deviceCode(
    _ request: LabRequest, _ authority: LabAuthority
  ) throws(LabError) -> LabReply {
    try request.requirePOST()
    let app = try app(request.form["client_id"], at: authority)
    guard let scope = request.form["scope"] else { throw .missing("scope") }
    let letters = "BCDFGHJKLMNPQRSTVWXZ23456789"
    let userCode = String((0..<9).compactMap { _ in letters.randomElement() })
    let grant = DeviceGrant(
      userCode: userCode, app: app, authority: authority,
      scopes: try ScopeRequest(scope, isToken: true, unknown: settings.unknownScopes),
      expires: now + Double(settings.deviceLifetime))
    let page = "\(request.base)/common/oauth2/deviceauth"
    return LabReply(
      json: [
        "device_code": .string(devices.insert(grant)), "user_code": .string(userCode),
        "verification_uri": .string(page), "expires_in": .integer(settings.deviceLifetime),
        "interval": .integer(settings.deviceInterval),
        "message": "To sign in, open the page \(page) in a browser and enter the code \(userCode) there.",
      ] as [String: JSON])
  }

  mutating func pollDevice(_ request: TokenRequest) throws(LabError) -> [String: JSON] {
    guard let name = request.form["device_code"] else { throw .missing("device_code") }
    guard let grant = devices[name], grant.app.clientID == request.app.clientID else {
      throw LabError("bad_verification_code", 70018, "The device code is not recognized.")
    }
    let now = now
    if grant.expires < now { throw LabError("expired_token", 70020, "The device code has expired.") }
    devices[name]?.lastPoll = now
    switch grant.decision {
    case .pending:
      let interval = Double(settings.deviceInterval)
      if settings.enforceDeviceInterval, let last = grant.lastPoll, now.timeIntervalSince(last) < interval {
        throw LabError("slow_down", 70016, "The client polls too often.")
      }
      throw LabError("authorization_pending", 70016, "Authorization is pending. Continue polling.")
    case .declined:
      throw LabError("authorization_declined", 70019, "The end user denied the authorization request.")
    case .used: throw .grant(54005, "The device code was already redeemed.")
    case .approved(let signIn):
      devices[name]?.decision = .used
      return try issue(signIn, grant.scopes, request)
    }
  }

  /// The page on which a user enters the code.
  mutating func devicePage(_ request: LabRequest) -> LabReply {
    guard request.method == "POST" else {
      return LabReply(
        html: HTMLPage.selectUser(
          action: "/common/oauth2/deviceauth", title: "Enter code",
          note: "Enter the code shown on your device, and select the account.", hidden: [],
          input: "<p><input name=\"otc\" autofocus></p>", users: directory.users))
    }
    let decision = DeviceDecision(
      userCode: request.form["otc"] ?? "", user: request.form["cancel"] == nil ? request.form["user"] : nil)
    do {
      try decide(decision)
    } catch {
      return LabReply(
        status: 400, html: HTMLPage.page(title: "Enter code", "<p>\(escapeHTML(error.description))</p>"))
    }
    return LabReply(html: HTMLPage.page(title: "Enter code", "<p>You may close this window.</p>"))
  }

  var pendingUserCodes: [String] { pendingGrants.map(\.grant.userCode) }

  /// The device codes that are neither approved, declined nor expired, the newest last.
  private var pendingGrants: [(name: String, grant: DeviceGrant)] {
    devices.names.compactMap { name in
      guard let grant = devices[name], case .pending = grant.decision, grant.expires >= now
      else { return nil }
      return (name, grant)
    }
  }

  mutating func decide(_ decision: DeviceDecision) throws(LabError) {
    let code = decision.userCode?.uppercased()
    guard let (name, grant) = pendingGrants.last(where: { code == nil || $0.grant.userCode == code }) else {
      throw .noSuch("pending device code \(decision.userCode ?? "")")
    }
    guard let userName = decision.user else {
      devices[name]?.decision = .declined
      return
    }
    guard let user = directory.user(userName) else { throw .noSuch("user \(userName)") }
    _ = try tenant(of: user, at: grant.authority)
    consent(user, to: grant.scopes, for: grant.app)
    let signIn = signIn(user, app: grant.app, authority: grant.authority, nonce: nil)
    devices[name]?.decision = .approved(signIn)
  }
}

struct DeviceDecision: Codable, Sendable {
  /// nil: the newest pending one.
  var userCode: String?
  /// nil: declined.
  var user: String?
}
