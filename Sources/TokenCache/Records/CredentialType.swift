/// The kinds of credential in MSAL's unified schema, as the field `credential_type` names them.
public enum CredentialType: String, Sendable, Hashable, CaseIterable {
  case accessToken = "AccessToken"
  /// A proof-of-possession token or an SSH certificate.
  case accessTokenWithAuthScheme = "AccessToken_With_AuthScheme"
  case refreshToken = "RefreshToken"
  case familyRefreshToken = "FamilyRefreshToken"
  case boundRefreshToken = "BoundRefreshToken"
  case primaryRefreshToken = "PrimaryRefreshToken"
  case idToken = "IdToken"
  /// An ID token from a v1 endpoint.
  case legacyIDToken = "V1IdToken"
  case legacySingleResourceToken = "LegacySingleResourceToken"
  case other = "token"

  /// Reads a `credential_type` without regard to case.
  public init?(caseInsensitive text: String) {
    guard let type = Self.byLowercasedName[text.lowercased()] else { return nil }
    self = type
  }

  private static let byLowercasedName = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

  /// The section of the cache document that holds such a credential.
  public var section: CredentialSection {
    switch self {
    case .accessToken, .accessTokenWithAuthScheme, .legacySingleResourceToken, .other: .accessToken
    case .refreshToken, .familyRefreshToken, .boundRefreshToken, .primaryRefreshToken: .refreshToken
    case .idToken, .legacyIDToken: .idToken
    }
  }
}
