extension String {
  /// Trimmed of white space and line ends on both sides and lower-cased, as every component of a cache
  /// key and every compared identifier is.
  package var normalized: String {
    trimmed.lowercased()
  }

  /// Without white space and line ends on both sides.
  package var trimmed: String {
    let start = firstIndex { !$0.isWhitespace } ?? endIndex
    let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? endIndex
    return start < end ? String(self[start..<end]) : ""
  }
}

extension Optional where Wrapped == String {
  /// `nil` for nothing, for the empty string and for white space.
  package var nonBlank: String? {
    guard let self, self.contains(where: { !$0.isWhitespace }) else { return nil }
    return self
  }
}
