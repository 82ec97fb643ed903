import FoundationEssentials

/// Reads JSON of the usual kind. Two members of one name, trailing commas, numbers beyond 64 bits, byte-order
/// marks, deep nesting, more than the limits allow and everything malformed are not.
struct JSONReader {
  private struct Unusual: Error {}

  private static let maximumDepth = 64

  private let json: Data
  private let limits: JSONLimits
  private var position = 0
  /// Counted as ``JSONLimits`` counts them.
  private var values = 0
  private var depth = 0
  /// The members of the objects that are being read, the innermost one's last.
  private var members: [(name: String, value: JSONValue)] = []

  /// `nil` when the JSON is unusual or none.
  static func read(_ json: Data, within limits: JSONLimits) -> JSONObject? {
    guard json.count <= limits.size else { return nil }
    var reader = JSONReader(json: json, limits: limits)
    let bytes = json.span
    guard case .object(let object)? = try? reader.value(bytes) else { return nil }
    reader.skipSpace(bytes)
    return reader.position == bytes.count ? object : nil
  }

  private init(json: Data, limits: JSONLimits) {
    (self.json, self.limits) = (json, limits)
  }

  private mutating func value(_ bytes: Span<UInt8>) throws(Unusual) -> JSONValue {
    switch try nextByte(bytes) {
    case UInt8(ascii: "\""): return .string(try string(bytes))
    case UInt8(ascii: "{"): return .object(try object(bytes))
    case UInt8(ascii: "["): return .array(try array(bytes))
    case UInt8(ascii: "t"): return try literal("true", .bool(true), bytes)
    case UInt8(ascii: "f"): return try literal("false", .bool(false), bytes)
    case UInt8(ascii: "n"): return try literal("null", .null, bytes)
    default: return .integer(try integer(bytes))
    }
  }

  private mutating func object(_ bytes: Span<UInt8>) throws(Unusual) -> JSONObject {
    try enter()
    let start = members.count
    if try nextByte(bytes) == UInt8(ascii: "}") {
      position += 1
    } else {
      repeat {
        guard try nextByte(bytes) == UInt8(ascii: "\"") else { throw Unusual() }
        let name = try string(bytes)
        guard try nextByte(bytes) == UInt8(ascii: ":") else { throw Unusual() }
        position += 1
        members.append((name, try value(bytes)))
      } while try hasMore(bytes, until: UInt8(ascii: "}"))
    }
    depth -= 1
    var object = JSONObject(minimumCapacity: members.count - start)
    while members.count > start {
      let (name, value) = members.removeLast()
      guard object.updateValue(value, forKey: name) == nil else { throw Unusual() }
    }
    return object
  }

  private mutating func array(_ bytes: Span<UInt8>) throws(Unusual) -> [JSONValue] {
    try enter()
    var elements: [JSONValue] = []
    if try nextByte(bytes) == UInt8(ascii: "]") {
      position += 1
    } else {
      repeat { elements.append(try value(bytes)) } while try hasMore(bytes, until: UInt8(ascii: "]"))
    }
    depth -= 1
    return elements
  }

  private mutating func enter() throws(Unusual) {
    position += 1
    depth += 1
    if depth > min(Self.maximumDepth, limits.depth) { throw Unusual() }
    try countValue()
  }

  private mutating func countValue() throws(Unusual) {
    values += 1
    if values > limits.values { throw Unusual() }
  }

  /// Passes a comma or the end of an object or array.
  private mutating func hasMore(_ bytes: Span<UInt8>, until end: UInt8) throws(Unusual) -> Bool {
    let byte = try nextByte(bytes)
    position += 1
    if byte == end { return false }
    guard byte == UInt8(ascii: ",") else { throw Unusual() }
    try countValue()
    return true
  }

  private mutating func string(_ bytes: Span<UInt8>) throws(Unusual) -> String {
    let start = position + 1
    var end = JSONString.endOfPlainText(in: bytes, from: start)
    let hasEscapes = end < bytes.count && bytes[end] == UInt8(ascii: "\\")
    while end < bytes.count, bytes[end] == UInt8(ascii: "\\") {
      end = JSONString.endOfPlainText(in: bytes, from: min(end + 2, bytes.count))
    }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { throw Unusual() }
    position = end + 1
    if hasEscapes {
      let quoted = json[(json.startIndex + start - 1)...(json.startIndex + end)]
      guard let text = try? JSONDecoder().decode(String.self, from: quoted) else { throw Unusual() }
      return text
    }
    guard let text = try? UTF8Span(validating: bytes.extracting(start..<end)) else { throw Unusual() }
    return String(copying: text)
  }

  private mutating func integer(_ bytes: Span<UInt8>) throws(Unusual) -> Int64 {
    let isNegative = try nextByte(bytes) == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let start = position
    var number: Int64 = 0
    while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
      number = number &* 10 &+ Int64(digit)
      position += 1
    }
    // 18 digits fit; a zero in front of others, a fraction and an exponent are not for this reader.
    let count = position - start
    guard 1...18 ~= count, count == 1 || bytes[start] != UInt8(ascii: "0"), !(isNegative && number == 0)
    else { throw Unusual() }
    return isNegative ? -number : number
  }

  private mutating func literal(
    _ text: StaticString, _ value: JSONValue, _ bytes: Span<UInt8>
  ) throws(Unusual) -> JSONValue {
    for byte in text.description.utf8 {
      guard position < bytes.count, bytes[position] == byte else { throw Unusual() }
      position += 1
    }
    return value
  }

  private mutating func nextByte(_ bytes: Span<UInt8>) throws(Unusual) -> UInt8 {
    skipSpace(bytes)
    guard position < bytes.count else { throw Unusual() }
    return bytes[position]
  }

  private mutating func skipSpace(_ bytes: Span<UInt8>) {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
      default: return
      }
    }
  }
}
