package import FoundationEssentials

/// `application/x-www-form-urlencoded`, for request bodies and for queries.
package enum FormEncoding {
  /// Encodes parameters in the order of their names, so that equal requests are equal.
  package static func encode(_ parameters: [String: String]) -> String {
    parameters.sorted { $0.key < $1.key }
      .map { "\(encode($0.key))=\(encode($0.value))" }.joined(separator: "&")
  }

  /// Encodes one name or value: letters, digits and `-._~` stay, a space becomes `+`.
  package static func encode(_ text: String) -> String {
    text.utf8.reduce(into: "") { $0 += $1 == UInt8(ascii: " ") ? "+" : escape($1) }
  }

  /// Escapes what no path and no query may have (RFC 3986 section 3.3). Delimiters and valid escapes stay.
  fileprivate static func escape(_ text: some Collection<UInt8>) -> String {
    let bytes = Array(text)
    return bytes.indices.reduce(into: "") { escaped, index in
      let byte = bytes[index]
      let isEscape =
        byte == UInt8(ascii: "%") && bytes[(index + 1)...].prefix(2).compactMap(hexDigit).count == 2
      escaped += isEscape || delimiters.contains(byte) ? String(Unicode.Scalar(byte)) : escape(byte)
    }
  }

  private static func escape(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      String(Unicode.Scalar(byte))
    default: "%" + digits[Int(byte >> 4)] + digits[Int(byte & 15)]
    }
  }

  private static let digits = "0123456789ABCDEF".map { String($0) }
  private static let delimiters = Array("!$&'()*+,;=:@/?#".utf8)

  /// Reads parameters; `nil` when one stands there twice (RFC 6749 section 3.1), has no name or is no UTF-8.
  package static func decode(_ text: some Collection<UInt8>) -> [String: String]? {
    var parameters: [String: String] = [:]
    for pair in text.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decodeOne(parts[0]), !name.isEmpty,
        let value = parts.count > 1 ? decodeOne(parts[1]) : "",
        parameters.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    return parameters
  }

  /// Reads one name or value; `nil` when it is no UTF-8 or has a stray percent sign.
  package static func decodeOne(_ text: some Collection<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else {
          return nil
        }
        bytes.append(high << 4 | low)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func hexDigit(_ byte: UInt8) -> UInt8? {
    Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
  }
}

extension URL {
  /// Makes the URL of an address whose path and query may have characters that need escaping. `URL(string:)` would escape
  /// their valid escapes, too. A relative address is resolved against `base`.
  package init?(escaping address: String, relativeTo base: URL? = nil) {
    let start = address.utf8.firstRange(of: "//".utf8)?.upperBound ?? address.startIndex
    let end = address.utf8[start...].firstIndex { "/?".utf8.contains($0) } ?? address.endIndex
    let escaped = "\(address[..<end])\(FormEncoding.escape(address.utf8[end...]))"
    guard let url = URL(string: escaped, relativeTo: base)?.absoluteURL else { return nil }
    self = url
  }

  /// The address without its query and fragment, which may have a code or personal data.
  package var withoutQuery: URL {
    var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
    parts?.query = nil
    parts?.fragment = nil
    return parts?.url ?? self
  }

  /// Returns the address with these parameters added to its query.
  package func appending(query parameters: [String: String]) -> URL {
    guard !parameters.isEmpty, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
      return self
    }
    let added = FormEncoding.encode(parameters)
    parts.percentEncodedQuery =
      parts.percentEncodedQuery.map { $0.isEmpty ? added : "\($0)&\(added)" } ?? added
    return parts.url ?? self
  }
}
