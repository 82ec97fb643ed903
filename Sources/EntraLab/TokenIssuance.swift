import Crypto
import FoundationEssentials

/// The tokens themselves.
extension LabState {
  mutating func issue(
    _ signIn: SignIn, _ requested: ScopeRequest, _ authority: LabAuthority, _ claims: ClaimsRequest,
    base: String
  ) throws(OAuthFailure) -> [String: JSON] {
    let tenant = try tenant(of: signIn.user, at: authority)
    var scopes = requested
    scopes.remove(settings.declinedScopes)
    let lifetime = claims.isContinuouslyEvaluated ? settings.longTokenLifetime : settings.tokenLifetime
    let time = Int(now.timeIntervalSince1970)

    let identity = identityClaims(of: signIn, in: tenant, base: base)
    let times: [String: JSON] = [
      "iat": .integer(time), "nbf": .integer(time), "exp": .integer(time + lifetime),
    ]
    var access = identity.merging(times) { _, new in new }
    access["aud"] = .string(scopes.audience)
    access["appid"] = .string(signIn.app.clientID)
    access["scp"] = .string(scopes.names.joined(separator: " "))
    access["uti"] = .string(randomIdentifier())
    if claims.isContinuouslyEvaluated { access["xms_cc"] = .array(claims.capabilities.map(JSON.string)) }
    let accessToken = key.sign(access)
    accessTokens[accessToken] = AccessToken(
      signIn: signIn, tenant: tenant, scopes: scopes,
      isContinuouslyEvaluated: claims.isContinuouslyEvaluated, expires: now + Double(lifetime))

    var response: [String: JSON] = [
      "token_type": "Bearer", "scope": .string(scopes.text), "expires_in": .integer(lifetime),
      "access_token": .string(accessToken),
    ]
    if settings.extendedLifetime > 0 {
      response["ext_expires_in"] = .integer(max(settings.extendedLifetime, lifetime))
    }
    if settings.refreshIn > 0 {
      response["refresh_in"] = .integer(settings.refreshIn)
    } else if lifetime >= 7200 {
      response["refresh_in"] = .integer(lifetime / 2)
    }
    if scopes.isOffline {
      let token = RefreshToken(signIn: signIn, expires: now + Double(settings.refreshTokenLifetime))
      response["refresh_token"] = .string(refreshTokens.insert(token))
    }
    if scopes.isOpenID {
      var id = identity.merging(times) { _, new in new }
      id["aud"] = .string(signIn.app.clientID)
      id["nonce"] = signIn.nonce.map(JSON.string)
      if scopes.echoed.contains("email") { id["email"] = .string(signIn.user.userPrincipalName) }
      if claims.wantsAuthenticationTime { id["auth_time"] = .integer(Int(signIn.time.timeIntervalSince1970)) }
      response["id_token"] = .string(key.sign(id.overlaid(with: settings.idTokenClaims)))
    }
    if authority.kind != .adfs { response["client_info"] = .string(clientInfo(of: signIn)) }
    if let family = signIn.app.familyID { response["foci"] = .string(family) }
    if case .b2c = authority.kind {
      response["not_before"] = .integer(time)
      response["expires_on"] = .integer(time + lifetime)
      response["id_token_expires_in"] = .integer(lifetime)
      response["profile_info"] = response["client_info"]
      response["refresh_token_expires_in"] = .integer(settings.refreshTokenLifetime)
    }
    return response
  }

  private func identityClaims(of signIn: SignIn, in tenant: String, base: String) -> [String: JSON] {
    let user = signIn.user
    let objectID = user.objectID(in: tenant) ?? user.objectID
    // Pairwise: another one for each app, as OpenID Connect Core section 8.1 has it.
    let subject = base64URL(SHA256.hash(data: Array("\(objectID) \(signIn.app.clientID)".utf8)))
    var claims: [String: JSON] = [
      "iss": "\(base)/\(tenant)/v2.0", "sub": .string(subject), "oid": .string(objectID),
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

  /// `client_info`: whose home account it is. B2C puts the policy into it.
  func clientInfo(of signIn: SignIn) -> String {
    var uid = signIn.user.objectID
    if case .b2c(let policy) = signIn.authority.kind { uid += "-" + policy }
    return base64URL(encodeJSON(["uid": uid, "utid": signIn.user.homeTenant]))
  }
}
