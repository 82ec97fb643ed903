public import Foundation

// Default values stand for the shorter spellings of each family of methods.

extension MSALPublicClientApplication {
  /// As MSAL 0.2 and 0.3 had it.
  @available(*, deprecated, renamed: "acquireTokenSilent(with:completionBlock:)")
  public func acquireTokenSilent(
    forScopes scopes: [String], account: MSALAccount, authority: MSALAuthority?, claims: String?,
    forceRefresh: Bool, correlationId: UUID?,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    silent(
      scopes: scopes, account: account, authority: { authority },
      claims: { try claims.map { try MSALClaimsRequest(jsonString: $0) } },
      forceRefresh: forceRefresh, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// As MSAL 0.1 had it.
  @available(*, deprecated, renamed: "acquireTokenSilent(with:completionBlock:)")
  public func acquireTokenSilent(
    forScopes scopes: [String], user: MSALAccount, authority: String? = nil, forceRefresh: Bool = false,
    correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    silent(
      scopes: scopes, account: user, authority: { try authority.map(legacyAuthority) }, claims: { nil },
      forceRefresh: forceRefresh, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// As MSAL 0.2 to 1 had it.
  @available(*, deprecated, renamed: "acquireTokenSilent(with:completionBlock:)")
  public func acquireTokenSilent(
    forScopes scopes: [String], account: MSALAccount, authority: MSALAuthority? = nil,
    claimsRequest: MSALClaimsRequest? = nil, forceRefresh: Bool = false, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    silent(
      scopes: scopes, account: account, authority: { authority }, claims: { claimsRequest },
      forceRefresh: forceRefresh, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// What all of these mean. What cannot be read ends up in the completion block, as in those days.
  private func silent(
    scopes: [String], account: MSALAccount, authority: () throws -> MSALAuthority?,
    claims: () throws -> MSALClaimsRequest?, forceRefresh: Bool, correlationId: UUID?,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
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
