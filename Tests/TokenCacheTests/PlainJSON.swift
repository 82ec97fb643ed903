import Foundation

/// JSON read by Foundation, which has nothing in common with the reader under test but how odd numbers are decoded. It
/// takes trailing commas and a byte-order mark.
enum PlainJSON: Equatable, Decodable, CustomStringConvertible {
  case null
  case bool(Bool)
  /// In one spelling for each value: how a number is spelled carries no meaning.
  case number(String)
  case string(String)
  case array([PlainJSON])
  case object([String: PlainJSON])

  init(_ data: Data) throws {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    self = try decoder.decode(PlainJSON.self, from: data)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let truth = try? container.decode(Bool.self) {
      self = .bool(truth)
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let number = try? container.decode(Double.self) {
      // Decimals are exact, but end long before doubles do.
      let isDecimal = (1e-100...1e100).contains(abs(number))
      self = .number(isDecimal ? try container.decode(Decimal.self).description : number.description)
    } else if let elements = try? container.decode([PlainJSON].self) {
      self = .array(elements)
    } else {
      self = .object(try container.decode([String: PlainJSON].self))
    }
  }

  var members: [String: PlainJSON] {
    if case .object(let members) = self { members } else { [:] }
  }

  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  subscript(name: String) -> PlainJSON? { members[name] }

  /// A cache without sections that hold nothing: they say as much as sections that are missing.
  var cacheWithoutEmptySections: PlainJSON {
    let known = ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata", "AccountMetadataMap"]
    return .object(
      members.filter { !known.contains($0.key) || $0.value != .object([:]) && $0.value != .null })
  }

  var description: String {
    switch self {
    case .null: "null"
    case .bool(let truth): "\(truth)"
    case .number(let number): number
    case .string(let text): "\"\(text)\""
    case .array(let elements): "\(elements)"
    case .object(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
    }
  }
}
