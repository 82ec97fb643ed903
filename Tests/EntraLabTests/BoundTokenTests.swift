import Crypto
import CryptoExtras
import LabSupport

/// The lab's API for bound tokens, and its refusals.
@Suite(.lab, .timeLimit(.minutes(20)))
struct BoundTokenTests {
  private let lab = Lab.current

  /// A key and signed requests with it, made without the client's code.
  private struct Signer {
    let key: _RSA.Signing.PrivateKey
    let publicKey: [String: JSON]
    let thumbprint: String

    init() throws {
      key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
      let numbers = try key.publicKey.getKeyPrimitives()
      let (n, e) = (base64URL(numbers.modulus), base64URL(numbers.publicExponent))
      publicKey = ["kty": "RSA", "n": .string(n), "e": .string(e)]
      let text = #"{"e":"\#(e)","kty":"RSA","n":"\#(n)"}"#
      thumbprint = base64URL(SHA256.hash(data: Data(text.utf8)))
    }

    var confirmation: String { base64URL(Data(#"{"kid":"\#(thumbprint)"}"#.utf8)) }

    func claims(_ token: String, nonce: String = UUID().uuidString) -> [String: JSON] {
      [
        "at": .string(token), "ts": .integer(Int(Date().timeIntervalSince1970)), "m": "GET", "u": "localhost",
        "p": "/protected/orders", "nonce": .string(nonce), "cnf": ["jwk": .object(publicKey)],
      ]
    }

    func sign(_ claims: [String: JSON], header: [String: JSON] = [:]) throws -> String {
      let header = ["alg": "RS256", "typ": "JWT", "kid": .string(thumbprint)].merging(header) { $1 }
      let text =
        base64URL(try JSONEncoder().encode(header)) + "." + base64URL(try JSONEncoder().encode(claims))
      let signature = try key.signature(for: Data(text.utf8), padding: .insecurePKCS1v1_5)
      return text + "." + base64URL(signature.rawRepresentation)
    }
  }

  private func boundToken(_ signer: Signer) async throws -> String {
    let code = try #require(try await lab.authorize().redirect["code"])
    let answer = try await lab.redeem(code, ["token_type": "Pop", "req_cnf": signer.confirmation])
    #expect(answer["token_type"] == "pop")
    #expect(try answer.claims(of: "access_token")["cnf"]?["kid"] == .string(signer.thumbprint))
    return try #require(answer["access_token"])
  }

  private func call(_ request: String, _ options: [String] = []) async throws -> Answer {
    try await lab.curl(lab.protectedURL + "/orders", headers: ["Authorization: Pop \(request)"], options)
  }

  @Test func `Each defect of a signed request is refused and named`() async throws {
    let signer = try Signer()
    let foreign = try Signer()
    let token = try await boundToken(signer)
    func request(_ changes: [String: JSON?]) throws -> String {
      var claims = signer.claims(token)
      for (name, value) in changes { claims[name] = value }
      return try signer.sign(claims)
    }
    let good = try request([:])
    let other = try request(["at": .string(token + "x")])
    let now = Int(Date().timeIntervalSince1970)
    let parts = good.split(separator: ".")
    let plain = try #require(try await lab.signIn()["access_token"])
    var mixed = signer.claims(token)
    mixed["cnf"] = ["jwk": .object(foreign.publicKey)]
    let refused: [(String, String)] = [
      // The signature of another request, and another key.
      ("\(parts[0]).\(parts[1]).\(other.split(separator: ".")[2])", "signature"),
      (try foreign.sign(signer.claims(token), header: ["kid": .string(signer.thumbprint)]), "signature"),
      (try foreign.sign(foreign.claims(token)), "thumbprint"), (try signer.sign(mixed), "thumbprint"),
      (try signer.sign(signer.claims(token), header: ["kid": "x"]), "thumbprint"),
      (try signer.sign(signer.claims(plain)), "thumbprint"),
      (try request(["ts": .integer(now - 1200)]), "time"),
      (try request(["ts": .integer(now + 1200)]), "time"),
      (try request(["ts": nil]), "time"), (try request(["m": "POST"]), "method"),
      (try request(["u": "graph.microsoft.com"]), "host"), (try request(["u": nil]), "host"),
      (try request(["u": .string(String(lab.baseURL.split(separator: ":")[2]))]), "host"),
      (good + ".", "format"),
      (try request(["p": "/protected/other"]), "path"), (try request(["p": nil]), "path"),
      (try request(["nonce": nil]), "nonce"), (try request(["nonce": ""]), "nonce"), (other, "token"),
      (try request(["cnf": nil]), "key"),
      (try signer.sign(signer.claims(token), header: ["alg": "none"]), "header"),
      (token, "token"), ("a.b", "format"), ("", "scheme"),
    ]
    for (request, reason) in refused {
      let answer = try await call(request)
      #expect(answer.status == 401)
      #expect(answer["error"] == reason)
      #expect(answer.headers["www-authenticate"]?.hasPrefix("PoP error=\"invalid_token\"") == true)
    }
    let bearer = try await lab.curl(lab.protectedURL + "/orders", headers: ["Authorization: Bearer \(token)"])
    #expect(bearer["error"] == "scheme")
    #expect(try await lab.curl("/v1.0/me", headers: ["Authorization: Bearer \(token)"]).status == 401)
    #expect(try await call(good).status == 200)
    // A proof without a method is valid for any.
    let deletion = try await call(try request(["m": nil]), ["-X", "DELETE"])
    #expect(deletion.status == 200)
    #expect(deletion["userPrincipalName"] == "alice@contoso.test")
  }

  @Test func `The API may require its own nonce`() async throws {
    lab.configure { $0.popNonce = "server-nonce" }
    let signer = try Signer()
    let token = try await boundToken(signer)
    let refused = try await call(try signer.sign(signer.claims(token)))
    #expect(refused["error"] == "nonce")
    #expect(refused.headers["www-authenticate"]?.hasSuffix("nonce=\"server-nonce\"") == true)
    #expect(try await call(try signer.sign(signer.claims(token, nonce: "server-nonce"))).status == 200)
  }

  @Test func `An invalid key is refused`() async throws {
    let short = base64URL(Data(#"{"kid":"short"}"#.utf8))
    for (type, confirmation) in [("pop", ""), ("pop", "x"), ("pop", short), ("ssh-cert", short)] {
      let code = try #require(try await lab.authorize().redirect["code"])
      let answer = try await lab.redeem(code, ["token_type": type, "req_cnf": confirmation])
      #expect(answer.status == 400)
      #expect(answer["error"] == "invalid_request")
    }
  }
}

private func base64URL(_ bytes: some Sequence<UInt8>) -> String {
  Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
    "=", with: "")
}
