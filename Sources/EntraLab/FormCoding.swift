import CGLib

/// The names and values of a query or a form (`application/x-www-form-urlencoded`).
struct Parameters: Sendable {
  let pairs: [(name: String, value: String)]

  init(_ encoded: some StringProtocol) {
    pairs = encoded.split(separator: "&").map { field in
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (decodeFormText(parts[0]), parts.count > 1 ? decodeFormText(parts[1]) : "")
    }
  }

  /// The first value of that name, if it is not empty.
  subscript(name: String) -> String? {
    pairs.first { $0.name == name && !$0.value.isEmpty }?.value
  }

  var dictionary: [String: String] {
    Dictionary(pairs.map { ($0.name, $0.value) }) { first, _ in first }
  }

  var duplicates: [String] {
    Dictionary(grouping: pairs, by: \.name).filter { $0.value.count > 1 }.keys.sorted()
  }
}

/// Decodes `%xx` and `+`; malformed sequences are kept.
func decodeFormText(_ text: some StringProtocol) -> String {
  var result: [UInt8] = []
  var rest = Array(text.utf8)[...]
  while let byte = rest.popFirst() {
    if byte == UInt8(ascii: "+") {
      result.append(UInt8(ascii: " "))
    } else if byte == UInt8(ascii: "%"), let value = hexadecimal(rest.prefix(2)) {
      result.append(value)
      rest = rest.dropFirst(2)
    } else {
      result.append(byte)
    }
  }
  return String(decoding: result, as: UTF8.self)
}

private func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
  guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
  return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
}

/// Encodes everything but the unreserved characters of RFC 3986 as `%XX`.
func percentEncode(_ text: String) -> String {
  let encoded = g_uri_escape_string(text, nil, 0)
  defer { g_free(encoded) }
  return encoded.map { String(cString: $0) } ?? ""
}

func encodeForm(_ pairs: [(String, String)]) -> String {
  pairs.map { percentEncode($0.0) + "=" + percentEncode($0.1) }.joined(separator: "&")
}

func escapeHTML(_ text: String) -> String {
  let escaped = g_markup_escape_text(text, -1)
  defer { g_free(escaped) }
  return escaped.map { String(cString: $0) } ?? ""
}
