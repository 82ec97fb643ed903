import FoundationEssentials
import GLibSupport

/// Any JSON value: for claims, token responses and other members that a test replaces.
package enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  package var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  package var integer: Int? {
    if case .integer(let value) = self { value } else { nil }
  }

  package var array: [JSON]? {
    if case .array(let value) = self { value } else { nil }
  }

  package var object: [String: JSON]? {
    if case .object(let value) = self { value } else { nil }
  }

  package subscript(key: String) -> JSON? { object?[key] }
}

extension JSON: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(nilLiteral: ()) { self = .null }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .number(value) }
  package init(stringLiteral value: String) { self = .string(value) }
  package init(arrayLiteral elements: JSON...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

extension [String: JSON] {
  /// Replaces members by those of `overlay`; `null` removes one.
  func overlaid(with overlay: [String: JSON]) -> [String: JSON] {
    merging(overlay) { _, new in new }.filter { $0.value != .null || overlay[$0.key] == nil }
  }
}

func encodeJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
  // Fails only for numbers that JSON cannot express, and the lab computes none.
  return Array((try? encoder.encode(value)) ?? Data("null".utf8))
}

func decodeJSON<T: Decodable>(_ bytes: some Sequence<UInt8>) throws -> T {
  try JSONDecoder().decode(T.self, from: Data(bytes))
}

/// Base64url without padding (RFC 4648 section 5).
func base64URL(_ bytes: some Sequence<UInt8>) -> String {
  Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
    "=", with: "")
}

/// A new identifier of 128 random bits.
func randomIdentifier() -> String { UUID().uuidString.lowercased() }

/// A secret of 256 random bits.
func randomSecret() -> String { base64URL(randomBytes(32)) }
