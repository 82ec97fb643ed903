import Foundation

/// JSON read by a parser that has nothing in common with the one under test. It takes trailing commas and a
/// byte-order mark.
enum PlainJSON: Equatable, CustomStringConvertible {
  case null
  case bool(Bool)
  /// By its value: how a number is spelled carries no meaning.
  case number(Decimal)
  case string(String)
  case array([PlainJSON])
  case object([String: PlainJSON])

  struct SyntaxError: Error {}

  init(_ data: Data) throws {
    var parser = Parser(text: Array(data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data[...]))
    self = try parser.value()
    parser.skipSpace()
    guard parser.isAtEnd else { throw SyntaxError() }
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
    case .number(let number): "\(number)"
    case .string(let text): "\"\(text)\""
    case .array(let elements): "\(elements)"
    case .object(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
    }
  }

  private struct Parser {
    let text: [UInt8]
    var index = 0

    var isAtEnd: Bool { index == text.count }

    mutating func skipSpace() {
      while index < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[index]) { index += 1 }
    }

    mutating func take(_ character: Character) -> Bool {
      skipSpace()
      guard index < text.count, text[index] == character.asciiValue else { return false }
      index += 1
      return true
    }

    mutating func take(word: String) -> Bool {
      guard text[index...].starts(with: word.utf8) else { return false }
      index += word.utf8.count
      return true
    }

    mutating func value() throws -> PlainJSON {
      if take("{") { return .object(try members()) }
      if take("[") { return .array(try elements()) }
      if take("\"") { return .string(try string()) }
      if take(word: "null") { return .null }
      if take(word: "true") { return .bool(true) }
      if take(word: "false") { return .bool(false) }
      let digits = text[index...].prefix { "+-.eE0123456789".utf8.contains($0) }
      index += digits.count
      guard let number = Decimal(string: String(decoding: digits, as: UTF8.self)) else { throw SyntaxError() }
      return .number(number)
    }

    mutating func members() throws -> [String: PlainJSON] {
      var members: [String: PlainJSON] = [:]
      while !take("}") {
        guard take("\"") else { throw SyntaxError() }
        let name = try string()
        guard take(":") else { throw SyntaxError() }
        members[name] = try value()
        if !take(",") {
          guard take("}") else { throw SyntaxError() }
          return members
        }
      }
      return members
    }

    mutating func elements() throws -> [PlainJSON] {
      var elements: [PlainJSON] = []
      while !take("]") {
        elements.append(try value())
        if !take(",") {
          guard take("]") else { throw SyntaxError() }
          return elements
        }
      }
      return elements
    }

    mutating func string() throws -> String {
      var units: [UInt16] = []
      while index < text.count, text[index] != 0x22 {
        if text[index] == 0x5C {
          units.append(try escape())
        } else {
          let rest = text[index...].prefix { $0 != 0x22 && $0 != 0x5C }
          units += String(decoding: rest, as: UTF8.self).utf16
          index += rest.count
        }
      }
      guard index < text.count else { throw SyntaxError() }
      index += 1
      return String(decoding: units, as: UTF16.self)
    }

    mutating func escape() throws -> UInt16 {
      guard index + 1 < text.count else { throw SyntaxError() }
      let letter = Character(UnicodeScalar(text[index + 1]))
      index += 2
      if let plain = ["n": "\n", "t": "\t", "r": "\r", "b": "\u{8}", "f": "\u{C}"][letter] {
        return UInt16(plain.utf8.first ?? 0)
      }
      guard letter == "u" else { return UInt16(letter.asciiValue ?? 0) }
      let digits = text[index...].prefix(4)
      guard let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else { throw SyntaxError() }
      index += 4
      return unit
    }
  }
}
