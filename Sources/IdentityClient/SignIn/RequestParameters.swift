import FoundationEssentials
import TokenCache

extension ClientConfiguration {
  /// The `claims` parameter: what a request asks for, and what the client can deal with.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter``.
  func claimsParameter(_ claims: ClaimsRequest?) throws(IdentityError) -> String? {
    var claims = claims ?? ClaimsRequest()
    claims.requestCapabilities(capabilities)
    guard !claims.isEmpty else { return nil }
    do throws(ClaimsRequestError) {
      return try claims.json()
    } catch {
      throw IdentityError(.invalidParameter, error.description)
    }
  }

  /// The parameters that the application adds to a request.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for a parameter that is the protocol's.
  func extraParameters(_ ofRequest: [String: String]) throws(IdentityError) -> [String: String] {
    let extra = extraQueryParameters.merging(ofRequest) { _, request in request }
    for name in extra.keys where Self.protocolParameters.contains(name.lowercased()) {
      throw IdentityError(.invalidParameter, "The parameter \(name) cannot be set by the application.")
    }
    return extra
  }

  private static let protocolParameters: Set<String> = [
    "claims", "client_id", "client_info", "code", "code_challenge", "code_challenge_method", "code_verifier",
    "device_code", "grant_type", "nonce", "post_logout_redirect_uri", "redirect_uri", "refresh_token",
    "response_mode", "response_type", "scope", "state",
  ]
}

extension Account {
  /// The object id and the tenant of the account's home.
  var homeIdentity: (uid: String, utid: String)? {
    let bytes = homeAccountID.utf8
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > bytes.startIndex else { return nil }
    let utid = homeAccountID[bytes.index(after: dot)...]
    return utid.isEmpty ? nil : (String(homeAccountID[..<dot]), String(utid))
  }

  /// What lets Microsoft's services find the account's data center.
  var anchorMailbox: String? { homeIdentity.map { "Oid:\($0.uid)@\($0.utid)" } }
}
