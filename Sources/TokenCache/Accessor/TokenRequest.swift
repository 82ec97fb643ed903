/// The kinds of authority, as far as they differ in what the cache keeps.
public enum AuthorityKind: Sendable, Hashable {
  /// Entra ID and personal accounts.
  case aad
  case b2c
  case ciam
  case adfs
}

/// How an access token is presented.
public enum AuthenticationScheme: Sendable, Hashable {
  case bearer
  /// A token bound to a key, such as `Pop` or `ssh-cert`.
  case bound(tokenType: String, keyID: String)

  var credentialType: CredentialType {
    self == .bearer ? .accessToken : .accessTokenWithAuthScheme
  }

  /// Whether an access token has this scheme and, where one is named, this key.
  ///
  /// Apple's library has a credential type for tokens with a scheme; others name the scheme in the token type
  /// alone.
  func isThat(of token: Credential) -> Bool {
    switch self {
    case .bearer: token.credentialType == .accessToken && token.schemeName.isEmpty
    case .bound(let tokenType, let keyID):
      tokenType.normalized == token.schemeName && (keyID.isEmpty || keyID == token.kid)
    }
  }
}

/// The request that a token response answers, as far as the cache must know it.
public struct TokenRequest: Sendable {
  /// The host that stands in the cache: `preferred_cache` once instance discovery ran, else the authority's.
  public var environment: String
  public var clientID: String
  public var authority: AuthorityKind
  /// The scopes asked for, taken where the response names none.
  public var scopes: String
  public var scheme: AuthenticationScheme
  /// The `claims` parameter of the request.
  public var requestedClaims: String?
  /// The application's identifier in Intune, and its enrolment.
  public var applicationIdentifier: String?
  public var enrollmentID: String?
  /// Nested app authentication only.
  public var redirectURI: String?
  /// The account that a silent request was for: a refresh may answer without saying whose token it is.
  public var homeAccountID: String?
  /// The tenant that a silent request was for, taken where the response names none.
  public var realm: String?
  /// Whether a refresh token was redeemed. Then nothing is saved for an account that was signed out meanwhile.
  public var isRenewal = false
  /// Who gave the tokens, where that was somebody else than the server, such as `broker`. The records say so. They may
  /// be the first of an account, and a renewal too.
  public var source: String?

  public init(
    environment: String, clientID: String, authority: AuthorityKind = .aad, scopes: String = "",
    scheme: AuthenticationScheme = .bearer, requestedClaims: String? = nil,
    applicationIdentifier: String? = nil, enrollmentID: String? = nil, redirectURI: String? = nil,
    homeAccountID: String? = nil, realm: String? = nil
  ) {
    self.environment = environment
    self.clientID = clientID
    self.authority = authority
    self.scopes = scopes
    self.scheme = scheme
    self.requestedClaims = requestedClaims
    self.applicationIdentifier = applicationIdentifier
    self.enrollmentID = enrollmentID
    self.redirectURI = redirectURI
    self.homeAccountID = homeAccountID
    self.realm = realm
  }
}
