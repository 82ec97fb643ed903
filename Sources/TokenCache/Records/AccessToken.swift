public import FoundationEssentials

/// An access token that has every field the schema requires.
public struct AccessToken: Sendable, Hashable {
  public let credential: Credential
  public let secret: String
  public let environment: String
  public let clientID: String
  public let target: String

  /// Fails for other kinds of credential, without a secret, environment, client id or target, and for a
  /// token with an authentication scheme that lacks its key id or token type.
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
