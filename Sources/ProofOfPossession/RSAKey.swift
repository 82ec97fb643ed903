import Crypto
import CryptoExtras
import FoundationEssentials
import IdentityClient
import TokenCache

/// An RSA key of 2048 bits, whose signatures are RS256 (RFC 7518 section 3.3).
struct RSAKey: PopKey {
  private let key: _RSA.Signing.PrivateKey
  /// The public half as a JSON Web Key (RFC 7517).
  private let publicKey: JSONObject
  let id: String

  init() throws(CacheError) {
    do {
      try self.init(_RSA.Signing.PrivateKey(keySize: .bits2048))
    } catch {
      throw CacheError(.unavailable, "The key could not be made.", underlyingError: error)
    }
  }

  /// Reads a saved key: PKCS #8 (RFC 5958) in base64.
  init(secret: String) throws {
    guard let bytes = Data(base64Encoded: secret) else { throw CryptoKitError.incorrectParameterSize }
    try self.init(_RSA.Signing.PrivateKey(derRepresentation: bytes))
  }

  private init(_ key: _RSA.Signing.PrivateKey) throws {
    let numbers = try key.publicKey.getKeyPrimitives()
    let (modulus, exponent) = (numbers.modulus.base64URL, numbers.publicExponent.base64URL)
    self.key = key
    publicKey = ["e": .string(exponent), "kty": "RSA", "n": .string(modulus)]
    // The exact bytes that RFC 7638 section 3 hashes for a thumbprint.
    let text = #"{"e":"\#(exponent)","kty":"RSA","n":"\#(modulus)"}"#
    id = Data(SHA256.hash(data: Data(text.utf8))).base64URL
  }

  /// The key as it is saved.
  var secret: String { key.pkcs8DERRepresentation.base64EncodedString() }
}

extension RSAKey {
  func signedRequest(
    _ scheme: PopScheme, accessToken: String, at date: Date
  ) throws(IdentityError) -> String {
    // MSAL for iOS and macOS signs neither the port nor the query, nor headers and body.
    var claims: JSONObject = [
      "at": .string(accessToken), "cnf": .object(["jwk": .object(publicKey)]),
      "nonce": .string(scheme.nonce ?? UUID().uuidString),
      "ts": .integer(Int64(date.timeIntervalSince1970)), "u": .string(scheme.url.host() ?? ""),
    ]
    claims["m"] = scheme.httpMethod.map { .string($0.uppercased()) }
    // As it is sent.
    let path = scheme.url.path(percentEncoded: true)
    if !path.isEmpty { claims["p"] = .string(path) }
    do {
      let header: JSONObject = ["alg": "RS256", "kid": .string(id), "typ": "JWT"]
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let text = try encoder.encode(header).base64URL + "." + encoder.encode(claims).base64URL
      let signature = try key.signature(for: Data(text.utf8), padding: .insecurePKCS1v1_5)
      return text + "." + signature.rawRepresentation.base64URL
    } catch {
      throw IdentityError(.unexpected, "The request to the API could not be signed.")
    }
  }
}

extension RSAKey: CustomStringConvertible, CustomReflectable {
  /// The thumbprint, never the key.
  var description: String { "RSAKey(\(id))" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
