import FoundationEssentials
import GLibSupport

extension Unicode.Scalar {
  /// Whether it is unsafe in text of several lines, too.
  fileprivate var isUnsafeInLines: Bool { isUnsafe && self != "\n" && self != "\t" }
}

/// Text from a cache or another untrusted source, safe to print on one line.
func printable(_ text: String) -> String { text.printable(limit: .max, isName: true) }

/// Text of several lines, safe to print.
func printableLines(_ text: String) -> String {
  String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isUnsafeInLines ? "\u{FFFD}" : $0 }))
}

/// Escapes characters that are unsafe to print. The JSON keeps its meaning: only strings can hold them.
func printableJSON(_ json: String) -> String {
  guard json.unicodeScalars.contains(where: \.isUnsafeInLines) else { return json }
  var safe = ""
  for scalar in json.unicodeScalars {
    guard scalar.isUnsafeInLines else {
      safe.unicodeScalars.append(scalar)
      continue
    }
    // The digit before the four is dropped.
    for unit in scalar.utf16 { safe += "\\u" + String(0x10000 + Int(unit), radix: 16).dropFirst() }
  }
  return safe
}

/// Printable JSON with sorted keys and ISO 8601 times; by default on several lines and with names in snake case, the form of
/// every `--json`.
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

/// The same for an object that is written down here.
func json(_ members: Members, names: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase) throws -> String {
  try json(members, names: names, layout: .prettyPrinted)
}

extension String {
  var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

  /// The text cut to a number of columns, with an ellipsis where it was cut.
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

/// A number with its noun, such as "2 records".
func counted(_ count: Int, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}
