import Foundation
import TestSupport

@testable import TokenCache

/// A property of Microsoft's cache items, by its name there, as a property of one of ours.
enum VectorProperty<Record: Sendable>: Sendable {
  case text(any WritableKeyPath<Record, String?> & Sendable)
  case time(any WritableKeyPath<Record, Date?> & Sendable)
  /// A kind, as the schema names it.
  case kind(get: @Sendable (Record) -> String?, set: @Sendable (inout Record, String) -> Bool)

  /// The property as the schema would write it.
  func get(_ record: Record) -> String? {
    switch self {
    case .text(let path): record[keyPath: path]
    case .time(let path): record[keyPath: path].map { String(Int64($0.timeIntervalSince1970)) }
    case .kind(let get, _): get(record)
    }
  }

  func set(_ record: inout Record, _ value: JSONValue) throws {
    switch (self, value) {
    case (.text(let path), .null): record[keyPath: path] = nil
    case (.text(let path), .string(let text)): record[keyPath: path] = text
    case (.time(let path), .null): record[keyPath: path] = nil
    case (.time(let path), _):
      guard let seconds = value.numberValue else { throw VectorFailure("\(value) is no time") }
      record[keyPath: path] = Date(timeIntervalSince1970: seconds)
    case (.kind(_, let set), .string(let name)):
      guard set(&record, name) else { throw VectorFailure.notUnderstood([name]) }
    default: throw VectorFailure.notUnderstood(["\(value)"])
    }
  }
}

/// The one table of Microsoft's property names.
enum VectorProperties {
  static let credential: [String: VectorProperty<Credential>] = [
    "credentialType": .kind(
      get: { $0.credentialType.rawValue },
      set: { record, name in
        guard let type = CredentialType(caseInsensitive: name) else { return false }
        record.credentialType = type
        return true
      }),
    "applicationIdentifier": .text(\.applicationIdentifier),
    "boundDeviceId": .text(\.boundDeviceID),
    "cachedAt": .time(\.cachedAt),
    "clientId": .text(\.clientID),
    "deviceID": .text(\.deviceID),
    "deviceId": .text(\.deviceID),
    "enrollmentId": .text(\.enrollmentID),
    "environment": .text(\.environment),
    "expiresOn": .time(\.expiresOn),
    "expiryInterval": .text(\.expiresIn),
    "expiresIn": .text(\.expiresIn),
    "extendedExpiresOn": .time(\.extendedExpiresOn),
    "externalKeyType": .text(\.externalKeyType),
    "familyId": .text(\.familyID),
    "homeAccountId": .text(\.homeAccountID),
    "kid": .text(\.kid),
    "lastModificationApp": .text(\.lastModificationApp),
    "lastModificationTime": .time(\.lastModified),
    "lastRecoveryAttempt": .time(\.recoveryAttemptedAt),
    "lastRecoveryAttemptFailed": .text(\.lastRecoveryAttemptFailed),
    "prtProtocolVersion": .text(\.prtProtocolVersion),
    "realm": .text(\.realm),
    "recoveryAttemptCount": .text(\.recoveryAttemptCount),
    "redirectUri": .text(\.redirectURI),
    "refreshOn": .time(\.refreshOn),
    "requestedClaims": .text(\.requestedClaims),
    "secret": .text(\.secret),
    "sessionKey": .text(\.sessionKey),
    "speInfo": .text(\.speInfo),
    "target": .text(\.target),
    "tokenType": .text(\.tokenType),
  ]

  static let account: [String: VectorProperty<AccountRecord>] = [
    "accountType": accountType,
    "type": accountType,
    "alternativeAccountId": .text(\.alternativeAccountID),
    "clientInfo": .text(\.clientInfo),
    "environment": .text(\.environment),
    "familyName": .text(\.familyName),
    "givenName": .text(\.givenName),
    "homeAccountId": .text(\.homeAccountID),
    "lastModificationApp": .text(\.lastModificationApp),
    "lastModificationTime": .time(\.lastModified),
    "localAccountId": .text(\.localAccountID),
    "middleName": .text(\.middleName),
    "name": .text(\.name),
    "realm": .text(\.realm),
    "username": .text(\.username),
  ]

  static let appMetadata: [String: VectorProperty<AppMetadata>] = [
    "clientId": .kind(get: \.clientID, set: { _, _ in false }),
    "environment": .kind(get: \.environment, set: { _, _ in false }),
    "familyId": .text(\.familyID),
  ]

  private static let accountType = VectorProperty<AccountRecord>.kind(
    get: { $0.accountType?.rawValue },
    set: { record, name in
      guard let type = AccountType(caseInsensitive: name) else { return false }
      record.accountType = type
      return true
    })

  /// Sets the properties that a row names.
  static func set<Record>(
    _ properties: JSONObject, of record: inout Record, by table: [String: VectorProperty<Record>]
  ) throws {
    for (name, value) in properties {
      guard let property = table[name] else { throw VectorFailure.notUnderstood([name]) }
      try property.set(&record, try value.resolved())
    }
  }

  /// Compares the properties that a row names; where it says `notNil` of one, any value does.
  static func compare<Record>(
    _ record: Record, with properties: JSONObject, by table: [String: VectorProperty<Record>]
  ) throws {
    for (name, value) in properties {
      guard let property = table[name] else { throw VectorFailure.notUnderstood([name]) }
      if let isThere = value.objectValue?["notNil"] {
        try expectEqual("whether there is \(name)", .bool(property.get(record) != nil), isThere)
        continue
      }
      try expectEqual(name, property.get(record), value.resolved().asOptionalString(name))
    }
  }
}

/// A record with the table of its properties.
protocol VectorRecord: CacheRecord {
  static var vectorProperties: [String: VectorProperty<Self>] { get }
}

extension Credential: VectorRecord {
  static var vectorProperties: [String: VectorProperty<Credential>] { VectorProperties.credential }
}

extension AccountRecord: VectorRecord {
  static var vectorProperties: [String: VectorProperty<AccountRecord>] { VectorProperties.account }
}

extension AppMetadata: VectorRecord {
  static var vectorProperties: [String: VectorProperty<AppMetadata>] { VectorProperties.appMetadata }
}

extension Credential {
  init(vector properties: JSONObject) throws {
    self.init(fields: [:])
    try VectorProperties.set(properties, of: &self, by: VectorProperties.credential)
  }
}

extension AccountRecord {
  init(vector properties: JSONObject) throws {
    self.init(fields: [:])
    try VectorProperties.set(properties, of: &self, by: VectorProperties.account)
  }
}

extension AppMetadata {
  init(vector properties: JSONObject) throws {
    let properties = try properties.understood(["clientId", "environment", "familyId", "generalType"])
    try Self.checkType(properties)
    self.init(
      clientID: try properties.optionalString("clientId") ?? "",
      environment: try properties.optionalString("environment") ?? "",
      familyID: try properties.optionalString("familyId"))
  }

  static func checkType(_ properties: JSONObject) throws {
    let type = try properties.optionalString("generalType") ?? "appmetadata"
    guard type == "appmetadata" else { throw VectorFailure.notUnderstood([type]) }
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
