import FoundationEssentials

/// The limits for a JSON text from outside.
///
/// They are checked while the text is parsed: a value of two bytes takes up to a hundred times as much memory,
/// and a recursive parser recurses as deep as the text is nested.
package struct JSONLimits: Sendable {
  /// The longest text, in bytes.
  package let size: Int
  /// How deep arrays and objects may be nested.
  package let depth: Int
  /// How many members and elements there may be, on all levels.
  package let values: Int

  package init(size: Int, depth: Int, values: Int) {
    self.size = size
    self.depth = depth
    self.values = values
  }

  /// The limits for a serialized cache of some ten thousand accounts. Other libraries may have nested it that deep.
  package static let cache = JSONLimits(size: 256 << 20, depth: 128, values: 1_000_000)

  /// The limits for a server's response, and for the claims of a token, which are part of one.
  package static let response = JSONLimits(size: 1 << 20, depth: 64, values: 20_000)
}

/// Why a text was not read or written.
package enum ForeignJSONError: Error, Sendable, Hashable, CustomStringConvertible {
  case notAnObject
  case notANumber
  case equalNames
  case tooLarge(limit: Int)
  case tooDeep(limit: Int)
  case tooManyValues(limit: Int)

  /// A clause without a full stop and without any of the text.
  package var description: String {
    switch self {
    case .notAnObject: "the text is not a JSON object"
    case .notANumber: "JSON cannot represent a number in it"
    case .equalNames: "two names in it are equal without their halves of surrogate pairs"
    case .tooLarge(let limit): "the text is larger than \(limit >> 20) MiB"
    case .tooDeep(let limit): "the JSON is nested deeper than \(limit) levels"
    case .tooManyValues(let limit): "the JSON holds more than \(limit) values"
    }
  }
}
