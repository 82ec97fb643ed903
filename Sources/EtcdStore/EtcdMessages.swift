import FoundationEssentials
import TokenCache

/// A key with its value.
struct EtcdValue: Sendable {
  let key: [UInt8]
  let value: [UInt8]
  /// The store's revision of the last write to it.
  let modRevision: Int64
}

/// What a transaction does.
enum EtcdOperation: Sendable {
  case get(String)
  /// All but the value.
  case look(String)
  /// One at an earlier revision.
  case getAt(String, revision: Int64)
  case put(String, [UInt8], lease: Int64? = nil)
  case delete(String)
  /// Others, since a transaction counts its own only.
  case all([EtcdOperation])

  var json: JSONValue {
    switch self {
    case .get(let key): .object(["request_range": .object(["key": .base64(key)])])
    case .look(let key):
      .object(["request_range": .object(["key": .base64(key), "keys_only": .bool(true)])])
    case .getAt(let key, let revision):
      .object(["request_range": .object(["key": .base64(key), "revision": .number(revision)])])
    case .put(let key, let value, let lease):
      .object([
        "request_put": .object([
          "key": .base64(key), "value": .base64(value), "lease": .number(lease ?? 0),
        ])
      ])
    case .delete(let key): .object(["request_delete_range": .object(["key": .base64(key)])])
    case .all(let operations):
      .object(["request_txn": .object(["success": .array(operations.map(\.json))])])
    }
  }
}

/// That a key was last written at a revision; 0 means that it is not there.
struct EtcdCondition: Sendable {
  let key: String
  let modRevision: Int64

  var json: JSONValue {
    .object([
      "key": .base64(key), "target": "MOD", "result": "EQUAL", "mod_revision": .number(modRevision),
    ])
  }
}

/// What a transaction came to.
struct EtcdOutcome: Sendable {
  let revision: Int64
  let succeeded: Bool
  /// What each of its operations answered.
  let answers: [JSONObject]

  init(_ answer: EtcdAnswer) throws(EtcdFailure) {
    revision = answer.revision
    succeeded = try answer.body.flag("succeeded")
    answers = try answer.body.objects("responses")
  }

  /// What an operation that gets one key found.
  func value(_ index: Int, of key: String) throws(EtcdFailure) -> EtcdValue? {
    guard answers.indices.contains(index), let range = answers[index]["response_range"]?.objectValue else {
      throw .malformed("part of a transaction's answer is missing")
    }
    let values = try range.objects("kvs").map { (value) throws(EtcdFailure) in
      try EtcdValue(value, revision: revision)
    }
    guard values.count <= 1, values.allSatisfy({ $0.key == Array(key.utf8) }) else {
      throw .malformed("it holds other keys than those asked for")
    }
    return values.first
  }

  /// How many keys an operation removed.
  func deleted(_ index: Int) throws(EtcdFailure) -> Int64 {
    guard answers.indices.contains(index), let range = answers[index]["response_delete_range"]?.objectValue
    else {
      throw .malformed("part of a transaction's answer is missing")
    }
    return try range.number("deleted")
  }
}

/// One page of a range.
struct EtcdPage: Sendable {
  let revision: Int64
  let values: [EtcdValue]
  let hasMore: Bool

  init(_ answer: EtcdAnswer, of range: EtcdRange) throws(EtcdFailure) {
    revision = answer.revision
    values = try answer.body.objects("kvs").map { (value) throws(EtcdFailure) in
      try EtcdValue(value, revision: answer.revision)
    }
    hasMore = try answer.body.flag("more")
    var rest = range
    for value in values {
      guard rest.contains(value.key) else {
        throw .malformed("its keys are not those asked for, or in no order")
      }
      rest = rest.after(value.key)
    }
    guard !hasMore || !values.isEmpty else { throw .malformed("it promises more, and holds nothing") }
  }
}

/// An answer of etcd's.
struct EtcdAnswer: Sendable {
  let body: JSONObject
  /// The revision of the whole cluster, which every write raises.
  let revision: Int64
  /// Which cluster answered.
  let cluster: String

  /// The deepest answer is that of a transaction in a transaction.
  private static let limits = JSONLimits(size: EtcdClient.maximumAnswerSize, depth: 16, values: 200_000)

  static func object(_ json: Data) throws(EtcdFailure) -> JSONObject {
    do {
      return try JSONObject(foreign: json, within: limits)
    } catch {
      throw .malformed(error.description)
    }
  }

  init(_ body: JSONObject) throws(EtcdFailure) {
    self.body = body
    guard let header = body["header"]?.objectValue else { throw .malformed("it has no header") }
    revision = try header.number("revision")
    // Others are reckoned from it.
    guard revision < .max else { throw .malformed("its revision cannot be") }
    cluster = header["cluster_id"]?.stringValue ?? ""
    guard !cluster.isEmpty else { throw .malformed("it does not say whose it is") }
  }
}

extension EtcdValue {
  init(_ fields: JSONObject, revision: Int64) throws(EtcdFailure) {
    key = try fields.bytes("key")
    value = try fields.bytes("value")
    modRevision = try fields.number("mod_revision")
    guard modRevision > 0, modRevision <= revision, !key.isEmpty else {
      throw .malformed("one of its revisions cannot be")
    }
  }
}

extension JSONValue {
  static func base64(_ bytes: [UInt8]) -> JSONValue { .string(Data(bytes).base64EncodedString()) }

  static func base64(_ text: String) -> JSONValue { base64(Array(text.utf8)) }

  /// Numbers of 64 bits are strings in Protocol Buffers' JSON.
  static func number(_ number: Int64) -> JSONValue { .string(String(number)) }
}

extension JSONObject {
  /// A number of 64 bits, which is left out where it is zero.
  func number(_ name: String) throws(EtcdFailure) -> Int64 {
    switch self[name] {
    case nil: return 0
    case .integer(let number) where number >= 0: return number
    case .string(let text)
    where text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }:
      guard let number = Int64(text) else { break }
      return number
    default: break
    }
    throw .malformed("its \(name) is no number")
  }

  /// A truth value, which is left out where it is false.
  func flag(_ name: String) throws(EtcdFailure) -> Bool {
    switch self[name] {
    case nil: return false
    case .bool(let flag): return flag
    default: throw .malformed("its \(name) is neither true nor false")
    }
  }

  func bytes(_ name: String) throws(EtcdFailure) -> [UInt8] {
    guard let text = self[name] else { return [] }
    guard let data = text.stringValue.flatMap({ Data(base64Encoded: $0) }) else {
      throw .malformed("its \(name) is no base64")
    }
    return Array(data)
  }

  func objects(_ name: String) throws(EtcdFailure) -> [JSONObject] {
    guard let value = self[name] else { return [] }
    let elements = value.arrayValue ?? []
    let objects = elements.compactMap(\.objectValue)
    guard value.arrayValue != nil, objects.count == elements.count else {
      throw .malformed("its \(name) is no list of objects")
    }
    return objects
  }
}
