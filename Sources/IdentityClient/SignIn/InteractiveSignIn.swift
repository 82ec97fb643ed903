import FoundationEssentials
import HTTPSupport
import Logging
import TokenCache

/// One sign-in in a browser: authorization code with PKCE.
struct InteractiveSignIn: Sendable {
  let client: PublicClient
  let request: InteractiveRequest
  let proof: PopProof?

  private var configuration: ClientConfiguration { client.configuration }

  func run() async throws(IdentityError) -> AuthenticationResult {
    let authenticator = try await authenticator()
    let authority = request.authority ?? configuration.authority
    let scopes = try RequestedScopes(request.scopes, client: configuration, authority: authority)
    let claims = try configuration.claimsParameter(request.claims)
    let extra = try configuration.extraParameters(request.extraQueryParameters)
    let metadata = try await client.resolver.metadata(of: authority)
    let prompt = await client.prompt(of: request)

    let (codeProof, state, nonce) = (ProofKey(), randomToken(), randomToken())
    let mode = authenticator.requiredResponseMode ?? responseMode(metadata)
    var parameters = self.parameters(authority, scopes, prompt)
    parameters["code_challenge"] = codeProof.challenge
    parameters["state"] = state
    parameters["nonce"] = nonce
    parameters["claims"] = claims
    let (fixed, isOwnScheme) = (parameters, configuration.redirectURI.map(\.isOwnScheme) ?? false)
    let answer = try await client.browserSession.run(
      authenticator, redirectURI: configuration.redirectURI, responseMode: mode, state: state,
      timeout: request.timeout, correlationID: request.correlationID, account: request.account
    ) { redirectURI throws(IdentityError) in
      var parameters = fixed.merging(extra) { protocols, _ in protocols }
      parameters["redirect_uri"] = redirectURI.absoluteString
      parameters["response_mode"] = (isOwnScheme ? .query : mode).rawValue
      return metadata.authorizationEndpoint.appending(query: parameters)
    }
    let issuer = try await cloud(named: answer.parameters, metadata)
    let code = try self.code(in: answer.parameters, metadata, issuer)

    let form = configuration.tokenForm(
      [
        "grant_type": "authorization_code", "code": code, "code_verifier": codeProof.verifier,
        "redirect_uri": answer.redirectURI.absoluteString, "scope": scopes.parameter(),
      ], claims: claims, for: authority, proof)
    let fields = try await client.tokenEndpoint.send(
      TokenEndpoint.Request(
        url: issuer.tokenEndpoint, form: form, query: extra, correlationID: request.correlationID,
        call: .interactive, effect: .once, isMicrosofts: authority.isMicrosofts,
        anchorMailbox: anchorMailbox))
    let grant = TokenGrant(
      client: client, authority: issuer.authority, issuer: issuer.issuer(named: answer.parameters["iss"]),
      requestedAuthority: authority,
      scopes: scopes,
      correlationID: request.correlationID, account: request.account, requestedClaims: request.claims,
      proof: proof, nonce: nonce)
    let result = try await grant.result(of: fields)
    client.throttle.removeInteractionRequired()
    return result
  }

  /// What opens the page: in a private window if that is wanted and can be.
  private func authenticator() async throws(IdentityError) -> any WebAuthenticator {
    guard let authenticator = client.authenticator else { throw .noAuthenticator }
    guard request.prefersEphemeralSession else { return authenticator }
    if let ephemeral = await authenticator.ephemeral() { return ephemeral }
    client.log.warning(
      "The browser cannot be asked for a private window; the sign-in opens in the person's own session.")
    return authenticator
  }

  /// A form keeps the code out of addresses; a server without support for it is asked for a query.
  private func responseMode(_ metadata: AuthorityMetadata) -> ResponseMode {
    let knows = metadata.responseModes.map { $0.contains(ResponseMode.formPost.rawValue) }
    return knows ?? metadata.authority.isMicrosofts ? .formPost : .query
  }

