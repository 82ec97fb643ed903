import FoundationEssentials
import Logging
import TokenCache

/// Checks and stores the response of a token endpoint or a broker, and makes a result of it.
struct GrantResponse: Sendable {
  let request: ResolvedRequest
  /// The authority that issued the tokens.
  let authority: Authority
  /// The expected issuer of the ID token, by the authority's metadata. Not checked for a broker's token.
  var issuer = ""
  var nonce: String?
  /// Whether the response may omit the account, as some servers do on a refresh.
  var isRefresh = false

  private var client: PublicClient { request.client }
  private var clientID: String { client.configuration.clientID }

  /// Handles the response of a token endpoint. With ``IdentityError/Code/serverDeclinedScopes`` the tokens are stored,
  /// and the error has the result.
  func result(of fields: JSONObject) async throws(IdentityError) -> AuthenticationResult {
    let response = TokenResponse(fields: fields)
    let claims = try check(response)
    do {
      try checkToken(response)
    } catch {
      // The refresh token that this one replaces may no longer be valid.
      if isRefresh, response.refreshToken != nil {
        let rest = TokenResponse(fields: fields.filter { $0.key != "access_token" })
        _ = try await save(records(of: rest, from: nil), from: authority)
      }
      throw error
    }
    return try await result(of: fields, claims)
  }

  /// Handles the response of a broker, and stores it as the broker's. The response is trusted: a program that can
  /// impersonate the broker on the user's bus also has access to the user's files.
  func result(
    of token: BrokerToken, by broker: any TokenBroker
  ) async throws(IdentityError) -> AuthenticationResult {
    let claims = token.idToken.flatMap(IDTokenClaims.init(token:))
    guard claims?.isFor(clientID: clientID) ?? true else {
      throw .brokerFailed("its ID token is for another application")
    }
    // Himmelblau ignores the authority, and returns tokens of the account's home tenant.
    var asked = authority
    // Discovery resolves a domain to its tenant.
    if asked.namesDomain, let issuer = try? await client.metadata(of: asked).issuer {
      asked = asked.resolved(by: issuer)
    }
    guard !asked.excludes(tenant: claims?.tenantID) else {
      throw .brokerFailed("it gave a token of another tenant")
    }
    let home = try homeAccountID(of: token, claims)
    var fields: JSONObject = [
      "access_token": .string(token.accessToken),
      "expires_on": .double(token.expiresOn.timeIntervalSince1970),
    ]
    fields["scope"] = token.grantedScopes.map(JSONValue.string)
    fields["id_token"] = claims == nil ? nil : token.idToken.map(JSONValue.string)
    fields["client_info"] = ClientInfo(homeAccountID: home).map { .string($0.raw) }
    return try await result(
      of: fields, claims, from: broker, account: token.account,
      isResolved: asked.namesManyTenants || asked.namesTenantID)
  }

  private func result(
    of fields: JSONObject, _ claims: IDTokenClaims?, from broker: (any TokenBroker)? = nil,
    account brokers: Account? = nil, isResolved: Bool = true
  ) async throws(IdentityError) -> AuthenticationResult {
    let granted = Self.scope(in: fields)
    var fields = fields
    fields["scope"] = request.scopes.target(granted: granted).map(JSONValue.string)
    let response = TokenResponse(fields: fields)
    let records = try records(of: response, from: broker)
    let realm = (records.accessToken ?? records.idToken)?.realm
    let issued = authority.kind == .aad ? realm.flatMap { try? authority.replacingTenant(with: $0) } : nil
    // A broker's token without an ID token would add an account without a name.
    let shouldStore = broker == nil || records.idToken != nil
    let (stored, cacheError) =
      shouldStore
      ? try await save(records, from: isResolved ? issued ?? authority : authority)
      : (nil, isRefresh ? nil : await noteSignIn(of: records.homeAccountID))
    guard
      let account = stored ?? brokers ?? records.account(in: client.cache.clouds) ?? request.account
    else {
      throw IdentityError(.invalidResponse, "The server's response does not say whose tokens it holds.")
    }
    let profile =
      account.tenantProfiles.first { $0.tenantID == realm?.normalized }
      ?? (realm == nil ? account.tenantProfiles.first : nil)
    let result = AuthenticationResult(
      accessToken: response.accessToken ?? "", expiresOn: records.accessToken?.expiresOn,
      scopes: granted.map(ScopeSet.list) ?? request.scopes.scopes, idToken: response.idToken,
      claims: claims ?? profile?.claims,
      account: account, tenantProfile: profile, authority: issued ?? authority,
      correlationID: request.correlationID, cacheError: cacheError,
      source: broker == nil ? .network : .broker)
    client.log(
      .info, broker == nil ? "The server gave tokens." : "The broker gave a token.",
      [
        "account": client.log.personal(records.homeAccountID), "correlation": "\(request.correlationID.text)",
        "stored": "\(cacheError == nil)",
      ])
    let declined = request.scopes.declined(granted: granted)
    guard !declined.isEmpty else { return result }
    var error = IdentityError(
      .serverDeclinedScopes, "The server did not grant all scopes.",
      advice: "Go on with what was granted, or ask again for the rest.")
    error.grantedScopes = result.scopes
    error.declinedScopes = declined
    error.result = result
    error.correlationID = request.correlationID
    throw error
  }

