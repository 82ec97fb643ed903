package import FoundationEssentials

extension JSONObject {
  /// Reads a JSON object from outside: UTF-8 (RFC 8259), with or without a byte-order mark and commas after the last member
  /// or element, within `limits`.
  package init(foreign json: Data, within limits: JSONLimits) throws(ForeignJSONError) {
    guard json.count <= limits.size else { throw .tooLarge(limit: limits.size) }
    var reader = JSONReader(json: json, limits: limits)
    let bytes = json.span
    if json.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
    guard try reader.nextByte(bytes) == UInt8(ascii: "{") else { throw .notAnObject }
    self = try reader.object(bytes)
    reader.skipSpace(bytes)
    guard reader.position == bytes.count else { throw .notAnObject }
  }
}

/// `JSONDecoder` takes ten times as long, most of it to find out by trial what each value is. It is used only for strings
/// with escapes and for numbers that are not small integers, one by one.
private struct JSONReader {
  let json: Data
  let limits: JSONLimits
  var position = 0
  var values = 0
  var depth = 0
  /// The members of the objects that are being read, the innermost one's last.
  var members: [(name: String, value: JSONValue)] = []

  mutating func value(_ bytes: Span<UInt8>) throws(ForeignJSONError) -> JSONValue {
    switch try nextByte(bytes) {
    case UInt8(ascii: "\""): return .string(try string(bytes))
    case UInt8(ascii: "{"): return .object(try object(bytes))
    case UInt8(ascii: "["): return .array(try array(bytes))
    case UInt8(ascii: "t"): return try literal("true", .bool(true), bytes)
    case UInt8(ascii: "f"): return try literal("false", .bool(false), bytes)
    case UInt8(ascii: "n"): return try literal("null", .null, bytes)
    default: return try number(bytes)
    }
  }

  mutating func object(_ bytes: Span<UInt8>) throws(ForeignJSONError) -> JSONObject {
    try enter()
    let start = members.count
    if try nextByte(bytes) == UInt8(ascii: "}") {
      position += 1
    } else {
      repeat {
        guard try nextByte(bytes) == UInt8(ascii: "\"") else { throw .notAnObject }
        let name = try string(bytes)
        guard try nextByte(bytes) == UInt8(ascii: ":") else { throw .notAnObject }
        position += 1
        members.append((name, try value(bytes)))
      } while try hasMore(bytes, until: UInt8(ascii: "}"))
    }
    depth -= 1
    var object = JSONObject(minimumCapacity: members.count - start)
    // Of several members with one name the first one is stored last, and stays.
    while members.count > start {
      let (name, value) = members.removeLast()
      object[name] = value
    }
    return object
  }

  mutating func array(_ bytes: Span<UInt8>) throws(ForeignJSONError) -> [JSONValue] {
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

  mutating func enter() throws(ForeignJSONError) {
    position += 1
    depth += 1
    if depth > limits.depth { throw .tooDeep(limit: limits.depth) }
    try countValue()
  }

  mutating func countValue() throws(ForeignJSONError) {
    values += 1
    if values > limits.values { throw .tooManyValues(limit: limits.values) }
  }

  /// Skips a comma, the end of an object or array, or both.
  mutating func hasMore(_ bytes: Span<UInt8>, until end: UInt8) throws(ForeignJSONError) -> Bool {
    var byte = try nextByte(bytes)
    position += 1
    if byte == end { return false }
    guard byte == UInt8(ascii: ",") else { throw .notAnObject }
    byte = try nextByte(bytes)
    if byte == end {
      position += 1
      return false
    }
    try countValue()
    return true
  }

  mutating func string(_ bytes: Span<UInt8>) throws(ForeignJSONError) -> String {
    let start = position + 1
    var end = JSONString.endOfPlainText(in: bytes, from: start)
    let hasEscapes = end < bytes.count && bytes[end] == UInt8(ascii: "\\")
    while end < bytes.count, bytes[end] == UInt8(ascii: "\\") {
      end = JSONString.endOfPlainText(in: bytes, from: min(end + 2, bytes.count))
    }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { throw .notAnObject }
    position = end + 1
    if hasEscapes { return try decode(String.self, start - 1...end) }
    guard let text = try? UTF8Span(validating: bytes.extracting(start..<end)) else { throw .notAnObject }
    return String(copying: text)
  }

  mutating func number(_ bytes: Span<UInt8>) throws(ForeignJSONError) -> JSONValue {
    let first = position
    let isNegative = bytes[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let start = position
    var number: Int64 = 0
    while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
      number = number &* 10 &+ Int64(digit)
      position += 1
    }
    let digits = position - start
    while position < bytes.count, "0123456789+-.eE".utf8.contains(bytes[position]) { position += 1 }
    // 18 digits fit.
    if position == start + digits, 1...18 ~= digits, digits == 1 || bytes[start] != UInt8(ascii: "0") {
      return .integer(isNegative ? -number : number)
    }
    guard position > first else { throw .notAnObject }
    return try decode(JSONValue.self, first...position - 1)
  }

  func decode<Value: Decodable>(
    _ type: Value.Type, _ range: ClosedRange<Int>
  ) throws(ForeignJSONError) -> Value {
    let part = json[(json.startIndex + range.lowerBound)...(json.startIndex + range.upperBound)]
    guard let value = try? JSONDecoder().decode(type, from: part) else { throw .notAnObject }
    return value
  }

  mutating func literal(
    _ text: StaticString, _ value: JSONValue, _ bytes: Span<UInt8>
  ) throws(ForeignJSONError) -> JSONValue {
    for byte in text.description.utf8 {
      guard position < bytes.count, bytes[position] == byte else { throw .notAnObject }
      position += 1
    }
    return value
  }

  mutating func nextByte(_ bytes: Span<UInt8>) throws(ForeignJSONError) -> UInt8 {
    skipSpace(bytes)
    guard position < bytes.count else { throw .notAnObject }
    return bytes[position]
  }

  mutating func skipSpace(_ bytes: Span<UInt8>) {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
      default: return
      }
    }
  }
}
