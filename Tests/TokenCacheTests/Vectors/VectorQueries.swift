import TestSupport

@testable import TokenCache

/// The fields of a query of MSAL for iOS and macOS. A field that it does not name matches everything.
struct QueryFields {
  /// Hosts of one cloud, any of which the record may have; empty for all.
  let environmentAliases: [String]
  private let texts: [String: String]

  /// A query may have these texts and no others.
  init(_ properties: JSONObject, texts names: Set<String>) throws {
    var properties = properties
    let aliases = properties.removeValue(forKey: "environmentAliases")?.arrayValue ?? []
    environmentAliases = try aliases.map { try $0.asString("an alias") }
    texts = try properties.understood(names).compactMapValues { try $0.asOptionalString("a query's field") }
  }

  subscript(_ name: String) -> String? { texts[name] }

  /// The account part of the matching keys, if it is known.
  var account: String? {
    guard let homeAccountID = self["homeAccountId"], let environment = self["environment"] else { return nil }
    return CacheKey.account(homeAccountID: homeAccountID, environment: environment)
  }

  func hasAlias(_ environment: String?) -> Bool {
    environmentAliases.isEmpty || environmentAliases.contains { $0.matches(environment) }
  }
}

/// A query of MSAL for iOS and macOS, with its matching rules.
protocol VectorQuery: Sendable {
  var fields: QueryFields { get }
  /// The parts of the matching keys that are known.
  var key: CacheKey { get }

  init(vector properties: JSONObject) throws
}

/// A query for account records. `environment` is compared with its case, unlike the aliases.
struct AccountQuery: VectorQuery {
  let fields: QueryFields
  private let accountType: AccountType?

  init(vector properties: JSONObject) throws {
    fields = try QueryFields(
      properties, texts: ["accountType", "environment", "homeAccountId", "realm", "type", "username"])
    let name = fields["accountType"] ?? fields["type"]
    accountType = name.flatMap(AccountType.init(caseInsensitive:))
    if let name, accountType == nil { throw VectorFailure.notUnderstood([name]) }
  }

  var key: CacheKey {
    CacheKey(
      account: fields.account, service: fields["realm"]?.normalized, generic: fields["username"]?.normalized,
      itemType: accountType?.itemType)
  }

  /// Whether a record is among those asked for.
  func matches(_ record: AccountRecord) -> Bool {
    guard key.admits(record.key) else { return false }
    return key.isExact
      || fields["homeAccountId"].matches(record.homeAccountID)
        && (fields["environment"] ?? record.environment) == record.environment
        && fields.hasAlias(record.environment)
  }
}

/// A query for app metadata. The environment keeps its case in the key.
struct AppMetadataQuery: VectorQuery {
  let fields: QueryFields

  init(vector properties: JSONObject) throws {
    fields = try QueryFields(properties, texts: ["clientId", "environment", "familyId", "generalType"])
    try AppMetadata.checkType(properties)
  }

  var key: CacheKey {
    CacheKey(
      account: fields["environment"], service: fields["clientId"].map { "appmetadata-" + $0.normalized },
      generic: fields["familyId"], itemType: fields["clientId"] == nil ? nil : 3001)
  }

  /// Whether a record is among those asked for.
  func matches(_ record: AppMetadata) -> Bool {
    fields["clientId"].matches(record.clientID) && fields["environment"].matches(record.environment)
      && fields.hasAlias(record.environment)
      && (fields["familyId"] ?? record.familyID) == record.familyID
  }
}

/// A query for credentials.
/// If the query names a single record, only that record's key is compared.
struct CredentialQuery: VectorQuery {
  /// How the scopes of a query and of a record are compared.
  enum TargetMatching: String {
    /// The same text, case and outer white space aside.
    case exact
    /// The record has every scope asked for.
    case subset
    /// One scope at least is in both.
    case intersect
    case any
  }

  /// How client and family of a query and of a record are compared.
  enum ClientMatching: String {
    /// Each that the query names must be equal.
    case exact
    /// One that the query names must be equal.
    case superset
  }

  let fields: QueryFields
  /// `nil` for any.
  let credentialType: CredentialType?
  var targetMatching: TargetMatching
  private let clientMatching: ClientMatching

  init(vector properties: JSONObject) throws {
    let matchesAnyType = try properties.flag("matchAnyCredentialType")
    fields = try QueryFields(
      properties.filter { $0.key != "matchAnyCredentialType" },
      texts: [
        "appKey", "applicationIdentifier", "clientId", "clientIdMatchingOptions", "credentialType",
        "environment", "familyId", "homeAccountId", "realm", "requestedClaims", "target",
        "targetMatchingOptions", "tokenType",
      ])
    let name = fields["credentialType"] ?? CredentialType.other.rawValue
    guard let type = CredentialType(caseInsensitive: name) else { throw VectorFailure.notUnderstood([name]) }
    credentialType = matchesAnyType ? nil : type
    targetMatching = try Self.option(fields["targetMatchingOptions"])
    clientMatching = try Self.option(fields["clientIdMatchingOptions"])
  }

