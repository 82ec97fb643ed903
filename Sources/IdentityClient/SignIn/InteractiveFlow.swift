import FoundationEssentials
import HTTPSupport
import Logging
import TokenCache

/// One interactive sign-in: by a broker with a dialog of its own, else in a browser.
struct InteractiveFlow: Sendable {
  let request: InteractiveRequest
  let resolved: ResolvedRequest
  private var client: PublicClient { resolved.client }
  private var configuration: ClientConfiguration { client.configuration }

  func token() async throws(IdentityError) -> AuthenticationResult {
    let brokers = try await tokenFromBroker()
    let result = if let brokers { brokers } else { try await tokenFromBrowser() }
    client.throttle.removeInteractionRequired()
    return result
  }

  /// Authorization code with PKCE.
  private func tokenFromBrowser() async throws(IdentityError) -> AuthenticationResult {
    let authenticator = try await authenticator()
    let metadata = try await client.metadata(of: resolved.authority)
    let (codeProof, state) = (ProofKey(), randomToken())
    // An application that sends its ID token to a server may have the nonce from there.
    let nonce = resolved.nonce ?? randomToken()
    let redirectURI = configuration.redirectURI
    let mode =
      redirectURI?.isOwnScheme == true
      ? .query : authenticator.requiredResponseMode ?? Self.responseMode(metadata)
    var page = parameters(prompt: await client.prompt(of: request))
    page["code_challenge"] = codeProof.challenge
    page["code_challenge_method"] = ProofKey.method
    page["state"] = state
    page["nonce"] = nonce
    page["response_mode"] = mode.rawValue
    let parameters = page.merging(resolved.extra) { protocols, _ in protocols }

    let response = try await client.browserSession.run(
      authenticator, redirectURI: redirectURI, responseMode: mode, state: state, timeout: request.timeout,
      correlationID: request.correlationID, account: request.account
    ) { redirectURI in
      metadata.authorizationEndpoint.appending(
        query: parameters.merging(["redirect_uri": redirectURI.absoluteString]) { $1 })
    }
    let issuer = try await cloud(named: response.parameters, metadata)
    let code = try Self.code(in: response.parameters, metadata, issuer)

    let grant = [
      "grant_type": "authorization_code", "code": code, "code_verifier": codeProof.verifier,
      "redirect_uri": response.redirectURI.absoluteString, "scope": resolved.scopes.parameter(),
    ]
    var tokenRequest = resolved.tokenRequest(grant, to: issuer.tokenEndpoint, .interactive)
    tokenRequest.isRepeatable = false
    tokenRequest.anchorMailbox = anchorMailbox
    return try await GrantResponse(
      request: resolved, authority: issuer.authority,
      issuer: issuer.issuer(named: response.parameters["iss"]), nonce: nonce
    ).result(of: try await tokenRequest.send())
  }

  /// Returns the authenticator, for a private window if that is requested and supported.
  private func authenticator() async throws(IdentityError) -> any WebAuthenticator {
    guard let authenticator = client.authenticator else { throw .noAuthenticator }
    guard request.prefersEphemeralSession else { return authenticator }
    if let ephemeral = await authenticator.ephemeral() { return ephemeral }
    client.log(
      .warning,
      "The browser cannot be asked for a private window; the sign-in opens in the person's own session.")
    return authenticator
  }

  /// Returns the response mode. A form keeps the code out of addresses; a query is for servers without support for it.
  private static func responseMode(_ metadata: AuthorityMetadata) -> ResponseMode {
    let supported = metadata.responseModes.map { $0.contains(ResponseMode.formPost.rawValue) }
    return supported ?? metadata.authority.isMicrosofts ? .formPost : .query
  }

  private var anchorMailbox: String? {
    request.account?.anchorMailbox ?? request.loginHint.nonBlank.map { "UPN:\($0)" }
  }

