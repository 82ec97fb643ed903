extension String {
  /// The text without what could drive a terminal or turn the direction of writing: control and formatting characters
  /// become spaces, and no more than `limit` characters are kept.
  package func printable(limit: Int = 2000) -> String {
    var text = ""
    for scalar in unicodeScalars.prefix(limit) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
        if !text.hasSuffix(" ") { text += " " }
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
