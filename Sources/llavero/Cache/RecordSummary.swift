import FoundationEssentials
import GLibSupport
import TokenCache

/// What `list` and `show` say of one record: never its secret.
struct RecordSummary: Encodable {
  /// How good a token still is.
  enum State: String, Encodable {
    case valid, expired
    /// Good only while the token service is down.
    case extended
    /// Not here, but available from the lender.
    case lent
  }

  /// The beginning of a hash of the section and the key: short to type, and without personal data.
  let id: String
  let type: String
  var homeAccountId: String?
  var username: String?
  var environment: String?
  var clientId: String?
  var familyId: String?
  var realm: String?
  var target: String?
  var cachedAt: Date?
  var expiresOn: Date?
  var state: State?

  /// The part of the id that is enough for tables and for typing.
  var shortID: String { String(id.prefix(8)) }

  private static func id(_ section: String, _ key: String) -> String {
    String(sha256Hex("\(section)\n\(key)").prefix(12))
  }

  private static func state(of credential: Credential, at now: Date) -> State {
    if !credential.isExpired(at: now, buffer: 0) { return .valid }
    return credential.isInExtendedLifetime(at: now) ? .extended : .expired
  }
}

extension RecordSummary {
  fileprivate init(
    _ section: CredentialSection, key: String, _ credential: Credential, usernames: [String: String],
    now: Date
  ) {
    let isAccessToken = section == .accessToken && credential.credentialType.section == .accessToken
    self.init(
      id: Self.id(section.rawValue, key), type: credential.credentialType.rawValue,
      homeAccountId: credential.homeAccountID,
      username: credential.homeAccountID.flatMap { usernames[$0.lowercased()] },
      environment: credential.environment, clientId: credential.clientID, familyId: credential.familyID,
      realm: credential.realm, target: credential.target, cachedAt: credential.cachedAt,
      expiresOn: isAccessToken ? credential.expiresOn : nil,
      state: isAccessToken ? Self.state(of: credential, at: now) : nil)
  }

  fileprivate init(key: String, _ account: AccountRecord) {
    self.init(
      id: Self.id("Account", key), type: "Account", homeAccountId: account.homeAccountID,
      username: account.username, environment: account.environment, realm: account.realm)
  }

  fileprivate init(key: String, _ metadata: AppMetadata) {
    self.init(
      id: Self.id("AppMetadata", key), type: "AppMetadata", environment: metadata.environment,
      clientId: metadata.clientID, familyId: metadata.familyID)
  }

  fileprivate init(key: String, _ metadata: AccountMetadata) {
    self.init(id: Self.id("AccountMetadata", key), type: "AccountMetadata", clientId: metadata.clientID)
  }
}

/// A record together with its summary.
struct ListedRecord {
  let summary: RecordSummary
  let fields: JSONObject
  var isCredential = false
}

extension CacheDocument {
  /// How many accounts there are, whatever number of records each has.
  var accountCount: Int { Set(accounts.values.compactMap(\.homeAccountID)).count }

  /// Every record, accounts first, then their tokens, then what is known of clients.
  func listed(at now: Date) -> [ListedRecord] {
    let usernames = Dictionary(
      accounts.sorted { $0.key < $1.key }.compactMap { _, account in
        account.homeAccountID.flatMap { id in account.username.map { (id.lowercased(), $0) } }
      }, uniquingKeysWith: { first, _ in first })
    func listed<Record: CacheRecord>(
      _ section: [String: Record], isCredential: Bool = false, _ summary: (String, Record) -> RecordSummary
    ) -> [ListedRecord] {
      section.sorted { $0.key < $1.key }.map { key, record in
        ListedRecord(summary: summary(key, record), fields: record.fields, isCredential: isCredential)
      }
    }
    return listed(accounts, RecordSummary.init)
      + CredentialSection.allCases.flatMap { section in
        listed(self[section], isCredential: true) {
          RecordSummary(section, key: $0, $1, usernames: usernames, now: now)
        }
      } + listed(appMetadata, RecordSummary.init) + listed(accountMetadata, RecordSummary.init)
  }
}
