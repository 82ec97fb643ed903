import FoundationEssentials
import Logging
import TokenCache

/// What the token endpoint was asked for, and what becomes of its answer.
struct TokenGrant: Sendable {
  let client: PublicClient
  /// The authority that answered.
  let authority: Authority
  /// Who must have issued the ID token, as the authority's metadata says; not asked where a broker gave the token.
  var issuer = ""
  /// The authority that the application named.
  let requestedAuthority: Authority
  let scopes: RequestedScopes
  let correlationID: UUID
  /// The account that the answer must be for, where it is known.
  var account: Account?
  /// The tenant that a silent request was for.
  var realm: String?
  /// The claims that the application asked for, without what the client can deal with: the token is for requests with
  /// the same claims alone.
  var requestedClaims: ClaimsRequest?
  var proof: PopProof?
  var nonce: String?
  /// Whether the answer may leave out whose tokens it holds, as some servers do on a refresh.
  var isRefresh = false

  /// Checks an answer, stores it, and makes a result of it.
  ///
  /// - Throws: ``IdentityError``. With ``IdentityError/Code/serverDeclinedScopes`` the tokens are stored and
  ///   stand in the error.
  func result(of fields: JSONObject) async throws(IdentityError) -> AuthenticationResult {
    let response = self.response(fields)
    let claims = try check(response)
    return try await result(of: response, claims, granted: Self.scope(in: fields))
  }

  /// What a broker gave, stored as the broker's, and made a result of. Its statements are trusted: a program that can answer in its place
  /// on the person's own bus has the person's files, too.
  ///
  /// - Throws: ``IdentityError``, as ``result(of:)``; ``IdentityError/Code/mismatchedUser`` for another account than
  ///   was asked for.
  func result(
    of token: BrokerToken, by broker: any TokenBroker
  ) async throws(IdentityError) -> AuthenticationResult {
    let claims = token.idToken.flatMap(IDTokenClaims.init(token:))
    guard claims?.isFor(clientID: client.configuration.clientID) ?? true else {
      throw IdentityError(
        .brokerFailed, "The identity broker failed: its ID token is for another application.")
    }
    let home = try homeAccountID(of: token, claims)
    var fields: JSONObject = [
      "token_type": "Bearer", "access_token": .string(token.accessToken),
      "expires_on": .integer(Int64(token.expiresOn.timeIntervalSince1970)),
    ]
    fields["scope"] = token.grantedScopes.map(JSONValue.string)
    fields["id_token"] = claims == nil ? nil : token.idToken.map(JSONValue.string)
    fields["client_info"] = ClientInfo(homeAccountID: home).map { .string($0.raw) }
    return try await result(
      of: response(fields), claims, granted: Self.scope(in: fields), from: broker, account: token.account)
  }

  private func response(_ fields: JSONObject) -> TokenResponse {
    var fields = fields
    fields["scope"] = scopes.target(granted: Self.scope(in: fields)).map(JSONValue.string)
    return TokenResponse(fields: fields)
  }

  private func result(
    of response: TokenResponse, _ claims: IDTokenClaims?, granted: String?,
    from broker: (any TokenBroker)? = nil,
    account brokers: Account? = nil
  ) async throws(IdentityError) -> AuthenticationResult {
    let declined = scopes.declined(granted: granted)

    var request = TokenRequest(
      environment: client.cache.clouds.preferredCache(of: self.authority.host),
      clientID: client.configuration.clientID, authority: self.authority.cacheKind,
      scopes: scopes.parameter(), scheme: proof.cacheScheme,
      requestedClaims: try client.configuration.json(of: requestedClaims),
      homeAccountID: self.account?.homeAccountID, realm: self.realm)
    if request.authority == .adfs { request.realm = nil }
    request.isRenewal = isRefresh
    request.source = broker?.name
    let records: TokenRecords
    do throws(CacheError) {
      records = try TokenRecords(response, for: request, at: client.now())
    } catch {
      throw IdentityError(.invalidResponse, error.message)
    }
    let realm = (records.accessToken ?? records.idToken)?.realm
    let authority = self.authority(of: realm)
    // Without an ID token nothing of it would be found again.
    let isOfUse = broker == nil || records.idToken != nil
    let (stored, cacheError) = isOfUse ? try await save(records, from: authority) : (nil, nil)
    guard let account = stored ?? brokers ?? records.account(in: client.cache.clouds) ?? self.account else {
      throw IdentityError(.invalidResponse, "The server's answer does not say whose tokens it holds.")
    }
    let profile =
      account.tenantProfiles.first { $0.tenantID == realm?.normalized }
      ?? (realm == nil ? account.tenantProfiles.first : nil)
    let result = AuthenticationResult(
      accessToken: response.accessToken ?? "", expiresOn: records.accessToken?.expiresOn,
      scopes: (granted ?? scopes.scopes.joined(separator: " ")).split(separator: " ").map(String.init),
      idToken: response.idToken, claims: claims ?? profile?.claims, account: account,
      tenantProfile: profile, authority: authority, correlationID: correlationID, cacheError: cacheError,
      source: broker == nil ? .network : .broker)
    client.log.info(
      broker == nil ? "The server gave tokens." : "The broker gave a token.",
      [
        "account": client.log.personal(records.homeAccountID), "correlation": "\(correlationID)",
        "stored": "\(cacheError == nil)",
      ])
    guard declined.isEmpty else {
      var error = IdentityError(
        .serverDeclinedScopes, "The server did not grant all scopes.",
        advice: "Go on with what was granted, or ask again for the rest.")
      error.grantedScopes = result.scopes
      error.declinedScopes = declined
      error.result = result
      error.correlationID = correlationID
      throw error
    }
    return result
  }

