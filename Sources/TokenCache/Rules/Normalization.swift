extension String {
  /// Trimmed of white space and line ends on both sides and lower-cased, as every component of a cache
  /// key and every compared identifier is.
  package var normalized: String {
    isNormalized ? self : trimmed.lowercased()
  }

  /// Whether it is ASCII that normalizing would not change, as nearly all that is in a cache.
  private var isNormalized: Bool {
    let bytes = utf8.span
    for index in bytes.indices {
      let byte = bytes[index]
      guard 0x20..<0x7F ~= byte, !(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte) else { return false }
    }
    return bytes.isEmpty || bytes[0] != 0x20 && bytes[bytes.count - 1] != 0x20
  }

  package var hasWhitespace: Bool {
    let bytes = utf8.span
    return bytes.indices.contains { !(0x21..<0x7F ~= bytes[$0]) } && contains(where: \.isWhitespace)
  }

  /// Without white space and line ends on both sides.
  package var trimmed: String {
    // Looking at characters takes long.
    if let first = utf8.first, let last = utf8.last, 0x21..<0x7F ~= first, 0x21..<0x7F ~= last { return self }
    let start = firstIndex { !$0.isWhitespace } ?? endIndex
    let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? endIndex
    return start < end ? String(self[start..<end]) : ""
  }
}

extension Optional where Wrapped == String {
  /// `nil` for nothing, for the empty string and for white space.
  package var nonBlank: String? {
    guard let self, let first = self.utf8.first else { return nil }
    guard 0x21..<0x7F ~= first || self.contains(where: { !$0.isWhitespace }) else { return nil }
    return self
  }
}
