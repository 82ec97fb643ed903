/// A request in which the person signs in, in the system's browser.
open class MSALInteractiveTokenParameters: MSALTokenParameters {
  /// What the server asks the person.
  open var promptType = MSALPromptType.default
  /// The user name to begin with, if there is no account.
  open var loginHint: String?
  /// The domain of the person's organization, which spares the question for it.
  open var domainHint: String?
  /// Scopes to which the person consents in the same go, although the token is not for them.
  open var extraScopesToConsent: [String]?
  /// How the sign-in is shown.
  public let webviewParameters: MSALWebviewParameters
  /// How the person is offered to sign in: with a QR code and a PIN, if the organization allows that and this says so.
  open var preferredAuthMethod = MSALPreferredAuthMethod.none

  /// - Parameters:
  ///   - scopes: What the token is for.
  ///   - webviewParameters: How the sign-in is shown; they are copied.
  public init(scopes: [String], webviewParameters: MSALWebviewParameters) {
    self.webviewParameters = MSALWebviewParameters(copying: webviewParameters)
    super.init(scopes: scopes)
  }

  /// As MSAL 1 had it.
  @available(*, deprecated, renamed: "init(scopes:webviewParameters:)")
  public convenience override init(scopes: [String]) {
    self.init(scopes: scopes, webviewParameters: MSALWebviewParameters())
  }
}
