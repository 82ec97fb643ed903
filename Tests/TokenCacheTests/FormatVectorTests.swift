import Foundation
import TestSupport

@testable import TokenCache

/// The test vectors of `CacheFormat.md`, for other implementations: this one produces the results of each row. With
/// `WRITE_CACHE_FORMAT_VECTORS` set the results are written there.
struct FormatVectorTests {
  /// Fills in what comes of a row.
  typealias Rule = @Sendable (_ row: inout JSONObject) async throws -> Void

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

  static let files: [Named<Rule>] = [
    Named("names") { row in
      let group = try KeychainGroup(row.string("group"))
      let id = ShardID(homeAccountID: try row.optionalString("home_account_id"), group: group)
      row["shard"] = .string(id.rawValue)
      row["lock_file"] = .string("\(sha256Hex(group.name).prefix(32)).lock")
    },
    Named("documents") { row in
      let text = Data(try row.string("text").utf8)
      (row["reads"], row["writes"]) = (nil, nil)
      guard let document = try? CacheDocument(json: text) else { return }
      row["reads"] = .object(try JSONObject(foreign: text, within: .cache))
      row["writes"] = .string(String(decoding: try document.json(), as: UTF8.self))
    },
    Named("keys") { row in
      row["key"] = .string(key(try section(row), try row.object("record")))
    },
    Named("identity") { row in
      let section = try section(row)
      let records = try row.array("records").map { try identity(section, $0) }
      row["same"] = .bool(records[0] == records[1])
    },
    Named("import") { row in
      let test = TestCache()
      for name in ["before", "import"] { _ = try await test.cache.import(document(row, name)) }
      let (generation, after) = (test.generation, try await test.document)
      // The second time nothing is new.
      #expect(try await test.cache.import(document(row, "import")).saved == 0)
      #expect(try await test.document == after)
      #expect(test.generation == generation)
      row["after"] = .object(after.sections)
    },
    Named("save") { row in
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
    Named("metadata") { row in
      let test = TestCache()
      // The common shard has the name "".
      let shards = Dictionary(
        uniqueKeysWithValues: ["", "u.t", "v.t"].map { ($0, ShardID(homeAccountID: $0, group: .default)) })
      for name in try row.object("before").keys.sorted() {
        let document = try CacheDocument(sections: row.object("before").object(name))
        let shard = try #require(shards[name])
        try test.store.update([shard], in: .default) { $0[shard] = document }
      }
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
  func `The code produces the results of the format's test vectors`(_ file: Named<Rule>) async throws {
    let url = SharedFiles.repository.appendingPathComponent("Tests/Data/cache-format/\(file.name).json")
    let rows = try JSONDecoder().decode([JSONObject].self, from: Data(contentsOf: url))
    var made = rows
    for index in made.indices { try await file.value(&made[index]) }
    if ProcessInfo.processInfo.environment["WRITE_CACHE_FORMAT_VECTORS"] != nil {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try (encoder.encode(made) + Data("\n".utf8)).write(to: url)
    } else {
      for (row, made) in zip(rows, made) { #expect(row == made) }
    }
    #expect(rows.count >= 20)
  }
}
