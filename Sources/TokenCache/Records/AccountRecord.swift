public import FoundationEssentials

/// The record of one account in one tenant.
public struct AccountRecord: CacheRecord {
  public var fields: JSONObject

  public init(fields: JSONObject) { self.fields = fields }

  package static let spellings: Set<String> = ["environment", "realm"]
  /// The user name of an account of B2C whose tokens have none, as MSAL for iOS and macOS writes it.
  package static let missingUsername = "Missing from the token response"

  /// Makes a record from its identity; set everything else afterwards.
  public init(homeAccountID: String, environment: String, realm: String?, type: AccountType = .msSTS) {
    fields = [:]
    set("authority_type", type.rawValue)
    set("home_account_id", homeAccountID)
    set("environment", environment)
    set("realm", realm)
  }

  /// `nil` for a type that the schema does not know.
  public var accountType: AccountType? {
    get { string("authority_type").flatMap(AccountType.init(caseInsensitive:)) }
    set { set("authority_type", newValue?.rawValue) }
  }
  /// `uid.utid`.
  public var homeAccountID: String? {
    get { string("home_account_id") }
    set { set("home_account_id", newValue) }
  }
  public var environment: String? {
    get { string("environment") }
    set { set("environment", newValue) }
  }
  /// The tenant; some libraries write `common`, `organizations` or `consumers`.
  public var realm: String? {
    get { string("realm") }
    set { set("realm", newValue) }
  }
  /// The object id in this tenant, else the subject.
  public var localAccountID: String? {
    get { string("local_account_id") }
    set { set("local_account_id", newValue) }
  }
  public var username: String? {
    get { string("username") }
    set { set("username", newValue) }
  }
  public var name: String? {
    get { string("name") }
    set { set("name", newValue) }
  }
  public var givenName: String? {
    get { string("given_name") }
    set { set("given_name", newValue) }
  }
  public var middleName: String? {
    get { string("middle_name") }
    set { set("middle_name", newValue) }
  }
  public var familyName: String? {
    get { string("family_name") }
    set { set("family_name", newValue) }
  }
  /// The server's `client_info` as it came, base64url.
  public var clientInfo: String? {
    get { string("client_info") }
    set { set("client_info", newValue) }
  }
  public var alternativeAccountID: String? {
    get { string("alternative_account_id") }
    set { set("alternative_account_id", newValue) }
  }
  /// The source of the account's tokens, for example `broker`, or the sign-in method; a field of MSAL for Python.
  public var source: String? {
    get { string("account_source") }
    set { set("account_source", newValue) }
  }
  public var lastModified: Date? {
    get { date("last_modification_time") }
    set { set("last_modification_time", newValue) }
  }

  package var serializedKey: String { Self.key([homeAccountID, environment, realm]) }
}

/// What kind of service an account belongs to, as the field `authority_type` names it.
public enum AccountType: String, Sendable, Hashable, CaseIterable {
  case other = "Other"
  /// A v1 endpoint of Entra ID.
  case aad = "AAD"
  case msa = "MSA"
  /// Entra ID and personal accounts, at v2 endpoints.
  case msSTS = "MSSTS"
  case adfs = "ADFS"

  /// Reads an `authority_type` without regard to case.
  public init?(caseInsensitive text: String) {
    guard let type = Self.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
      return nil
    }
    self = type
  }
}
