import FoundationEssentials

/// Everything the lab remembers. One value behind one lock; each endpoint family extends it in a file of its own.
struct LabState: Sendable {
  let key: SigningKey
  var settings = LabSettings()
  var directory = LabDirectory.standard
  var accounts: [String: AccountState] = [:]
  var signIns = Tickets<AuthorizeRequest>()
  var codes = Tickets<AuthorizationCode>()
  var devices = Tickets<DeviceGrant>()
  var refreshTokens = Tickets<RefreshToken>()
  var accessTokens = Tickets<AccessToken>()
  /// The nonces of signed requests: each is accepted once.
  var usedNonces: Set<String> = []
  var browserSessions = Tickets<BrowserSession>()
  var faults: [LabFault] = []
  var log: [LabLogEntry] = []
  var received = 0
  var waiters: [Waiter] = []
  var isStopped = false

  var now: Date { Date() + Double(settings.clockSkew) }

  func account(of user: LabUser) -> AccountState { accounts[user.name] ?? AccountState() }

  /// Resets everything but the key and the waiting requests.
  mutating func reset() {
    let (waiters, isStopped) = (waiters, isStopped)
    self = LabState(key: key)
    self.waiters = waiters
    self.isStopped = isStopped
  }

  mutating func respond(to request: LabRequest) -> LabReply {
    let route = LabRoute(path: request.path)
    var reply = takeFault(for: route.endpoint)?.reply { dispatch(request, route) } ?? dispatch(request, route)
    addCommonHeaders(to: &reply, request)
    if route.endpoint != .control, route.endpoint != .log { record(request, route, reply) }
    return reply
  }

  mutating func takeFault(for endpoint: LabEndpoint) -> LabFault? {
    guard let index = faults.firstIndex(where: { $0.target == endpoint }) else { return nil }
    let fault = faults[index]
    let count = fault.count ?? 1
    if count > 1 { faults[index].count = count - 1 } else { faults.remove(at: index) }
    return fault
  }

  private mutating func dispatch(_ request: LabRequest, _ route: LabRoute) -> LabReply {
    do {
      return switch (route.endpoint, route.authority) {
      case (.discovery, let authority?): try discovery(request, authority)
      case (.instance, _): try instanceDiscovery(request)
      case (.keys, _): LabReply(json: key.keySet)
      case (.authorize, let authority?): authorize(request, authority)
      case (.login, _): login(request)
      case (.token, let authority?): try token(request, authority)
      case (.deviceCode, let authority?): try deviceCode(request, authority)
      case (.devicePage, _): devicePage(request)
      case (.logout, _): logout(request)
      case (.nativeClient, _):
        LabReply(html: HTMLPage.page(title: "Done", "<p>Return to the application.</p>"))
      case (.userInfo, _): userInfo(request)
      case (.graph, _): graph(request)
      case (.protected, _): protected(request)
      case (.control, _): control(request)
      case (.log, _): LabReply(json: log)
      default: .notFound
      }
    } catch {
      return error.reply(to: request, now: now)
    }
  }

  private func addCommonHeaders(to reply: inout LabReply, _ request: LabRequest) {
    reply.headers["x-ms-request-id"] = reply.headers["x-ms-request-id"] ?? randomIdentifier()
    reply.headers["Cache-Control"] = reply.headers["Cache-Control"] ?? "no-store, no-cache"
    if request.headers["return-client-request-id"] == "true",
      let id = request.headers["client-request-id"] ?? request.query["client-request-id"], isPlain(id)
    {
      reply.headers["client-request-id"] = id
    }
  }

  private mutating func record(_ request: LabRequest, _ route: LabRoute, _ reply: LabReply) {
    received += 1
    if log.count >= 10_000 { log.removeFirst(5000) }
    let hasResponse = reply.connection == nil || reply.connection == .truncate
    log.append(
      LabLogEntry(
        number: received, endpoint: route.endpoint, method: request.method, path: request.path,
        query: request.query.dictionary, form: request.form.dictionary,
        duplicates: request.query.duplicates + request.form.duplicates, headers: request.headers,
        status: hasResponse ? reply.status : 0))
    resumeWaiters()
  }
}

/// Whether a value may be echoed in a header.
func isPlain(_ text: String) -> Bool {
  text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
}

struct AccountState: Sendable {
  var condition: AccountCondition?
  /// nil: no second factor is needed; empty: for everything.
  var mfaScopes: [String]?
  /// Incremented when the user's sessions are revoked, which invalidates what was issued before.
  var revocations = 0
  var revokedAt: Date?
  /// Scopes that the user consented to in the browser.
  var consents: Set<String> = []

  func needsMFA(for scopes: ScopeRequest) -> Bool {
    mfaScopes.map { $0.isEmpty || scopes.contains(anyOf: $0) } ?? false
  }
}

struct SignIn: Sendable {
  let user: LabUser
  var app: LabApp
  var authority: LabAuthority
  var nonce: String?
  let time: Date
  var hasMFA: Bool
  let revocations: Int
}

struct AuthorizationCode: Sendable {
  let signIn: SignIn
  let request: AuthorizeRequest
  let expires: Date
  var isUsed = false
}

struct RefreshToken: Sendable {
  let signIn: SignIn
  let expires: Date
  var isUsed = false
}

struct AccessToken: Sendable {
  let signIn: SignIn
  let tenant: String
  let scopes: ScopeRequest
  let claims: ClaimsRequest
  let expires: Date
  /// The thumbprint of the key that the token is bound to.
  let keyID: String?
}
