import Foundation
import TestSupport

@testable import TokenCache

/// A property of Microsoft's cache items, by its name there, as a property of one of ours.
enum VectorProperty<Record: CacheRecord>: Sendable {
  case text(any WritableKeyPath<Record, String?> & Sendable)
  case time(any WritableKeyPath<Record, Date?> & Sendable)
  /// A field that the product does not read.
  case field(String)
  /// A kind, as the schema names it.
  case kind(get: @Sendable (Record) -> String?, set: @Sendable (inout Record, String) -> Bool)

  /// The property as the schema would write it.
  func get(_ record: Record) -> String? {
    switch self {
    case .text(let path): record[keyPath: path]
    case .time(let path): record[keyPath: path].map { String(Int64($0.timeIntervalSince1970)) }
    case .field(let name): record.string(name)
    case .kind(let get, _): get(record)
    }
  }

  func set(_ record: inout Record, _ value: JSONValue) throws {
    switch (self, value) {
    case (.text(let path), .null): record[keyPath: path] = nil
    case (.text(let path), .string(let text)): record[keyPath: path] = text
    case (.field(let name), .null): record.fields[name] = nil
    case (.field(let name), .string): record.fields[name] = value
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

/// A record with the table of Microsoft's property names.
protocol VectorRecord: CacheRecord {
  static var vectorProperties: [String: VectorProperty<Self>] { get }
  /// All of a cache, in the order of their keys.
  static func all(in document: CacheDocument) -> [Self]

  /// Files it as a save does that replaces nothing else.
  func save(in document: inout CacheDocument)
}

extension VectorRecord {
  init(vector properties: JSONObject) throws {
    self.init(fields: [:])
    try set(properties)
  }

  private static func property(_ name: String) throws -> VectorProperty<Self> {
    guard let property = vectorProperties[name] else { throw VectorFailure.notUnderstood([name]) }
    return property
  }

  /// Sets the properties that a row names.
  mutating func set(_ properties: JSONObject) throws {
    for (name, value) in properties { try Self.property(name).set(&self, try value.resolved()) }
  }

  /// Compares the properties that a row names; where it says `notNil` of one, any value does.
  func compare(with properties: JSONObject) throws {
    for (name, value) in properties {
      let actual = try Self.property(name).get(self)
      if let exists = value.objectValue?["notNil"] {
        try expectEqual("whether there is \(name)", .bool(actual != nil), exists)
      } else {
        try expectEqual(name, actual, value.resolved().asOptionalString(name))
      }
    }
  }
}

extension Credential: VectorRecord {
  static let vectorProperties: [String: VectorProperty<Credential>] = [
    "credentialType": .kind(
      get: { $0.credentialType.rawValue },
      set: { record, name in
        guard let type = CredentialType(caseInsensitive: name) else { return false }
        record.credentialType = type
        return true
      }),
    "applicationIdentifier": .text(\.applicationIdentifier),
    "boundDeviceId": .field("bound_device_id"),
    "cachedAt": .time(\.cachedAt),
    "clientId": .text(\.clientID),
    "deviceID": .field("device_id"),
    "deviceId": .field("device_id"),
    "enrollmentId": .text(\.enrollmentID),
    "environment": .text(\.environment),
    "expiresOn": .time(\.expiresOn),
    "expiryInterval": .field("expires_in"),
    "expiresIn": .field("expires_in"),
    "extendedExpiresOn": .time(\.extendedExpiresOn),
    "externalKeyType": .field("external_key_type"),
    "familyId": .text(\.familyID),
    "homeAccountId": .text(\.homeAccountID),
    "kid": .text(\.kid),
    "lastModificationApp": .field("last_modification_app"),
    "lastModificationTime": .time(\.lastModified),
    "lastRecoveryAttempt": .time(\.recoveryAttemptedAt),
    "lastRecoveryAttemptFailed": .field("last_recovery_attempt_failed"),
    "prtProtocolVersion": .field("prt_protocol_version"),
    "realm": .text(\.realm),
    "recoveryAttemptCount": .field("recovery_attempt_count"),
    "redirectUri": .text(\.redirectURI),
    "refreshOn": .time(\.refreshOn),
    "requestedClaims": .text(\.requestedClaims),
    "secret": .text(\.secret),
    "sessionKey": .field("session_key"),
    "speInfo": .text(\.speInfo),
    "target": .text(\.target),
    "tokenType": .text(\.tokenType),
  ]

  static func all(in document: CacheDocument) -> [Credential] { document.credentials.map(\.credential) }

  func save(in document: inout CacheDocument) { document[credentialType.section][serializedKey] = self }
}

extension AccountRecord: VectorRecord {
  static let vectorProperties: [String: VectorProperty<AccountRecord>] = [
    "accountType": accountType,
    "type": accountType,
    "alternativeAccountId": .text(\.alternativeAccountID),
    "clientInfo": .text(\.clientInfo),
    "environment": .text(\.environment),
    "familyName": .text(\.familyName),
    "givenName": .text(\.givenName),
    "homeAccountId": .text(\.homeAccountID),
    "lastModificationApp": .field("last_modification_app"),
    "lastModificationTime": .time(\.lastModified),
    "localAccountId": .text(\.localAccountID),
    "middleName": .text(\.middleName),
    "name": .text(\.name),
    "realm": .text(\.realm),
    "username": .text(\.username),
  ]

  static func all(in document: CacheDocument) -> [AccountRecord] {
    document.accounts.sorted { $0.key < $1.key }.map(\.value)
  }

  func save(in document: inout CacheDocument) { document.accounts[serializedKey] = self }

  private static let accountType = VectorProperty<AccountRecord>.kind(
    get: { $0.accountType?.rawValue },
    set: { record, name in
      guard let type = AccountType(caseInsensitive: name) else { return false }
      record.accountType = type
      return true
    })
}

extension AppMetadata: VectorRecord {
  static let vectorProperties: [String: VectorProperty<AppMetadata>] = [
    "clientId": .kind(get: \.clientID, set: { _, _ in false }),
    "environment": .kind(get: \.environment, set: { _, _ in false }),
    "familyId": .text(\.familyID),
  ]

  static func all(in document: CacheDocument) -> [AppMetadata] {
    document.appMetadata.sorted { $0.key < $1.key }.map(\.value)
  }

  func save(in document: inout CacheDocument) { document.appMetadata[serializedKey] = self }

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
