import FoundationEssentials
import GLibSupport
import Glibc

/// Writes compact JSON with keys sorted by their UTF-8.
///
/// `JSONEncoder` takes several times as long: it makes an intermediate copy of every value.
package struct JSONWriter {
  private let limits: JSONLimits
  private var bytes: [UInt8] = []
  /// Both are counted as a reader counts them.
  private var values = 0
  private var depth = 0

  /// - Throws: What a reader with these limits would throw; ``ForeignJSONError/notANumber`` for a number that JSON cannot
  ///   represent.
  package static func bytes(
    of value: JSONValue, within limits: JSONLimits
  ) throws(ForeignJSONError) -> [UInt8] {
    var writer = JSONWriter(limits: limits)
    try writer.write(value)
    guard writer.bytes.count <= limits.size else { throw .tooLarge(limit: limits.size) }
    return writer.bytes
  }

  private mutating func write(_ value: JSONValue) throws(ForeignJSONError) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let truth): bytes += (truth ? "true" : "false").utf8
    case .integer(let number): bytes += number.description.utf8
    case .decimal, .double:
      guard let number = try? JSONEncoder().encode(value) else { throw .notANumber }
      bytes += number
    case .string(let text): write(text)
    case .utf16(let units): write(units)
    case .array(let elements):
      try enter(elements.count)
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        try write(element)
      }
      bytes.append(UInt8(ascii: "]"))
      depth -= 1
    case .object(let members):
      try enter(members.count)
      bytes.append(UInt8(ascii: "{"))
      for (index, (name, value)) in members.sorted(by: { Self.precedes($0.key, $1.key) }).enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        write(name)
        bytes.append(UInt8(ascii: ":"))
        try write(value)
      }
      bytes.append(UInt8(ascii: "}"))
      depth -= 1
    }
  }

  /// Compares by bytes: Swift 6.3 has no consistent order of "e\u{301}" and "\u{e9}$", so its sorting varies.
  ///
  /// Keys of records begin alike, and `lexicographicallyPrecedes` takes seven times as long as the rest of writing them.
  private static func precedes(_ first: String, _ second: String) -> Bool {
    let (first, second) = (first.utf8.span, second.utf8.span)
    let order = unsafe first.withUnsafeBytes { first in
      unsafe second.withUnsafeBytes { second in
        guard let firstByte = first.baseAddress, let secondByte = second.baseAddress else { return Int32(0) }
        return unsafe memcmp(firstByte, secondByte, min(first.count, second.count))
      }
    }
    return order == 0 ? first.count < second.count : order < 0
  }

  private mutating func enter(_ count: Int) throws(ForeignJSONError) {
    depth += 1
    values += max(count, 1)
    guard depth <= limits.depth else { throw .tooDeep(limit: limits.depth) }
    guard values <= limits.values else { throw .tooManyValues(limit: limits.values) }
  }

  /// No UTF-8 has half a surrogate pair, so that all but plain ASCII is escaped.
  private mutating func write(_ units: [UInt16]) {
    bytes.append(UInt8(ascii: "\""))
    for unit in units {
      if let byte = UInt8(exactly: unit), byte < 0x7F, !JSONString.isSpecial(byte) {
        bytes.append(byte)
      } else {
        bytes += "\\u\(hex([UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)]))".utf8
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    let span = text.utf8.span
    if JSONString.endOfPlainText(in: span, from: 0) == span.count {
      bytes += text.utf8
    } else {
      for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0..<0x20: bytes += "\\u00\(hex([byte]))".utf8
        default: bytes.append(byte)
        }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
