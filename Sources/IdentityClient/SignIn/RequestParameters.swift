import FoundationEssentials
import TokenCache

extension ClientConfiguration {
  /// The `claims` parameter: what a request asks for, and what the client can deal with.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter``.
  func claimsParameter(_ claims: ClaimsRequest?) throws(IdentityError) -> String? {
    if claims == nil, capabilities.isEmpty { return nil }
    var claims = claims ?? ClaimsRequest()
    claims.requestCapabilities(capabilities)
    return try json(of: claims)
  }

  /// A claims request as it is written; `nil` for one that asks for nothing.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter``.
  func json(of claims: ClaimsRequest?) throws(IdentityError) -> String? {
    guard let claims, !claims.isEmpty else { return nil }
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
    if extraQueryParameters.isEmpty, ofRequest.isEmpty { return [:] }
    let extra = extraQueryParameters.merging(ofRequest) { _, request in request }
    for name in extra.keys where Self.protocolParameters.contains(name.lowercased()) {
      throw IdentityError(.invalidParameter, "The parameter \(name) cannot be set by the application.")
    }
    return extra
  }

  /// What Microsoft's services are told of the application around this one, in a request for a code and for tokens.
  var nestedAuthParameters: [String: String] {
    guard let nestedAuthBroker else { return [:] }
    var parameters = ["brk_client_id": nestedAuthBroker.clientID]
    parameters["brk_redirect_uri"] = nestedAuthBroker.redirectURI
    return parameters
  }

  /// A form for a token endpoint: what a grant needs, and what all have.
  func tokenForm(
    _ grant: [String: String], claims: String?, for authority: Authority, _ proof: PopProof?
  ) -> [String: String] {
    var form = grant.merging(proof.parameters) { $1 }
    form["client_id"] = clientID
    form["claims"] = claims
    guard authority.isMicrosofts else { return form }
    form["client_info"] = "1"
    return form.merging(nestedAuthParameters) { own, _ in own }
  }

  private static let protocolParameters: Set<String> = [
    "claims", "client_id", "client_info", "code", "code_challenge", "code_challenge_method", "code_verifier",
    "device_code", "grant_type", "nonce", "post_logout_redirect_uri", "redirect_uri", "refresh_token",
    "req_cnf", "response_mode", "response_type", "scope", "state", "token_type",
  ]
}

extension Account {
  /// The object id and the tenant of the account's home.
  var homeIdentity: (uid: String, utid: String)? {
    let bytes = homeAccountID.utf8.span
    guard let dot = bytes.indices.last(where: { bytes[$0] == UInt8(ascii: ".") }), dot > 0,
      dot + 1 < bytes.count
    else { return nil }
    let utid = homeAccountID.utf8.dropFirst(dot + 1)
    return (String(homeAccountID.utf8.prefix(dot)) ?? "", String(utid) ?? "")
  }

  /// What lets Microsoft's services find the account's data center.
  var anchorMailbox: String? { homeIdentity.map { "Oid:\($0.uid)@\($0.utid)" } }
}