  private var anchorMailbox: String? {
    request.account?.anchorMailbox ?? request.loginHint.nonBlank.map { "UPN:\($0)" }
  }

  /// The parameters of the authorization request that do not change from one to the next.
  private func parameters(
    _ authority: Authority, _ scopes: RequestedScopes, _ prompt: Prompt
  ) -> [String: String] {
    var parameters = [
      "client_id": configuration.clientID, "response_type": "code",
      "scope": scopes.parameter(adding: request.extraScopesToConsent),
      "code_challenge_method": ProofKey.method,
    ]
    if prompt != .promptIfNecessary { parameters["prompt"] = prompt.rawValue }
    // A choice of accounts and the word for one of them exclude each other.
    if prompt != .selectAccount {
      parameters["login_hint"] = request.account?.username.nonBlank ?? request.loginHint.nonBlank
    }
    parameters["domain_hint"] = request.domainHint.nonBlank
    guard authority.isMicrosofts else { return parameters }
    parameters["client_info"] = "1"
    parameters["client-request-id"] = request.correlationID.uuidString.lowercased()
    parameters["return-client-request-id"] = "true"
    parameters.merge(configuration.clientHeaders) { own, _ in own }
    parameters.merge(configuration.nestedAuthParameters) { own, _ in own }
    if request.prefersQRCodeAndPIN { parameters["pc"] = "18" }
    parameters["X-AnchorMailbox"] = anchorMailbox
    if configuration.multipleCloudsSupported { parameters["instance_aware"] = "true" }
    if let home = request.account?.homeIdentity {
      parameters["login_req"] = home.uid
      parameters["domain_req"] = home.utid
    }
    return parameters
  }

  /// Reads the answer. What names another issuer than the one that was asked, or the cloud it led to, is an attempt to
  /// mix two up (RFC 9207).
  private func code(
    in parameters: [String: String], _ asked: AuthorityMetadata, _ cloud: AuthorityMetadata
  ) throws(IdentityError) -> String {
    let isKnown = parameters["iss"].map { asked.isIssuer($0) || cloud.isIssuer($0) }
    guard isKnown ?? !asked.redirectsNameIssuer else {
      throw IdentityError(.invalidResponse, "The browser's answer is from another issuer.")
    }
    if let failure = OAuthFailure(parameters: parameters) {
      var error = IdentityError(failure)
      if failure.subError?.lowercased() == "cancel" { error.code = .userCanceled }
      throw error
    }
    guard let code = parameters["code"].nonBlank else {
      throw IdentityError(.invalidResponse, "The browser's answer has neither a code nor an error.")
    }
    return code
  }

  /// The cloud that the person turned out to belong to. Only Microsoft's own hosts are believed.
  private func cloud(
    named parameters: [String: String], _ metadata: AuthorityMetadata
  ) async throws(IdentityError) -> AuthorityMetadata {
    let authority = metadata.authority
    guard configuration.multipleCloudsSupported, authority.kind == .aad,
      let host = parameters["cloud_instance_host_name"].nonBlank?.lowercased(),
      !client.cache.clouds.aliases(of: authority.host).contains(host)
    else { return metadata }
    guard CloudInstances.known.contains(host),
      let url = URL(string: "https://\(host)/\(authority.tenant ?? "common")")
    else {
      client.log.warning("The answer names a cloud that is not known; it is not asked.")
      return metadata
    }
    return try await client.resolver.metadata(of: Authority(url: url, kind: .aad))
  }
}

extension PublicClient {
  /// What to ask of the person. Who signed out shall not be signed in again by a session of the browser or the broker
  /// alone.
  func prompt(of request: InteractiveRequest) async -> Prompt {
    guard let account = request.account, request.prompt != .consent else { return request.prompt }
    let metadata = try? await cache.accountMetadata(clientID: configuration.clientID)
    return metadata?.signInState(of: account.homeAccountID) == .signedOut ? .login : request.prompt
  }
}
