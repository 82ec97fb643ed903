public import Foundation
import IdentityClient
import TokenCache

extension MSALPublicClientApplication {
  /// The form of MSAL 0.1.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a URL that is not an authority's.
  @available(*, deprecated, renamed: "init(configuration:)")
  public convenience init(clientId: String, authority: String, redirectUri: String? = nil) throws {
    try self.init(clientId: clientId, keychainGroup: nil, authority: authority, redirectUri: redirectUri)
  }

  /// The form of MSAL 0.1.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a URL that is not an authority's.
  @available(*, deprecated, renamed: "init(configuration:)")
  public convenience init(
    clientId: String, keychainGroup: String?, authority: String, redirectUri: String? = nil
  ) throws {
    try self.init(
      clientId: clientId, keychainGroup: keychainGroup, authority: try legacyAuthority(authority),
      redirectUri: redirectUri)
  }

  /// The form of MSAL 0.2 to 1.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an invalid configuration.
  @available(*, deprecated, renamed: "init(configuration:)")
  public convenience init(clientId: String, authority: MSALAuthority?, redirectUri: String? = nil) throws {
    try self.init(clientId: clientId, keychainGroup: nil, authority: authority, redirectUri: redirectUri)
  }

  /// The form of MSAL 0.2 to 1.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an invalid configuration.
  @available(*, deprecated, renamed: "init(configuration:)")
  public convenience init(
    clientId: String, keychainGroup: String?, authority: MSALAuthority? = nil, redirectUri: String? = nil
  ) throws {
    let config = MSALPublicClientApplicationConfig(
      clientId: clientId, redirectUri: redirectUri, authority: authority)
    if let keychainGroup { config.cacheConfig.keychainSharingGroup = keychainGroup }
    try self.init(configuration: config)
  }
}

extension MSALPublicClientApplication {
  /// ``allAccounts()``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "allAccounts()")
  public func users() throws -> [MSALAccount] { try allAccounts() }

  /// ``account(forIdentifier:)``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "account(forIdentifier:)")
  public func user(forIdentifier identifier: String?) throws -> MSALAccount {
    try account(forIdentifier: identifier ?? "")
  }

  /// ``allAccounts()``, as MSAL 0.1.4 called it.
  @available(*, deprecated, renamed: "allAccounts()")
  public func accounts() throws -> [MSALAccount] { try allAccounts() }

  /// ``account(forIdentifier:)``, as MSAL 0.1.4 called it.
  @available(*, deprecated, renamed: "account(forIdentifier:)")
  public func account(forHomeAccountId homeAccountId: String) throws -> MSALAccount {
    try account(forIdentifier: homeAccountId)
  }

  /// The accounts in the cloud of the application's authority.
  @available(*, deprecated, message: "Use accountsFromDevice(for:completionBlock:).")
  @preconcurrency
  public func allAccountsFilteredByAuthority(
    _ completionBlock: @escaping @Sendable ([MSALAccount]?, (any Error)?) -> Void
  ) {
    let clouds = CloudInstances.known
    let cloud = clouds.canonical(client.configuration.authority.environment)
    complete(completionBlock, on: nil) { [self] in
      try await accounts(AccountsQuery()).filter { clouds.canonical($0.environment) == cloud }
    }
  }
}

// Default values cover the shorter forms of each family of methods.

