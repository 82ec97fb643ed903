public import FoundationEssentials
import GLibSupport
public import TokenCache

/// What tool and window show of one record: never its secret.
public struct RecordSummary: Sendable, Hashable {
  /// Whether a token serves.
  package enum State: String, Sendable, Encodable {
    case valid, expired
    /// Serves only while the token service is down.
    case extended
    /// Has not expired, and serves no call for a bearer token.
    case unusable
    /// Not here, but available from the lender.
    case lent
  }

  /// The beginning of a hash of the section and the key: short to type, and without personal data.
  public let id: String
  /// The credential type or section, as the cache has it.
  public let type: String
  /// `nil` for what belongs to no account.
  public var homeAccountId: String?
  package var username: String?
  /// The host of the cloud.
  public var environment: String?
  /// The client ID of the app.
  public var clientId: String?
  /// The family of clients that may use a refresh token.
  public var familyId: String?
  /// The tenant ID.
  public var realm: String?
  /// The scopes, in the server's words and order, separated by spaces.
  public var target: String?
  /// When it was stored.
  public var cachedAt: Date?
  /// When an access token expires; other tokens have no known end.
  public var expiresOn: Date?
  package var state: State?

  /// The part of the id that is enough for tables and for typing.
  package var shortID: String { String(id.prefix(8)) }

  private init(_ section: String, key: String, type: String? = nil) {
    id = String(sha256Hex("\(section)\n\(key)").prefix(12))
    self.type = type ?? section
  }
}

extension RecordSummary {
  /// The summary of a token. It says nothing that depends on the time or on other records.
  public init(_ section: CredentialSection, key: String, _ credential: Credential) {
    self.init(section.rawValue, key: key, type: credential.credentialType.rawValue)
    homeAccountId = credential.homeAccountID
    environment = credential.environment
    clientId = credential.clientID
    familyId = credential.familyID
    realm = credential.realm
    target = credential.target
    cachedAt = credential.cachedAt
    if section == .accessToken, credential.credentialType.section == .accessToken {
      expiresOn = credential.expiresOn
      state = .valid
    }
  }

  /// What a column says of a token's end, or its state where time is left and the token serves no call all the same.
  package static func expiry(_ end: Date?, _ state: State?, at now: Date) -> String {
    guard let end else { return "-" }
    let left = TimeLeft(until: end, at: now)
    if let state, state == .unusable || state == .expired && !left.isExpired { return state.rawValue }
    return left.abbreviation
  }

  fileprivate init(key: String, _ account: AccountRecord) {
    self.init("Account", key: key)
    homeAccountId = account.homeAccountID
    username = account.username
    environment = account.environment
    realm = account.realm
  }

  fileprivate init(key: String, _ metadata: AppMetadata) {
    self.init("AppMetadata", key: key)
    environment = metadata.environment
    clientId = metadata.clientID
    familyId = metadata.familyID
  }

  fileprivate init(key: String, _ metadata: AccountMetadata) {
    self.init("AccountMetadata", key: key)
    clientId = metadata.clientID
  }
}

/// A record together with its summary.
package struct ListedRecord {
  package let summary: RecordSummary
  package let fields: JSONObject
  package let isCredential: Bool
}

extension CacheDocument {
  /// The number of accounts, whatever number of records each has.
  package var accountCount: Int { Set(accounts.values.compactMap(\.homeAccountID)).count }

  /// Every record: accounts first, then their tokens, then what is known of clients.
  package func listed(at now: Date) -> [ListedRecord] {
    let usernames = Dictionary(
      accounts.sorted { $0.key < $1.key }.compactMap { _, account in
        account.homeAccountID.flatMap { id in account.username.map { (id.lowercased(), $0) } }
      }, uniquingKeysWith: { first, _ in first })
    let owners = Set(accounts.values.compactMap { $0.homeAccountID?.lowercased() })
    func state(of credential: Credential) -> RecordSummary.State {
      let isInExtendedLifetime = credential.isInExtendedLifetime(at: now)
      let isExpired = credential.isExpired(at: now, buffer: 0)
      if isExpired, !isInExtendedLifetime { return .expired }
      let hasOwner = credential.homeAccountID.map { owners.contains($0.lowercased()) } ?? true
      guard hasOwner, AccessToken(credential)?.serves() == true else { return .unusable }
      return isExpired ? .extended : .valid
    }
    func listed<Record: CacheRecord>(
      _ section: [String: Record], isCredential: Bool = false, _ summary: (String, Record) -> RecordSummary
    ) -> [ListedRecord] {
      section.sorted { $0.key < $1.key }.map { key, record in
        ListedRecord(summary: summary(key, record), fields: record.fields, isCredential: isCredential)
      }
    }
    return listed(accounts, RecordSummary.init)
      + CredentialSection.allCases.flatMap { section in
        listed(self[section], isCredential: true) { key, credential in
          var summary = RecordSummary(section, key: key, credential)
          summary.username = credential.homeAccountID.flatMap { usernames[$0.lowercased()] }
          if summary.state != nil { summary.state = state(of: credential) }
          return summary
        }
      } + listed(appMetadata, RecordSummary.init) + listed(accountMetadata, RecordSummary.init)
  }
}