  private static func option<Option: RawRepresentable<String>>(_ text: String?) throws -> Option {
    let text = text?.lowercased() ?? "exact"
    let isExact = ["exactstring", "exactstringmatch"].contains(text)
    guard let option = Option(rawValue: isExact ? "exact" : text) else {
      throw VectorFailure.notUnderstood([text])
    }
    return option
  }

  var key: CacheKey {
    CacheKey(account: fields.account, service: service, generic: generic, itemType: credentialType?.itemType)
  }

  private var service: String? {
    switch credentialType {
    case .accessToken, .accessTokenWithAuthScheme:
      guard let keyClientID, let realm = fields["realm"], let target = fields["target"],
        targetMatching == .exact
      else { return nil }
      return service(clientID: keyClientID, realm: realm, target: target)
    case .refreshToken, .primaryRefreshToken:
      guard let keyClientID else { return nil }
      return service(clientID: keyClientID, realm: nil, target: nil)
    case .idToken, .legacyIDToken:
      guard let clientID = fields["clientId"], let realm = fields["realm"] else { return nil }
      return service(clientID: clientID, realm: realm, target: nil)
    default: return nil
    }
  }

  private var generic: String? {
    guard let credentialType, let keyClientID else { return nil }
    if credentialType == .refreshToken {
      return CacheKey.generic(
        type: credentialType, clientID: keyClientID, realm: nil, applicationIdentifier: nil)
    }
    guard let realm = fields["realm"] else { return nil }
    return CacheKey.generic(
      type: credentialType, clientID: keyClientID, realm: realm,
      applicationIdentifier: credentialType.section == .accessToken ? fields["applicationIdentifier"] : nil)
  }

  private var keyClientID: String? {
    clientMatching == .exact ? fields["familyId"] ?? fields["clientId"] : nil
  }

  private func service(clientID: String, realm: String?, target: String?) -> String? {
    guard let credentialType else { return nil }
    let isAccessToken = credentialType.section == .accessToken
    return CacheKey.service(
      type: credentialType, clientID: clientID, realm: realm,
      applicationIdentifier: isAccessToken ? fields["applicationIdentifier"] : nil, target: target,
      tokenType: credentialType == .accessTokenWithAuthScheme ? fields["tokenType"] : nil,
      appKey: fields["appKey"], requestedClaims: isAccessToken ? fields["requestedClaims"] : nil)
  }

  /// Whether a credential is among those asked for.
  func matches(_ credential: Credential) -> Bool {
    key.admits(credential.key(appKey: fields["appKey"])) && (key.isExact || matchesFields(of: credential))
  }

  private func matchesFields(of credential: Credential) -> Bool {
    guard
      fields["homeAccountId"].matches(credential.homeAccountID),
      fields["environment"].matches(credential.environment), fields.hasAlias(credential.environment),
      fields["realm"].matches(credential.realm), matchesTarget(of: credential)
    else { return false }
    let (clientID, familyID) = (fields["clientId"], fields["familyId"])
    if clientID == nil && familyID == nil { return true }
    if targetMatching == .any, let clientID, clientID.matches(credential.clientID) { return true }
    guard fields["requestedClaims"].nonBlank == credential.requestedClaims else { return false }
    switch clientMatching {
    case .exact:
      return clientID.matches(credential.clientID) && familyID.matches(credential.familyID)
    case .superset:
      return clientID?.matches(credential.clientID) ?? false
        || familyID?.matches(credential.familyID) ?? false
    }
  }

  private func matchesTarget(of credential: Credential) -> Bool {
    guard let target = fields["target"] else { return true }
    switch targetMatching {
    case .exact: return target.matches(credential.target)
    case .subset: return ScopeSet(credential.target ?? "").satisfies(ScopeSet(target))
    case .intersect: return ScopeSet(credential.target ?? "").intersects(ScopeSet(target))
    case .any: return true
    }
  }
}

extension CacheDocument {
  /// The credentials that a query asks for, in the order of their keys.
  func credentials(matching query: CredentialQuery) -> [Credential] {
    Credential.all(in: self).filter(query.matches)
  }

  /// The account records that a query asks for, in the order of their keys.
  func accounts(matching query: AccountQuery) -> [AccountRecord] {
    AccountRecord.all(in: self).filter(query.matches)
  }
}