  /// The granted scopes. Some servers write a list.
  private static func scope(in fields: JSONObject) -> String? {
    switch fields["scope"] {
    case .string(let text): text.contains { !$0.isWhitespace } ? text : nil
    case .array(let scopes): scopes.compactMap(\.stringValue).joined(separator: " ")
    default: nil
    }
  }

  private func check(_ response: TokenResponse) throws(IdentityError) -> IDTokenClaims? {
    // RFC 6749 section 5.1 and appendix A.12.
    guard let token = response.accessToken, token.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
      throw IdentityError(
        .invalidResponse, "The server's answer has no access token.",
        advice: "Ask for a scope of the API that is to be called.")
    }
    let expected = proof == nil ? "Bearer" : PopScheme.tokenType
    // A server that does not know the scheme may have ignored it, and leave the type out.
    guard (response.tokenType ?? "Bearer").lowercased() == expected.lowercased() else {
      throw IdentityError(
        .invalidResponse, "The server's answer has a token of another type than \(expected).")
    }
    if authority.isMicrosofts, !isRefresh, response.clientInfo == nil {
      throw IdentityError(.invalidResponse, "Client info was not returned in the server response")
    }
    guard nonce == nil || response.idToken != nil else {
      throw IdentityError(.invalidResponse, "The server's answer has no ID token.")
    }
    let claims: IDTokenClaims?
    if let token = response.idToken {
      claims = try IDTokenCheck(
        clientID: client.configuration.clientID, issuer: issuer, nonce: nonce, now: client.now()
      ).claims(of: token)
    } else {
      claims = nil
    }
    try checkAccount(response, claims)
    return claims
  }

  /// Tokens of another account are never stored for this one (OpenID Connect Core 12.2).
  private func checkAccount(_ response: TokenResponse, _ claims: IDTokenClaims?) throws(IdentityError) {
    guard let account else { return }
    let isSubject = authority.cacheKind == .adfs
    let named = response.clientInfo?.homeAccountID ?? (isSubject ? claims?.subject : nil)
    let isSame: Bool
    if let named {
      isSame = named.normalized == account.homeAccountID.normalized
    } else {
      let subject = account.tenantProfiles.first { $0.tenantID == claims?.tenantID?.normalized }?.claims?
        .subject
      isSame = subject == nil || claims?.subject == nil || subject == claims?.subject
    }
    guard isSame else { throw .mismatchedUser }
  }

  /// Whose token a broker gave: as it says itself, else of the account that was asked for, else of the ID token's.
  private func homeAccountID(
    of token: BrokerToken, _ claims: IDTokenClaims?
  ) throws(IdentityError) -> String {
    guard let account else {
      if let named = token.account?.homeAccountID { return named }
      guard let object = claims?.objectID, let tenant = claims?.tenantID else {
        throw IdentityError(.brokerFailed, "The identity broker failed: it does not say whose token it gave.")
      }
      return "\(object).\(tenant)"
    }
    if let named = token.account?.homeAccountID {
      guard named.normalized == account.homeAccountID.normalized else { throw .mismatchedUser }
    } else if let claims, let object = claims.objectID, let tenant = claims.tenantID {
      // In other tenants an account has other object ids, some of which are known.
      let known =
        account.homeIdentity.flatMap { $0.utid.normalized == tenant.normalized ? $0.uid : nil }
        ?? account.tenantProfiles.first { $0.tenantID == tenant.normalized }?.localAccountID
      guard known == nil || known?.normalized == object.normalized else { throw .mismatchedUser }
    }
    return account.homeAccountID
  }

  /// Stores the answer, and which tenant answered for an authority that names none, or names it by a domain. Where
  /// that fails the tokens are good all the same.
  private func save(
    _ records: TokenRecords, from answered: Authority
  ) async throws(IdentityError) -> (Account?, CacheError?) {
    let (asked, answered) = (requestedAuthority.url.absoluteString, answered.url.absoluteString)
    let isKept = asked != answered && (!isRefresh || requestedAuthority.kind == .aad)
    let authority = ResolvedAuthority(
      asked: asked, answered: answered, isInstanceAware: client.configuration.multipleCloudsSupported)
    do throws(CacheError) {
      return (try await client.cache.save(records, resolving: isKept ? authority : nil), nil)
    } catch {
      if error.code == .signedOut { throw .signedOut }
      client.log.warning("The tokens could not be stored.", ["reason": "\(error.code.rawValue)"])
      return (nil, error)
    }
  }

  /// The authority for the tenant that issued the tokens.
  private func authority(of realm: String?) -> Authority {
    guard authority.kind == .aad, let realm else { return authority }
    return (try? authority.replacingTenant(with: realm)) ?? authority
  }
}

extension ClientInfo {
  /// What a server would send for an account; `nil` where its id is not one of a server that does.
  fileprivate init?(homeAccountID: String) {
    guard let dot = homeAccountID.lastIndex(of: ".") else { return nil }
    let fields: JSONObject = [
      "uid": .string(String(homeAccountID[..<dot])),
      "utid": .string(String(homeAccountID[homeAccountID.index(after: dot)...])),
    ]
    guard let json = try? JSONEncoder().encode(fields) else { return nil }
    self.init(raw: json.base64URL)
  }
}

extension IdentityError {
  fileprivate static let mismatchedUser = IdentityError(
    .mismatchedUser, "Another account signed in than was asked for.",
    advice: "Sign in again and choose the right account.")
}
