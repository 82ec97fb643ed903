import Foundation
import IdentityClient
import TokenCache

extension MSALTokenParameters {
  /// Checks the parameters that the client below does not check.
  func check() throws {
    if let scheme = authenticationScheme, scheme.scheme != .bearer, popScheme == nil {
      throw NSError(
        .internalErrorInvalidParameter, "Unknown authentication scheme \(scheme.authenticationScheme).",
        advice: "Use MSALAuthenticationSchemePop, MSALAuthenticationSchemeBearer, or none.")
    }
  }

  fileprivate var popScheme: PopScheme? { (authenticationScheme as? MSALAuthenticationSchemePop)?.popScheme }
}

extension SilentRequest {
  init(_ parameters: MSALSilentTokenParameters) throws {
    try parameters.check()
    guard let account = parameters.account else {
      throw NSError(
        .internalErrorAccountRequired, "A silent request needs an account.",
        advice: "Use one of allAccounts(), or sign in interactively.")
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
  init(_ parameters: MSALDeviceCodeTokenParameters) throws {
    try parameters.check()
    let show = parameters.show
    self.init(
      scopes: parameters.scopes, claims: parameters.claimsRequest?.request,
      authority: parameters.authority?.authority, show: { show(MSALDeviceCode($0)) })
    account = parameters.account?.account
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
