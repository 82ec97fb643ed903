import FoundationEssentials

/// A request to the authorize endpoint with a valid client and redirect URI.
struct AuthorizeRequest: Sendable {
  let parameters: [String: String]
  let app: LabApp
  let authority: LabAuthority
  let redirectURI: String
  let base: String
  var scopes = ScopeRequest()

  var state: String? { parameters["state"] }
}

/// The user of a browser, and how they signed in.
struct BrowserSession: Sendable {
  let user: LabUser
  let hasMFA: Bool
}

/// The authorize endpoint and its page.
extension LabState {
  private static let sessionCookie = "LABSESSION"

  mutating func authorize(_ request: LabRequest, _ authority: LabAuthority) -> LabReply {
    let fields = request.fields
    let app: LabApp
    let redirectURI: String
    do {
      app = try self.app(fields["client_id"], at: authority)
      redirectURI = try self.redirectURI(fields["redirect_uri"], of: app, base: request.base)
    } catch {
      return error.page(now: now)
    }
    var authorize = AuthorizeRequest(
      parameters: fields.dictionary.filter { !$0.value.isEmpty }, app: app, authority: authority,
      redirectURI: redirectURI, base: request.base)
    do {
      authorize.scopes = try checkedScopes(authorize.parameters)
      return try respond(to: authorize, session: session(of: request))
    } catch {
      return respond(to: authorize, with: error)
    }
  }

  private func redirectURI(
    _ uri: String?, of app: LabApp, base: String
  ) throws(LabError) -> String {
    guard let uri else { throw .missing("redirect_uri") }
    guard app.accepts(redirectURI: uri) || uri == base + "/common/oauth2/nativeclient" else {
      throw .invalidRequest(
        50011,
        "The redirect URI '\(uri)' specified in the request does not match the redirect URIs configured for the "
          + "application '\(app.clientID)'.")
    }
    return uri
  }

  /// The scopes of a request, all of whose parameters are valid.
  private func checkedScopes(_ parameters: [String: String]) throws(LabError) -> ScopeRequest {
    guard let type = parameters["response_type"] else { throw .missing("response_type") }
    guard type == "code" else {
      throw LabError("unsupported_response_type", 700_054, "response_type '\(type)' is not enabled.")
    }
    guard ["query", "fragment", "form_post", nil].contains(parameters["response_mode"]) else {
      throw .invalidRequest(900_541, "The response_mode is not supported.")
    }
    guard let scope = parameters["scope"] else { throw .missing("scope") }
    let scopes = try ScopeRequest(scope, isToken: false, unknown: settings.unknownScopes)
    _ = try ClaimsRequest(parameters["claims"])
    if let challenge = parameters["code_challenge"] {
      guard (43...128).contains(challenge.count) else {
        throw .invalidRequest(501_491, "The code challenge has a wrong format.")
      }
      guard ["plain", "S256", nil].contains(parameters["code_challenge_method"]) else {
        throw .invalidRequest(9_002_313, "The code_challenge_method is not supported.")
      }
    }
    let prompts = ["login", "none", "consent", "select_account", "create", nil]
    guard prompts.contains(parameters["prompt"]) else {
      throw .invalidRequest(90023, "Unsupported 'prompt' value.")
    }
    if parameters["prompt"] == "select_account", parameters["login_hint"] != nil {
      throw .invalidRequest(90023, "'select_account' and a login hint exclude each other.")
    }
    return scopes
  }

