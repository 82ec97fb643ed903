import FoundationEssentials
import Logging
import TokenCache

/// One sign-in that the broker leads a person through.
struct BrokerSignIn: Sendable {
  let client: PublicClient
  let request: InteractiveRequest

  /// Signs a person in.
  ///
  /// - Returns: `nil` where the browser is to be asked: when there is no broker that asks people, and when it failed.
  /// - Throws: ``IdentityError``, when the person gave up above all.
  func run() async throws(IdentityError) -> AuthenticationResult? {
    let authority = request.authority ?? client.configuration.authority
    let isBound = request.authenticationScheme != nil
    guard let broker = try client.broker(for: authority, binding: isBound) else { return nil }
    let isRequired = client.configuration.brokerPolicy == .required
    do {
      if !isRequired, try await !asksPerson(broker) { return nil }
      return try await signIn(by: broker, at: authority)
    } catch {
      guard !isRequired, !error.isFinal else { throw error }
      client.log.warning(
        "The broker did not sign anybody in; the browser is asked.",
        ["code": "\(error.code.rawValue)", "reason": client.log.personal(error.message)])
      return nil
    }
  }

  /// Not where the broker has no words for what is asked.
  private func asksPerson(_ broker: any TokenBroker) async throws(IdentityError) -> Bool {
    guard request.prompt != .create, request.extraScopesToConsent.isEmpty else { return false }
    return try await broker.supportsInteractiveSignIn(
      clientID: client.configuration.clientID, correlationID: request.correlationID)
  }

  private func signIn(
    by broker: any TokenBroker, at authority: Authority
  ) async throws(IdentityError) -> AuthenticationResult {
    let configuration = client.configuration
    let scopes = try RequestedScopes(request.scopes, client: configuration, authority: authority)
    var extra = try configuration.extraParameters(request.extraQueryParameters)
    extra["domain_hint"] = extra["domain_hint"] ?? request.domainHint.nonBlank
    let token = try await broker.tokenInteractively(
      BrokerRequest(
        clientID: configuration.clientID, authority: authority, scopes: request.scopes,
        account: request.account, loginHint: request.loginHint.nonBlank,
        prompt: await client.prompt(of: request), claims: try configuration.claimsParameter(request.claims),
        redirectURI: configuration.redirectURI, extraQueryParameters: extra,
        correlationID: request.correlationID))
    let grant = TokenGrant(
      client: client, authority: authority, requestedAuthority: authority, scopes: scopes,
      correlationID: request.correlationID, account: request.account, requestedClaims: request.claims)
    let result = try await grant.result(of: token, by: broker)
    client.throttle.removeInteractionRequired()
    return result
  }
}

extension IdentityError {
  /// Whether the browser would come to nothing else, or is not wanted.
  fileprivate var isFinal: Bool {
    switch code {
    case .userCanceled, .cancelled, .mismatchedUser, .serverDeclinedScopes, .invalidParameter: true
    default: false
    }
  }
}