  /// The granted scopes. Some servers return an array.
  private static func scope(in fields: JSONObject) -> String? {
    switch fields["scope"] {
    case .string(let text): text.contains { !$0.isWhitespace } ? text : nil
    case .array(let scopes): scopes.compactMap(\.stringValue).joined(separator: " ")
    default: nil
    }
  }

  private func records(
    of response: TokenResponse, from broker: (any TokenBroker)?
  ) throws(IdentityError) -> TokenRecords {
    var tokenRequest = TokenRequest(
      environment: authority.environment, clientID: clientID, authority: authority.cacheKind,
      scopes: request.scopes.parameter(), scheme: request.proof.cacheScheme,
      requestedClaims: request.requestedClaims, homeAccountID: request.account?.homeAccountID, realm: realm)
    tokenRequest.isRenewal = isRefresh
    tokenRequest.source = broker?.name
    do throws(CacheError) {
      return try TokenRecords(response, for: tokenRequest, at: client.now())
    } catch {
      throw IdentityError(.invalidResponse, error.message)
    }
  }

  /// The tenant of the tokens, as far as the request determines it.
  private var realm: String? {
    switch authority.kind {
    case .aad: authority.namesManyTenants ? nil : authority.resolved(by: issuer).tenant
    case .b2c, .ciam: isRefresh ? request.realm : nil
    case .adfs, .oidc: nil
    }
  }

  /// Stores the tokens, and the tenant that an authority without a tenant, or with a domain, resolved to. If that fails
  /// the tokens are still valid.
  private func save(
    _ records: TokenRecords, from answered: Authority
  ) async throws(IdentityError) -> (Account?, CacheError?) {
    let requested = request.requestedAuthority
    let isKept = requested.address != answered.address
    let resolved = (requested.address, answered.address, request.isInstanceAware)
    do throws(CacheError) {
      return (try await client.cache.save(records, resolving: isKept ? resolved : nil), nil)
    } catch {
      if error.code == .signedOut { throw .signedOut }
      client.log(.warning, "The tokens could not be stored.", ["reason": "\(error.code.rawValue)"])
      return (nil, error)
    }
  }

  /// Lists the broker's account again if it was signed out.
  private func noteSignIn(of id: String) async -> CacheError? {
    do throws(CacheError) {
      let metadata = try await client.cache.accountMetadata(clientID: clientID, of: id)
      guard metadata?.signInState(of: id) == .signedOut else { return nil }
      try await client.cache.updateAccountMetadata(clientID: clientID, of: id) {
        $0.setSignInState(.signedIn, of: id)
      }
      return nil
    } catch {
      client.log(.warning, "The sign-in could not be stored.", ["reason": "\(error.code.rawValue)"])
      return error
    }
  }
}

extension GrantResponse {
  private func check(_ response: TokenResponse) throws(IdentityError) -> IDTokenClaims? {
    // RFC 6749 section 5.1 and appendix A.12. B2C returns no access token if no scope of an API is granted.
    let isSignInOnly =
      response.fields["access_token"] ?? .null == .null && response.idToken != nil
      && (authority.kind == .b2c || request.scopes.scopes.isEmpty)
    let isValid = response.accessToken?.utf8.allSatisfy { (0x20...0x7e).contains($0) } ?? isSignInOnly
    guard isValid else { throw .noAccessToken }
    if authority.isMicrosofts, !isRefresh, response.clientInfo == nil {
      throw IdentityError(.invalidResponse, "Client info was not returned in the server response")
    }
    guard nonce == nil || response.idToken != nil else {
      throw IdentityError(.invalidResponse, "The server's response has no ID token.")
    }
    // A refresh may have replaced the refresh token, which must not be lost because of a wrong clock.
    let check = IDTokenCheck(
      clientID: clientID, issuer: issuer, nonce: nonce, now: client.now(), checksTimes: !isRefresh)
    var claims: IDTokenClaims?
    if let token = response.idToken { claims = try check.claims(of: token) }
    try checkAccount(response, claims)
    return claims
  }

