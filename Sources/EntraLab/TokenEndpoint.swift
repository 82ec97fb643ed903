import Crypto
import FoundationEssentials

/// A request to the token endpoint by a valid client.
struct TokenRequest: Sendable {
  let form: Parameters
  let app: LabApp
  let authority: LabAuthority
  let claims: ClaimsRequest
  let base: String
}

/// The token endpoint and its three grants.
extension LabState {
  mutating func token(_ request: LabRequest, _ authority: LabAuthority) throws(LabError) -> LabReply {
    try request.requirePOST()
    let form = request.form
    let app = try app(form["client_id"], at: authority)
    if form["client_secret"] != nil || form["client_assertion"] != nil {
      throw LabError(
        "invalid_client", 700_025,
        "Client is public so neither 'client_assertion' nor 'client_secret' may be sent.")
    }
    let token = TokenRequest(
      form: form, app: app, authority: authority, claims: try ClaimsRequest(form["claims"]),
      base: request.base)
    let response: [String: JSON]
    switch form["grant_type"] {
    case "authorization_code": response = try redeemCode(token)
    case "refresh_token": response = try refresh(token)
    case "urn:ietf:params:oauth:grant-type:device_code", "device_code": response = try pollDevice(token)
    case .some(let other):
      throw LabError(
        "unsupported_grant_type", 70003, "The app requested an unsupported grant type '\(other)'.")
    case nil: throw .missing("grant_type")
    }
    var reply = LabReply(json: response.overlaid(with: settings.tokenResponse))
    reply.headers["x-ms-clitelem"] = "1,0,0,,"
    return reply
  }

  private mutating func redeemCode(_ request: TokenRequest) throws(LabError) -> [String: JSON] {
    let form = request.form
    guard let name = form["code"] else { throw .missing("code") }
    guard let code = codes[name], code.signIn.app.clientID == request.app.clientID else {
      throw .grant(70000, "Provided grant is invalid or malformed.")
    }
    if code.isUsed { throw .grant(54005, "OAuth2 Authorization code was already redeemed.") }
    codes[name]?.isUsed = true
    if code.expires < now { throw .grant(70008, "The provided authorization code has expired.") }
    if form["redirect_uri"] != code.request.redirectURI {
      throw LabError(
        "invalid_client", 500_112,
        "The reply address does not match the one provided when requesting the authorization code.")
    }
    try checkVerifier(form["code_verifier"], code.request.parameters)
    let tenant = try tenant(of: code.signIn.user, at: request.authority)
    if try tenant != self.tenant(of: code.signIn.user, at: code.signIn.authority) {
      throw .grant(700_005, "Provided authorization code is intended to use against other tenant.")
    }
    guard code.signIn.authority.isCompatible(with: request.authority) else {
      throw .grant(70000, "The provided grant has not been issued for this endpoint.")
    }
    let scopes = try ScopeRequest(
      form["scope"] ?? code.request.parameters["scope"] ?? "", isToken: true, unknown: settings.unknownScopes)
    try checkConsent(to: scopes, of: code.signIn.user, for: request.app)
    return try issue(code.signIn, scopes, request)
  }

  /// PKCE (RFC 7636 section 4.6).
  private func checkVerifier(_ verifier: String?, _ parameters: [String: String]) throws(LabError) {
    guard let challenge = parameters["code_challenge"] else {
      if verifier != nil {
        throw .grant(
          501_481, "The Code_Verifier was sent, but no code_challenge in the authorization request.")
      }
      return
    }
    guard let verifier else {
      throw .grant(50148, "The code_verifier is missing, which the authorization request calls for.")
    }
    let isHashed = parameters["code_challenge_method"] == "S256"
    let computed = isHashed ? base64URL(SHA256.hash(data: Array(verifier.utf8))) : verifier
    guard computed == challenge, (43...128).contains(verifier.count) else {
      throw .grant(
        501_481, "The Code_Verifier does not match the code_challenge supplied in the authorization request."
      )
    }
  }

  private mutating func refresh(_ request: TokenRequest) throws(LabError) -> [String: JSON] {
    let (form, app, authority) = (request.form, request.app, request.authority)
    guard let name = form["refresh_token"] else { throw .missing("refresh_token") }
    guard let token = refreshTokens[name], token.signIn.authority.isCompatible(with: authority) else {
      throw .grant(9_002_313, "Invalid request. Request is malformed or invalid.", "bad_token")
    }
    var signIn = token.signIn
    let sharesFamily = app.familyID != nil && app.familyID == signIn.app.familyID
    if app.clientID != signIn.app.clientID, !sharesFamily {
      throw .grant(70000, "Provided grant was issued to another client.", "client_mismatch")
    }
    if token.expires < now {
      throw .grant(700_082, "The refresh token has expired due to inactivity.", "bad_token")
    }
    if settings.strictRefreshTokens, token.isUsed {
      throw .grant(70000, "The refresh token was used before.", "bad_token")
    }
    _ = try tenant(of: signIn.user, at: authority)
    let account = account(of: signIn.user)
    if let condition = account.condition { throw condition.failure }
    if account.revocations != signIn.revocations {
      throw .grant(
        50173, "The provided grant has expired due to it being revoked, a fresh auth token is needed.",
        "bad_token")
    }
    let scopes = try ScopeRequest(
      form["scope"] ?? "openid profile offline_access", isToken: true, unknown: settings.unknownScopes)
    if !signIn.hasMFA, account.needsMFA(for: scopes) {
      throw LabError(
        "invalid_grant", 50076, "You must use multi-factor authentication to access the resource.",
        suberror: "basic_action",
        claims:
          #"{"access_token":{"capolids":{"essential":true,"values":["0fa1a0f1-1ab0-4000-8000-0000000000ca"]}}}"#
      )
    }
    try checkConsent(to: scopes, of: signIn.user, for: app)
    if settings.strictRefreshTokens { refreshTokens[name]?.isUsed = true }
    (signIn.app, signIn.authority, signIn.nonce) = (app, authority, nil)
    return try issue(signIn, scopes, request)
  }

  func missingConsent(_ scopes: ScopeRequest, of user: LabUser, to app: LabApp) -> String? {
    let consents = account(of: user).consents
    let isMissing = scopes.names.contains {
      settings.consentScopes.contains($0) && !consents.contains(app.clientID + " " + $0)
    }
    return isMissing ? "The user or administrator has not consented to use the application." : nil
  }

  private func checkConsent(
    to scopes: ScopeRequest, of user: LabUser, for app: LabApp
  ) throws(LabError) {
    if let missing = missingConsent(scopes, of: user, to: app) {
      throw .grant(65001, missing, "consent_required")
    }
  }

  mutating func consent(_ user: LabUser, to scopes: ScopeRequest, for app: LabApp) {
    accounts[user.name, default: AccountState()].consents.formUnion(
      scopes.names.map { app.clientID + " " + $0 })
  }
}

extension LabAuthority {
  /// Whether a code or a refresh token of one is valid at the other: B2C's are bound to a policy, Entra's are not bound.
  func isCompatible(with other: LabAuthority) -> Bool {
    let entras: [Kind] = [.entra, .pathless]
    return kind == other.kind || entras.contains(kind) && entras.contains(other.kind)
  }
}
