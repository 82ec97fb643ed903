public import Foundation

// Default values stand for the shorter spellings of each family of methods. Without an account the block gets
// MSALError.interactionRequired: the tutorials pass what they have, and sign in interactively then.

extension MSALPublicClientApplication {
  /// As MSAL 0.2 and 0.3 had it. Without an account the block gets ``MSALError/interactionRequired``.
  @available(*, deprecated, renamed: "acquireTokenSilent(with:completionBlock:)")
  @preconcurrency
  public func acquireTokenSilent(
    forScopes scopes: [String], account: MSALAccount?, authority: MSALAuthority?, claims: String?,
    forceRefresh: Bool, correlationId: UUID?,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    silent(
      scopes: scopes, account: account, authority: { authority },
      claims: { try claims.map { try MSALClaimsRequest(jsonString: $0) } },
      forceRefresh: forceRefresh, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// As MSAL 0.1 had it. Without an account the block gets ``MSALError/interactionRequired``.
  @available(*, deprecated, renamed: "acquireTokenSilent(with:completionBlock:)")
  @preconcurrency
  public func acquireTokenSilent(
    forScopes scopes: [String], user: MSALAccount?, authority: String? = nil, forceRefresh: Bool = false,
    correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    silent(
      scopes: scopes, account: user, authority: { try authority.map(legacyAuthority) }, claims: { nil },
      forceRefresh: forceRefresh, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// As MSAL 0.2 to 1 had it. Without an account the block gets ``MSALError/interactionRequired``.
  @available(*, deprecated, renamed: "acquireTokenSilent(with:completionBlock:)")
  @preconcurrency
  public func acquireTokenSilent(
    forScopes scopes: [String], account: MSALAccount?, authority: MSALAuthority? = nil,
    claimsRequest: MSALClaimsRequest? = nil, forceRefresh: Bool = false, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    silent(
      scopes: scopes, account: account, authority: { authority }, claims: { claimsRequest },
      forceRefresh: forceRefresh, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// What all of these mean. What cannot be read ends up in the completion block, as in those days.
  private func silent(
    scopes: [String], account: MSALAccount?, authority: () throws -> MSALAuthority?,
    claims: () throws -> MSALClaimsRequest?, forceRefresh: Bool, correlationId: UUID?,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    guard let account else {
      complete(completionBlock, on: nil) {
        throw NSError(
          specific: MSALError.interactionRequired.rawValue, "Nobody is signed in.",
          advice: "Sign in interactively.")
      }
      return
    }
    let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
    do {
      parameters.claimsRequest = try claims()
      parameters.authority = try authority()
    } catch {
      complete(completionBlock, on: nil) { throw error }
      return
    }
    parameters.forceRefresh = forceRefresh
    parameters.correlationId = correlationId
    acquireTokenSilent(with: parameters, completionBlock: completionBlock)
  }
}
