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
  /// With `revision`, as it was then.
  case get(String, revision: Int64? = nil)
  /// All but the value.
  case look(String)
  case put(String, [UInt8], lease: Int64? = nil)
  case delete(String)
  /// Others, since a transaction counts its own only.
  case all([EtcdOperation])

  /// How many conditions or operations a transaction has at most: etcd takes 128 unless it is configured otherwise.
  private static let maximumCount = 120

  /// The operations, those of a large change in transactions of their own, which count as one.
  static func grouped(_ operations: [EtcdOperation]) -> [EtcdOperation] {
    // What a transaction counts is taken from what those in it may count.
    let size = maximumCount / 2
    guard operations.count > size else { return operations }
    return stride(from: 0, to: operations.count, by: size).map { start in
      .all(Array(operations[start..<min(start + size, operations.count)]))
    }
  }

  /// What it gets.
  var key: String? {
    switch self {
    case .get(let key, _), .look(let key): key
    case .put, .delete, .all: nil
    }
  }

  var isWrite: Bool { key == nil }

  var json: JSONValue {
    switch self {
    case .get(let key, nil): .object(["request_range": .object(["key": .base64(key)])])
    case .get(let key, let revision?):
      .object(["request_range": .object(["key": .base64(key), "revision": .number(revision)])])
    case .look(let key):
      .object(["request_range": .object(["key": .base64(key), "keys_only": .bool(true)])])
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

/// That a key was last written at a revision; 0 means that it does not exist.
struct EtcdCondition: Sendable {
  let key: String
  let modRevision: Int64

  /// One that never holds.
  static func never(_ key: String) -> EtcdCondition { EtcdCondition(key: key, modRevision: .max) }

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
  /// For each operation that was carried out, the value that it found, where it gets one.
  let values: [EtcdValue?]

  init(
    _ response: EtcdResponse, if conditions: [EtcdCondition], of operations: [EtcdOperation],
    otherwise: [EtcdOperation]
  ) throws(EtcdFailure) {
    let revision = response.revision
    let succeeded = try response.body.flag("succeeded")
    let results = try response.body.objects("responses")
    let operations = succeeded ? operations : otherwise
    guard results.count == operations.count, succeeded || !conditions.isEmpty else {
      throw .malformed("part of a transaction's response is missing")
    }
    (self.revision, self.succeeded) = (revision, succeeded)
    var values: [EtcdValue?] = []
    for (operation, result) in zip(operations, results) {
      let value: EtcdValue? =
        if let key = operation.key { try result.value(of: key, at: revision) } else { nil }
      values.append(value)
    }
    self.values = values
  }
}

struct EtcdPage: Sendable {
  let revision: Int64
  let values: [EtcdValue]
  let hasMore: Bool
  /// How many keys are in the range.
  let count: Int

  init(_ response: EtcdResponse, of range: EtcdRange) throws(EtcdFailure) {
    revision = response.revision
    values = try response.body.values(at: revision)
    hasMore = try response.body.flag("more")
    var rest = range
    for value in values {
      guard rest.contains(value.key) else {
        throw .malformed("its keys are not the requested ones, or not in order")
      }
      rest = rest.after(value.key)
    }
    guard !hasMore || !values.isEmpty else { throw .malformed("it announces more, and holds nothing") }
    // etcd's own count, which only says how much to ask for at a time.
    count = Int(min(max((try? response.body.number("count")) ?? 0, Int64(values.count)), 1 << 32))
  }
}

struct EtcdResponse: Sendable {
  let body: JSONObject
  /// The revision of the whole cluster, which every write raises.
  let revision: Int64
  let cluster: String

  /// The deepest response is that of a transaction in a transaction.
  private static let limits = JSONLimits(size: EtcdClient.maximumResponseSize, depth: 16, values: 200_000)

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
    cluster = header["cluster_id"]?.stringValue ?? ""
    guard !cluster.isEmpty else { throw .malformed("it does not name its cluster") }
  }
}

extension EtcdValue {
  init(_ fields: JSONObject, revision: Int64) throws(EtcdFailure) {
    key = try fields.bytes("key")
    value = try fields.bytes("value")
    modRevision = try fields.number("mod_revision")
    guard modRevision > 0, modRevision <= revision, !key.isEmpty else {
      throw .malformed("one of its revisions is impossible")
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
  /// A number of 64 bits, which is left out where it is zero. The greatest is none that etcd comes to, and has no successor.
  func number(_ name: String) throws(EtcdFailure) -> Int64 {
    let number: Int64? =
      switch self[name] {
      case nil: 0
      case .integer(let number): number
      case .string(let text)
      where text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }:
        Int64(text)
      default: nil
      }
    guard let number, (0..<Int64.max).contains(number) else {
      throw .malformed("its \(name) is not a number")
    }
    return number
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
      throw .malformed("its \(name) is not base64")
    }
    return Array(data)
  }

  /// The value of a key in the result of an operation; `nil` where there is none.
  fileprivate func value(of key: String, at revision: Int64) throws(EtcdFailure) -> EtcdValue? {
    guard let range = self["response_range"]?.objectValue else {
      throw .malformed("part of a transaction's response is missing")
    }
    let values = try range.values(at: revision)
    guard [[], [Array(key.utf8)]].contains(values.map(\.key)) else {
      throw .malformed("it holds other keys than the requested ones")
    }
    return values.first
  }

  fileprivate func values(at revision: Int64) throws(EtcdFailure) -> [EtcdValue] {
    var values: [EtcdValue] = []
    for value in try objects("kvs") { values.append(try EtcdValue(value, revision: revision)) }
    return values
  }

  func objects(_ name: String) throws(EtcdFailure) -> [JSONObject] {
    guard let value = self[name] else { return [] }
    let elements = value.arrayValue ?? []
    let objects = elements.compactMap(\.objectValue)
    guard value.arrayValue != nil, objects.count == elements.count else {
      throw .malformed("its \(name) is not a list of objects")
    }
    return objects
  }
}
