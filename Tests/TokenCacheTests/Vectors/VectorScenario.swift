import Foundation
import TestSupport

@testable import TokenCache

/// A group that goes through the steps of one scenario.
struct VectorScenario {
  private let cache = TokenCacheAccessor(store: InMemoryStore(), clouds: CloudInstances([])) {
    JSONValue.vectorNow
  }
  /// What was saved since the group was last asked: one cache, whose records are kept apart.
  private var pending = CacheDocument()
  /// What the steps saved, by the names that they gave it.
  private var saved: [String: JSONObject] = [:]

  init() {}

  func run(_ row: VectorRow) async throws {
    var scenario = self
    for (index, step) in try row.understood(["steps"]).array("steps").enumerated() {
      do {
        try await scenario.perform(step.objectValue ?? [:])
      } catch let failure as VectorFailure {
        throw VectorFailure("step \(index): \(failure)")
      }
    }
  }

  private mutating func perform(_ step: JSONObject) async throws {
    let step = try step.understood([
      "accountType", "credentialType", "expect", "item", "items", "key", "name", "names", "op", "properties",
      "query", "type",
    ])
    let op = try step.string("op")
    if !op.hasPrefix("save") {
      _ = try await cache.import(pending)
      pending = CacheDocument()
    }
    let document = try await cache.snapshot().document
    switch op {
    case "saveCredential": try save(Credential.self, step)
    case "saveAccount": try save(AccountRecord.self, step)
    case "saveAppMetadata": try save(AppMetadata.self, step)
    case "getCredential", "getCredentialWithKey":
      let key = try Credential(vector: try key(step)).key
      try expect(step, found: Credential.all(in: document).filter { $0.key.names(key) })
    case "getCredentials":
      let query = try CredentialQuery(vector: try step.object("query"))
      try expect(step, found: document.credentials(matching: query))
      try await query.compareWithAccessor(in: document)
    case "getAllCredentials", "getAllItems":
      try expect(step, found: Credential.all(in: document))
    case "getAllCredentialsWithType":
      let query = try CredentialQuery(vector: ["credentialType": step["credentialType"] ?? .null])
      try expect(step, found: document.credentials(matching: query))
    case "getAccount", "getAccountWithKey":
      let key = try AccountRecord(vector: try key(step)).key
      try expect(step, found: AccountRecord.all(in: document).filter { $0.key.names(key) })
    case "getAccounts":
      try expect(step, found: document.accounts(matching: try AccountQuery(vector: try step.object("query"))))
    case "getAllAccounts", "getAllAccountsOfType", "getAllAccountsWithType":
      let type = step["accountType"] ?? step["type"] ?? .null
      try expect(step, found: document.accounts(matching: try AccountQuery(vector: ["accountType": type])))
    case "getAppMetadata", "getAppMetadataEntries", "getAppMetadataEntriesWithQuery":
      let query = try AppMetadataQuery(vector: step["query"]?.objectValue ?? [:])
      try expect(step, found: AppMetadata.all(in: document).filter(query.matches))
    case "removeCredential", "removeAllCredentials":
      let keys = try items(step).map { try Credential(vector: $0).key }
      try await change { $0.removeCredentials { credential in keys.contains { credential.key.names($0) } } }
    case "removeAccount", "removeAllAccounts":
      let keys = try items(step).map { try AccountRecord(vector: $0).key }
      try await change { document in
        document.accounts = document.accounts.filter { entry in !keys.contains { entry.value.key.names($0) } }
      }
    case "removeAppMetadata":
      let keys = try items(step).map { try AppMetadata(vector: $0).key }
      try await change { document in
        document.appMetadata = document.appMetadata.filter { entry in
          !keys.contains { entry.value.key.names($0) }
        }
      }
    case "removeCredentialsWithQuery":
      let query = try CredentialQuery(vector: try step.object("query"))
      try await change { $0.removeCredentials(where: query.matches) }
    case "removeAccountsWithQuery":
      let query = try AccountQuery(vector: try step.object("query"))
      try await change { document in document.accounts = document.accounts.filter { !query.matches($0.value) }
      }
    // Which tokens the query names is no matter: the accessor removes all that have expired.
    case "removeExpiredAccessTokens": try await cache.removeExpired()
    case "clear", "clearWithContext": _ = try await cache.clear()
    default: throw VectorFailure.notUnderstood([op])
    }
  }

