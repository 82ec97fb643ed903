/// An ID token, v1 or v2, that has every field the schema requires.
public struct IDToken: Sendable, Hashable {
  public let credential: Credential
  public let secret: String
  public let environment: String
  public let clientID: String
  /// What the token says, `nil` when it cannot be read.
  public let claims: IDTokenClaims?

  /// Fails for other kinds of credential and without a secret, environment or client id. The secret may be
  /// empty, as MSAL for Java leaves it where a response had no ID token.
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
