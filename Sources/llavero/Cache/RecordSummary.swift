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
    /// Not here, but to be had of who lends it.
    case lent
  }

  /// The beginning of a hash of the section and the key: short to type, and without personal data.
  let id: String
  let type: String
  private(set) var homeAccountId: String?
  private(set) var username: String?
  private(set) var environment: String?
  private(set) var clientId: String?
  private(set) var familyId: String?
  private(set) var realm: String?
  private(set) var target: String?
  private(set) var cachedAt: Date?
  private(set) var expiresOn: Date?
  private(set) var state: State?

  init(
    _ section: CredentialSection, key: String, _ credential: Credential, usernames: [String: String],
    now: Date
  ) {
    id = Self.id(section.rawValue, key)
    type = credential.credentialType.rawValue
    homeAccountId = credential.homeAccountID
    username = credential.homeAccountID.flatMap { usernames[$0.lowercased()] }
    environment = credential.environment
    clientId = credential.clientID
    familyId = credential.familyID
    realm = credential.realm
    target = credential.target
    cachedAt = credential.cachedAt
    expiresOn = section == .accessToken ? credential.expiresOn : nil
    state = section == .accessToken ? Self.state(of: credential, at: now) : nil
  }

  init(key: String, _ account: AccountRecord) {
    id = Self.id("Account", key)
    type = "Account"
    homeAccountId = account.homeAccountID
    username = account.username
    environment = account.environment
    realm = account.realm
  }

  init(key: String, _ metadata: AppMetadata) {
    id = Self.id("AppMetadata", key)
    type = "AppMetadata"
    environment = metadata.environment
    clientId = metadata.clientID
    familyId = metadata.familyID
  }

  init(key: String, _ metadata: AccountMetadata) {
    id = Self.id("AccountMetadata", key)
    type = "AccountMetadata"
    clientId = metadata.clientID
  }

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
    var records: [ListedRecord] = []
    for (key, account) in accounts.sorted(by: { $0.key < $1.key }) {
      records.append(ListedRecord(summary: RecordSummary(key: key, account), fields: account.fields))
    }
    for section in CredentialSection.allCases {
      for (key, credential) in self[section].sorted(by: { $0.key < $1.key }) {
        let summary = RecordSummary(section, key: key, credential, usernames: usernames, now: now)
        records.append(ListedRecord(summary: summary, fields: credential.fields, isCredential: true))
      }
    }
    for (key, metadata) in appMetadata.sorted(by: { $0.key < $1.key }) {
      records.append(ListedRecord(summary: RecordSummary(key: key, metadata), fields: metadata.fields))
    }
    for (key, metadata) in accountMetadata.sorted(by: { $0.key < $1.key }) {
      records.append(ListedRecord(summary: RecordSummary(key: key, metadata), fields: metadata.fields))
    }
    return records
  }
}

/// How long until a moment, in words.
func timeLeft(until moment: Date, from now: Date) -> String {
  let seconds = moment.timeIntervalSince(now)
  let (amount, unit): (Double, String) =
    switch abs(seconds) {
    case ..<60: (abs(seconds), "s")
    case ..<5400: (abs(seconds) / 60, "min")
    case ..<172_800: (abs(seconds) / 3600, "h")
    case ..<63_072_000: (abs(seconds) / 86400, "d")
    default: (abs(seconds) / 31_536_000, "y")
    }
  let text = "\(Int(amount.rounded(.down))) \(unit)"
  return seconds >= 0 ? "\(text) left" : "\(text) ago"
}
