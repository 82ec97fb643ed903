import FoundationEssentials

/// Writes compact JSON with sorted keys.
///
/// `JSONEncoder` takes several times as long: it makes an intermediate copy of every value.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []

  /// - Throws: What `JSONEncoder` throws for a number that JSON does not have.
  mutating func write(_ value: JSONValue) throws {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let truth): bytes += (truth ? "true" : "false").utf8
    case .integer(let number): bytes += number.description.utf8
    case .decimal, .double: bytes += try JSONEncoder().encode(value)
    case .string(let text): write(text)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        try write(element)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      var isFirst = true
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        write(name)
        bytes.append(UInt8(ascii: ":"))
        try write(value)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    let span = text.utf8.span
    if JSONString.endOfPlainText(in: span, from: 0) == span.count {
      bytes += text.utf8
    } else {
      for byte in text.utf8 { write(escaping: byte) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func write(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case 0..<0x20:
      let digits = Array("0123456789abcdef".utf8)
      bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    default: bytes.append(byte)
    }
  }
}
