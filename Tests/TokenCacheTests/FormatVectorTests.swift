import Foundation
import TestSupport

@testable import TokenCache

/// The test vectors of `CacheFormat.md`, for other implementations: this one produces the results of each row.
struct FormatVectorTests {
  private static func section(_ row: JSONObject) throws -> any CacheSection {
    let name = try row.string("section")
    return try #require(CacheDocument.sections.first { $0.name == name })
  }

  private static func key(_ section: some CacheSection, _ fields: JSONObject) -> String {
    record(section, fields).serializedKey
  }

  private static func identity(_ section: some CacheSection, _ fields: JSONValue) throws -> RecordIdentity {
    record(section, try fields.asObject("record")).identity(in: .known)
  }

  private static func record<Record>(_: some CacheSection<Record>, _ fields: JSONObject) -> Record {
    Record(fields: fields)
  }

  private static func document(_ row: JSONObject, _ name: String) throws -> CacheDocument {
    try CacheDocument(sections: row.object(name))
  }

  /// The shards of the vectors; the common one has the name "".
  private static let shards: [String: ShardID] = Dictionary(
    uniqueKeysWithValues: ["", "u.t", "v.t"].map { ($0, ShardID(homeAccountID: $0, group: .default)) })

  private static func write(_ documents: JSONObject, to test: TestCache) throws {
    for name in documents.keys.sorted() {
      let (document, shard) = (
        try CacheDocument(sections: documents.object(name)), try #require(shards[name])
      )
      try test.store.update([shard], in: .default) { $0[shard] = document }
    }
  }

  static let files = [
    FormatVectors("names") { row in
      let group = try KeychainGroup(row.string("group"))
      let id = ShardID(homeAccountID: try row.optionalString("home_account_id"), group: group)
      row["shard"] = .string(id.rawValue)
      row["lock_file"] = .string("\(sha256Hex(group.name).prefix(32)).lock")
    },
    FormatVectors("documents") { row in
      let text = Data(try row.string("text").utf8)
      (row["reads"], row["writes"]) = (nil, nil)
      guard let document = try? CacheDocument(json: text) else { return }
      row["reads"] = .object(try JSONObject(foreign: text, within: .cache))
      row["writes"] = .string(String(decoding: try document.json(), as: UTF8.self))
    },
    FormatVectors("keys") { row in
      row["key"] = .string(key(try section(row), try row.object("record")))
    },
    FormatVectors("identity") { row in
      let section = try section(row)
      let records = try row.array("records").map { try identity(section, $0) }
      row["same"] = .bool(records[0] == records[1])
    },
    FormatVectors("import") { row in
      let test = TestCache()
      for name in ["before", "import"] { _ = try await test.cache.import(document(row, name)) }
      let (generation, after) = (test.generation, try await test.document)
      // The second time nothing is new.
      #expect(try await test.cache.import(document(row, "import")).saved == 0)
      #expect(try await test.document == after)
      #expect(test.generation == generation)
      row["after"] = .object(after.sections)
    },
    FormatVectors("save") { row in
      let test = TestCache()
      _ = try await test.cache.import(document(row, "before"))
      let request = try row.object("request")
      let kinds: [String: AuthorityKind] = ["aad": .aad, "b2c": .b2c, "ciam": .ciam, "adfs": .adfs]
      try await test.cache.save(
        TokenResponse(fields: row.object("response")),
        for: TokenRequest(
          environment: request.string("environment"), clientID: request.string("client_id"),
          authority: #require(kinds[request.string("authority")]), realm: request.optionalString("realm")))
      row["after"] = .object(try await test.document.sections)
    },
    FormatVectors("join") { row in
      let test = TestCache()
      try write(row.object("shards"), to: test)
      let joined = try await test.document
      row["joined"] = .object(joined.sections)
      row["exported"] = .object(joined.serialized.sections)
      var merged = CacheDocument()
      merged.merge(joined.shared, in: .known)
      row["merged"] = .object(merged.sections)
    },
    FormatVectors("metadata") { row in
      let test = TestCache()
      try write(row.object("before"), to: test)
      if let account = try row.optionalString("home_account_id") {
        try await test.cache.removeAccount(account, clientID: row.optionalString("client_id"))
      } else {
        _ = try await test.cache.import(document(row, "import"))
      }
      let after = try test.store.read(.all, in: .default).documents
      row["after"] = .object(
        shards.compactMapValues { after[$0].flatMap { $0.isEmpty ? nil : .object($0.sections) } })
      #expect(Set(after.keys).isSubset(of: shards.values))
    },
  ]

  @Test(
    .fault(
      "two families", "openid alone", "import beside", "other reader", "older import", "half surrogate",
      "other host"),
    arguments: files)
  func `The code produces the results of the format's test vectors`(_ file: FormatVectors) async throws {
    try await file.check()
  }
}
