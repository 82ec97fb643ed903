import CGLib
import Glibc

extension String {
  /// Copies a string of C's and frees it; `nil` for none.
  package init?(taking text: UnsafeMutablePointer<CChar>?) {
    guard let text else { return nil }
    defer { g_free(text) }
    self.init(cString: text)
  }

  /// The text in Unicode's normalization form C: equal texts have equal bytes.
  package var composed: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    // A NUL ends a string for GLib.
    return split(separator: "\0", omittingEmptySubsequences: false).map { part in
      String(taking: g_utf8_normalize(String(part), -1, G_NORMALIZE_NFC)) ?? String(part)
    }.joined(separator: "\0")
  }
}

extension Unicode.Scalar {
  /// Whether the character could control a terminal, turn the direction of writing or be invisible.
  package var isUnsafe: Bool {
    // To look the category up takes longer, and text of thousands of accounts has millions of characters.
    if isASCII { return value < 0x20 || value == 0x7F }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
    default: false
    }
  }

  /// The width of the character in a terminal, in columns: 2 if it is wide (UAX #11), 0 for a combining mark.
  package var columns: Int {
    if g_unichar_iszerowidth(value) != 0 { return 0 }
    return g_unichar_iswide(value) != 0 ? 2 : 1
  }
}

extension String {
  /// The text as it may be shown on one line, without unsafe characters.
  ///
  /// - Parameters:
  ///   - limit: How many characters are kept.
  ///   - isName: Whether each unsafe character becomes U+FFFD, so that different names look different. Otherwise each run of
  ///     them becomes a space, as in prose of several lines.
  /// - Returns: One line.
  package func printable(limit: Int = 2000, isName: Bool = false) -> String {
    var text = ""
    for scalar in unicodeScalars.prefix(limit) {
      if !scalar.isUnsafe {
        text.unicodeScalars.append(scalar)
      } else if isName {
        text += "\u{FFFD}"
      } else if !text.hasSuffix(" ") {
        text += " "
      }
    }
    return text
  }
}

/// Quotes a word for a shell if necessary.
package func shellQuoted(_ word: String) -> String {
  let isPlain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+:@%,".contains($0)) }
  return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
}

/// The parts that are not `nil`, one after the other. Each is a sentence: one without a full stop gets it, except the last of
/// several, which may be advice that ends with a command to paste.
package func sentences(_ parts: String?...) -> String { sentences(parts) }

/// The parts that are not `nil`, as ``sentences(_:)``.
package func sentences(_ parts: [String?]) -> String {
  parts.enumerated().compactMap { index, part in
    guard let part, let end = part.last else { return nil }
    let isLast = index > 0 && index == parts.count - 1
    return isLast || ".!?".contains(end) ? part : part + "."
  }.joined(separator: " ")
}

/// The system's text for an `errno`, without a full stop.
package func systemReason(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
