import Crypto
import CryptoExtras
import FoundationEssentials

/// Tokens that are bound to a key, and an API that accepts only these (draft-ietf-oauth-signed-http-request-03).
extension LabState {
  /// How far the time of a signed request may differ, in seconds.
  private static let timeTolerance = 300.0

  /// The thumbprint of the key that a token is to be bound to; `nil` for a bearer token.
  func boundKey(_ form: Parameters) throws(LabError) -> String? {
    switch form["token_type"]?.lowercased() {
    case nil, "bearer": return nil
    case "pop": break
    case .some(let other):
      throw .invalidRequest(9_002_326, "The token type '\(other)' is not supported.")
    }
    guard let confirmation = form["req_cnf"] else { throw .missing("req_cnf") }
    guard let json: JSON = decodeBase64URLJSON(confirmation), let keyID = json["kid"]?.string,
      decodeBase64URL(keyID)?.count == SHA256.byteCount
    else {
      throw .invalidRequest(9_002_313, "Invalid request. The req_cnf parameter is malformed.")
    }
    return keyID
  }

  /// Any path below `/protected`, by any method.
  mutating func protected(_ request: LabRequest) -> LabReply {
    do {
      let token = try checkSignedRequest(request)
      return LabReply(json: ["userPrincipalName": token.signIn.user.userPrincipalName])
    } catch {
      var reply = LabReply(status: error.status, json: ["error": error.error])
      var challenge = "PoP error=\"invalid_token\", error_description=\"\(error.error)\""
      if let nonce = settings.popNonce { challenge += ", nonce=\"\(nonce)\"" }
      reply.headers["WWW-Authenticate"] = challenge
      return reply
    }
  }

  private mutating func checkSignedRequest(_ request: LabRequest) throws(LabError) -> AccessToken {
    let header = request.headers["authorization"]?.split(separator: " ") ?? []
    guard header.count == 2, header[0].lowercased() == "pop" else { throw .unauthorized("scheme") }
    let parts = header[1].split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let head: JSON = decodeBase64URLJSON(parts[0]),
      let claims: JSON = decodeBase64URLJSON(parts[1]), let signature = decodeBase64URL(parts[2])
    else { throw .unauthorized("format") }
    guard head["alg"] == "RS256", head["typ"] == "JWT" else { throw .unauthorized("header") }
    guard let name = claims["at"]?.string, let token = accessTokens[name], now < token.expires else {
      throw .unauthorized("token")
    }

    guard let key = claims["cnf"]?["jwk"], key["kty"] == "RSA", let n = key["n"]?.string,
      let e = key["e"]?.string, let modulus = decodeBase64URL(n), let exponent = decodeBase64URL(e)
    else { throw .unauthorized("key") }
    let text = #"{"e":"\#(e)","kty":"RSA","n":"\#(n)"}"#
    let thumbprint = base64URL(SHA256.hash(data: Data(text.utf8)))
    guard token.keyID == thumbprint, head["kid"] == .string(thumbprint) else {
      throw .unauthorized("thumbprint")
    }
    let publicKey = try? _RSA.Signing.PublicKey(n: modulus, e: exponent)
    guard
      publicKey?.isValidSignature(
        .init(rawRepresentation: signature), for: Data("\(parts[0]).\(parts[1])".utf8),
        padding: .insecurePKCS1v1_5) == true
    else { throw .unauthorized("signature") }

    guard let time = claims["ts"]?.integer,
      abs(now.timeIntervalSince1970 - Double(time)) <= Self.timeTolerance
    else {
      throw .unauthorized("time")
    }
    if let method = claims["m"], method != .string(request.method) { throw .unauthorized("method") }
    let hosts = [request.host[...]] + request.host.split(separator: ":").prefix(1)
    guard let named = claims["u"]?.string, hosts.contains(named[...]) else { throw .unauthorized("host") }
    guard claims["p"] == .string(request.encodedPath) else { throw .unauthorized("path") }
    guard let nonce = claims["nonce"]?.string, !nonce.isEmpty,
      settings.popNonce.map({ $0 == nonce }) ?? usedNonces.insert(nonce).inserted
    else { throw .unauthorized("nonce") }
    return token
  }
}

extension LabError {
  fileprivate static func unauthorized(_ reason: String) -> LabError {
    LabError(status: 401, code: reason)
  }
}

private func decodeBase64URL(_ text: some StringProtocol) -> Data? {
  let standard = String(text).replacing("-", with: "+").replacing("_", with: "/")
  guard !text.contains("=") else { return nil }
  return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4))
}

private func decodeBase64URLJSON(_ text: some StringProtocol) -> JSON? {
  decodeBase64URL(text).flatMap { try? decodeJSON($0) }
}