extension MSALPublicClientApplication {
  /// The form of MSAL 0.2 and 0.3.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, loginHint: String?,
    uiBehavior: MSALUIBehavior, extraQueryParameters: [String: String]?, claims: String? = nil,
    authority: MSALAuthority? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, loginHint: loginHint,
      promptType: uiBehavior.promptType, extraQueryParameters: extraQueryParameters,
      claims: try claims.map { try MSALClaimsRequest(jsonString: $0) }, authority: authority,
      correlationId: correlationId, completionBlock: completionBlock)
  }

  /// The form of MSAL 0.2 and 0.3.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, account: MSALAccount?,
    uiBehavior: MSALUIBehavior, extraQueryParameters: [String: String]?, claims: String? = nil,
    authority: MSALAuthority? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, account: account,
      promptType: uiBehavior.promptType, extraQueryParameters: extraQueryParameters,
      claims: try claims.map { try MSALClaimsRequest(jsonString: $0) }, authority: authority,
      correlationId: correlationId, completionBlock: completionBlock)
  }

  /// The form of MSAL 0.1.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, user: MSALAccount?,
    uiBehavior: MSALUIBehavior = .MSALUIBehaviorDefault, extraQueryParameters: [String: String]? = nil,
    authority: String? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, account: user,
      promptType: uiBehavior.promptType, extraQueryParameters: extraQueryParameters,
      authority: try authority.map(legacyAuthority), correlationId: correlationId,
      completionBlock: completionBlock)
  }

  /// The form of MSAL 1.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, loginHint: String? = nil,
    promptType: MSALPromptType = .default, extraQueryParameters: [String: String]? = nil,
    claimsRequest: MSALClaimsRequest? = nil, authority: MSALAuthority? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, loginHint: loginHint,
      promptType: promptType, extraQueryParameters: extraQueryParameters, claims: claimsRequest,
      authority: authority, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// The form of MSAL 1.
  @available(*, deprecated, renamed: "acquireToken(with:completionBlock:)")
  @preconcurrency
  public func acquireToken(
    forScopes scopes: [String], extraScopesToConsent: [String]? = nil, account: MSALAccount?,
    promptType: MSALPromptType = .default, extraQueryParameters: [String: String]? = nil,
    claimsRequest: MSALClaimsRequest? = nil, authority: MSALAuthority? = nil, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    interactive(
      scopes: scopes, extraScopesToConsent: extraScopesToConsent, account: account,
      promptType: promptType, extraQueryParameters: extraQueryParameters, claims: claimsRequest,
      authority: authority, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// The common implementation. Invalid arguments are reported to the completion block, as in these versions.
  private func interactive(
    scopes: [String], extraScopesToConsent: [String]?, account: MSALAccount? = nil, loginHint: String? = nil,
    promptType: MSALPromptType, extraQueryParameters: [String: String]?,
    claims: @autoclosure () throws -> MSALClaimsRequest? = nil,
    authority: @autoclosure () throws -> MSALAuthority?, correlationId: UUID?,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    let parameters = MSALInteractiveTokenParameters(
      scopes: scopes, webviewParameters: MSALWebviewParameters())
    do {
      parameters.claimsRequest = try claims()
      parameters.authority = try authority()
    } catch {
      return complete(completionBlock, on: .main) { throw error }
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

func legacyAuthority(_ address: String) throws -> MSALAuthority {
  guard let url = URL(string: address) else {
    throw NSError(.internalErrorInvalidParameter, "Invalid authority \"\(address)\": expected a URL.")
  }
  return try MSALAuthority(url: url)
}

// Default values cover the shorter forms of each family of methods. Without an account the block gets
// MSALError.interactionRequired: the tutorials pass `nil`, and then sign in interactively.

extension MSALPublicClientApplication {
  /// The form of MSAL 0.2 and 0.3. Without an account the block gets ``MSALError/interactionRequired``.
  @available(*, deprecated, renamed: "acquireTokenSilent(with:completionBlock:)")
  @preconcurrency
  public func acquireTokenSilent(
    forScopes scopes: [String], account: MSALAccount?, authority: MSALAuthority?, claims: String?,
    forceRefresh: Bool, correlationId: UUID?,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    silent(
      scopes: scopes, account: account, authority: authority,
      claims: try claims.map { try MSALClaimsRequest(jsonString: $0) },
      forceRefresh: forceRefresh, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// The form of MSAL 0.1. Without an account the block gets ``MSALError/interactionRequired``.
  @available(*, deprecated, renamed: "acquireTokenSilent(with:completionBlock:)")
  @preconcurrency
  public func acquireTokenSilent(
    forScopes scopes: [String], user: MSALAccount?, authority: String? = nil, forceRefresh: Bool = false,
    correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    silent(
      scopes: scopes, account: user, authority: try authority.map(legacyAuthority),
      forceRefresh: forceRefresh, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// The form of MSAL 0.2 to 1. Without an account the block gets ``MSALError/interactionRequired``.
  @available(*, deprecated, renamed: "acquireTokenSilent(with:completionBlock:)")
  @preconcurrency
  public func acquireTokenSilent(
    forScopes scopes: [String], account: MSALAccount?, authority: MSALAuthority? = nil,
    claimsRequest: MSALClaimsRequest? = nil, forceRefresh: Bool = false, correlationId: UUID? = nil,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    silent(
      scopes: scopes, account: account, authority: authority, claims: claimsRequest,
      forceRefresh: forceRefresh, correlationId: correlationId, completionBlock: completionBlock)
  }

  /// The common implementation. Invalid arguments are reported to the completion block, as in these versions.
  private func silent(
    scopes: [String], account: MSALAccount?, authority: @autoclosure () throws -> MSALAuthority?,
    claims: @autoclosure () throws -> MSALClaimsRequest? = nil, forceRefresh: Bool, correlationId: UUID?,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    guard let account else {
      return complete(completionBlock, on: nil) {
        throw NSError(
          specific: MSALError.interactionRequired.rawValue, "No account is signed in.",
          advice: "Sign in interactively.")
      }
    }
    let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
    do {
      parameters.claimsRequest = try claims()
      parameters.authority = try authority()
    } catch {
      return complete(completionBlock, on: nil) { throw error }
    }
    parameters.forceRefresh = forceRefresh
    parameters.correlationId = correlationId
    acquireTokenSilent(with: parameters, completionBlock: completionBlock)
  }
}

extension MSALPublicClientApplication {
  /// Signs an account out. Does nothing for `nil`, which `users().first` may be.
  @available(*, deprecated, message: "Unwrap the account.")
  @_disfavoredOverload
  public func remove(_ account: MSALAccount?) throws {
    if let account { try remove(account) }
  }

  /// The form of MSAL 0.1 to 0.3.
  @available(*, deprecated, renamed: "handleMSALResponse(_:sourceApplication:)")
  @discardableResult
  public class func handleMSALResponse(_ response: URL) -> Bool {
    handleMSALResponse(response, sourceApplication: nil)
  }
}
