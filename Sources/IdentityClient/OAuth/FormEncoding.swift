package import FoundationEssentials

/// `application/x-www-form-urlencoded`, for request bodies and for queries.
enum FormEncoding {
  /// Encodes parameters in the order of their names, so that equal requests are equal.
  static func encode(_ parameters: [String: String]) -> String {
    parameters.sorted { $0.key < $1.key }
      .map { "\(encode($0.key))=\(encode($0.value))" }.joined(separator: "&")
  }

  /// Encodes one name or value: letters, digits and `-._~` stay, a space becomes `+`.
  static func encode(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: " "): encoded += "+"
      default: encoded += "%" + digits[Int(byte >> 4)] + digits[Int(byte & 15)]
      }
    }
    return encoded
  }

  private static let digits = "0123456789ABCDEF".map { String($0) }

  /// Reads parameters; `nil` when one stands there twice or is no UTF-8.
  static func decode(_ text: String) -> [String: String]? {
    var parameters: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decodeOne(parts[0]), let value = decodeOne(parts.count > 1 ? parts[1] : ""),
        parameters.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    return parameters
  }

  /// Reads one name or value; `nil` when it is no UTF-8 or has a stray percent sign.
  static func decodeOne(_ text: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        let digits = rest.prefix(2)
        // A number may have a sign; these have none.
        guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
          let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        bytes.append(value)
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension URL {
  /// The same address with these parameters added to its query.
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
