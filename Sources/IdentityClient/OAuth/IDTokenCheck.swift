import FoundationEssentials
import TokenCache

/// Validates an ID token (OpenID Connect Core 3.1.3.7). Its signature need not be checked:
/// it came from the token endpoint, and TLS vouches for that.
struct IDTokenCheck: Sendable {
  let clientID: String
  /// The issuer of the authority's metadata; `{tenantid}` in it stands for the token's own tenant.
  let issuer: String
  /// The nonce of the authorization request, if it had one.
  var nonce: String?
  let now: Date
  /// Whether to check the token's validity period.
  let checksTimes: Bool

  /// The accepted clock difference, in seconds.
  static let tolerance = 300.0
  private static let clockAdvice = "Check this machine's clock."

  /// Parses and validates an ID token.
  func claims(of token: String) throws(IdentityError) -> IDTokenClaims {
    guard let claims = IDTokenClaims(token: token), let algorithm = Self.algorithm(of: token) else {
      throw .badIDToken("it cannot be read")
    }
    guard algorithm.lowercased() != "none" else { throw .badIDToken("it is not signed") }
    guard isIssuer(claims) else { throw .badIDToken("its issuer is another one") }
    guard claims.isFor(clientID: clientID) else { throw .badIDToken("it is for another application") }
    if let nonce {
      guard let theirs = claims.string("nonce"), isEqualInConstantTime(theirs, nonce) else {
        throw .badIDToken("it belongs to another request")
      }
    }
    guard checksTimes else { return claims }
    guard let end = claims.claims["exp"]?.numberValue,
      now.timeIntervalSince1970 < end + Self.tolerance
    else { throw .badIDToken("it has expired", advice: Self.clockAdvice) }
    for name in ["nbf", "iat"] {
      guard let start = claims.claims[name]?.numberValue else { continue }
      guard start <= now.timeIntervalSince1970 + Self.tolerance else {
        throw .badIDToken("it is not valid yet", advice: Self.clockAdvice)
      }
    }
    return claims
  }

  private static func algorithm(of token: String) -> String? {
    guard let json = Data(base64URL: token.prefix { $0 != "." }),
      let fields = try? JSONObject(foreign: json, within: .response)
    else { return nil }
    return fields["alg"]?.stringValue.nonBlank
  }

  private func isIssuer(_ claims: IDTokenClaims) -> Bool {
    let expected = issuer.replacing("{tenantid}", with: claims.tenantID ?? "")
    return claims.string("iss").map { $0.withoutFinalSlash == expected.withoutFinalSlash } ?? false
  }
}

extension IDTokenClaims {
  func isFor(clientID: String) -> Bool {
    let audiences: [String] =
      switch claims["aud"] {
      case .string(let audience): [audience]
      case .array(let audiences): audiences.compactMap(\.stringValue)
      default: []
      }
    let party = string("azp")
    return audiences.contains { $0.lowercased() == clientID.lowercased() }
      && (party == nil ? audiences.count == 1 : party?.lowercased() == clientID.lowercased())
  }
}

extension String {
  fileprivate var withoutFinalSlash: Substring { hasSuffix("/") ? dropLast() : self[...] }
}

extension IdentityError {
  fileprivate static func badIDToken(_ reason: String, advice: String? = nil) -> IdentityError {
    IdentityError(.invalidResponse, "ID token validation failed: \(reason).", advice: advice)
  }
}