  private func checkToken(_ response: TokenResponse) throws(IdentityError) {
    // A sign-in may be for the ID token alone. A silent call for scopes needs an access token.
    guard !isRefresh || response.accessToken != nil || request.scopes.scopes.isEmpty else {
      throw .noAccessToken
    }
    let expected = request.proof == nil ? "Bearer" : PopScheme.tokenType
    // A server without support for the scheme may have ignored it, and may omit the type.
    guard (response.tokenType ?? "Bearer").lowercased() == expected.lowercased() else {
      throw IdentityError(
        .invalidResponse, "The server's response has a token of another type than \(expected).")
    }
  }

  /// Rejects tokens of another account (OpenID Connect Core 12.2).
  private func checkAccount(_ response: TokenResponse, _ claims: IDTokenClaims?) throws(IdentityError) {
    guard let account = request.account else { return }
    let isSubject = authority.cacheKind == .adfs
    if let id = response.clientInfo?.homeAccountID ?? (isSubject ? claims?.subject : nil) {
      // Each B2C policy, such as that for editing a profile, has its own ID for the same user.
      let isSame =
        authority.kind == .b2c && Tenant.withoutPolicy(id) == Tenant.withoutPolicy(account.homeAccountID)
      guard isSame || id.normalized == account.homeAccountID.normalized else { throw .mismatchedUser }
    }
    // The subject is case-sensitive (section 2), and the cache's IDs are in lower case.
    if response.clientInfo == nil, let subject = claims?.subject {
      let tenant = claims?.tenantID?.normalized
      let profile = account.tenantProfiles.first { isSubject || $0.tenantID == tenant }
      guard subject == profile?.claims?.subject ?? subject else { throw .mismatchedUser }
    }
  }

  /// Returns the account of a broker's token: that of the response, else of the request, else of the ID token.
  private func homeAccountID(
    of token: BrokerToken, _ claims: IDTokenClaims?
  ) throws(IdentityError) -> String {
    let (object, tenant) = (claims?.objectID, claims?.tenantID)
    guard let account = request.account else {
      if let id = token.account?.homeAccountID { return id }
      guard let object, let tenant else { throw .brokerFailed("it does not say whose token it gave") }
      return "\(object).\(tenant)"
    }
    if let id = token.account?.homeAccountID {
      guard id.normalized == account.homeAccountID.normalized else { throw .mismatchedUser }
    } else if let object, let tenant {
      // An account has another object ID in each tenant. Some of these are known.
      let known =
        account.homeIdentity.flatMap { $0.utid.normalized == tenant.normalized ? $0.uid : nil }
        ?? account.tenantProfiles.first { $0.tenantID == tenant.normalized }?.localAccountID
      guard known == nil || known?.normalized == object.normalized else { throw .mismatchedUser }
    }
    return account.homeAccountID
  }
}

extension ClientInfo {
  /// Makes the client info that a server would send for an account; `nil` if its ID has no such form.
  fileprivate init?(homeAccountID: String) {
    guard let home = Account.homeIdentity(of: homeAccountID),
      let json = try? JSONEncoder().encode(["uid": home.uid, "utid": home.utid])
    else { return nil }
    self.init(raw: json.base64URL)
  }
}

extension IdentityError {
  fileprivate static let mismatchedUser = IdentityError(
    .mismatchedUser, "The account that signed in is not the requested one.",
    advice: "Sign in again and choose the right account.")

  fileprivate static let noAccessToken = IdentityError(
    .invalidResponse, "The server's response has no access token.",
    advice: "Ask for a scope of the API that is to be called.")

  fileprivate static func brokerFailed(_ reason: String) -> IdentityError {
    IdentityError(.brokerFailed, "The identity broker failed: \(reason).")
  }
}
