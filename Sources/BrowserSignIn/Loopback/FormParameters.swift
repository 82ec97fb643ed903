/// Reads `application/x-www-form-urlencoded` text, as of a query or a body.
///
/// - Returns: The parameters by name; nil if the text is malformed or has a name twice (RFC 6749 section 3.1).
func formParameters(_ text: some Collection<UInt8>) -> [String: String]? {
  var parameters: [String: String] = [:]
  for pair in text.split(separator: UInt8(ascii: "&")) {
    let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = decoded(parts[0]), !name.isEmpty, let value = parts.count == 2 ? decoded(parts[1]) : "",
      parameters.updateValue(value, forKey: name) == nil
    else { return nil }
  }
  return parameters
}

private func decoded(_ text: some Collection<UInt8>) -> String? {
  var bytes: [UInt8] = []
  var rest = text.makeIterator()
  while let byte = rest.next() {
    switch byte {
    case UInt8(ascii: "+"):
      bytes.append(UInt8(ascii: " "))
    case UInt8(ascii: "%"):
      guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else {
        return nil
      }
      bytes.append(high << 4 | low)
    default:
      bytes.append(byte)
    }
  }
  return String(validating: bytes, as: UTF8.self)
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
  Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
}
