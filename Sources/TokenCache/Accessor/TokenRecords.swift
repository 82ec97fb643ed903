public import FoundationEssentials

/// The records that a token response is saved as.
public struct TokenRecords: Sendable {
  let request: TokenRequest
  /// When the response was received.
  let date: Date
  public let homeAccountID: String
  public private(set) var accessToken: Credential?
  public private(set) var idToken: Credential?
  /// The client's own refresh token, and before it the family's if the client belongs to one.
  public private(set) var refreshTokens: [Credential]
  public private(set) var appMetadata: AppMetadata
  /// `nil` if the response does not name the account, which is then known from the request.
  public private(set) var account: AccountRecord?

  /// Makes the records of a response.
  ///
  /// - Parameters:
  ///   - response: The server's response.
  ///   - request: The request.
  ///   - now: The current time, from which intervals count.
  /// - Throws: ``CacheError/Code/invalidResponse`` when neither the response nor the request names an
  ///   account.
  public init(_ response: TokenResponse, for request: TokenRequest, at now: Date) throws(CacheError) {
    let claims = response.claims
    let clientInfo = response.clientInfo
    // AD FS sends no client info; the subject identifies its accounts. Elsewhere the subject says less than
    // the request, while the client info is the server's own statement of the account.
    let named = clientInfo?.homeAccountID ?? claims?.subject?.normalized
    guard let homeAccountID = clientInfo?.homeAccountID ?? request.homeAccountID?.normalized ?? named else {
      throw CacheError(.invalidResponse, "The token response does not say whose tokens it holds.")
    }
    let home = clientInfo?.utid ?? Tenant.home(of: homeAccountID)
    let realm =
      switch request.authority {
      case .aad: claims?.tenantID ?? request.realm ?? home
      // The tenant in an ID token depends on the policy, so the home tenant is used.
      case .b2c: request.realm ?? home ?? claims?.tenantID
      case .ciam: request.realm ?? claims?.tenantID ?? home
      case .adfs: request.realm
      }
    func credential(_ type: CredentialType, _ secret: String) -> Credential {
      var credential = Credential(
        type: type, homeAccountID: homeAccountID, environment: request.environment,
        clientID: request.clientID, secret: secret)
      credential.source = request.source
      return credential
    }

    self.request = request
    date = now
    self.homeAccountID = homeAccountID
    accessToken = response.accessToken.map { secret in
      var token = credential(request.scheme.credentialType, secret)
      token.realm = realm
      token.target = response.scope ?? request.scopes
      token.cachedAt = now
      token.expiresOn = response.expiresOn(at: now)
      token.extendedExpiresOn = response.extendedExpiresOn(at: now)
      token.refreshOn = response.refreshOn(at: now)
      token.requestedClaims = request.requestedClaims.nonBlank
      token.applicationIdentifier = request.applicationIdentifier.nonBlank
      token.enrollmentID = request.enrollmentID.nonBlank
      token.redirectURI = request.redirectURI.nonBlank
      if case .bound(let tokenType, let keyID) = request.scheme {
        token.tokenType = tokenType
        token.kid = keyID
      }
      return token
    }
    idToken = response.idToken.map { secret in
      var token = credential(.idToken, secret)
      token.realm = realm
      return token
    }
    refreshTokens =
      response.refreshToken.map { secret in
        var own = credential(.refreshToken, secret)
        own.speInfo = response.speInfo
        guard let familyID = response.familyID else { return [own] }
        var family = own
        family.familyID = familyID
        return [family, own]
      } ?? []
    appMetadata = AppMetadata(
      clientID: request.clientID, environment: request.environment, familyID: response.familyID ?? "")
    account = named.map { _ in
      var account = AccountRecord(
        homeAccountID: homeAccountID, environment: request.environment, realm: realm,
        type: request.authority == .adfs ? .adfs : .msSTS)
      account.localAccountID = claims?.objectID ?? claims?.subject ?? clientInfo?.uid
      account.username =
        claims?.username ?? (request.authority == .b2c ? AccountRecord.missingUsername : nil)
      account.name = claims?.name
      account.givenName = claims?.givenName
      account.middleName = claims?.middleName
      account.familyName = claims?.familyName
      account.alternativeAccountID = claims?.alternativeAccountID
      account.clientInfo = clientInfo?.raw
      account.source = request.source
      return account
    }
  }

  /// The same records with another host, and the realm of another record of their tenant where there is one.
  func spelled(host: String, realm: String?) -> TokenRecords {
    var records = self
    for index in refreshTokens.indices { records.refreshTokens[index].environment = host }
    records.appMetadata = AppMetadata(
      clientID: request.clientID, environment: host, familyID: appMetadata.familyID)
    records.accessToken?.environment = host
    records.idToken?.environment = host
    records.account?.environment = host
    guard let realm else { return records }
    records.accessToken?.realm = realm
    records.idToken?.realm = realm
    records.account?.realm = realm
    return records
  }
}
