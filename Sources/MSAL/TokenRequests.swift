import Foundation
import IdentityClient
import TokenCache

extension MSALTokenParameters {
  /// Refuses what the client below does not know of.
  ///
  /// - Throws: An error in ``MSALErrorDomain``.
  func check() throws {
    guard scopes.contains(where: { !$0.isBlank }) else {
      throw NSError(
        .internalErrorInvalidParameter, "The request names no scope.",
        advice: "Say what the token is for, such as https://graph.microsoft.com/user.read.")
    }
    if let scheme = authenticationScheme, scheme.scheme != .bearer, popScheme == nil {
      throw NSError(
        .internalErrorInvalidParameter, "The scheme \(scheme.authenticationScheme) is not known.",
        advice: "Use MSALAuthenticationSchemePop, MSALAuthenticationSchemeBearer, or none.")
    }
  }

  fileprivate var popScheme: PopScheme? { (authenticationScheme as? MSALAuthenticationSchemePop)?.popScheme }
}

extension SilentRequest {
  /// - Throws: An error in ``MSALErrorDomain`` for what no request may contain.
  init(_ parameters: MSALSilentTokenParameters) throws {
    try parameters.check()
    guard let account = parameters.account else {
      throw NSError(
        .internalErrorAccountRequired, "A silent request needs an account.",
        advice: "Take one from allAccounts(), or sign in interactively.")
    }
    self.init(
      scopes: parameters.scopes, account: account.account, forceRefresh: parameters.forceRefresh,
      claims: parameters.claimsRequest?.request, authority: parameters.authority?.authority)
    authenticationScheme = parameters.popScheme
    refreshesWithoutBroker = parameters.allowUsingLocalCachedRtWhenSsoExtFailed
    extraQueryParameters = parameters.extraQueryParameters ?? [:]
    correlationID = parameters.correlationId ?? correlationID
  }
}

extension InteractiveRequest {
  /// - Throws: An error in ``MSALErrorDomain`` for what no request may contain.
  init(_ parameters: MSALInteractiveTokenParameters) throws {
    try parameters.check()
    self.init(
      scopes: parameters.scopes, account: parameters.account?.account, loginHint: parameters.loginHint,
      prompt: parameters.promptType.prompt, claims: parameters.claimsRequest?.request,
      authority: parameters.authority?.authority)
    domainHint = parameters.domainHint
    extraScopesToConsent = parameters.extraScopesToConsent ?? []
    authenticationScheme = parameters.popScheme
    prefersQRCodeAndPIN = parameters.preferredAuthMethod == .QRPIN
    prefersEphemeralSession = parameters.webviewParameters.prefersEphemeralWebBrowserSession
    extraQueryParameters = parameters.extraQueryParameters ?? [:]
    correlationID = parameters.correlationId ?? correlationID
  }
}

extension DeviceCodeRequest {
  /// - Throws: An error in ``MSALErrorDomain`` for what no request may contain.
  init(_ parameters: MSALDeviceCodeTokenParameters) throws {
    try parameters.check()
    let show = parameters.show
    self.init(
      scopes: parameters.scopes, claims: parameters.claimsRequest?.request,
      authority: parameters.authority?.authority, show: { show(MSALDeviceCode($0)) })
    authenticationScheme = parameters.popScheme
    extraQueryParameters = parameters.extraQueryParameters ?? [:]
    correlationID = parameters.correlationId ?? correlationID
  }
}

extension SignOutOptions {
  init(_ parameters: MSALSignoutParameters) {
    self.init(
      wipeAccount: parameters.wipeAccount, wipeCacheForAllAccounts: parameters.wipeCacheForAllAccounts,
      fromBrowser: parameters.signoutFromBrowser)
    extraQueryParameters = parameters.extraQueryParameters ?? [:]
  }
}
