extension Unicode.Scalar {
  /// The property White_Space, which takes long to look up.
  var isWhitespace: Bool {
    isASCII ? value == 0x20 || 0x09...0x0D ~= value : properties.isWhitespace
  }
}

extension String {
  /// The text trimmed and in lower case, as every component of a cache key and every compared identifier is.
  package var normalized: String { isNormalized ? self : trimmed.lowercased() }

  /// Whether it is ASCII that normalizing would not change, as nearly all texts in a cache are.
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
    return bytes.indices.contains { !(0x21..<0x7F ~= bytes[$0]) }
      && unicodeScalars.contains(where: \.isWhitespace)
  }

  /// The text without white space and line ends on both sides.
  package var trimmed: String {
    // Examining scalars is slow.
    if let first = utf8.first, let last = utf8.last, 0x21..<0x7F ~= first, 0x21..<0x7F ~= last { return self }
    let scalars = unicodeScalars
    guard let start = scalars.firstIndex(where: { !$0.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(scalars[start...last])
  }

  /// Whether a field has this value, apart from case and outer white space.
  func matches(_ field: String?) -> Bool {
    guard let field else { return false }
    return self == field || normalized == field.normalized
  }
}

extension Optional where Wrapped == String {
  /// The text; `nil` if it is missing, empty or white space.
  package var nonBlank: String? {
    guard let self, let first = self.utf8.first else { return nil }
    guard 0x21..<0x7F ~= first || self.unicodeScalars.contains(where: { !$0.isWhitespace }) else {
      return nil
    }
    return self
  }

  /// Whether a field has this value; `nil` matches everything.
  func matches(_ field: String?) -> Bool { self?.matches(field) ?? true }
}
