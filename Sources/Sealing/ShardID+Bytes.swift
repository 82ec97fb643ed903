package import TokenCache

extension ShardID {
  /// The 16 bytes of the id; `nil` for an invalid name, which no file may have.
  package var bytes: [UInt8]? {
    let digits = Array(rawValue.utf8)
    guard digits.count == 32 else { return nil }
    var bytes: [UInt8] = []
    for pair in stride(from: 0, to: 32, by: 2) {
      guard let high = Self.value(digits[pair]), let low = Self.value(digits[pair + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  package init(bytes: ArraySlice<UInt8>) {
    self.init(rawValue: hex(bytes))
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

/// Bytes as lower-case hexadecimal digits.
package func hex(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  return String(
    decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
