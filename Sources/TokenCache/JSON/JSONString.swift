/// The bytes that have a meaning inside a JSON string (RFC 8259 section 7).
enum JSONString {
  /// Where, at or after `start`, the first quotation mark, backslash or control character is, else the end.
  static func endOfPlainText(in bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    // Many at a time: tokens are long, and this is what reading and writing them takes.
    while index + 32 <= bytes.count {
      let found =
        special(bytes, at: index) | special(bytes, at: index + 8)
        | special(bytes, at: index + 16) | special(bytes, at: index + 24)
      if found != 0 { break }
      index += 32
    }
    while index + 8 <= bytes.count {
      let found = special(bytes, at: index)
      if found != 0 { return index + found.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < bytes.count, !isSpecial(bytes[index]) { index += 1 }
    return index
  }

  /// Has the highest bit set of the first of eight bytes that is special; what is above that does not count.
  /// All eight must be there.
  private static func special(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
    let word = UInt64(
      littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    return
      (zeroes(word ^ 0x2222_2222_2222_2222) | zeroes(word ^ 0x5C5C_5C5C_5C5C_5C5C)
      | (word &- 0x2020_2020_2020_2020) & ~word) & 0x8080_8080_8080_8080
  }

  static func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Has the highest bit set of the lowest byte that is zero; what is above that does not count.
  private static func zeroes(_ word: UInt64) -> UInt64 { (word &- 0x0101_0101_0101_0101) & ~word }
}
