/// A section of the schema, with records of any type.
protocol CacheSection<Record>: Sendable {
  associatedtype Record: CacheRecord
  var name: String { get }
  var records: any WritableKeyPath<CacheDocument, [String: Record]> & Sendable { get }
}

extension CacheDocument {
  /// The sections of the schema. Everything that is done to all of them uses this list.
  static let sections = recordSections + [Section(name: "AccountMetadataMap", records: \.accountMetadata)]

  /// The sections whose records belong to one account or to none. A record of the other one has parts in several shards.
  static let recordSections: [any CacheSection] =
    CredentialSection.allCases.map { Section(name: $0.rawValue, records: $0.records) } + [
      Section(name: "Account", records: \.accounts),
      Section(name: "AppMetadata", records: \.appMetadata),
    ]

  private struct Section<Record: CacheRecord>: CacheSection {
    let name: String
    let records: any WritableKeyPath<CacheDocument, [String: Record]> & Sendable
  }
}

/// The sections of a cache document that hold credentials.
public enum CredentialSection: String, Sendable, Hashable, CaseIterable {
  case accessToken = "AccessToken"
  case refreshToken = "RefreshToken"
  case idToken = "IdToken"

  var records: any WritableKeyPath<CacheDocument, [String: Credential]> & Sendable {
    switch self {
    case .accessToken: \.accessTokens
    case .refreshToken: \.refreshTokens
    case .idToken: \.idTokens
    }
  }
}
