import Crypto
import FoundationEssentials

extension LabState {
  mutating func issue(
    _ signIn: SignIn, _ requested: ScopeRequest, _ request: TokenRequest
  ) throws(LabError) -> [String: JSON] {
    let (authority, claims, keyID) = (request.authority, request.claims, try boundKey(request.form))
    let tenant = try tenant(of: signIn.user, at: authority)
    var scopes = requested
    scopes.names.removeAll(where: settings.declinedScopes.contains)
    let lifetime = claims.isContinuouslyEvaluated ? settings.longTokenLifetime : settings.tokenLifetime
    let time = Int(now.timeIntervalSince1970)
    let identity = identityClaims(of: signIn, in: tenant, base: request.base)
      .merging(["iat": .integer(time), "nbf": .integer(time), "exp": .integer(time + lifetime)]) { $1 }

    var response: [String: JSON] = [
      "token_type": keyID == nil ? "Bearer" : "pop", "scope": .string(scopes.text),
    ]
    if case .b2c = authority.kind {
      response["not_before"] = .integer(time)
      response["id_token_expires_in"] = .integer(lifetime)
      response["profile_info"] = .string(clientInfo(of: signIn))
    }
    // B2C issues an access token only for requested scopes.
    if response["profile_info"] == nil || !scopes.names.isEmpty {
      let token = accessToken(signIn, tenant, scopes, claims, identity, keyID: keyID, lifetime: lifetime)
      response["access_token"] = .string(token)
      response.merge(lifetimes(lifetime, expires: time + lifetime, authority)) { $1 }
    }
    if scopes.isOffline {
      let token = RefreshToken(signIn: signIn, expires: now + Double(settings.refreshTokenLifetime))
      response["refresh_token"] = .string(refreshTokens.insert(token))
      if case .b2c = authority.kind {
        response["refresh_token_expires_in"] = .integer(settings.refreshTokenLifetime)
      }
    }
    if scopes.isOpenID { response["id_token"] = .string(idToken(signIn, scopes, claims, identity)) }
    if request.form["client_info"] == "1", authority.kind != .adfs {
      response["client_info"] = .string(clientInfo(of: signIn))
    }
    if let family = signIn.app.familyID { response["foci"] = .string(family) }
    return response
  }

  private func lifetimes(_ lifetime: Int, expires: Int, _ authority: LabAuthority) -> [String: JSON] {
    var members: [String: JSON] = ["expires_in": .integer(lifetime)]
    if settings.extendedLifetime > 0 {
      members["ext_expires_in"] = .integer(max(settings.extendedLifetime, lifetime))
    }
    if settings.refreshIn > 0 {
      members["refresh_in"] = .integer(settings.refreshIn)
    } else if lifetime >= 7200 {
      members["refresh_in"] = .integer(lifetime / 2)
    }
    if case .b2c = authority.kind { members["expires_on"] = .integer(expires) }
    return members
  }

  private mutating func accessToken(
    _ signIn: SignIn, _ tenant: String, _ scopes: ScopeRequest, _ claims: ClaimsRequest,
    _ identity: [String: JSON], keyID: String?, lifetime: Int
  ) -> String {
    var content = identity
    content["aud"] = .string(scopes.audience)
    content["appid"] = .string(signIn.app.clientID)
    content["scp"] = .string(scopes.names.joined(separator: " "))
    content["uti"] = .string(randomIdentifier())
    if claims.isContinuouslyEvaluated { content["xms_cc"] = .array(claims.capabilities.map(JSON.string)) }
    if let keyID { content["cnf"] = ["kid": .string(keyID)] }
    let token = key.sign(content)
    accessTokens[token] = AccessToken(
      signIn: signIn, tenant: tenant, scopes: scopes, claims: claims, expires: now + Double(lifetime),
      keyID: keyID)
    return token
  }

  private func idToken(
    _ signIn: SignIn, _ scopes: ScopeRequest, _ claims: ClaimsRequest, _ identity: [String: JSON]
  ) -> String {
    var content = identity
    content["aud"] = .string(signIn.app.clientID)
    content["nonce"] = signIn.nonce.map(JSON.string)
    if scopes.echoed.contains("email") { content["email"] = .string(signIn.user.userPrincipalName) }
    if claims.wantsAuthenticationTime {
      content["auth_time"] = .integer(Int(signIn.time.timeIntervalSince1970))
    }
    return key.sign(content.overlaid(with: settings.idTokenClaims))
  }

  private func identityClaims(of signIn: SignIn, in tenant: String, base: String) -> [String: JSON] {
    let user = signIn.user
    let subject = subject(of: signIn, in: tenant)
    var claims: [String: JSON] = [
      "iss": "\(base)/\(tenant)/v2.0", "sub": .string(subject),
      "oid": .string(user.objectID(in: tenant) ?? user.objectID),
      "tid": .string(tenant),
      "ver": "2.0", "name": .string(user.displayName), "preferred_username": .string(user.userPrincipalName),
    ]
    switch signIn.authority.kind {
    case .entra, .pathless: break
    case .b2c(let policy):
      claims["iss"] = "\(base)/\(tenant)/v2.0/"
      claims["tfp"] = .string(policy)
      claims["preferred_username"] = nil
      claims["emails"] = [.string(user.userPrincipalName)]
    case .adfs:
      claims = [
        "iss": "\(base)/adfs", "sub": .string(subject), "upn": .string(user.userPrincipalName),
        "unique_name": "CONTOSO\\\(user.name)",
      ]
    }
    return claims
  }

  /// Pairwise: another one for each app (OpenID Connect Core section 8.1).
  func subject(of signIn: SignIn, in tenant: String) -> String {
    let objectID = signIn.user.objectID(in: tenant) ?? signIn.user.objectID
    return base64URL(SHA256.hash(data: Array("\(objectID) \(signIn.app.clientID)".utf8)))
  }

  /// `client_info`: the home account. B2C adds the policy to it.
  func clientInfo(of signIn: SignIn) -> String {
    var uid = signIn.user.objectID
    if case .b2c(let policy) = signIn.authority.kind { uid += "-" + policy }
    return base64URL(encodeJSON(["uid": uid, "utid": signIn.user.homeTenant]))
  }
}
