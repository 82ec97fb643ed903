package import FoundationEssentials

/// How much is taken of a JSON text that somebody else wrote.
///
/// All is counted before or while something is made of the text: a value takes up to a hundred times the memory of
/// its two bytes, and a parser that goes down with the text goes as deep as the text says.
package struct JSONLimits: Sendable {
  /// The longest text, in bytes.
  package let size: Int
  /// How many arrays and objects may stand in one another.
  package let depth: Int
  /// How many members and elements there may be, on all levels together.
  package let values: Int

  package init(size: Int, depth: Int, values: Int) {
    self.size = size
    self.depth = depth
    self.values = values
  }

  /// The limits for a serialized cache: some ten thousand accounts. The depth is what other libraries may have put there.
  package static let cache = JSONLimits(size: 256 << 20, depth: 128, values: 1_000_000)

  /// The limits for what a server says in one answer, and for the claims of a token, which are a part of one.
  package static let response = JSONLimits(size: 1 << 20, depth: 64, values: 20_000)
}

/// Why a text was not taken, or not written.
package enum ForeignJSONError: Error, Sendable, Hashable, CustomStringConvertible {
  case notAnObject
  case notANumber
  case tooLarge(limit: Int)
  case tooDeep(limit: Int)
  case tooManyValues(limit: Int)

  /// A clause without a full stop. It says nothing of what is in the text.
  package var description: String {
    switch self {
    case .notAnObject: "the text is no JSON object"
    case .notANumber: "JSON has no such number"
    case .tooLarge(let limit): "the text is larger than \(limit >> 20) MiB"
    case .tooDeep(let limit): "the JSON is nested deeper than \(limit) levels"
    case .tooManyValues(let limit): "the JSON holds more than \(limit) values"
    }
  }
}

extension JSONObject {
  /// Reads a JSON object that somebody else wrote: UTF-8 (RFC 8259), with or without a byte-order mark, and no more
  /// of it than `limits` allow.
  package init(foreign json: Data, within limits: JSONLimits) throws(ForeignJSONError) {
    self = try JSONReader.object(in: json, within: limits)
  }
}

extension JSONLimits {
  /// Counts without reading: what is no JSON is left to the parser.
  package func check(_ json: Data) throws(ForeignJSONError) {
    guard json.count <= size else { throw .tooLarge(limit: size) }
    let bytes = json.span
    var (depth, values, isInString) = (0, 0, false)
    var index = 0
    while index < bytes.count {
      if isInString { index = JSONString.endOfPlainText(in: bytes, from: index) }
      guard index < bytes.count else { break }
      switch bytes[index] {
      // The parser would take UTF-16 and UTF-32 as well, in which nothing here could be told apart.
      case 0: throw .notAnObject
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "\\") where isInString: index += 1
      case _ where isInString: break
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        values += 1
        guard depth <= self.depth else { throw .tooDeep(limit: self.depth) }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: ","): values += 1
      default: break
      }
      guard values <= self.values else { throw .tooManyValues(limit: self.values) }
      index += 1
    }
  }
}
