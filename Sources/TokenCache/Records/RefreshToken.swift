public import FoundationEssentials

/// A refresh token that has every field the schema requires: one client's own, or that of a family of
/// clients.
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
