import FoundationEssentials
import GLibSupport

extension Unicode.Scalar {
  /// Whether a terminal might obey the character, or the reader be misled by it, instead of seeing it.
  fileprivate var isTreacherous: Bool {
    switch properties.generalCategory {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

/// Text from a cache or from elsewhere, safe to print on one line.
func printable(_ text: String) -> String {
  String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isTreacherous ? "\u{FFFD}" : $0 }))
}

/// Text of several lines, each safe to print.
func printableLines(_ text: String) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }
    .joined(separator: "\n")
}

/// JSON that is safe to print, and still the same: only strings can hold what is escaped here.
func printableJSON(_ json: String) -> String {
  guard json.unicodeScalars.contains(where: { $0.isTreacherous && $0 != "\n" }) else { return json }
  var safe = ""
  for scalar in json.unicodeScalars {
    guard scalar.isTreacherous && scalar != "\n" else {
      safe.unicodeScalars.append(scalar)
      continue
    }
    for unit in String(scalar).utf16 {
      let digits = String(unit, radix: 16)
      safe += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
  return safe
}

/// Printable JSON with sorted keys and ISO 8601 times; unless told otherwise, on several lines and with names in
/// snake case, the form of every `--json`.
func json(
  _ value: some Encodable, names: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase,
  layout: JSONEncoder.OutputFormatting = .prettyPrinted
) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = layout.union([.sortedKeys, .withoutEscapingSlashes])
  encoder.keyEncodingStrategy = names
  encoder.dateEncodingStrategy = .iso8601
  return printableJSON(String(decoding: try encoder.encode(value), as: UTF8.self))
}

extension String {
  /// How many columns of a terminal the text takes.
  var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

  /// The text cut to a number of columns, with an ellipsis where something is missing.
  func cut(to width: Int) -> String {
    guard columns > width else { return self }
    var (shown, rest) = ("", width - 1)
    for character in self {
      rest -= String(character).columns
      if rest < 0 { break }
      shown.append(character)
    }
    return shown + "…"
  }

  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - columns))
  }
}
