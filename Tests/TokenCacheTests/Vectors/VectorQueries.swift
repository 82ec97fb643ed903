import TestSupport

@testable import TokenCache

/// A query of MSAL for iOS and macOS, with its matching rules. A field that is `nil` matches everything.
protocol VectorQuery: Sendable, Hashable {
  var clientID: String? { get }
  /// The account part of the matching keys, if it is known.
  var account: String? { get }
  /// The service part of the matching keys, if it is known.
  var service: String? { get }
  /// The generic part of the matching keys, if it is known.
  var generic: String? { get }
  /// The keychain's item type of the matching records.
  var itemType: Int? { get }
  /// Whether the query names a single record.
  var isExactMatch: Bool { get }

  init(vector properties: JSONObject) throws
}

/// A query for account records.
struct AccountQuery: VectorQuery {
  var accountType: AccountType?
  var homeAccountID: String?
  /// Compared with its case, unlike ``environmentAliases``.
  var environment: String?
  /// Hosts of one cloud, any of which the record may have; empty for all.
  var environmentAliases: [String] = []
  var realm: String?
  var username: String?

  /// - Parameter accountType: The kind of account, `nil` for any.
  init(_ accountType: AccountType? = .msSTS) {
    self.accountType = accountType
  }

  var account: String? {
    guard let homeAccountID, let environment else { return nil }
    return CacheKey.account(homeAccountID: homeAccountID, environment: environment)
  }

  var clientID: String? { nil }
  var service: String? { realm?.normalized }
  var generic: String? { username?.normalized }
  var itemType: Int? { accountType?.itemType }
  var isExactMatch: Bool { homeAccountID != nil && environment != nil && realm != nil }

  /// Whether a record is among those asked for.
  func matches(_ record: AccountRecord) -> Bool {
    let key = record.key
    guard
      (account ?? key.account) == key.account, (service ?? key.service) == key.service,
      (generic ?? key.generic) == key.generic, (itemType ?? key.itemType) == key.itemType
    else { return false }
    if isExactMatch { return true }
    return homeAccountID.matches(record.homeAccountID)
      && (environment ?? record.environment) == record.environment
      && (environmentAliases.isEmpty || environmentAliases.contains { $0.matches(record.environment) })
  }
}

/// A query for app metadata.
struct AppMetadataQuery: VectorQuery {
  var clientID: String?
  var environment: String?
  /// Hosts of one cloud, any of which the record may have; empty for all.
  var environmentAliases: [String] = []
  var familyID: String?

  init(clientID: String? = nil, environment: String? = nil) {
    (self.clientID, self.environment) = (clientID, environment)
  }

  /// The environment keeps its case.
  var account: String? { environment }
  var service: String? { clientID.map { "appmetadata-" + $0.normalized } }
  var generic: String? { familyID }
  var itemType: Int? { clientID == nil ? nil : 3001 }
  var isExactMatch: Bool { account != nil && service != nil }

  /// Whether a record is among those asked for.
  func matches(_ record: AppMetadata) -> Bool {
    clientID.matches(record.clientID) && environment.matches(record.environment)
      && (environmentAliases.isEmpty || environmentAliases.contains { $0.matches(record.environment) })
      && (familyID ?? record.familyID) == record.familyID
  }
}

/// A query for credentials.
/// If the query names a single record, only that record's key is compared.
struct CredentialQuery: VectorQuery {
  /// How the scopes of a query and of a record are compared.
  enum TargetMatching: Sendable, Hashable {
    /// The same text, case and outer white space aside.
    case exactString
    /// The record has every scope asked for.
    case subset
    /// One scope at least is in both.
    case intersect
    case any
  }

  /// How client and family of a query and of a record are compared.
  enum ClientMatching: Sendable, Hashable {
    /// Each that the query names must be equal.
    case exact
    /// One that the query names must be equal.
    case superset
  }

