public import FoundationEssentials

/// A JSON object, such as one record of the cache.
public typealias JSONObject = [String: JSONValue]

/// Any JSON value. It lets the cache keep unknown data through any number of rewrites.
///
/// Numbers keep their value to 38 significant digits; how they were spelled (`1.0` or `1`) is not kept.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case decimal(Decimal)
  /// A number beyond the range of a decimal.
  case double(Double)
  case string(String)
  /// A string with half a surrogate pair, which no `String` can have, such as a name that another program has cut off. Only
  /// records of the cache have one, so that a rewrite keeps it.
  case utf16([UInt16])
  case array([JSONValue])
  case object(JSONObject)

  /// The text of a string, with U+FFFD for half a surrogate pair; `nil` for every other kind of value.
  public var stringValue: String? {
    switch self {
    case .string(let text): text
    case .utf16(let units): String(decoding: units, as: UTF16.self)
    default: nil
    }
  }

  /// The members of an object, `nil` for every other kind of value.
  public var objectValue: JSONObject? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The elements of an array, `nil` for every other kind of value.
  public var arrayValue: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// A number, or a string that spells one: other MSAL libraries write times either way.
  public var numberValue: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .decimal(let number): Double(number.description)
    case .double(let number): number
    case .string(let text): Double(text)
    case .null, .bool, .utf16, .array, .object: nil
    }
  }
}

extension JSONValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let members = try? container.decode(JSONObject.self) {
      self = .object(members)
    } else if container.decodeNil() {
      self = .null
    } else if let truth = try? container.decode(Bool.self) {
      self = .bool(truth)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Decimal.self) {
      // Some whole numbers are not read as such, for example 922337203685477580.1e1.
      self = Int64(number.description).map(JSONValue.integer) ?? .decimal(number)
    } else if let number = try? container.decode(Double.self) {
      self = .double(number)
    } else {
      self = .array(try container.decode([JSONValue].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let truth): try container.encode(truth)
    case .integer(let number): try container.encode(number)
    case .decimal(let number): try container.encode(number)
    case .double(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .utf16: try container.encode(stringValue)
    case .array(let elements): try container.encode(elements)
    case .object(let members): try container.encode(members)
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self = .string(text) }
}
