import Crypto
import CryptoExtras
import FoundationEssentials

/// The key that signs the lab's tokens (RS256, as Entra does) and is published at its JWKS endpoint.
struct SigningKey: Sendable {
  /// The key of all labs of a process: making one takes longer than most tests.
  static let shared = Result { try SigningKey() }

  private let key: _RSA.Signing.PrivateKey
  private let identifier: String
  /// The JSON Web Key Set (RFC 7517).
  let keySet: JSON

  init() throws {
    key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    let primitives = try key.publicKey.getKeyPrimitives()
    identifier = base64URL(SHA256.hash(data: primitives.modulus).prefix(20))
    keySet = [
      "keys": [
        [
          "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(identifier),
          "n": .string(base64URL(primitives.modulus)), "e": .string(base64URL(primitives.publicExponent)),
        ]
      ]
    ]
  }

  func sign(_ claims: [String: JSON]) -> String {
    let header: JSON = ["typ": "JWT", "alg": "RS256", "kid": .string(identifier)]
    let text = base64URL(encodeJSON(header)) + "." + base64URL(encodeJSON(claims))
    // Signing fails only without memory; the token then has no signature and is refused.
    let signature = try? key.signature(for: Data(text.utf8), padding: .insecurePKCS1v1_5)
    return text + "." + base64URL(signature?.rawRepresentation ?? Data())
  }
}
