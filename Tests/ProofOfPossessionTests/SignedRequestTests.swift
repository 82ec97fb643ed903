import Crypto
import CryptoExtras
import Foundation
import IdentityClient
import Testing
import TokenCache

@testable import ProofOfPossession

/// Signed requests, read without the signing code.
struct SignedRequestTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000.9)

  private func signed(
    _ scheme: PopScheme, _ key: RSAKey
  ) throws -> (header: [String: Any], claims: [String: Any]) {
    let parts = try key.signedRequest(scheme, accessToken: "a.b.c", at: Self.now).split(separator: ".")
    try #require(parts.count == 3)
    let values = try parts.prefix(2).map { part in
      try #require(try JSONSerialization.jsonObject(with: decoded(part)) as? [String: Any])
    }
    let jwk = try #require((values[1]["cnf"] as? [String: Any])?["jwk"] as? [String: String])
    let publicKey = try _RSA.Signing.PublicKey(
      n: decoded(try #require(jwk["n"])), e: decoded(try #require(jwk["e"])))
    let isValid = publicKey.isValidSignature(
      .init(rawRepresentation: try decoded(parts[2])), for: Data("\(parts[0]).\(parts[1])".utf8),
      padding: .insecurePKCS1v1_5)
    #expect(isValid)
    #expect(jwk.keys.sorted() == ["e", "kty", "n"])
    #expect(jwk["e"] == "AQAB" && jwk["kty"] == "RSA")
    // 2048 bits without a leading zero.
    #expect(try decoded(try #require(jwk["n"])).count == 256)
    let thumbprint = #"{"e":"AQAB","kty":"RSA","n":"\#(jwk["n"] ?? "")"}"#
    #expect(try decoded(key.id) == Data(SHA256.hash(data: Data(thumbprint.utf8))))
    return (values[0], values[1])
  }

  private func decoded(_ text: some StringProtocol) throws -> Data {
    #expect(!text.contains { "+/=".contains($0) })
    let standard = String(text).replacing("-", with: "+").replacing("_", with: "/")
    return try #require(
      Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)))
  }

  @Test func `A signed request has exactly the members of MSAL for iOS and macOS`() throws {
    let key = try RSAKey()
    let url = URL(string: "https://api.contoso.test:8443/a%20b/c/?q=1#f")!
    let (header, claims) = try signed(PopScheme(httpMethod: "get", url: url, nonce: "n-1"), key)
    #expect(header as? [String: String] == ["alg": "RS256", "typ": "JWT", "kid": key.id])
    #expect(claims.keys.sorted() == ["at", "cnf", "m", "nonce", "p", "ts", "u"])
    #expect(claims["at"] as? String == "a.b.c")
    #expect(claims["m"] as? String == "GET")
    #expect(claims["u"] as? String == "api.contoso.test")
    #expect(claims["p"] as? String == "/a%20b/c/")
    #expect(claims["nonce"] as? String == "n-1")
    #expect(claims["ts"] as? Int == 1_800_000_000)
  }

  @Test func `A missing nonce is generated, other missing members are omitted`() throws {
    let key = try RSAKey()
    let scheme = PopScheme(httpMethod: nil, url: URL(string: "https://api.contoso.test")!)
    let (one, two) = (try signed(scheme, key).claims, try signed(scheme, key).claims)
    #expect(one.keys.sorted() == ["at", "cnf", "nonce", "ts", "u"])
    let nonces = [one, two].compactMap { ($0["nonce"] as? String).flatMap(UUID.init(uuidString:)) }
    #expect(Set(nonces).count == 2)
  }

  @Test func `A saved key is loaded unchanged, and its description has no secret`() throws {
    let key = try RSAKey()
    let secret = key.secret
    #expect(try RSAKey(secret: secret).id == key.id)
    #expect(try RSAKey(secret: secret).secret == secret)
    // PKCS #8: a sequence of the version, the algorithm and the key.
    let der = try #require(Data(base64Encoded: secret))
    #expect(der.prefix(2) == Data([0x30, 0x82]))
    #expect(der.dropFirst(4).prefix(3) == Data([0x02, 0x01, 0x00]))
    for text in ["\(key)", String(reflecting: key), "\(GroupKeys())"] {
      #expect(!text.contains(secret.prefix(40)))
    }
    var dumped = ""
    dump(key, to: &dumped)
    #expect(!dumped.contains(secret.prefix(40)))
  }
}
