import Foundation
import TestSupport

@testable import TokenCache

extension VectorRunner {
  /// Rows come in three forms: properties and the JSON that they become, JSON and the properties that it has,
  /// and JSON alone, which must come out again when its properties are set one by one.
  static func checkRecordJSON<Record: VectorRecord>(_: Record.Type, _ row: VectorRow) throws {
    func stored(_ record: Record) throws -> Record {
      var document = CacheDocument()
      record.save(in: &document)
      guard let stored = try Record.all(in: CacheDocument(json: document.json())).first else {
        throw VectorFailure("the record is gone")
      }
      return stored
    }
    let fields = try row.understood(["expectedJSON", "expectedProperties", "inputJSON", "properties"])
    if fields["inputJSON"] != nil {
      let input = try JSONValue.object(try fields.object("inputJSON")).resolved().objectValue ?? [:]
      let record = try stored(Record(fields: input))
      try record.compare(with: try fields.object("expectedProperties"))
      try expectEqual("the record after a round trip", record.fields, input)
      return
    }
    let expected = try JSONValue.object(try fields.object("expectedJSON")).resolved().objectValue ?? [:]
    var record = Record(fields: [:])
    if fields["properties"] != nil {
      try record.set(try fields.object("properties"))
    } else {
      try rebuild(&record, from: Record(fields: expected))
    }
    try expectEqual("the JSON", comparable(stored(record).fields), comparable(expected))
  }

  /// Sets every property that a record has on another one, and takes over the fields that no property stands
  /// for.
  private static func rebuild<Record: VectorRecord>(_ record: inout Record, from original: Record) throws {
    for property in Record.vectorProperties.values {
      if let value = property.get(original) { try property.set(&record, .string(value)) }
    }
    for (name, value) in original.fields where record.fields[name] == nil {
      var probe = record
      probe.fields[name] = value
      if Record.vectorProperties.values.allSatisfy({ $0.get(probe) == $0.get(record) }) {
        record.fields[name] = value
      }
    }
  }

  /// Microsoft writes this one time with a fraction; whole seconds are what MSAL for Python can read.
  private static func comparable(_ fields: JSONObject) -> JSONObject {
    var fields = fields
    if let time = fields["last_modification_time"]?.numberValue {
      fields["last_modification_time"] = .double(time)
    }
    return fields
  }

  @Sendable static func checkAccountMetadataJSON(_ row: VectorRow) throws {
    let fields = try row.understood(["expectedJSON", "expectedProperties", "inputJSON"])
    let json = try fields["inputJSON"] == nil ? fields.object("expectedJSON") : fields.object("inputJSON")
    let original = AccountMetadata(fields: json)
    var document = CacheDocument()
    document.accountMetadata[original.serializedKey] = original
    let stored = try CacheDocument(json: document.json()).accountMetadata.values.first
    try expectEqual("the record after a round trip", stored, original)

    for (name, value) in fields["expectedProperties"]?.objectValue ?? [:] {
      let expected = try value.asOptionalString(name)
      switch name {
      case "clientId": try expectEqual(name, original.clientID, expected)
      case "principalHomeAccountId": try expectEqual(name, original.principalHomeAccountID, expected)
      case "principalUsername": try expectEqual(name, original.principalUsername, expected)
      case "principalAccountEnvironment":
        try expectEqual(name, original.principalAccountEnvironment, expected)
      default: throw VectorFailure.notUnderstood([name])
      }
    }
    try expectEqual("the record made anew", try remade(original), original)
  }

  private static func remade(_ original: AccountMetadata) throws -> AccountMetadata {
    var record = AccountMetadata(clientID: original.clientID ?? "")
    record.principalHomeAccountID = original.principalHomeAccountID
    record.principalUsername = original.principalUsername
    record.principalAccountEnvironment = original.principalAccountEnvironment
    for (id, account) in original.fields["account_metadata_map"]?.objectValue ?? [:] {
      record.setSignInState(original.signInState(of: id), of: id)
      let maps = account.objectValue?["athority_map"]?.objectValue ?? [:]
      for (mapName, map) in try maps.understood(["URLMap-", "URLMap-instance_aware=YES"]) {
        let isInstanceAware = mapName != "URLMap-"
        for authority in (map.objectValue ?? [:]).keys {
          let resolved = original.resolvedAuthority(
            for: authority, homeAccountID: id, instanceAware: isInstanceAware)
          record.setResolvedAuthority(
            resolved ?? "", for: authority, homeAccountID: id, instanceAware: isInstanceAware)
        }
      }
    }
    return record
  }
}