  /// Changes every shard of the group.
  private func change(_ change: @escaping @Sendable (inout CacheDocument) -> Void) async throws {
    let shards = try await cache.store.read(.all, in: cache.group).documents.keys
    try await cache.store.update(Array(shards), in: cache.group) { contents in
      for shard in contents.documents.keys { change(&contents[shard]) }
    }
  }

  private mutating func save<Record: VectorRecord>(_: Record.Type, _ step: JSONObject) throws {
    let record = try Record(vector: try item(step))
    if let name = step["name"]?.stringValue { saved[name] = record.fields }
    record.save(in: &pending)
  }

  /// An item is given as such, by its properties, or as one with some properties of its own.
  private func item(_ step: JSONObject) throws -> JSONObject {
    guard step["item"] != nil else { return try step.object("properties") }
    let properties = try step["properties"] == nil ? [:] : step.object("properties")
    return try Self.properties(try step.object("item")).merging(properties) { $1 }
  }

  /// The properties of an item, which may have them as a member, beside its class.
  private static func properties(_ item: JSONObject) throws -> JSONObject {
    guard item["properties"] != nil else { return item }
    return try item.understood(["class", "kind", "properties"]).object("properties")
  }

  /// The items that a step is about; none is a list of its own.
  private func items(_ step: JSONObject) throws -> [JSONObject] {
    if step["items"] == nil { return [try item(step)] }
    return try step.array("items").map { try Self.properties($0.asObject("an item")) }
  }

  private func key(_ step: JSONObject) throws -> JSONObject {
    try step["key"] == nil ? item(step) : step.object("key")
  }

  private func expect<Record: VectorRecord>(_ step: JSONObject, found: [Record]) throws {
    let expected = try step.object("expect").understood([
      "contains", "count", "item", "items", "nil", "notContains", "notNil", "properties",
    ])
    let fields = found.map(\.fields)
    if let count = expected["count"] { try expectEqual("count", .integer(Int64(found.count)), count) }
    for (index, name) in try expected["items"] == nil ? [:] : expected.object("items") {
      guard let index = Int(index), fields.indices.contains(index) else {
        throw VectorFailure("no item \(index)")
      }
      try expectEqual("item \(index)", fields[index], try record(name))
    }
    if let name = expected["item"] { try expectEqual("the item", fields.first, try record(name)) }
    for (index, properties) in try Self.expectedProperties(expected["properties"]) {
      guard found.indices.contains(index) else { throw VectorFailure("no item \(index)") }
      try found[index].compare(with: properties)
    }
    for name in try expected["contains"] == nil ? [] : expected.array("contains") {
      let record = try record(name)
      guard fields.contains(record) else { throw VectorFailure("\(name) is missing") }
    }
    for name in try expected["notContains"] == nil ? [] : expected.array("notContains") {
      let record = try record(name)
      guard !fields.contains(record) else { throw VectorFailure("\(name) is there") }
    }
    if expected["nil"] != nil { try expectEqual("nil", found.isEmpty, expected.flag("nil")) }
    if expected["notNil"] != nil { try expectEqual("notNil", !found.isEmpty, expected.flag("notNil")) }
  }

  /// The properties of what should be found: of the first item, of items by their numbers, alone (`0.secret`) or together, or
  /// of each.
  private static func expectedProperties(_ value: JSONValue?) throws -> [(Int, JSONObject)] {
    if let items = value?.arrayValue {
      return try items.enumerated().map { ($0, try $1.asObject("properties")) }
    }
    return try (value ?? .object([:])).asObject("properties").map { name, value in
      let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard let number = parts.first.flatMap({ Int($0) }) else { return (0, [name: value]) }
      return (number, parts.count > 1 ? [parts[1]: value] : try value.asObject("properties"))
    }
  }

  private func record(_ name: JSONValue) throws -> JSONObject {
    guard let name = name.stringValue, let record = saved[name] else {
      throw VectorFailure.notUnderstood(["\(name)"])
    }
    return record
  }
}

extension CacheKey {
  /// Whether both name the same record; the generic part and the type are no part of that.
  fileprivate func names(_ other: CacheKey) -> Bool {
    (account, service) == (other.account, other.service)
  }
}
