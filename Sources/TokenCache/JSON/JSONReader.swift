package import FoundationEssentials

extension JSONObject {
  /// Reads a JSON object, as ``JSONValue/init(foreign:within:keepsSurrogates:)`` reads any value.
  package init(
    foreign json: Data, within limits: JSONLimits, keepsSurrogates: Bool = false
  ) throws(ForeignJSONError) {
    let value = try JSONValue(foreign: json, within: limits, keepsSurrogates: keepsSurrogates)
    guard case .object(let members) = value else { throw .notAnObject }
    self = members
  }
}

extension JSONValue {
  /// Reads JSON from outside: UTF-8 (RFC 8259), with or without a byte-order mark and commas after the last member or
  /// element, within `limits`.
  ///
  /// Half of an escaped surrogate pair is read as U+FFFD, or is kept in a ``utf16(_:)``. A name always has U+FFFD.
  package init(
    foreign json: Data, within limits: JSONLimits, keepsSurrogates: Bool = false
  ) throws(ForeignJSONError) {
    guard json.count <= limits.size else { throw .tooLarge(limit: limits.size) }
    var reader = JSONReader(json: json, limits: limits, keepsSurrogates: keepsSurrogates)
    let bytes = json.span
    if json.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
    self = try reader.value(bytes)
    reader.skipSpace(bytes)
    guard reader.position == bytes.count else { throw .notAnObject }
  }
}

/// `JSONDecoder` takes ten times as long, most of it to find out by trial what each value is. It is used only for numbers
/// that are not small integers, one by one.
private struct JSONReader {
  let json: Data
  let limits: JSONLimits
  let keepsSurrogates: Bool
  var position = 0
  var values = 0
  var depth = 0
  /// Whether a name has U+FFFD in the place of a surrogate, so that another one may be equal to it now.
  var hasChangedName = false
  /// The members of the objects that are being read, the innermost one's last.
  var members: [(name: String, value: JSONValue)] = []

  mutating func value(_ bytes: Span<UInt8>) throws(ForeignJSONError) -> JSONValue {
    switch try nextByte(bytes) {
    case UInt8(ascii: "\""):
      let text = try string(bytes)
      if case .utf16 = text, !keepsSurrogates { return .string(text.stringValue ?? "") }
      return text
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
        if case .utf16 = name { hasChangedName = true }
        guard try nextByte(bytes) == UInt8(ascii: ":") else { throw .notAnObject }
        position += 1
        members.append((name.stringValue ?? "", try value(bytes)))
      } while try hasMore(bytes, until: UInt8(ascii: "}"))
    }
    depth -= 1
    var object = JSONObject(minimumCapacity: members.count - start)
    // Of several members with one name the first one is stored last, and stays.
    while members.count > start {
      let (name, value) = members.removeLast()
      let isRepeated = object.updateValue(value, forKey: name) != nil
      if isRepeated, hasChangedName { throw .equalNames }
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

  /// A ``JSONValue/string(_:)`` or a ``JSONValue/utf16(_:)``.
  mutating func string(_ bytes: Span<UInt8>) throws(ForeignJSONError) -> JSONValue {
    var units: [UInt16] = []
    var start = position + 1
    while true {
      let end = JSONString.endOfPlainText(in: bytes, from: start)
      guard end < bytes.count, let span = try? UTF8Span(validating: bytes.extracting(start..<end)) else {
        throw .notAnObject
      }
      let text = String(copying: span)
      switch bytes[end] {
      case UInt8(ascii: "\"") where start == position + 1:
        position = end + 1
        return .string(text)
      case UInt8(ascii: "\""):
        position = end + 1
        units += text.utf16
        return String(validating: units, as: UTF16.self).map(JSONValue.string) ?? .utf16(units)
      case UInt8(ascii: "\\"):
        units += text.utf16
        start = end + 1
        units.append(try escape(bytes, &start))
      default: throw .notAnObject
      }
    }
  }

  /// What follows a backslash at `index`, which is moved behind it.
  func escape(_ bytes: Span<UInt8>, _ index: inout Int) throws(ForeignJSONError) -> UInt16 {
    guard index < bytes.count else { throw .notAnObject }
    let byte = bytes[index]
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(byte)
    case UInt8(ascii: "b"): return 0x08
    case UInt8(ascii: "f"): return 0x0C
    case UInt8(ascii: "n"): return 0x0A
    case UInt8(ascii: "r"): return 0x0D
    case UInt8(ascii: "t"): return 0x09
    case UInt8(ascii: "u"):
      var unit: UInt16 = 0
      for _ in 0..<4 {
        guard index < bytes.count, let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else {
          throw .notAnObject
        }
        unit = unit << 4 | UInt16(digit)
        index += 1
      }
      return unit
    default: throw .notAnObject
    }
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
    let part = json[(json.startIndex + first)..<(json.startIndex + position)]
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: part) else { throw .notAnObject }
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
