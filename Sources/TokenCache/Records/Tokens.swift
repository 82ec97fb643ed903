public import FoundationEssentials

/// An access token that has every field the schema requires.
public struct AccessToken: Sendable, Hashable {
  public let credential: Credential
  public let secret: String
  public let environment: String
  public let clientID: String
  public let target: String

  /// Fails for other kinds of credential, without a secret, environment, client id or target, and for a
  /// token with an authentication scheme but without key id or token type.
  public init?(_ credential: Credential) {
    switch credential.credentialType {
    case .accessToken: break
    case .accessTokenWithAuthScheme:
      guard credential.kid != nil, credential.tokenType != nil else { return nil }
    default: return nil
    }
    guard let secret = credential.secret, let environment = credential.environment,
      let clientID = credential.clientID, let target = credential.target
    else { return nil }
    self.credential = credential
    self.secret = secret
    self.environment = environment
    self.clientID = clientID
    self.target = target
  }

  public var homeAccountID: String? { credential.homeAccountID }
  public var realm: String? { credential.realm }
  /// The scopes that the server granted.
  public var scopes: ScopeSet { ScopeSet(target) }
  /// `Bearer` unless the token has another authentication scheme.
  public var tokenType: String { credential.tokenType ?? "Bearer" }
  public var expiresOn: Date? { credential.expiresOn }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
  /// Names the kind and the scopes; never the token.
  public var description: String { "\(credential.credentialType.rawValue)(\(target))" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A refresh token that has every field the schema requires: a client's own, or one of a family of clients.
public struct RefreshToken: Sendable, Hashable {
  public let credential: Credential
  public let secret: String
  public let environment: String
  /// The client that the token was issued to; for a family's token, the one that stored it last.
  public let clientID: String

  /// Fails for other kinds of credential and without a secret, environment or client id.
  public init?(_ credential: Credential) {
    guard [.refreshToken, .familyRefreshToken, .boundRefreshToken].contains(credential.credentialType),
      let secret = credential.secret, let environment = credential.environment,
      let clientID = credential.clientID
    else { return nil }
    self.credential = credential
    self.secret = secret
    self.environment = environment
    self.clientID = clientID
  }

  public var homeAccountID: String? { credential.homeAccountID }
  /// The family whose clients may all use the token.
  public var familyID: String? { credential.familyID }
  public var lastModified: Date? { credential.lastModified }
}

extension RefreshToken: CustomStringConvertible, CustomReflectable {
  /// Names the kind and the client or family; never the token.
  public var description: String {
    "\(credential.credentialType.rawValue)(\(familyID.map { "family \($0)" } ?? clientID))"
  }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An ID token, v1 or v2, that has every field the schema requires.
public struct IDToken: Sendable, Hashable {
  public let credential: Credential
  public let secret: String
  public let environment: String
  public let clientID: String
  /// The claims; `nil` if the token cannot be read.
  public let claims: IDTokenClaims?

  /// Fails for other kinds of credential and without a secret, environment or client id. The secret may be
  /// empty, as in MSAL for Java after a response without an ID token.
  public init?(_ credential: Credential) {
    guard credential.credentialType.section == .idToken,
      let secret = credential.fields["secret"]?.stringValue, let environment = credential.environment,
      let clientID = credential.clientID
    else { return nil }
    self.credential = credential
    self.secret = secret
    self.environment = environment
    self.clientID = clientID
    claims = IDTokenClaims(token: secret)
  }

  public var homeAccountID: String? { credential.homeAccountID }
  public var realm: String? { credential.realm }
}

extension IDToken: CustomStringConvertible, CustomReflectable {
  /// Names the kind and the client; never the token.
  public var description: String { "\(credential.credentialType.rawValue)(\(clientID))" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