  private mutating func respond(
    to request: AuthorizeRequest, session: BrowserSession?
  ) throws(LabError) -> LabReply {
    let prompt = request.parameters["prompt"]
    let hinted = hintedUser(request)
    let isHinted = request.parameters["login_hint"] != nil || request.parameters["login_req"] != nil
    let session = !isHinted || hinted?.name == session?.user.name ? session : nil
    if prompt == "none" { return try respondSilently(request, session: session) }
    switch settings.authorize {
    case .page: break
    case .loginHint:
      if let hinted, prompt != "login" { return finish(request, as: hinted) }
    case .user(let name):
      if let user = directory.user(name) { return finish(request, as: user) }
    case .deny: return cancel(request)
    case .error(let code, let description):
      return respond(to: request, withError: [("error", code), ("error_description", description)])
    }
    if prompt == nil, let session { return finish(request, as: session.user) }
    let id = signIns.insert(request)
    return LabReply(
      html: HTMLPage.selectUser(
        action: "/common/login", title: "Sign in",
        note: "\(request.app.name) requests: \(request.parameters["scope"] ?? "")",
        hidden: [("ctx", id)], users: offeredUsers(request, hinted)))
  }

  private mutating func respondSilently(
    _ request: AuthorizeRequest, session: BrowserSession?
  ) throws(LabError) -> LabReply {
    guard let session else {
      throw LabError(
        "login_required", 50058, "Session information is not sufficient for single-sign-on.")
    }
    let user = session.user
    do {
      _ = try tenant(of: user, at: request.authority)
    } catch {
      throw LabError("interaction_required", error.number, error.text)
    }
    if !session.hasMFA, account(of: user).needsMFA(for: request.scopes) {
      throw LabError("interaction_required", 50076, "You must use multi-factor authentication.")
    }
    if let missing = missingConsent(request.scopes, of: user, to: request.app) {
      throw LabError("consent_required", 65001, missing)
    }
    return finish(request, as: user, hasMFA: session.hasMFA)
  }

  private func hintedUser(_ request: AuthorizeRequest) -> LabUser? {
    if let hint = request.parameters["login_hint"] { return directory.user(hint) }
    guard let uid = request.parameters["login_req"] else { return nil }
    return directory.users.first { $0.objectID == uid && $0.homeTenant == request.parameters["domain_req"] }
  }

  private func offeredUsers(_ request: AuthorizeRequest, _ hinted: LabUser?) -> [LabUser] {
    if let hinted { return [hinted] }
    return directory.users.filter { user in
      switch request.parameters["domain_hint"] {
      case nil: true
      case "consumers": user.isPersonal
      case "organizations": !user.isPersonal
      case .some(let domain): directory.tenant(domain)?.id == user.homeTenant
      }
    }
  }

  /// The form of the page: a user was selected, or the sign-in cancelled.
  mutating func login(_ request: LabRequest) -> LabReply {
    guard request.method == "POST", let id = request.form["ctx"], let authorize = signIns[id] else {
      return LabError.invalidRequest(165_900, "This sign-in is unknown or has ended.").page(now: now)
    }
    if request.form["cancel"] != nil {
      signIns[id] = nil
      return cancel(authorize)
    }
    guard let name = request.form["user"], let user = directory.user(name) else {
      return LabError.invalidRequest(50034, "The user account does not exist.").page(now: now)
    }
    signIns[id] = nil
    var reply = finish(authorize, as: user)
    let session = browserSessions.insert(
      BrowserSession(user: user, hasMFA: account(of: user).mfaScopes != nil))
    reply.headers["Set-Cookie"] = "\(Self.sessionCookie)=\(session); Path=/; Secure; HttpOnly; SameSite=None"
    return reply
  }

  private func cancel(_ request: AuthorizeRequest) -> LabReply {
    let text =
      if case .b2c = request.authority.kind {
        "AADB2C90091: The user has cancelled entering self-asserted information."
      } else {
        "AADSTS65004: User declined to consent to access the app."
      }
    return respond(
      to: request,
      withError: [("error", "access_denied"), ("error_subcode", "cancel"), ("error_description", text)])
  }

