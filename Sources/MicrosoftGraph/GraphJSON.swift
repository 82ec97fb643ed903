import FoundationEssentials
import TokenCache

/// Reads JSON of Graph's or for it, once it is known not to take all the memory or the stack.
///
/// - Throws: `ForeignJSONError`, or what `JSONDecoder` throws.
func decodeGraphJSON<T: Decodable>(_ type: T.Type, from json: Data) throws -> T {
  try JSONLimits.graph.check(json)
  return try JSONDecoder().decode(type, from: json)
}

extension JSONLimits {
  /// A page of a list has up to a thousand entries, each with some hundred properties. The size is what the request
  /// allows.
  fileprivate static let graph = JSONLimits(size: .max, depth: 64, values: 1_000_000)
}
