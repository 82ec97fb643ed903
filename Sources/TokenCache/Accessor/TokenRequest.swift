/// The kinds of authority that the cache distinguishes.
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

  var credentialType: CredentialType { self == .bearer ? .accessToken : .accessTokenWithAuthScheme }

  /// Whether an access token has this scheme and, if the scheme names one, this key.
  ///
  /// Apple's library has a credential type for tokens with a scheme; others name the scheme only in the token type.
  func matches(_ token: Credential) -> Bool {
    switch self {
    case .bearer: token.credentialType == .accessToken && token.schemeName.isEmpty
    case .bound(let tokenType, let keyID):
      tokenType.normalized == token.schemeName && (keyID.isEmpty || keyID == token.kid)
    }
  }
}

/// The request of a token response, as far as the cache needs it.
public struct TokenRequest: Sendable {
  /// Any host of the cloud. New records get that of the account's records there, else the cloud's preferred one.
  public var environment: String
  public var clientID: String
  public var authority: AuthorityKind
  /// The requested scopes, used if the response names none.
  public var scopes: String
  public var scheme: AuthenticationScheme
  /// The `claims` parameter of the request; saved with the access token, which serves requests without claims, too.
  public var requestedClaims: String?
  /// The application's identifier in Intune, and its enrolment.
  public var applicationIdentifier: String?
  public var enrollmentID: String?
  /// Nested app authentication only.
  public var redirectURI: String?
  /// The account of a silent request: the response to a refresh may not name it.
  public var homeAccountID: String?
  /// The tenant of a silent request, used if the response names none.
  public var realm: String?
  /// Whether a refresh token was redeemed. Then nothing is saved for an account that was signed out in the meantime.
  public var isRenewal = false
  /// The source of the tokens if it is not the server, for example `broker`; saved in the records. They may be the first
  /// of an account even for a renewal.
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