  /// Returns the parameters of the authorization request that are not random.
  private func parameters(prompt: Prompt) -> [String: String] {
    var parameters = [
      "client_id": configuration.clientID, "response_type": "code",
      "scope": resolved.scopes.parameter(adding: request.extraScopesToConsent),
    ]
    parameters["claims"] = resolved.claims
    if prompt != .promptIfNecessary { parameters["prompt"] = prompt.rawValue }
    // Account selection and a login hint exclude each other.
    if prompt != .selectAccount {
      parameters["login_hint"] = request.account?.loginHint ?? request.loginHint.nonBlank
    }
    parameters["domain_hint"] = request.domainHint.nonBlank
    guard resolved.authority.isMicrosofts else { return parameters }
    parameters["client_info"] = "1"
    parameters.merge(configuration.clientHeaders(request.correlationID)) { own, _ in own }
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

  /// Returns the code of a response. Its issuer must be the requested one or that of the user's cloud, against mix-up
  /// attacks (RFC 9207).
  private static func code(
    in parameters: [String: String], _ asked: AuthorityMetadata, _ cloud: AuthorityMetadata
  ) throws(IdentityError) -> String {
    let isKnown = parameters["iss"].map { asked.isIssuer($0) || cloud.isIssuer($0) }
    guard isKnown ?? !asked.redirectsNameIssuer else {
      throw IdentityError(.invalidResponse, "The browser's response is from another issuer.")
    }
    if var error = IdentityError(redirect: parameters) {
      if error.subError?.lowercased() == "cancel" { error.code = .userCanceled }
      throw error
    }
    guard let code = parameters["code"].nonBlank else {
      throw IdentityError(.invalidResponse, "The browser's response has neither a code nor an error.")
    }
    return code
  }

  /// Returns the metadata of the user's cloud. Only Microsoft's own hosts are trusted.
  private func cloud(
    named parameters: [String: String], _ metadata: AuthorityMetadata
  ) async throws(IdentityError) -> AuthorityMetadata {
    let authority = metadata.authority
    // For an error no other cloud is needed.
    guard resolved.isInstanceAware, authority.kind == .aad, parameters["error"] == nil,
      let host = parameters["cloud_instance_host_name"].nonBlank?.lowercased(),
      !client.cache.clouds.aliases(of: authority.host).contains(host)
    else { return metadata }
    guard CloudInstances.known.contains(host),
      let url = URL(string: "https://\(host)/\(authority.tenant ?? "common")")
    else {
      client.log(.warning, "The response names an unknown cloud, which is not asked.")
      return metadata
    }
    return try await client.metadata(of: Authority(url: url, kind: .aad))
  }
}

extension InteractiveFlow {
  /// Signs in by the broker; `nil` if the browser is to be used, because no broker has a sign-in dialog or it failed.
  private func tokenFromBroker() async throws(IdentityError) -> AuthenticationResult? {
    guard let broker = try client.broker(for: resolved.authority, binding: resolved.proof != nil) else {
      return nil
    }
    let isRequired = configuration.brokerPolicy == .required
    do {
      if !isRequired, try await !supportsRequest(broker) { return nil }
      var brokerRequest = resolved.brokerRequest
      brokerRequest.loginHint = request.loginHint.nonBlank
      brokerRequest.prompt = await client.prompt(of: request)
      if resolved.extra["domain_hint"] == nil {
        brokerRequest.extraQueryParameters["domain_hint"] = request.domainHint.nonBlank
      }
      return try await GrantResponse(request: resolved, authority: resolved.authority)
        .result(of: try await broker.tokenInteractively(brokerRequest), by: broker)
    } catch  where !isRequired && !error.isFinal {
      client.log(
        .warning, "The sign-in by the broker failed; the browser is asked.",
        ["code": "\(error.code.rawValue)", "reason": client.log.personal(error.message)])
      return nil
    }
  }

  /// Whether the broker has parameters for everything in the request, and a sign-in dialog.
  private func supportsRequest(_ broker: any TokenBroker) async throws(IdentityError) -> Bool {
    guard request.prompt != .create, request.extraScopesToConsent.isEmpty, resolved.nonce == nil else {
      return false
    }
    return try await broker.supportsInteractiveSignIn(
      clientID: configuration.clientID, correlationID: request.correlationID)
  }
}

extension PublicClient {
  /// Returns the prompt for a request. A session of the browser or broker must not sign in an account that signed out.
  fileprivate func prompt(of request: InteractiveRequest) async -> Prompt {
    guard let account = request.account, request.prompt != .consent else { return request.prompt }
    let metadata = try? await cache.accountMetadata(
      clientID: configuration.clientID, of: account.homeAccountID)
    return metadata?.signInState(of: account.homeAccountID) == .signedOut ? .login : request.prompt
  }
}

extension Account {
  /// The user name; `nil` also for the placeholder of a missing one.
  fileprivate var loginHint: String? { username == AccountRecord.missingUsername ? nil : username.nonBlank }
}

extension IdentityError {
  /// Whether a sign-in in the browser would fail, too, or is not wanted.
  fileprivate var isFinal: Bool {
    [.userCanceled, .cancelled, .mismatchedUser, .serverDeclinedScopes, .invalidParameter].contains(code)
  }
}