  var credentialType: CredentialType?
  var homeAccountID: String?
  var environment: String?
  /// Hosts of one cloud, any of which the record may have; empty for all.
  var environmentAliases: [String] = []
  var clientID: String?
  var familyID: String?
  var realm: String?
  var target: String?
  var applicationIdentifier: String?
  var tokenType: String?
  var requestedClaims: String?
  var appKey: String?
  var targetMatching = TargetMatching.exactString
  var clientMatching = ClientMatching.exact

  /// - Parameter credentialType: The kind of credential, `nil` for any.
  init(_ credentialType: CredentialType?) {
    self.credentialType = credentialType
  }

  var account: String? {
    guard let homeAccountID, let environment else { return nil }
    return CacheKey.account(homeAccountID: homeAccountID, environment: environment)
  }

  var service: String? {
    switch credentialType {
    case .accessToken, .accessTokenWithAuthScheme:
      guard let keyClientID, let realm, let target, targetMatching == .exactString else { return nil }
      return service(clientID: keyClientID, realm: realm, target: target)
    case .refreshToken, .primaryRefreshToken:
      guard let keyClientID else { return nil }
      return service(clientID: keyClientID, realm: nil, target: nil)
    case .idToken, .legacyIDToken:
      guard let clientID, let realm else { return nil }
      return service(clientID: clientID, realm: realm, target: nil)
    default: return nil
    }
  }

  var generic: String? {
    guard let credentialType, let keyClientID else { return nil }
    if credentialType == .refreshToken {
      return CacheKey.generic(
        type: credentialType, clientID: keyClientID, realm: nil, applicationIdentifier: nil)
    }
    guard let realm else { return nil }
    return CacheKey.generic(
      type: credentialType, clientID: keyClientID, realm: realm,
      applicationIdentifier: credentialType.section == .accessToken ? applicationIdentifier : nil)
  }

  var itemType: Int? { credentialType?.itemType }
  var isExactMatch: Bool { account != nil && service != nil }

  private var keyClientID: String? {
    clientMatching == .exact ? familyID ?? clientID : nil
  }

  private func service(clientID: String, realm: String?, target: String?) -> String? {
    guard let credentialType else { return nil }
    let isAccessToken = credentialType.section == .accessToken
    return CacheKey.service(
      type: credentialType, clientID: clientID, realm: realm,
      applicationIdentifier: isAccessToken ? applicationIdentifier : nil, target: target,
      tokenType: credentialType == .accessTokenWithAuthScheme ? tokenType : nil, appKey: appKey,
      requestedClaims: isAccessToken ? requestedClaims : nil)
  }

  /// Whether a credential is among those asked for.
  func matches(_ credential: Credential) -> Bool {
    let key = credential.key(appKey: appKey)
    guard
      (account ?? key.account) == key.account, (service ?? key.service) == key.service,
      (generic ?? key.generic) == key.generic, (itemType ?? key.itemType) == key.itemType
    else { return false }
    return isExactMatch || matchesFields(of: credential)
  }

  private func matchesFields(of credential: Credential) -> Bool {
    guard
      homeAccountID.matches(credential.homeAccountID), environment.matches(credential.environment),
      environmentAliases.isEmpty
        || environmentAliases.contains(where: { $0.matches(credential.environment) }),
      realm.matches(credential.realm), matchesTarget(of: credential)
    else { return false }
    if clientID == nil && familyID == nil { return true }
    if targetMatching == .any, let clientID, clientID.matches(credential.clientID) { return true }
    guard requestedClaims.nonBlank == credential.requestedClaims else { return false }
    switch clientMatching {
    case .exact:
      return clientID.matches(credential.clientID) && familyID.matches(credential.familyID)
    case .superset:
      return clientID?.matches(credential.clientID) ?? false
        || familyID?.matches(credential.familyID) ?? false
    }
  }

