import TestSupport

@testable import TokenCache

extension VectorRunner {
  private static let keyFields: Set<String> = ["account", "service", "generic", "type"]

  /// Compares the parts of a key that a row names.
  static func compare(_ key: CacheKey, with expected: JSONObject) throws {
    let expected = try expected.understood(keyFields)
    let actual = ["account": key.account, "service": key.service, "generic": key.generic]
    for (name, value) in actual where expected[name] != nil {
      try expectEqual(name, value, expected.optionalString(name))
    }
    if let type = expected["type"] {
      try expectEqual("type", key.itemType.map { JSONValue.integer(Int64($0)) } ?? .null, type)
    }
  }

  @Sendable static func checkCredentialKey(_ row: VectorRow) throws {
    let fields = try row.understood(["expected", "input"])
    var input = try fields.object("input")
    let appKey = try input.optionalString("appKey")
    input["appKey"] = nil
    let (credential, expected) = (try Credential(vector: input), try fields.object("expected"))
    try compare(credential.key(appKey: appKey), with: expected)
    try compareSerialized(appKey == nil ? credential.serializedKey : nil, with: expected)
  }

  @Sendable static func checkAccountKey(_ row: VectorRow) throws {
    let fields = try row.understood(["expected", "input"])
    let record = try AccountRecord(vector: try fields.object("input"))
    try compare(record.key, with: try fields.object("expected"))
    try compareSerialized(record.serializedKey, with: try fields.object("expected"))
  }

  /// The key under which the product files a record is the account and the service in one.
  private static func compareSerialized(_ key: String?, with expected: JSONObject) throws {
    guard let key, let account = try expected.optionalString("account"),
      let service = try expected.optionalString("service")
    else { return }
    try expectEqual("the key", key, "\(account)-\(service)")
  }

  @Sendable static func checkAppMetadataKey(_ row: VectorRow) throws {
    let fields = try row.understood(["expected", "input"])
    let record = try AppMetadata(vector: try fields.object("input"))
    try compare(record.key, with: try fields.object("expected"))
  }

  static func checkQuery<Query: VectorQuery>(_: Query.Type) -> @Sendable (VectorRow) throws -> Void {
    { row in
      let fields = try row.understood(["expected", "input"])
      let query = try Query(vector: try fields.object("input"))
      let expected = try fields.object("expected").understood(keyFields.union(["clientId", "exactMatch"]))
      try compare(query.key, with: expected.filter { keyFields.contains($0.key) })
      try expectEqual("exactMatch", query.key.isExact, expected.flag("exactMatch"))
      if expected["clientId"] != nil {
        try expectEqual("clientId", query.fields["clientId"], expected.optionalString("clientId"))
      }
    }
  }
}
