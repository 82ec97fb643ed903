import FoundationEssentials
import Logging
import TokenCache

/// What the token endpoint was asked for, and what becomes of its answer.
struct TokenGrant: Sendable {
  let client: PublicClient
  let metadata: AuthorityMetadata
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
    let granted = Self.scope(in: fields)
    var fields = fields
    fields["scope"] = scopes.target(granted: granted).map(JSONValue.string)
    let response = TokenResponse(fields: fields)
    let claims = try check(response)
    let declined = scopes.declined(granted: granted)

    var request = TokenRequest(
      environment: client.cache.clouds.preferredCache(of: metadata.authority.host),
      clientID: client.configuration.clientID, authority: metadata.authority.cacheKind,
      scopes: scopes.parameter(), scheme: proof.cacheScheme,
      requestedClaims: try client.configuration.json(of: requestedClaims),
      homeAccountID: self.account?.homeAccountID, realm: self.realm)
    if request.authority == .adfs { request.realm = nil }
    request.isRenewal = isRefresh
    let records: TokenRecords
    do throws(CacheError) {
      records = try TokenRecords(response, for: request, at: client.now())
    } catch {
      throw IdentityError(.invalidResponse, error.message)
    }
    let realm = (records.accessToken ?? records.idToken)?.realm
    let authority = self.authority(of: realm)
    let (stored, cacheError) = try await save(records, from: authority)
    guard let account = stored ?? records.account(in: client.cache.clouds) ?? self.account else {
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
      source: .network)
    client.log.info(
      "The server gave tokens.",
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
    // Who does not know the scheme may have ignored it, and leave the type out.
    guard (response.tokenType ?? "Bearer").lowercased() == expected.lowercased() else {
      throw IdentityError(
        .invalidResponse, "The server's answer has a token of another type than \(expected).")
    }
    if metadata.authority.isMicrosofts, !isRefresh, response.clientInfo == nil {
      throw IdentityError(.invalidResponse, "Client info was not returned in the server response")
    }
    guard nonce == nil || response.idToken != nil else {
      throw IdentityError(.invalidResponse, "The server's answer has no ID token.")
    }
    let claims: IDTokenClaims?
    if let token = response.idToken {
      claims = try IDTokenCheck(
        clientID: client.configuration.clientID, issuer: metadata.issuer, nonce: nonce, now: client.now()
      ).claims(of: token)
    } else {
      claims = nil
    }
    try checkAccount(response, claims)
    return claims
  }

  /// Nobody else's tokens are stored for an account (OpenID Connect Core 12.2).
  private func checkAccount(_ response: TokenResponse, _ claims: IDTokenClaims?) throws(IdentityError) {
    guard let account else { return }
    let isSubject = metadata.authority.cacheKind == .adfs
    let named = response.clientInfo?.homeAccountID ?? (isSubject ? claims?.subject : nil)
    let isSame: Bool
    if let named {
      isSame = named.normalized == account.homeAccountID.normalized
    } else {
      let subject = account.tenantProfiles.first { $0.tenantID == claims?.tenantID?.normalized }?.claims?
        .subject
      isSame = subject == nil || claims?.subject == nil || subject == claims?.subject
    }
    guard isSame else {
      throw IdentityError(
        .mismatchedUser, "Another account signed in than was asked for.",
        advice: "Sign in again and choose the right account.")
    }
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
    guard metadata.authority.kind == .aad, let realm else { return metadata.authority }
    return (try? metadata.authority.replacingTenant(with: realm)) ?? metadata.authority
  }
}