  private func matchesTarget(of credential: Credential) -> Bool {
    guard let target else { return true }
    switch targetMatching {
    case .exactString: return target.matches(credential.target)
    case .subset: return ScopeSet(credential.target ?? "").satisfies(ScopeSet(target))
    case .intersect: return ScopeSet(credential.target ?? "").intersects(ScopeSet(target))
    case .any: return true
    }
  }
}

extension CacheDocument {
  /// The credentials that a query asks for, in the order of their keys.
  func credentials(matching query: CredentialQuery) -> [Credential] {
    credentials.map(\.credential).filter(query.matches)
  }

  /// The account records that a query asks for, in the order of their keys.
  func accounts(matching query: AccountQuery) -> [AccountRecord] {
    accounts.sorted { $0.key < $1.key }.map(\.value).filter(query.matches)
  }
}

extension CredentialQuery {
  init(vector properties: JSONObject) throws {
    let properties = try properties.understood([
      "appKey", "applicationIdentifier", "clientId", "clientIdMatchingOptions", "credentialType",
      "environment", "environmentAliases", "familyId", "homeAccountId", "matchAnyCredentialType", "realm",
      "requestedClaims", "target", "targetMatchingOptions", "tokenType",
    ])
    let name = try properties.optionalString("credentialType") ?? CredentialType.other.rawValue
    guard let type = CredentialType(caseInsensitive: name) else { throw VectorFailure.notUnderstood([name]) }
    self.init(try properties.flag("matchAnyCredentialType") ? nil : type)
    homeAccountID = try properties.optionalString("homeAccountId")
    environment = try properties.optionalString("environment")
    environmentAliases = try properties.aliases()
    clientID = try properties.optionalString("clientId")
    familyID = try properties.optionalString("familyId")
    realm = try properties.optionalString("realm")
    target = try properties.optionalString("target")
    applicationIdentifier = try properties.optionalString("applicationIdentifier")
    tokenType = try properties.optionalString("tokenType")
    requestedClaims = try properties.optionalString("requestedClaims")
    appKey = try properties.optionalString("appKey")
    switch try properties.optionalString("targetMatchingOptions")?.lowercased() {
    case nil, "exactstringmatch", "exact", "exactstring": targetMatching = .exactString
    case "subset": targetMatching = .subset
    case "intersect": targetMatching = .intersect
    case "any": targetMatching = .any
    case .some(let option): throw VectorFailure.notUnderstood([option])
    }
    switch try properties.optionalString("clientIdMatchingOptions")?.lowercased() {
    case nil, "exactstringmatch", "exact", "exactstring": clientMatching = .exact
    case "superset": clientMatching = .superset
    case .some(let option): throw VectorFailure.notUnderstood([option])
    }
  }
}

extension AccountQuery {
  init(vector properties: JSONObject) throws {
    let properties = try properties.understood([
      "accountType", "environment", "environmentAliases", "homeAccountId", "realm", "type", "username",
    ])
    let name = try properties.optionalString("accountType") ?? properties.optionalString("type")
    let type = name.flatMap(AccountType.init(caseInsensitive:))
    if let name, type == nil { throw VectorFailure.notUnderstood([name]) }
    self.init(type)
    homeAccountID = try properties.optionalString("homeAccountId")
    environment = try properties.optionalString("environment")
    environmentAliases = try properties.aliases()
    realm = try properties.optionalString("realm")
    username = try properties.optionalString("username")
  }
}

extension AppMetadataQuery {
  init(vector properties: JSONObject) throws {
    let properties = try properties.understood([
      "clientId", "environment", "environmentAliases", "familyId", "generalType",
    ])
    try AppMetadata.checkType(properties)
    self.init(
      clientID: try properties.optionalString("clientId"),
      environment: try properties.optionalString("environment"))
    environmentAliases = try properties.aliases()
    familyID = try properties.optionalString("familyId")
  }
}

extension JSONObject {
  fileprivate func aliases() throws -> [String] {
    guard let value = self["environmentAliases"], value != .null else { return [] }
    return try (value.arrayValue ?? []).map { try $0.asString("an alias") }
  }
}
