import Foundation
public import Testing
package import TokenCache

/// Microsoft's own test values, in sections of rows.
package enum VectorFile {
  /// Empty when the file cannot be read, which the summary reports.
  package static let sections: [String: [VectorRow]] = {
    let data = (try? Data(contentsOf: SharedFiles.vectors)) ?? Data()
    let members = (try? JSONDecoder().decode(JSONObject.self, from: data)) ?? [:]
    return Dictionary(
      uniqueKeysWithValues: members.filter { $0.key != "meta" }.map { name, value in
        let rows = value.arrayValue ?? []
        return (name, rows.enumerated().map { VectorRow(section: name, index: $0, fields: $1) })
      })
  }()

  package static func rows(_ section: String) -> [VectorRow] { sections[section] ?? [] }
}

/// One row: the input of one of Microsoft's tests and what comes of it.
public struct VectorRow: Sendable, CustomTestStringConvertible {
  package let section: String
  package let id: String
  package let fields: JSONObject

  package init(section: String, index: Int, fields: JSONValue) {
    self.section = section
    self.fields = fields.objectValue ?? [:]
    let source = self.fields["source"]
    let test = source?.stringValue ?? source?.objectValue?["test"]?.stringValue
    id = self.fields["id"]?.stringValue ?? ["#\(index)", test].compactMap { $0 }.joined(separator: " ")
  }

  public var testDescription: String { id }

  package var expected: JSONObject { fields["expected"]?.objectValue ?? [:] }
  package func string(_ name: String) -> String? { fields[name]?.stringValue }

  /// The fields that say something of the test, when they are all among those that the runner knows.
  package func understood(_ names: Set<String>) throws -> JSONObject {
    let about: Set<String> = ["id", "source", "note", "derivedFrom", "kind", "class"]
    return try fields.filter { !about.contains($0.key) }.understood(names)
  }
}

/// What is wrong with a row.
package struct VectorFailure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }

  package static func notUnderstood(_ what: some Sequence<String>) -> VectorFailure {
    VectorFailure("not understood: " + what.sorted().joined(separator: ", "))
  }
}

extension JSONObject {
  /// The same, when it has no other fields than those that the runner knows.
  package func understood(_ names: Set<String>) throws -> JSONObject {
    let others = Set(keys).subtracting(names)
    guard others.isEmpty else { throw VectorFailure.notUnderstood(others) }
    return self
  }

  package func object(_ name: String) throws -> JSONObject { try (self[name] ?? .null).asObject(name) }

  package func array(_ name: String) throws -> [JSONValue] {
    guard let array = self[name]?.arrayValue else { throw VectorFailure("\(name) is no array") }
    return array
  }

  package func string(_ name: String) throws -> String { try (self[name] ?? .null).asString(name) }

  /// A string, or nothing for nothing and for `null`.
  package func optionalString(_ name: String) throws -> String? { try self[name]?.asOptionalString(name) }

  package func flag(_ name: String) throws -> Bool {
    switch self[name] {
    case nil, .null: false
    case .bool(let flag): flag
    default: throw VectorFailure("\(name) is neither true nor false")
    }
  }
}

/// Compares what came out with what should have.
package func expectEqual<Value: Equatable>(_ what: String, _ actual: Value, _ expected: Value) throws {
  guard actual == expected else {
    throw VectorFailure("\(what) is \(actual), expected \(expected)")
  }
}

extension JSONValue {
  package func asObject(_ name: String) throws -> JSONObject {
    guard let objectValue else { throw VectorFailure("\(name) is no object") }
    return objectValue
  }

  package func asString(_ name: String) throws -> String {
    guard let stringValue else { throw VectorFailure("\(name) is no string") }
    return stringValue
  }

  package func asOptionalString(_ name: String) throws -> String? {
    self == .null ? nil : try asString(name)
  }

  /// The moment that stands for the present in every row.
  package static let vectorNow = Date(timeIntervalSince1970: 1_767_225_600)

  /// The value with the symbols of the file's conventions replaced by what they stand for.
  package func resolved() throws -> JSONValue {
    switch self {
    case .array(let elements): return .array(try elements.map { try $0.resolved() })
    case .object(let members):
      guard let symbol = members.keys.first(where: { $0.hasPrefix("$") }) else {
        return .object(try members.mapValues { try $0.resolved() })
      }
      return try Self.resolve(symbol, members)
    default: return self
    }
  }

  private static func resolve(_ symbol: String, _ members: JSONObject) throws -> JSONValue {
    let now = Int64(vectorNow.timeIntervalSince1970)
    switch symbol {
    case "$time":
      guard members["$time"] == "now", case .integer(let plus) = members["plus"] ?? .integer(0) else {
        throw VectorFailure.notUnderstood(["\(members)"])
      }
      return .string(String(now + plus))
    case "$date", "$timestamp_of":
      // Each name is a moment of its own; which one does not matter.
      let name = try members.string(symbol)
      let offset = name.utf8.reduce(Int64(0)) { ($0 * 31 + Int64($1)) % 1_000_000 }
      return .string(String(now + offset))
    case "$base64url_json":
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return .string(try encoder.encode(members[symbol] ?? .null).base64URL)
    default: throw VectorFailure.notUnderstood([symbol])
    }
  }
}
