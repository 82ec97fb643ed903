import FoundationEssentials
import GLibSupport

func encodeJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
  // Only a number that JSON has no text for can fail, and the lab computes none.
  return Array((try? encoder.encode(value)) ?? Data("null".utf8))
}

func decodeJSON<T: Decodable>(_ bytes: some Sequence<UInt8>) throws -> T {
  try JSONDecoder().decode(T.self, from: Data(bytes))
}

/// Base64url without padding (RFC 4648 section 5).
func base64URL(_ bytes: some Sequence<UInt8>) -> String {
  Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
    "=", with: "")
}

/// A new identifier of 128 random bits.
func randomIdentifier() -> String { UUID().uuidString.lowercased() }

/// A secret of 256 random bits.
func randomSecret() -> String { base64URL(randomBytes(32)) }