  private mutating func finish(
    _ request: AuthorizeRequest, as user: LabUser, hasMFA: Bool? = nil
  ) -> LabReply {
    do {
      _ = try tenant(of: user, at: request.authority)
    } catch {
      return error.page(now: now)
    }
    consent(user, to: request.scopes, for: request.app)
    var signIn = signIn(
      user, app: request.app, authority: request.authority, nonce: request.parameters["nonce"])
    if let hasMFA { signIn.hasMFA = hasMFA }
    let code = codes.insert(AuthorizationCode(signIn: signIn, request: request, expires: now + 600))
    var fields: [String: JSON] = ["code": .string(code), "session_state": .string(randomIdentifier())]
    if request.parameters["client_info"] == "1", request.authority.kind != .adfs {
      fields["client_info"] = .string(clientInfo(of: signIn))
    }
    if request.parameters["instance_aware"] == "true" {
      let host = String(request.base.dropFirst("https://".count))
      fields["cloud_instance_name"] = .string(host)
      fields["cloud_instance_host_name"] = .string(host)
      fields["cloud_graph_host_name"] = .string(host)
    }
    if let state = request.state { fields["state"] = .string(state) }
    let response = fields.overlaid(with: settings.authorizeResponse)
    return respond(to: request, response.sorted { $0.key < $1.key }.map { ($0.key, $0.value.string ?? "") })
  }

  /// A new sign-in in the browser, with a second factor if one is required.
  func signIn(_ user: LabUser, app: LabApp, authority: LabAuthority, nonce: String?) -> SignIn {
    let account = account(of: user)
    return SignIn(
      user: user, app: app, authority: authority, nonce: nonce, time: now, hasMFA: account.mfaScopes != nil,
      revocations: account.revocations)
  }

  private func respond(to request: AuthorizeRequest, with failure: LabError) -> LabReply {
    let text = failure.description(
      trace: randomIdentifier(), correlation: request.parameters["client-request-id"] ?? randomIdentifier(),
      now: now)
    return respond(
      to: request,
      withError: [
        ("error", failure.error), ("error_description", text),
        ("error_uri", "\(request.base)/error?code=\(failure.number)"),
      ])
  }

  private func respond(to request: AuthorizeRequest, withError fields: [(String, String)]) -> LabReply {
    respond(to: request, fields + (request.state.map { [("state", $0)] } ?? []))
  }

  private func respond(to request: AuthorizeRequest, _ fields: [(String, String)]) -> LabReply {
    let uri = request.redirectURI
    if request.parameters["response_mode"] == "form_post" {
      return LabReply(html: HTMLPage.formPost(to: uri, fields))
    }
    // Entra adds a path to a redirect URI without one.
    let isPathless =
      uri.hasPrefix("http") && uri.split(separator: "/", omittingEmptySubsequences: false).count == 3
    let separator =
      request.parameters["response_mode"] == "fragment" ? "#" : uri.contains("?") ? "&" : "?"
    return .redirect(to: uri + (isPathless ? "/" : "") + separator + encodeForm(fields))
  }

  private func session(of request: LabRequest) -> BrowserSession? {
    sessionName(request).flatMap { browserSessions[$0] }
  }

  private func sessionName(_ request: LabRequest) -> String? {
    Parameters((request.headers["cookie"] ?? "").replacing("; ", with: "&"))[Self.sessionCookie]
  }

  /// The end session endpoint: ends the browser's session and redirects to the registered URI of the request.
  mutating func logout(_ request: LabRequest) -> LabReply {
    let fields = request.fields
    if let name = sessionName(request) { browserSessions[name] = nil }
    var reply = LabReply(html: HTMLPage.page(title: "Sign out", "<p>You signed out of your account.</p>"))
    if let uri = fields["post_logout_redirect_uri"],
      directory.apps.contains(where: { $0.accepts(redirectURI: uri) })
    {
      let state = fields["state"].map { "state=" + percentEncode($0) }
      reply = .redirect(to: uri + (state.map { (uri.contains("?") ? "&" : "?") + $0 } ?? ""))
    }
    reply.headers["Set-Cookie"] = "\(Self.sessionCookie)=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=None"
    return reply
  }
}
