import FoundationEssentials
import TokenCache

/// The properties that all requests for a token have.
protocol TokenParameters: Sendable {
  var scopes: [String] { get }
  var claims: ClaimsRequest? { get }
  var authenticationScheme: PopScheme? { get }
  var extraQueryParameters: [String: String] { get }
  var authority: Authority? { get }
  var correlationID: UUID { get }
}

extension SilentRequest: TokenParameters {}
extension InteractiveRequest: TokenParameters {}
extension DeviceCodeRequest: TokenParameters {}

/// A request for a token in terms of the protocol, resolved once, before any request is sent.
struct ResolvedRequest: Sendable {
  let client: PublicClient
  /// The authority that the application requested.
  let requestedAuthority: Authority
  /// The authority to use: in a silent request that of the account's tenant, once that is known.
  var authority: Authority
  let scopes: RequestedScopes
  /// The claims that the application requests, as JSON.
  let requestedClaims: String?
  /// The `claims` parameter: these claims and the client's capabilities.
  let claims: String?
  /// The application's extra parameters.
  let extra: [String: String]
  /// The nonce of the ID token, if the application sets one.
  let nonce: String?
  /// The account that the token must be for, if known.
  let account: Account?
  let proof: PopProof?
  let correlationID: UUID

  /// Throws ``IdentityError/Code/invalidParameter`` for an invalid request.
  init(
    _ request: some TokenParameters, account: Account?, proof: PopProof?, of client: PublicClient
  ) throws(IdentityError) {
    let configuration = client.configuration
    try configuration.checkClientID()
    self.client = client
    requestedAuthority = request.authority ?? configuration.authority
    authority = requestedAuthority
    scopes = try RequestedScopes(
      request.scopes, clientID: configuration.clientID, authority: requestedAuthority)
    var parameters = request.extraQueryParameters
    // Only if the application has not set it.
    let json = request.claims == nil ? parameters.removeValue(forKey: "claims") : nil
    (requestedClaims, claims) = try configuration.claimsParameters(request.claims, json: json)
    // Only a sign-in in the browser sends and checks a nonce.
    nonce = request is InteractiveRequest ? parameters.removeValue(forKey: "nonce").nonBlank : nil
    extra = try configuration.extraParameters(parameters)
    self.account = account
    self.proof = proof
    correlationID = request.correlationID
  }

  /// Whether the response may name another cloud. MSAL's documentation also enables that by an extra parameter.
  var isInstanceAware: Bool {
    client.configuration.multipleCloudsSupported || extra["instance_aware"]?.lowercased() == "true"
  }

  /// The tenant of the account's tokens; the empty string for authorities without tenants.
  var realm: String {
    switch authority.kind {
    case .aad: authority.tenant ?? ""
    // The cache may have another name of the host's only tenant: MSAL for Python writes its domain.
    case .b2c, .ciam:
      account?.tenantProfiles.first { $0.environment == authority.environment }?.tenantID
        ?? account?.homeIdentity?.utid ?? authority.tenant ?? ""
    case .adfs, .oidc: ""
    }
  }

  /// Returns a request to a token endpoint, with the grant and the common parameters.
  func tokenRequest(
    _ grant: [String: String], to endpoint: URL, _ call: ServerTelemetry.Call
  ) -> TokenEndpointRequest {
    var form = grant.merging(proof.parameters) { $1 }
    form["client_id"] = client.configuration.clientID
    form["claims"] = claims
    if authority.isMicrosofts {
      form["client_info"] = "1"
      form.merge(client.configuration.nestedAuthParameters) { own, _ in own }
    }
    return TokenEndpointRequest(
      request: self, url: endpoint, form: form, call: call, anchorMailbox: account?.anchorMailbox)
  }

  var brokerRequest: BrokerRequest {
    BrokerRequest(
      clientID: client.configuration.clientID, authority: authority, scopes: scopes.scopes, account: account,
      claims: claims, redirectURI: client.configuration.redirectURI, extraQueryParameters: extra,
      correlationID: correlationID)
  }
}

extension ClientConfiguration {
  /// The requested claims and the `claims` parameter, which also has the client's capabilities; `nil` if there are
  /// none.
  fileprivate func claimsParameters(
    _ given: ClaimsRequest?, json: String?
  ) throws(IdentityError) -> (requested: String?, parameter: String?) {
    var claims = given ?? ClaimsRequest()
    if let json { claims = try ClaimsRequest(json: json) }
    let requested = claims.isEmpty ? nil : try claims.json()
    guard !capabilities.isEmpty else { return (requested, requested) }
    claims.requestCapabilities(capabilities)
    return (requested, try claims.json())
  }

  /// The application's extra parameters. Those of the protocol are rejected.
  func extraParameters(_ ofRequest: [String: String]) throws(IdentityError) -> [String: String] {
    if extraQueryParameters.isEmpty, ofRequest.isEmpty { return [:] }
    let extra = extraQueryParameters.merging(ofRequest) { _, request in request }
    for name in extra.keys where protocolParameters.contains(name.lowercased()) {
      throw IdentityError(.invalidParameter, "The parameter \(name) cannot be set by the application.")
    }
    return extra
  }

  /// The parameters that describe the host application to Microsoft's services, in requests for a code and for tokens.
  var nestedAuthParameters: [String: String] {
    guard let nestedAuthBroker else { return [:] }
    var parameters = ["brk_client_id": nestedAuthBroker.clientID]
    parameters["brk_redirect_uri"] = nestedAuthBroker.redirectURI
    return parameters
  }
}

/// Not `response_mode`, which programs set with MSAL, too; ours replaces theirs.
private let protocolParameters: Set<String> = [
  "claims", "client_id", "client_info", "code", "code_challenge", "code_challenge_method", "code_verifier",
  "device_code", "grant_type", "nonce", "post_logout_redirect_uri", "redirect_uri", "refresh_token",
  "req_cnf", "response_type", "scope", "state", "token_type",
]

extension Account {
  /// The object ID and the tenant of the home account.
  var homeIdentity: (uid: String, utid: String)? { Self.homeIdentity(of: homeAccountID) }

  static func homeIdentity(of id: String) -> (uid: String, utid: String)? {
    guard let dot = id.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    let (uid, utid) = (id[..<dot], id[dot...].dropFirst())
    return uid.isEmpty || utid.isEmpty ? nil : (String(uid), String(utid))
  }

  /// The header field by which Microsoft's services find the account's data center.
  var anchorMailbox: String? { homeIdentity.map { "Oid:\($0.uid)@\($0.utid)" } }
}
