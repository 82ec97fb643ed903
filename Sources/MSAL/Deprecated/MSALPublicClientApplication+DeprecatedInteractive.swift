public import Foundation

// Default values stand for the shorter spellings of each family of methods.

extension MSALPublicClientApplication {
  /// As MSAL 0.2 and 0.3 had it.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, loginHint: String?,
    uiBehavior: MSALUIBehavior, extraQueryParameters: [String: String]?, claims: String? = nil,
    authority: MSALAuthority? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, account: nil, loginHint: loginHint,
      promptType: uiBehavior.promptType, extraQueryParameters: extraQueryParameters,
      claims: { try claims.map { try MSALClaimsRequest(jsonString: $0) } },
      authority: { authority }, correlationId: correlationId,
      completionBlock: completionBlock)
  }

  /// As MSAL 0.2 and 0.3 had it.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, account: MSALAccount?,
    uiBehavior: MSALUIBehavior, extraQueryParameters: [String: String]?, claims: String? = nil,
    authority: MSALAuthority? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, account: account, loginHint: nil,
      promptType: uiBehavior.promptType, extraQueryParameters: extraQueryParameters,
      claims: { try claims.map { try MSALClaimsRequest(jsonString: $0) } },
      authority: { authority }, correlationId: correlationId,
      completionBlock: completionBlock)
  }

  /// As MSAL 0.1 had it.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, user: MSALAccount?,
    uiBehavior: MSALUIBehavior = .default, extraQueryParameters: [String: String]? = nil,
    authority: String? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, account: user, loginHint: nil,
      promptType: uiBehavior.promptType, extraQueryParameters: extraQueryParameters,
      claims: { nil },
      authority: { try authority.map(legacyAuthority) }, correlationId: correlationId,
      completionBlock: completionBlock)
  }

  /// As MSAL 1 had it.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, loginHint: String? = nil,
    promptType: MSALPromptType = .default, extraQueryParameters: [String: String]? = nil,
    claimsRequest: MSALClaimsRequest? = nil, authority: MSALAuthority? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, account: nil, loginHint: loginHint,
      promptType: promptType, extraQueryParameters: extraQueryParameters,
      claims: { claimsRequest },
      authority: { authority }, correlationId: correlationId,
      completionBlock: completionBlock)
  }

  /// As MSAL 1 had it.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, account: MSALAccount?,
    promptType: MSALPromptType = .default, extraQueryParameters: [String: String]? = nil,
    claimsRequest: MSALClaimsRequest? = nil, authority: MSALAuthority? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, account: account, loginHint: nil,
      promptType: promptType, extraQueryParameters: extraQueryParameters,
      claims: { claimsRequest },
      authority: { authority }, correlationId: correlationId,
      completionBlock: completionBlock)
  }

  /// What all of these mean. What cannot be read ends up in the completion block, as in those days.
  private func interactive(
    scopes: [String], extraScopesToConsent: [String]?, account: MSALAccount?, loginHint: String?,
    promptType: MSALPromptType, extraQueryParameters: [String: String]?,
    claims: () throws -> MSALClaimsRequest?, authority: () throws -> MSALAuthority?, correlationId: UUID?,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    let parameters = MSALInteractiveTokenParameters(
      scopes: scopes, webviewParameters: MSALWebviewParameters())
    do {
      parameters.claimsRequest = try claims()
      parameters.authority = try authority()
    } catch {
      complete(completionBlock, on: .main) { throw error }
      return
    }
    parameters.account = account
    parameters.loginHint = loginHint
    parameters.extraScopesToConsent = extraScopesToConsent
    parameters.promptType = promptType
    parameters.extraQueryParameters = extraQueryParameters
    parameters.correlationId = correlationId
    acquireToken(with: parameters, completionBlock: completionBlock)
  }
}

/// - Throws: An error in ``MSALErrorDomain`` for what is no address of an authority.
func legacyAuthority(_ address: String) throws -> MSALAuthority {
  guard let url = URL(string: address) else {
    throw NSError(.internalErrorInvalidParameter, "\"\(address)\" is no address of an authority.")
  }
  return try MSALAuthority(url: url)
}
