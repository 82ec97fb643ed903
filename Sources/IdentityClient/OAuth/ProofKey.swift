import FoundationEssentials
import GLibSupport
import TokenCache

/// Proof Key for Code Exchange (PKCE, RFC 7636), method S256.
struct ProofKey: Sendable {
  /// 43 characters from 32 random bytes.
  let verifier: String

  init(verifier: String = randomToken()) { self.verifier = verifier }

  var challenge: String { Data(sha256(Array(verifier.utf8))).base64URL }

  static let method = "S256"
}

/// 32 bytes of the system's random generator in base64url: a state, a nonce, a verifier or another secret.
package func randomToken() -> String { Data(randomBytes(32)).base64URL }

/// Whether two texts are equal, in constant time.
package func isEqualInConstantTime(_ one: String, _ other: String) -> Bool {
  let (one, other) = (Array(one.utf8), Array(other.utf8))
  guard one.count == other.count else { return false }
  return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
